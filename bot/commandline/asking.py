"""`ask` and `why`: one question at the command line, answered as the bot would."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import click

from bot.__main__ import Place
from bot.commandline.output import EXIT_STATUS, print_candidates, print_json, print_result
from bot.exchange import result_json, source_json, verdict_json
from retrieval.found import Filters


def _filtered(command: Any) -> Any:
    for option in (
        click.option("--guideline", default="", help="Only guidelines whose name or title holds this."),
        click.option("--section", default="", help='Only sections whose path holds this, as "Anxiety › Panic".'),
        click.option("--json", "as_json", is_flag=True, help="One JSON object."),
    ):
        command = option(command)
    return command


@click.command()
@click.argument("question")
@click.option("--mode", type=click.Choice(["written", "quoted"]), help="Write with the model, or quote.")
@_filtered
@click.pass_obj
def ask(place: Place, question: str, mode: Any, guideline: str, section: str, as_json: bool) -> None:
    """Answer QUESTION as the bot would. Exit status 1 when it is refused."""
    from bot.app import open_answerer

    async def answered() -> Any:
        async with open_answerer(place.settings(), place.data) as answerer:
            return await answerer.answer(question, mode=mode, filters=Filters(guideline, section))

    result = asyncio.run(answered())
    if as_json:
        print_json(result_json(result))
    else:
        print_result(result)
    sys.exit(EXIT_STATUS[result.status])


@click.command()
@click.argument("question")
@_filtered
@click.pass_obj
def why(place: Place, question: str, guideline: str, section: str, as_json: bool) -> None:
    """Show every candidate for QUESTION with its score parts, and the gate's reasoning."""
    from bot.app import open_library, screen_of

    settings = place.settings()
    screened = screen_of(settings)(question)
    if screened.blocked:
        kinds = sorted({detail.kind for detail in screened.details})
        reason = f"The question seems to hold {', '.join(kinds)}. It was not searched for: ask again without."
        if as_json:
            print_json({"question": "", "status": "blocked", "reason": reason, "details": kinds, "sources": []})
        else:
            click.echo(reason)
        sys.exit(EXIT_STATUS["blocked"])
    found = open_library(settings, place.data).search(screened.text, filters=Filters(guideline, section))
    if as_json:
        print_json(
            {
                "question": screened.text,
                "read_as": found.reading.read_as,
                "sources": [source_json(source) for source in found.sources],
                "gate": verdict_json(found.verdict),
                "generation": found.generation,
                "timings_ms": dict(found.timings_ms),
            }
        )
    else:
        if found.reading.read_as != found.reading.question:
            click.echo(f"Read as: {found.reading.read_as}\n")
        print_candidates(found.sources, found.verdict)
    sys.exit(0 if found.verdict.passed else 1)
