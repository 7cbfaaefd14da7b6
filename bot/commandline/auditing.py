"""`audit`: what the ledger keeps, whether it is as it was written, and taking texts out of it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import sys
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import click

from bot.__main__ import Place
from bot.commandline.output import print_json, printable

if TYPE_CHECKING:
    from bot.auditing.affected import Affected
    from bot.auditing.exchanges import Exchange
    from bot.ledger import Ledger
    from bot.settings import Settings

_STATUSES = ("answered", "refused", "blocked", "failed", "declined", "dropped", "command", "purged")
_SHOWN_CHARS = 80

_as_json = click.option("--json", "as_json", is_flag=True, help="JSON.")
_since = click.option("--since", metavar="DAY", default="", help="Only from this day on, as 2026-03-01.")


@click.group()
def audit() -> None:
    """Look into the ledger, verify it, and take texts out of it."""


@audit.command("list")
@_since
@click.option("--status", type=click.Choice(_STATUSES), default=None, help="Only what came to this.")
@click.option("--guideline", default="", help="Only answers that cite a guideline whose name or title holds this.")
@_as_json
@click.pass_obj
def list_(place: Place, since: str, status: str | None, guideline: str, as_json: bool) -> None:
    """List the exchanges, oldest first."""
    from bot.auditing.exchanges import exchanges_of, select
    from bot.auditing.export import row_of, when

    settings = place.settings()
    with _ledger(settings, place.data) as ledger:
        exchanges = exchanges_of(ledger.events())
    since_ms = _since_ms(since, settings)
    found = select(exchanges, since_ms=since_ms, status=status or "", guideline=guideline)
    if as_json:
        print_json([{**row_of(one), "guidelines": list(one.guidelines)} for one in found])
        return
    for one in found:
        question = printable(" ".join(one.question.split()))
        question = question if len(question) <= _SHOWN_CHARS else f"{question[: _SHOWN_CHARS - 1]}…"
        up, down = one.thumbs
        marks = ("👍" * bool(up)) + ("👎" * bool(down))
        click.echo(f"{one.number:>7}  {when(one.outcome.at_ms)}  {one.status:<9} {question} {marks}".rstrip())
    click.echo(f"{len(found)} exchanges", err=True)


@audit.command()
@click.argument("id")
@_as_json
@click.pass_obj
def show(place: Place, id: str, as_json: bool) -> None:
    """Show everything that is known of an exchange, by its number or a post's id, beside the original files."""
    from bot.auditing.exchanges import exchanges_of, find
    from bot.auditing.originals import compare
    from bot.auditing.page import page_json, page_of
    from retrieval.errors import WrongUse

    settings = place.settings()
    with _ledger(settings, place.data) as ledger:
        found = find(exchanges_of(ledger.events()), id)
    if not found:
        raise WrongUse(f"The ledger holds no exchange {id}; guideline-bot audit list shows their numbers.")
    folders = _folders(settings)
    pages = [(one, compare(one.cited, one.texts.get("passages") or {}, folders)) for one in found]
    if as_json:
        print_json([page_json(*page) for page in pages])
    else:
        click.echo(printable(("\n\n" + "=" * 100 + "\n\n").join(page_of(*page) for page in pages)))


