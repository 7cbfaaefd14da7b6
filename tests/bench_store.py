"""How fast, complete and large the store is at 10,000 and 100,000 passages, on synthetic clustered vectors.

python -m tests.bench_store
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from retrieval.embedders import make_embedder
from retrieval.embedding import Embedder, Matrix
from retrieval.guideline import Block, Guideline, Metadata, Passage, Section
from retrieval.store import Embedded, Generation, GenerationWriter

DIMENSION = 384
PER_GUIDELINE = 20
REPEATS = 5
QUESTIONS = 60
FOUND = 50
"""Candidates of a search, as the default settings ask for."""

TARGETS = {
    10_000: {"query_ms": 10.0},
    100_000: {"query_ms": 25.0, "recall_at_10": 0.99, "memory_mb": 700.0},
}


def run() -> list[dict[str, Any]]:
    """Measure both sizes, each reader in a process of its own."""
    figures = []
    models = Path(tempfile.gettempdir()) / "bench-store-models"  # made once: a start of the bot does not load torch
    warm = "from tests.bench_store import embedder; import sys; embedder(sys.argv[1]).encode_question('warm')"
    subprocess.run([sys.executable, "-c", warm, str(models)], capture_output=True, check=True)
    for passages in TARGETS:
        with tempfile.TemporaryDirectory(prefix="bench-store-") as folder:
            seconds = _write(Path(folder) / "generation", passages)
            figures.append(_figure(f"store.{passages}.write_s", seconds, None, "s"))
            program = [sys.executable, "-m", "tests.bench_store", "--read", f"{folder}/generation", str(models)]
            done = subprocess.run(program, capture_output=True, text=True, check=True)
            for name, value in json.loads(done.stdout).items():
                target = TARGETS[passages].get(name)
                unit = name.rpartition("_")[2] if not name.startswith("recall") else ""
                figures.append(
                    _figure(f"store.{passages}.{name}", value, target, unit, at_least=name.startswith("recall"))
                )
    return figures


def _figure(name: str, value: float, target: float | None, unit: str, *, at_least: bool = False) -> dict[str, Any]:
    ok = target is None or (value >= target if at_least else value <= target)
    return {"name": name, "value": round(value, 4), "target": target, "unit": unit, "ok": ok}


def vectors(count: int, seed: int) -> Matrix:
    """Return unit vectors in clusters of about twenty, as the windows of sections on one topic are."""
    topics = np.random.default_rng(1).normal(size=(5_000, DIMENSION)).astype(np.float32)
    broad = np.random.default_rng(2).normal(size=(200, DIMENSION)).astype(np.float32)
    random = np.random.default_rng(seed)
    topic = random.integers(len(topics), size=count)
    made = (
        broad[topic % len(broad)]
        + 0.8 * topics[topic]
        + 0.7 * random.normal(size=(count, DIMENSION)).astype(np.float32)
    )
    return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True), dtype=np.float32)


def _write(directory: Path, passages: int) -> float:
    """Write a generation of one window and two units a passage; return the seconds beyond making the vectors."""
    writer = GenerationWriter(directory, "bench", DIMENSION, terms_of=lambda item: item.text.split()[:60])
    spent = 0.0
    text = "Give the dose that the table names for the patient's weight and record the time of it. " * 8
    for first in range(0, passages, 5_000):
        count = min(5_000, passages - first)
        windows, units = vectors(count, 100 + first), vectors(2 * count, 7 + first)
        started = time.perf_counter()
        for offset in range(count):
            number = first + offset
            if number % PER_GUIDELINE == 0:
                name = f"folder/guideline-{number // PER_GUIDELINE}.md"
                metadata = Metadata(f"Guideline {number // PER_GUIDELINE}")
                writer.add_guideline(Guideline(name, "0" * 64, "markdown", metadata, Section(metadata.title)))
            block = Block("paragraph", f"Passage {number}. {text}", (1, 9))
            path = ("Chapter", f"Section {number % PER_GUIDELINE}")
            item = Passage(f"{number:016x}", name, metadata, path, number % PER_GUIDELINE, (block,), block.text, (1, 9))
            writer.add([Embedded(item, windows[offset : offset + 1], units[2 * offset : 2 * offset + 2])])
        spent += time.perf_counter() - started
    started = time.perf_counter()
    writer.finish()
    return spent + time.perf_counter() - started


def embedder(models: str) -> Embedder:
    return make_embedder("sentence-transformers", cache=Path(models))


def _read(directory: Path, models: str) -> dict[str, float]:
    """Open a generation and ask it; memory is that of a process that also holds the embedding model."""
    started = time.perf_counter()
    generation = Generation.open(directory, "bench")
    figures = {"open_ms": 1e3 * (time.perf_counter() - started)}
    questions = vectors(QUESTIONS, 999)
    rows = np.memmap(directory / "windows.f32", dtype="<f4", mode="r").reshape(-1, DIMENSION)
    medians, recalls = [], []
    for _ in range(REPEATS):
        spent = []
        for question in questions:
            begun = time.perf_counter()
            hits = generation.nearest(question, FOUND)
            generation.passages(hit.number for hit in hits)
            for hit in hits[:10]:
                generation.unit_vectors(hit.number)
            spent.append(time.perf_counter() - begun)
        medians.append(1e3 * statistics.median(spent))
    embedder(models).encode_question("warm")
    memory = _memory_mb()
    for question in questions:
        exact = set(np.argsort(-(rows @ question))[:10].tolist())  # one window a passage: rows are passages
        recalls.append(len(exact & {hit.number for hit in generation.nearest(question, 10)}) / 10)
    figures |= {"query_ms": statistics.median(medians), "recall_at_10": statistics.mean(recalls), "memory_mb": memory}
    generation.close()
    return figures


def _memory_mb() -> float:
    """Return the memory that the process holds."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("VmRSS"))) / 1024


if __name__ == "__main__":
    if sys.argv[1:2] == ["--read"]:
        print(json.dumps(_read(Path(sys.argv[2]), sys.argv[3])))
    else:
        print(json.dumps(run(), indent=1))
