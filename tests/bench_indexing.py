"""Speed of the index run, as ratios taken in one run: `python -m tests.bench_indexing [--json]`.

night       an unchanged run over 10,000 files against a bare walk that hashes them       at most 5
encoding    an index run against the pure encoding of the same texts                      at most 1.1
second      a second run over 600 unchanged documents against the first                   under 0.02
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from retrieval.building import Preparation
from retrieval.documents import load
from retrieval.embedders import make_embedder
from retrieval.embedding import Embedder, HashEmbedder
from retrieval.indexing import Folder, IndexOptions, build

REPEATS = 5
WORDS = [
    "adult",
    "child",
    "dose",
    "given",
    "hours",
    "minutes",
    "oxygen",
    "monitor",
    "review",
    "senior",
    "clinician",
    "symptoms",
    "severe",
    "mild",
    "fluid",
    "pressure",
    "temperature",
    "antibiotic",
    "allergy",
    "weight",
    "pregnancy",
    "renal",
    "hepatic",
    "contraindicated",
    "repeat",
    "maximum",
    "daily",
    "oral",
    "assess",
]


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        figures = {
            "night": night(root / "night", files=10_000),
            "second": second(root / "second", files=600),
            "encoding": encoding(root / "encoding", files=12),
        }
    limits = {"night": 5.0, "second": 0.02, "encoding": 1.1}
    if "--json" in sys.argv:
        print(json.dumps({name: {"ratio": ratio, "at_most": limits[name]} for name, ratio in figures.items()}))
        return
    for name, ratio in figures.items():
        print(f"{name:10} {ratio:8.4f}   at most {limits[name]}")


def night(root: Path, files: int) -> float:
    """Return how long an unchanged run takes, in walks that hash every file."""
    folder = documents(root / "guidelines", files, sections=1, sentences=1)
    build([Folder(folder)], root / "data", HashEmbedder())
    return median_of(
        lambda: build([Folder(folder)], root / "data", HashEmbedder()),
        lambda: bare_walk(folder),
    )


def second(root: Path, files: int) -> float:
    """Return how long a second run takes, as a share of the first."""
    folder = documents(root / "guidelines", files, sections=8, sentences=6)
    first_s = seconds(lambda: build([Folder(folder)], root / "data", HashEmbedder()))
    again = [seconds(lambda: build([Folder(folder)], root / "data", HashEmbedder())) for _ in range(REPEATS)]
    return statistics.median(again) / first_s


def encoding(root: Path, files: int) -> float:
    """Return how long a first run takes with the default embedder, in encodings of the same texts."""
    folder = documents(root / "guidelines", files, sections=8, sentences=6)
    embedder = make_embedder("sentence-transformers", cache=root / "cache")
    texts = texts_of(folder, embedder)
    embedder.encode_passages(texts[:8])  # load the model
    runs = iter(range(REPEATS))
    return median_of(
        lambda: build([Folder(folder)], root / f"data{next(runs)}", embedder),
        lambda: embedder.encode_passages(texts),
    )


def texts_of(folder: Path, embedder: Embedder) -> list[str]:
    """Return every text that an index run encodes."""
    options = IndexOptions()
    preparation = Preparation(embedder, options.passage_max_chars, options.window_tokens)
    prepared = [one for path in sorted(folder.rglob("*.md")) for one in preparation.of(load(path, path.name))]
    return list(dict.fromkeys(text for one in prepared for text in (*one.windows, *one.units)))


def documents(folder: Path, files: int, sections: int, sentences: int) -> Path:
    """Write invented documents, a hundred a folder."""
    chance = random.Random(7)
    for number in range(files):
        parts = [f"# Guideline {number}\n"]
        for section in range(sections):
            said = [" ".join(chance.choices(WORDS, k=12)).capitalize() + "." for _ in range(sentences)]
            parts.append(f"## Section {section} {chance.choice(WORDS)}\n\n{' '.join(said)}\n")
        path = folder / f"{number // 100:03d}" / f"guideline-{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(parts), encoding="utf-8")
    return folder


def bare_walk(folder: Path) -> None:
    """Do the least that can tell whether a file has changed."""
    for directory, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(directory, name), "rb") as file:  # noqa: PTH118, PTH123 (the plainest way)
                hashlib.sha256(file.read()).hexdigest()


def median_of(measured: Callable[[], object], against: Callable[[], object]) -> float:
    """Return the median ratio of two things done one after the other, again and again."""
    return statistics.median(seconds(measured) / seconds(against) for _ in range(REPEATS))


def seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