@audit.command()
@click.option(
    "--head",
    "heads",
    multiple=True,
    metavar="NUMBER:HASH",
    help="An event known from elsewhere, as posted in the channel of ledger.head_channel; may be given again.",
)
@_as_json
@click.pass_obj
def verify(place: Place, heads: tuple[str, ...], as_json: bool) -> None:
    """Verify that the ledger is as it was written. Exit status 1 when it is not."""
    from bot.app import head_file_of
    from bot.auditing.chain import Fault
    from bot.auditing.chain import verify as verified
    from bot.ledger import read_head

    settings = place.settings()
    head_file = head_file_of(settings, place.data)
    # The file first: what is written while this reads is then newer than it, never missing.
    in_file = read_head(head_file)
    known = [_head(text) for text in heads] + ([in_file] if in_file else [])
    with _ledger(settings, place.data) as ledger:
        result = verified(ledger.rows(), known)
        keeps_head = ledger.keeps_head()
    faults = list(result.faults)
    if in_file is None and keeps_head:
        state = "cannot be read" if head_file.exists() else "is missing"
        faults.append(Fault(result.head[0], f"{head_file} {state}: whether the end was cut off cannot be told"))
    if as_json:
        print_json(
            {
                "intact": not faults,
                "events": result.events,
                "taken_out": result.taken_out,
                "head": {"seq": result.head[0], "hash": result.head[1]},
                "known_head": {"seq": result.known_head[0], "hash": result.known_head[1]}
                if result.known_head
                else None,
                "faults": [{"seq": fault.seq, "what": fault.what} for fault in faults],
            }
        )
    else:
        for fault in faults:
            click.echo(printable(f"event {fault.seq}: {fault.what}"))
        state = "the ledger is as it was written" if not faults else "THE LEDGER IS NOT AS IT WAS WRITTEN"
        click.echo(f"{result.events} events, texts taken out of {result.taken_out}: {state}")
        click.echo(f"head {result.head[0]}:{result.head[1]}")
        if result.known_head is None and not faults:
            click.echo("No hash is known from elsewhere: whether the end was cut off cannot be told.", err=True)
    sys.exit(1 if faults else 0)


@audit.command()
@click.argument("guideline")
@click.option("--post", is_flag=True, help="Also say so in the threads of these answers, once.")
@_as_json
@click.pass_obj
def affected(place: Place, guideline: str, post: bool, as_json: bool) -> None:
    """List the answers that rest on passages of GUIDELINE which have changed since or were withdrawn."""
    from bot.app import open_library
    from bot.auditing.affected import Served, affected_by
    from bot.auditing.exchanges import exchanges_of

    settings = place.settings()
    library = open_library(settings, place.data)
    try:
        served = Served.of(library.guidelines(), library.passages())
    finally:
        library.close()
    with _ledger(settings, place.data, writes=post) as ledger:
        found = affected_by(exchanges_of(ledger.events()), guideline, served)
        told = asyncio.run(_tell(settings, found, ledger)) if post else None
    if as_json:
        print_json({"affected": [_affected_json(one) for one in found], "posted": told})
        return
    for one in found:
        click.echo(f"{one.exchange.number:>7}  {printable(' '.join(one.exchange.question.split()))}")
        for source in one.sources:
            trail = " › ".join((source.title, *source.path))
            version = f", version {source.version}" if source.version else ""
            click.echo(printable(f"         [{source.tag}] {source.change}: {trail}{version}"))
    click.echo(f"{len(found)} answers are affected", err=True)
    if told is not None:
        click.echo(f"told {told['told']} threads; {told['before']} knew, {told['gone']} are gone", err=True)


@audit.command()
@click.argument("file", type=click.Path(dir_okay=False, allow_dash=True, path_type=Path))
@click.option("--format", "form", type=click.Choice(["csv", "jsonl"]), default=None, help="By default from the name.")
@_since
@click.pass_obj
def export(place: Place, file: Path, form: str | None, since: str) -> None:
    """Write the ledger to FILE (- for standard output).

    csv: one line an exchange. jsonl: every event with its hashes, so that the chain can be verified elsewhere.
    """
    from bot.auditing.exchanges import exchanges_of, select
    from bot.auditing.export import csv_lines, json_lines
    from retrieval.errors import WrongUse

    settings = place.settings()
    since_ms = _since_ms(since, settings)
    form = form or ("csv" if file.suffix.casefold() == ".csv" else "jsonl")
    with _ledger(settings, place.data) as ledger:
        if form == "csv":
            lines = csv_lines(select(exchanges_of(ledger.events()), since_ms=since_ms))
        else:
            lines = json_lines(row for row in ledger.rows() if row["at_ms"] >= since_ms)
        if str(file) == "-":
            for line in lines:
                click.echo(line, nl=False)
            return
        try:
            # It holds what people asked: for its owner only.
            with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as out:
                out.writelines(lines)
        except OSError as error:
            raise WrongUse(f"{file} cannot be written ({error.strerror}).") from None


