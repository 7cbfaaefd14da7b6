"""`check` and `screen`: the checker of answers and the screen for patient details, on JSON lines."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any, TypeGuard

import click

from bot.answering.checker import Report
from bot.commandline.output import print_json, printable
from retrieval.errors import WrongUse

_CHECK_EXAMPLE = '{"answer": "Give 5 mg [S1].", "sources": {"S1": "Give 5 mg."}}'
_SCREEN_EXAMPLE = '{"text": "What is the dose of amoxicillin?"}'


@click.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def check(as_json: bool) -> None:
    """Check written answers against their sources.

    Reads JSON lines {"answer", "sources": {"S1": text, …}, "question"?} from standard input and writes the
    checker's report for each. Exit status 1 when any answer has a problem.
    """
    from bot.answering.checker import check as report_on

    all_supported = True
    for place, entry in _entries(_CHECK_EXAMPLE):
        answer, sources = _text(entry, "answer", place, _CHECK_EXAMPLE), entry.get("sources")
        if not _is_texts(sources):
            raise _wrong(place, '"sources" must map each tag to its text', _CHECK_EXAMPLE)
        question = _text(entry, "question", place, _CHECK_EXAMPLE, default="")
        report = report_on(answer, sources, question=question)
        all_supported = all_supported and report.supported
        if as_json:
            print_json(_report_json(report))
        else:
            _print_report(place, report)
    sys.exit(0 if all_supported else 1)


@click.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def screen(as_json: bool) -> None:
    """Show the patient details that the screen finds.

    Reads JSON lines {"text"} from standard input and writes kind and place (characters, from 0, end excluded) of
    each detail, never the detail itself. The setting privacy.screen does not matter here.
    """
    from bot.privacy import find_details

    for place, entry in _entries(_SCREEN_EXAMPLE):
        details = find_details(_text(entry, "text", place, _SCREEN_EXAMPLE))
        if as_json:
            print_json({"details": [{"start": one.start, "end": one.end, "kind": one.kind} for one in details]})
        else:
            shown = "; ".join(f"{one.kind} at {one.start} to {one.end}" for one in details)
            click.echo(f"line {place}: {shown or 'no patient details'}")


def _entries(example: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield line number, from 1, and object of each line of standard input that is not blank."""
    for place, raw in enumerate(sys.stdin.buffer, start=1):
        # Errors name the line only: it may hold what must not be shown.
        try:
            line = raw.decode("utf-8-sig" if place == 1 else "utf-8")
            entry = json.loads(line) if line.strip() else None
        except UnicodeDecodeError:
            raise _wrong(place, "it is not UTF-8", example) from None
        except (ValueError, RecursionError):
            raise _wrong(place, "it is not JSON", example) from None
        if not line.strip():
            continue
        if not isinstance(entry, dict):
            raise _wrong(place, "it is not a JSON object", example)
        yield place, entry


def _text(entry: Mapping[str, Any], key: str, place: int, example: str, *, default: str | None = None) -> str:
    value = entry.get(key, default)
    if value is None and default is not None:
        return default
    if not isinstance(value, str):
        reason = f'"{key}" is missing' if key not in entry else f'"{key}" must be a string'
        raise _wrong(place, reason, example)
    return value


def _is_texts(sources: Any) -> TypeGuard[Mapping[str, str]]:
    return isinstance(sources, dict) and all(isinstance(text, str) for text in sources.values())


def _wrong(place: int, reason: str, example: str) -> WrongUse:
    return WrongUse(f"line {place} cannot be used: {reason}. A line looks like {example}")


def _report_json(report: Report) -> dict[str, Any]:
    return {
        "supported": report.supported,
        "sentences": [
            {
                "text": one.sentence,
                "cites": list(one.cites),
                "problems": [{"kind": kind, "detail": detail} for kind, detail in one.problems],
            }
            for one in report.sentences
        ],
    }


def _print_report(place: int, report: Report) -> None:
    click.echo(f"line {place}: {'supported' if report.supported else 'not supported'}")
    if not report.sentences:
        click.echo("  the answer holds no sentence")
    for one in report.sentences:
        click.echo(f"  {'ok     ' if not one.problems else 'problem'} {printable(one.sentence.strip())}")
        for kind, detail in one.problems:
            click.echo(f"          {kind}: {printable(detail)}")
