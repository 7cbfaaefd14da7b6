"""`doctor`: what is wrong, and what to do."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import asdict

import click

from bot.__main__ import Place
from bot.commandline.output import print_json, printable

_MARKS = {True: "ok     ", False: "WRONG  ", None: "skipped"}


@click.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON array.")
@click.pass_obj
def doctor(place: Place, as_json: bool) -> None:
    """Check settings, folders, model, index, disk, ledger, Mattermost and Ollama; say what to do."""
    from bot.doctor import examine

    findings = asyncio.run(examine(place.settings(), place.data))
    if as_json:
        print_json([asdict(finding) for finding in findings])
    else:
        for finding in findings:
            click.echo(printable(f"{_MARKS[finding.well]}  {finding.what}: {finding.detail}"))
    sys.exit(0 if all(finding.well for finding in findings) else 1)
