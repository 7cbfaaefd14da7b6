"""How long checking an answer takes beside one query embedding, in the same run.

python -m tests.bench_checker
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bot.answering import clauses, quantities, sentences, statements, wording
from bot.answering.checker import SourceText, check

ROUNDS = 9
QUESTION = "What should I do about a hypo (hypoglycaemia, low blood glucose)?"
DATA = Path(__file__).parent / "data"


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


def cases() -> list[tuple[str, dict[str, SourceText]]]:
    """Return answers of five sentences with their four sources each."""
    rows = _rows("checker_sources.jsonl")
    answers = [row for row in _rows("checker_answers.jsonl") if row["supported"]]
    found = []
    for start in range(len(rows) - 3):
        four = rows[start : start + 4]
        sources = {f"S{i}": SourceText(r["text"], tuple(r["path"]), r["title"]) for i, r in enumerate(four, 1)}
        said = [
            sentence.replace("[S1]", f"[S{i}]")
            for i, row in enumerate(four, 1)
            for answer in [a for a in answers if a["source"] == row["source"]][:2]
            for sentence in sentences.split_sentences(answer["answer"])
        ]
        if len(said) >= 5:
            found.append((" ".join(said[:5]), sources))
    return found


def _forget() -> None:
    """Empty the caches of what was read, as for sources never seen; the stems of words stay."""
    for function in (
        clauses.tokens_of,
        quantities.quantities_of,
        sentences._split,
        statements.statements_of,
        wording._read,
        wording.prepared,
    ):
        function.cache_clear()


def _ms(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1e3


def run() -> list[dict[str, Any]]:
    """Measure both in turns, so that both meet the same machine."""
    import tempfile

    from retrieval.embedders import make_embedder

    made = cases()
    new: list[float] = []
    seen: list[float] = []
    embedding: list[float] = []
    with tempfile.TemporaryDirectory(prefix="bench-checker-") as folder:
        embedder = make_embedder("sentence-transformers", cache=Path(folder))
        embedder.encode_question(QUESTION)
        for number in range(max(ROUNDS, len(made))):
            answer, sources = made[number % len(made)]
            check(answer, sources)
            _forget()
            new.append(_ms(lambda a=answer, s=sources: check(a, s)))  # type: ignore[misc]
            seen.append(_ms(lambda a=answer, s=sources: check(a, s)))  # type: ignore[misc]
            embedding.append(_ms(lambda n=number: embedder.encode_question(f"{QUESTION} {n}")))  # type: ignore[misc]
    ratio = statistics.median(new) / statistics.median(embedding)
    return [
        _row("checker: five sentences, four new sources", statistics.median(new), "ms"),
        _row("checker: the same, sources read before", statistics.median(seen), "ms"),
        _row("one query embedding", statistics.median(embedding), "ms"),
        _row("checker ÷ one query embedding", ratio, "×", 1.0),
    ]


def _row(name: str, value: float, unit: str, target: float | None = None) -> dict[str, Any]:
    return {"name": name, "value": round(value, 2), "target": target, "unit": unit, "ok": not target or value <= target}


if __name__ == "__main__":
    print(json.dumps(run(), indent=1))
