"""What commands print: plain text, tables, JSON and progress."""

from __future__ import annotations

import json
import sys
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click

from bot.exchange import Result, Status, shown_text
from retrieval.found import Source, Verdict

EXIT_STATUS: dict[Status, int] = {"answered": 0, "refused": 1, "blocked": 1, "failed": 3}


def print_json(value: Any) -> None:
    """Print one JSON value on one line, readable as UTF-8."""
    click.echo(json.dumps(value, ensure_ascii=False))


def print_result(result: Result) -> None:
    """Print an answer or refusal for a person at a terminal."""
    if result.emergency:
        click.echo(f"{result.emergency}\n")
    if result.reading.read_as != result.question:
        click.echo(f"Read as: {result.reading.read_as}\n")
    text = shown_text(result)
    if text:
        click.echo(printable(text) + "\n")
    if result.reason:
        click.echo(result.reason + "\n")
    for note in result.notes:
        click.echo(f"Note: {note}")
    kept = [source for source in result.sources if source.kept]
    for source in kept if result.status == "answered" else ():
        click.echo(source_line(source))
    if result.nearest:
        click.echo("Nearest sections:")
        for source in result.nearest:
            click.echo(f"  {printable(source.passage.trail)}  score {source.scores.gate:.2f}")
    if result.verdict is not None:
        click.echo(f"Score needed: {result.verdict.min_score:.2f}")


def source_line(source: Source) -> str:
    """Return the line that names a source: tag, title › path, place, score, version."""
    passage = source.passage
    place = ""
    if passage.page is not None:
        place = f", page {passage.page_label or passage.page}"
    elif passage.lines is not None:
        first, last = passage.lines
        place = f", line {first}" if first == last else f", lines {first}–{last}"
    version = f", version {passage.metadata.version}" if passage.metadata.version else ""
    return printable(f"[{source.tag}] {passage.trail}{place}{version}  score {source.scores.gate:.2f}")


def print_candidates(sources: Sequence[Source], verdict: Verdict) -> None:
    """Print every candidate with its score parts, and the gate's reasoning."""
    for source in sources:
        scores = source.scores
        mark = "kept    " if source.kept else "rejected"
        click.echo(
            f"{source.tag:>4} {mark} gate {scores.gate:.3f}  blended {scores.blended:.3f}  "
            f"cosine {scores.cosine:.3f}  lexical {scores.lexical:.3f}  heading {scores.heading:.3f}"
        )
        click.echo(f"     {printable(source.passage.trail)}")
        if scores.parts:
            click.echo("     " + "  ".join(f"{name} {value:.3f}" for name, value in scores.parts.items()))
        if source.reason:
            click.echo(f"     {source.reason}")
    click.echo(
        f"\nGate: {'answer' if verdict.passed else 'refuse'}. {verdict.reason} "
        f"Best {verdict.best:.3f}, needed {verdict.min_score:.3f}."
    )


def printable(text: str) -> str:
    """Return text without characters that steer a terminal (a guideline or a question may hold any)."""
    return "".join(
        character if character in "\n\t" or unicodedata.category(character) not in ("Cc", "Cf") else "�"
        for character in text
    )


@contextmanager
def progress(shown: bool | None = None) -> Iterator[Callable[[str, int, int], None]]:
    """Draw a bar for each stage of a long run, on a terminal only.

    Yields:
        a function of (stage, done, total) that may be called as often as one likes.
    """
    if not (sys.stderr.isatty() if shown is None else shown):
        yield lambda _stage, _done, _total: None
        return
    from tqdm import tqdm

    bar: Any = None

    def update(stage: str, done: int, total: int) -> None:
        nonlocal bar
        if bar is None or bar.desc != f"{stage}: ":
            if bar is not None:
                bar.close()
            bar = tqdm(total=total, desc=stage, leave=True, file=sys.stderr, dynamic_ncols=True)
        bar.total = total
        bar.update(done - bar.n)

    try:
        yield update
    finally:
        if bar is not None:
            bar.close()