@audit.command()
@click.argument("id")
@_as_json
@click.pass_obj
def erase(place: Place, id: str, as_json: bool) -> None:
    """Take the texts of one exchange out of the ledger for good, by its number or a post's id.

    What is counted stays (status, scores, versions), and the chain stays verifiable. Posts are not touched.
    """
    from bot.auditing.clearing import erase as erased

    with _ledger(place.settings(), place.data, writes=True) as ledger:
        _print_cleared(erased(ledger, id), "erased", as_json)


@audit.command()
@click.option("--days", type=click.IntRange(1), default=None, help="Keep so many days; by default as set.")
@_as_json
@click.pass_obj
def purge(place: Place, days: int | None, as_json: bool) -> None:
    """Take everything older than ledger.retention_days out of the ledger for good; the chain stays verifiable."""
    from bot.auditing.clearing import purge as purged
    from retrieval.errors import SettingError

    settings = place.settings()
    kept_days = days or settings.ledger.retention_days
    if not kept_days:
        raise SettingError(
            "ledger.retention_days is 0: everything is kept for ever. For example: [ledger] retention_days = 730, "
            "or give --days 730."
        )
    with _ledger(settings, place.data, writes=True) as ledger:
        _print_cleared(purged(ledger, kept_days, time.time()), "purged", as_json)


@contextlib.contextmanager
def _ledger(settings: Settings, data: Path, *, writes: bool = False) -> Iterator[Ledger]:
    """Open the ledger that is there; only a command that writes touches the head file."""
    from bot.app import LEDGER_FILE, head_file_of
    from bot.ledger import Ledger
    from retrieval.errors import WrongUse

    path = data / LEDGER_FILE
    if not path.is_file():
        raise WrongUse(f"There is no ledger {path} yet; name the bot's data directory with --data DIR.")
    ledger = Ledger.open(path, head_file=head_file_of(settings, data) if writes else None)
    try:
        yield ledger
    finally:
        ledger.close()


def _since_ms(day: str, settings: Settings) -> int:
    if not day:
        return 0
    try:
        since = datetime.fromisoformat(day)
    except ValueError:
        raise click.UsageError(f"--since {day}: is no day; write it as 2026-03-01.") from None
    if since.tzinfo is None:
        since = since.replace(tzinfo=ZoneInfo(settings.schedule.timezone))
    return int(since.timestamp() * 1000)


def _head(text: str) -> tuple[int, str]:
    match = re.fullmatch(r"(\d{1,18})[:\s]([0-9a-f]{64})", text.strip())
    if match is None:
        raise click.UsageError(f"--head {text}: write NUMBER:HASH, as audit verify prints it.")
    return int(match[1]), match[2]


def _folders(settings: Settings) -> list[Path]:
    import corpus

    folders = [folder.path for folder in settings.guidelines.folder]
    return folders or [corpus.GUIDELINES]  # what the sandbox answers from


def _print_cleared(cleared: Any, what: str, as_json: bool) -> None:
    if as_json:
        record = {what: list(cleared.seqs), "said_in": cleared.said_in, "gone_from_disk": cleared.gone_from_disk}
        print_json(record)
        return
    if not cleared.gone_from_disk:
        click.echo("The ledger's write-ahead log still holds it: somebody is reading. Run this again.", err=True)
    if cleared.said_in is None:
        click.echo(f"Nothing to be {what}.")
    else:
        click.echo(f"{what} {len(cleared.seqs)} events; event {cleared.said_in} says so.")


async def _tell(settings: Settings, found: list[Affected], ledger: Ledger) -> dict[str, int]:
    from dataclasses import asdict

    from bot.auditing.notices import tell_threads
    from bot.mattermost.client import MattermostClient
    from bot.settings import token_of

    client = MattermostClient(settings.mattermost, token_of(settings.mattermost))
    try:
        await client.connect()
        return asdict(await tell_threads(found, ledger, client))
    finally:
        client.close()


def _affected_json(one: Affected) -> dict[str, Any]:
    exchange: Exchange = one.exchange
    return {
        "number": exchange.number,
        "question_id": exchange.question_id,
        "thread_id": exchange.outcome.thread_id,
        "question": exchange.question,
        "sources": [
            {
                "tag": source.tag,
                "guideline": source.guideline,
                "title": source.title,
                "path": list(source.path),
                "version": source.version,
                "version_now": source.version_now,
                "change": source.change,
            }
            for source in one.sources
        ],
    }
