"""How fast embedding is beside plain sentence-transformers in the same run, and whether the vectors are the same.

python -m tests.bench_embedding
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

REPEATS = 5
ROUNDS = 10
QUESTION = "What should I do about a hypo (hypoglycaemia, low blood glucose)?"
COLD = """
import time, sys, pathlib
from retrieval.embedders import make_embedder
make_embedder("sentence-transformers", cache=pathlib.Path(sys.argv[1])).encode_question(sys.argv[2])
"""
COLD_PLAIN = """
import sys
from sentence_transformers import SentenceTransformer
from retrieval.sentence_model import packaged_folder
SentenceTransformer(str(packaged_folder()), device="cpu").encode(sys.argv[2])
"""


def run() -> list[dict[str, Any]]:
    """Measure ours and the plain one in turns, so that both meet the same machine."""
    from sentence_transformers import SentenceTransformer

    from retrieval.sentence_embedding import open_sentence_embedder
    from retrieval.sentence_model import packaged_folder

    plain = SentenceTransformer(str(packaged_folder()), device="cpu")  # before ours: torch keeps its own threads
    with tempfile.TemporaryDirectory(prefix="bench-embedding-") as folder:
        cache = Path(folder)
        making = subprocess.run([sys.executable, "-c", COLD, folder, QUESTION], capture_output=True, check=True)
        assert making.returncode == 0
        ours = open_sentence_embedder("", cache)
        texts = passages()
        ours.encode_question(QUESTION)
        plain.encode(QUESTION)
        expected = plain.encode(texts, normalize_embeddings=True, show_progress_bar=False)
        vectors = ours.encode_passages(texts)
        alone = np.stack([ours.encode_question(text) for text in reversed(texts)])[::-1]
        question, question_plain = _in_turns(
            lambda: ours.encode_question(QUESTION), lambda: plain.encode(QUESTION), ROUNDS
        )
        batch, batch_plain = _in_turns(
            lambda: ours.encode_passages(texts), lambda: plain.encode(texts, batch_size=32, show_progress_bar=False), 1
        )
        cold, cold_plain = _in_turns(lambda: _process(COLD, folder), lambda: _process(COLD_PLAIN, folder), 1, repeats=5)
    return [
        _figure("embedding.question_ratio", question / question_plain, 0.4, "× sentence-transformers"),
        _figure("embedding.question_ms", 1e3 * question, None, "ms"),
        _figure("embedding.question_plain_ms", 1e3 * question_plain, None, "ms"),
        _figure("embedding.passages_ratio", batch / batch_plain, 1.0, "× sentence-transformers, batches of 32"),
        _figure("embedding.passages_per_s", len(texts) / batch, None, "1/s"),
        _figure("embedding.cold_start_ratio", cold / cold_plain, 0.3, "× sentence-transformers alone"),
        _figure("embedding.cold_start_s", cold, None, "s"),
        _figure("embedding.max_difference", float(np.abs(vectors - expected).max()), 1e-5, ""),
        _figure("embedding.difference_by_batch", float(np.abs(vectors - alone).max()), 0.0, ""),
    ]


def passages() -> list[str]:
    """Return texts of 30 to 250 tokens."""
    sentence = "Give {} mg of the medicine by mouth every {} hours, and review the patient after day {}."
    texts = []
    for number in range(32):
        lines = [sentence.format(number * 5, 4 + line % 8, line + 1) for line in range(1 + number % 9)]
        texts.append(f"Guideline {number}. Treatment. " + " ".join(lines))
    return texts


def _in_turns(
    ours: Callable[[], object], plain: Callable[[], object], rounds: int, repeats: int = REPEATS
) -> tuple[float, float]:
    """Return the median seconds of one call of each."""
    spent: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeats):
        for call, times in zip((ours, plain), spent, strict=True):
            started = time.perf_counter()
            for _ in range(rounds):
                call()
            times.append((time.perf_counter() - started) / rounds)
    return statistics.median(spent[0]), statistics.median(spent[1])


def _process(program: str, folder: str) -> None:
    subprocess.run(
        [sys.executable, "-c", program, folder, QUESTION],
        capture_output=True,
        check=True,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
    )


def _figure(name: str, value: float, target: float | None, unit: str) -> dict[str, Any]:
    return {
        "name": name,
        "value": round(value, 7),
        "target": target,
        "unit": unit,
        "ok": target is None or value <= target,
    }


if __name__ == "__main__":
    print(json.dumps(run(), indent=1))
