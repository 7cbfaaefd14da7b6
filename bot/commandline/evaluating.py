"""`evaluate`: retrieval, gate and quoting, measured on questions with known answers."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from bot.__main__ import Place
from bot.commandline.output import print_json, progress


@click.command()
@click.argument("questions", required=False, type=click.Path(dir_okay=False, path_type=Path))
@click.option("--field", default="question", show_default=True, help="The field that holds the question.")
@click.option(
    "--wanted", default=0.1, show_default=True, type=click.FloatRange(0, 1), help="Wanted rate of false answers."
)
@click.option("--details", type=click.Path(dir_okay=False, path_type=Path), help="Write one JSON line a question.")
@click.option("--report", type=click.Path(dir_okay=False, path_type=Path), help="Write an HTML report with plots.")
@click.option("--draft", is_flag=True, help="Print questions to start from, for a person to correct.")
@click.option("--count", default=60, show_default=True, help="How many to draft.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@click.pass_obj
def evaluate(
    place: Place,
    questions: Path | None,
    field: str,
    wanted: float,
    details: Path | None,
    report: Path | None,
    draft: bool,
    count: int,
    as_json: bool,
) -> None:
    """Measure on QUESTIONS, a file of JSON lines, and propose min_score."""
    from bot.app import open_library
    from bot.evaluating import draft_from, measure
    from retrieval.errors import WrongUse

    settings = place.settings()
    library = open_library(settings, place.data)
    if draft:
        for row in draft_from(library, count):
            click.echo(json.dumps(row, ensure_ascii=False))
        return
    if questions is None:
        raise click.UsageError("Name a file of questions, or make one: evaluate --draft > questions.jsonl")
    with progress() as update:
        measured = measure(library, questions, field, wanted, update)
    evaluation = measured.evaluation
    try:
        if details is not None:
            lines = (json.dumps(outcome.as_json(), ensure_ascii=False) + "\n" for outcome in evaluation.outcomes)
            details.write_text("".join(lines), encoding="utf-8")
        if report is not None:
            from retrieval.report import html_report

            page = html_report(
                evaluation,
                title=questions.name,
                made=datetime.now(),
                quoting=measured.quoting,
                embedder=library.embedder_identity,
            )
            report.write_text(page, encoding="utf-8")
    except OSError as error:
        raise WrongUse(f"{error.filename} cannot be written ({error.strerror}).") from None
    if as_json:
        quoting = [
            {
                "max_sentences": one.max_sentences,
                "lost": one.lost.hits,
                "of": one.lost.of,
                "mean_words": round(one.mean_words, 1),
            }
            for one in measured.quoting
        ]
        print_json({**evaluation.as_json(), "quoting": quoting})
    else:
        _print(evaluation.as_json())


def _print(figures: dict[str, Any]) -> None:
    def row(name: str, part: dict[str, Any]) -> None:
        cells = [f"{name:<24}{part['questions']:>6}"]
        for figure in ("hit_at_1", "hit_at_5", "mrr", "answered_rate", "false_answer_rate", "auroc"):
            value = part.get(figure)
            cells.append(f"{'–' if value is None else format(value, '.3f'):>10}")
        click.echo("".join(cells))

    click.echo(f"{'kind':<24}{'n':>6}{'hit@1':>10}{'hit@5':>10}{'MRR':>10}{'answered':>10}{'falsely':>10}{'AUROC':>10}")
    row("all", figures)
    for kind, part in figures["kinds"].items():
        row(kind, part)
    proposed = figures["proposed_min_score"]
    click.echo(
        f"\nmin_score now {figures['min_score']:.3f}; "
        + ("none proposed: there are no unanswerable questions" if proposed is None else f"proposed {proposed:.3f}")
    )
