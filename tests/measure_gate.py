"""Measure ranking and gate on public question sets, with the product's own indexing and search.

    python -m tests.measure_gate DATA_DIR [--work DIR] [--sets nstg nih obliqa cdc] [--candidates N] [--unread]

DATA_DIR holds `<set>/docs` and `<set>/questions_dev.jsonl` (or `questions.jsonl`), and `cdc_std2010_html`. Further
questions come from `tests/data`. Embeddings are kept in `--work`, so that a second run takes seconds.

Gate: thresholds are the quantile at which 90 % of answerable questions are answered, cut on each set by itself.
'held out' cuts it on four fifths of the documents' answerable questions and counts on the last fifth, in turn.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from retrieval.embedders import make_embedder
from retrieval.evaluation import Outcome, Rate, figures_of, outcome_of
from retrieval.indexing import build
from retrieval.library import Library, SearchOptions
from retrieval.questions import EvaluationQuestion, read_questions
from retrieval.reranking import RankOptions
from retrieval.scanning import Folder

ANSWERED = 0.9
FOLDS = 5
FOUND = 60
DOCUMENTS = {
    "nstg": "nstg/docs",
    "nih": "nih/docs",
    "obliqa": "obliqa/docs",
    "cdc": "cdc_std2010_html",
}
LAYERS = (("topic alone", False), ("topic and fact", True))


@dataclass(frozen=True)
class Asked:
    """A question with what came of it, layer by layer."""

    question: EvaluationQuestion
    source: str
    outcomes: dict[str, Outcome]

    @property
    def unread(self) -> bool:
        return self.source.endswith("unread")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "measure-gate")
    parser.add_argument("--sets", nargs="*", default=list(DOCUMENTS))
    parser.add_argument("--candidates", type=int, default=100)
    parser.add_argument("--unread", action="store_true", help="also ask the questions kept unread")
    parser.add_argument("--verbose", action="store_true", help="list false answers and refused answerables")
    options = parser.parse_args(arguments)
    everything: list[tuple[Asked, bool]] = []
    for name in options.sets:
        folder = options.data / DOCUMENTS[name]
        if not folder.is_dir():
            print(f"{name}: {folder} is not there, left out")
            continue
        for field, asked in ask_set(name, folder, options):
            title = name if field == "question" else f"{name}, {field}"
            print(f"\n== {title}: {len(asked)} questions")
            report_ranking(asked)
            report_gate([one for one in asked if not one.unread], options.verbose)
            report_unread(asked)
            if field == "question_short" or name != "nih":
                cut = threshold(one.outcomes["topic and fact"] for one in asked if not one.unread)
                if cut is not None:
                    everything += [(one, one.outcomes["topic and fact"].gate_score >= cut) for one in asked]
    report_pooled(everything)
    return 0


def ask_set(name: str, folder: Path, options: argparse.Namespace) -> Iterable[tuple[str, list[Asked]]]:
    """Index a set and ask its questions; yields (field, questions with outcomes)."""
    embedder = make_embedder("sentence-transformers", cache=options.work / "model")
    data = options.work / name
    summary = build([Folder(folder)], data, embedder)
    print(f"{name}: {summary.passages} passages, {len(summary.failed)} files failed", file=sys.stderr)
    for field in ("question", "question_short"):
        sources = question_files(name, options)
        loaded = [(path, read_field(path, field)) for path in sources]
        asked = {one.id: Asked(one, path.stem, {}) for path, questions in loaded for one in questions}
        if not asked:
            continue
        for layer, fact_check in LAYERS:
            library = Library.open(
                data,
                embedder,
                SearchOptions(
                    candidates=options.candidates,
                    lexical_weight=RankOptions().lexical_weight,
                    heading_weight=RankOptions().heading_weight,
                    fact_check=fact_check,
                    min_score=0.0,
                ),
            )
            for one in asked.values():
                found = library.search(one.question.question, limit=FOUND, hides=one.question.hides)
                one.outcomes[layer] = outcome_of(one.question, found)
            library.close()
        yield field, list(asked.values())


def question_files(name: str, options: argparse.Namespace) -> list[Path]:
    own = Path(__file__).parent / "data"
    wanted = [
        options.data / name / "questions_dev.jsonl",
        options.data / name / "questions.jsonl",
        own / f"{name}_extra_read.jsonl",
        options.work / f"{name}_extra_read.jsonl",
    ]
    if options.unread:
        wanted += [own / f"{name}_extra_unread.jsonl", options.work / f"{name}_extra_unread.jsonl"]
    return [path for path in wanted if path.is_file()]


def read_field(path: Path, field: str) -> tuple[EvaluationQuestion, ...]:
    """Read a questions file; nothing where it has no such field."""
    text = path.read_text(encoding="utf-8")
    return read_questions(text, path.name, field) if f'"{field}"' in text else ()


def report_ranking(asked: Sequence[Asked]) -> None:
    for source in sorted({one.source for one in asked}):
        outcomes = [one.outcomes["topic alone"] for one in asked if one.source == source]
        figures = figures_of(outcomes)
        if figures.hit_at_1.of:
            print(
                f"ranking {source}: hit@1 {told(figures.hit_at_1)}, hit@5 {told(figures.hit_at_5)}, "
                f"MRR {figures.mrr or 0:.3f}"
            )


def report_gate(asked: Sequence[Asked], verbose: bool) -> None:
    for layer, _ in LAYERS:
        outcomes = [one.outcomes[layer] for one in asked]
        cut = threshold(outcomes)
        if cut is None or all(one.question.answerable for one in outcomes):
            continue
        held_out = cross_validated(outcomes)
        print(f"gate, {layer}: cut at {cut:.3f}; AUROC {figures_of(outcomes).auroc or 0:.3f}")
        for kind in ("", *sorted({one.question.kind for one in outcomes if not one.question.answerable})):
            chosen = [one for one in outcomes if not one.question.answerable and kind in ("", one.question.kind)]
            false = Rate(sum(one.gate_score >= cut for one in chosen), len(chosen))
            held = Rate(sum(held_out[one.question.id] for one in chosen), len(chosen))
            print(f"    {kind or 'all unanswerable'}: {told(false)}; held out {told(held)}")
        answered = [held_out[one.question.id] for one in outcomes if one.question.answerable]
        print(f"    answerable, held out: {told(Rate(sum(answered), len(answered)))}")
        if verbose:
            for one in sorted(outcomes, key=lambda one: -one.gate_score):
                if (one.gate_score >= cut) != one.question.answerable:
                    what = "refused" if one.question.answerable else f"false ({one.question.kind})"
                    print(f"      {what} {one.gate_score:.3f} {one.question.question[:110]!r}")


def report_unread(asked: Sequence[Asked]) -> None:
    """Count the questions kept unread, with the threshold that the others give."""
    unread = [one for one in asked if one.unread]
    cut = threshold(one.outcomes["topic and fact"] for one in asked if not one.unread)
    if not unread or cut is None:
        return
    print(f"unread questions, topic and fact, cut of the others ({cut:.3f}):")
    for kind in sorted({one.question.kind for one in unread}):
        chosen = [one for one in unread if one.question.kind == kind]
        answered = sum(one.outcomes["topic and fact"].gate_score >= cut for one in chosen)
        what = "answered" if chosen[0].question.answerable else "answered falsely"
        print(f"    {kind}: {what} {told(Rate(answered, len(chosen)))}")


def report_pooled(everything: Sequence[tuple[Asked, bool]]) -> None:
    print("\n== pooled over the sets, each cut at its own quantile, topic and fact")
    kinds = sorted({one.question.kind for one, _ in everything if not one.question.answerable})
    for unread in (False, True):
        for kind in kinds:
            answered = [
                passed
                for one, passed in everything
                if one.question.kind == kind and not one.question.answerable and one.unread == unread
            ]
            if answered:
                print(f"    {'unread ' if unread else ''}{kind}: {told(Rate(sum(answered), len(answered)))}")


def threshold(outcomes: Iterable[Outcome]) -> float | None:
    """Return the score at which 90 % of the answerable questions are answered."""
    scores = [one.gate_score for one in outcomes if one.question.answerable]
    return float(np.quantile(scores, 1 - ANSWERED)) if scores else None


def cross_validated(outcomes: Sequence[Outcome]) -> dict[str, bool]:
    """Return id → answered, each question judged by a threshold cut without its document's fold."""
    answered = {}
    for fold in range(FOLDS):
        cut = threshold(one for one in outcomes if fold_of(one.question) != fold)
        for one in outcomes:
            if fold_of(one.question) == fold:
                answered[one.question.id] = cut is not None and one.gate_score >= cut
    return answered


def fold_of(question: EvaluationQuestion) -> int:
    key = question.gold[0].doc if question.gold else question.id
    return hashlib.sha256(key.encode()).digest()[0] % FOLDS


def told(rate: Rate) -> str:
    if rate.interval is None:
        return "none"
    low, high = rate.interval
    return f"{rate.value:.2f} ({rate.hits}/{rate.of}, {low:.2f}–{high:.2f})"


if __name__ == "__main__":
    sys.exit(main())
