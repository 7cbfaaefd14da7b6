"""`doctor`: is everything there that the bot needs, and what is to be done where it is not."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import socket
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from urllib.parse import urlsplit

from bot.app import LEDGER_FILE, folders_of, head_file_of, open_embedder, open_library, open_writer
from bot.mattermost.client import MattermostClient
from bot.settings import Settings, token_of
from retrieval.errors import ProductError

MOST_CLOCK_SKEW_S = 60.0
LEAST_FREE_BYTES = 2_000_000_000
OLDEST_INDEX_DAYS = 3
ROUND_TRIP_WITHIN_S = 15.0


@dataclass(frozen=True, slots=True)
class Finding:
    """What one look found.

    Attributes:
        what: what was looked at.
        well: it is as it should be; None when it could not be looked at because something before it is missing.
        detail: what was seen and, where it is not well, what to do.
    """

    what: str
    well: bool | None
    detail: str


async def examine(settings: Settings, data: Path) -> list[Finding]:
    """Look at everything, in the order in which things depend on each other. Nothing is changed."""
    findings = [Finding("settings", True, f"read and valid, fingerprint {settings.fingerprint()}")]
    findings += await asyncio.to_thread(_local, settings, data)
    findings += await _mattermost(settings)
    findings.append(await _ollama(settings))
    return findings


def _local(settings: Settings, data: Path) -> list[Finding]:
    return [
        _found("guideline folders", lambda: _folders(settings)),
        _found("embedding model", lambda: _embedding(settings, data)),
        _found("index", lambda: _index(settings, data)),
        _found("disk", lambda: _disk(data)),
        _found("ledger", lambda: _ledger(settings, data)),
    ]


class _Unwell(ProductError):
    """What a look found is not as it should be; the text says what to do."""


def _found(what: str, look: Callable[[], str]) -> Finding:
    try:
        return Finding(what, True, look())
    except ProductError as error:
        return Finding(what, False, str(error))
    except OSError as error:
        return Finding(what, False, f"{error.strerror or type(error).__name__}; check the disk and the permissions.")


async def _awaited(what: str, look: Callable[[], Awaitable[str]]) -> Finding:
    try:
        return Finding(what, True, await look())
    except ProductError as error:
        return Finding(what, False, str(error))
    except (OSError, TimeoutError) as error:
        return Finding(what, False, f"{type(error).__name__}: it did not answer; is it running?")


def _folders(settings: Settings) -> str:
    folders = folders_of(settings)
    for folder in folders:
        if not folder.path.is_dir():
            raise _Unwell(f"{folder.path} is no folder: mend guidelines.folder, or make it.")
        next(folder.path.iterdir(), None)
    return ", ".join(str(folder.path) for folder in folders)


def _embedding(settings: Settings, data: Path) -> str:
    embedder = open_embedder(settings, data)
    embedder.encode_question("hypo")
    return embedder.identity


def _index(settings: Settings, data: Path) -> str:
    from retrieval.generations import Generations

    library = open_library(settings, data)
    with contextlib.closing(library):
        served = sum(entry.served for entry in library.guidelines())
    last = Generations(data).last_run()
    age_days = (datetime.now(UTC) - last).days if last else None
    if age_days is None or age_days > OLDEST_INDEX_DAYS:
        raise _Unwell(f"The last index run was {age_days} days ago; run guideline-bot index and look at its report.")
    if not served:
        raise _Unwell("No guideline is served; see guideline-bot guidelines.")
    return f"generation {library.generation}, {served} guidelines served, last run {last:%Y-%m-%d %H:%M} UTC"


def _disk(data: Path) -> str:
    place = data if data.exists() else data.parent
    free = shutil.disk_usage(place).free
    if free < LEAST_FREE_BYTES:
        raise _Unwell(f"Only {free / 1e9:.1f} GB are free at {place}; an index run needs room for a second generation.")
    return f"{free / 1e9:.0f} GB free at {place}"


def _ledger(settings: Settings, data: Path) -> str:
    from bot.ledger import Ledger

    if not (data / LEDGER_FILE).exists():
        return "none yet; the bot makes it when it starts"
    ledger = Ledger.open(data / LEDGER_FILE)
    with contextlib.closing(ledger):
        seq, digest = ledger.head()
    head_file = head_file_of(settings, data)
    if head_file.exists():
        written = head_file.read_text(encoding="ascii").split()
        if written and int(written[0]) > seq:
            raise _Unwell(f"{head_file} knows of event {written[0]}, the ledger ends at {seq}: restore the ledger.")
    return f"{seq} events, head {digest[:12]}"


async def _mattermost(settings: Settings) -> list[Finding]:
    if not settings.mattermost.url:
        missing = 'mattermost.url is not set. For example: [mattermost] url = "https://chat.example.org".'
        return [Finding("Mattermost", False, missing)]
    parts = urlsplit(settings.mattermost.url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    findings = [await _awaited("name of the server", lambda: _resolved(parts.hostname or "", port))]
    if not findings[-1].well:
        return [*findings, Finding("Mattermost", None, "not looked at: its name cannot be looked up.")]
    try:
        client = MattermostClient(settings.mattermost, token_of(settings.mattermost))
    except ProductError as error:
        return [*findings, Finding("Mattermost", False, str(error))]
    with contextlib.closing(client):
        findings.append(await _awaited("clock", lambda: _clock(settings)))
        findings.append(await _awaited("token", lambda: _account(client)))
        if findings[-1].well:
            findings.append(await _awaited("channels", lambda: _channels(client, settings)))
            findings.append(await _awaited("websocket round trip", lambda: _round_trip(client)))
    return findings


async def _resolved(host: str, port: int) -> str:
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError:
        raise _Unwell(f"{host} cannot be looked up: mend mattermost.url, or the machine's DNS or hosts file.") from None
    return f"{host} is {found[0][4][0]}"


async def _clock(settings: Settings) -> str:
    """Compare our clock with the server's Date; this also is the first TLS connection."""
    import requests

    from bot.mattermost.tls import trust_of

    def ask() -> str:
        session = requests.Session()
        session.trust_env = False
        url = f"{settings.mattermost.url}/api/v4/system/ping"
        try:
            answer = session.get(
                url, verify=trust_of(settings.mattermost).verify, timeout=settings.mattermost.connect_timeout_s
            )
        except requests.exceptions.SSLError:
            raise _Unwell(
                "The server's certificate is not trusted: name your authority's file in mattermost.ca_file."
            ) from None
        except requests.RequestException as error:
            raise _Unwell(f"No connection to {settings.mattermost.url} ({type(error).__name__}).") from None
        return str(answer.headers.get("Date", ""))

    said = await asyncio.to_thread(ask)
    if not said:
        return "reached; the server does not tell its time"
    skew_s = time.time() - parsedate_to_datetime(said).timestamp()
    if abs(skew_s) > MOST_CLOCK_SKEW_S:
        raise _Unwell(f"This machine's clock is {skew_s:+.0f} s from the server's: set up time synchronisation.")
    return f"within {max(1.0, abs(skew_s)):.0f} s of the server's"


async def _account(client: MattermostClient) -> str:
    me = await client.connect()
    (user,) = await client.users([me.id]) or [{}]
    if not user.get("is_bot"):
        raise _Unwell(
            f"@{me.username} is no bot account, so other bots may take it for a person. "
            "Make one in Mattermost under Integrations › Bot Accounts and use its token."
        )
    server = me.server_version or "of unknown version"
    return f"@{me.username} on Mattermost {server}, posts up to {me.max_post_chars} characters"


async def _channels(client: MattermostClient, settings: Settings) -> str:
    teams = await client.teams()
    if not teams:
        raise _Unwell("The bot is in no team: add it to the team, then to the channels that may ask it.")
    channels = [one for one in await client.channels() if one.type in ("O", "P")]
    if not channels:
        raise _Unwell("The bot is in no channel: invite it with /invite @NAME where it may be asked.")
    report = settings.mattermost.report_channel
    if report:
        team, _, name = report.partition("/")
        await client.channel_named(team, name)
    return f"in {len(teams)} team(s) and {len(channels)} channel(s)"


async def _round_trip(client: MattermostClient) -> str:
    """Connect the stream and wait for the first probe to come back."""
    from bot.mattermost.websocket import EventStream

    connected = asyncio.Event()
    stream = EventStream(client, on_event=lambda _frame: None, on_gap=connected.set)
    running = asyncio.create_task(stream.run())
    try:
        async with asyncio.timeout(ROUND_TRIP_WITHIN_S):
            await connected.wait()
    except TimeoutError:
        why = stream.state.problem or "no hello came"
        raise _Unwell(
            f"The websocket does not work ({why}): let the proxy pass Upgrade headers to /api/v4/websocket."
        ) from None
    finally:
        running.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await running
    return "hello received"


async def _ollama(settings: Settings) -> Finding:
    if not settings.ollama.url:
        return Finding("Ollama", True, "none is set: answers are quoted")

    async def look() -> str:
        writer = open_writer(settings)
        assert writer is not None
        try:
            state = await writer.state()
        finally:
            await writer.close()
        if state.fallback and state.fallback != "loading":
            raise _Unwell(state.reason)
        loaded = "loaded" if state.loaded else "not loaded yet"
        return f"{state.model} ({state.digest[:12] or 'digest unknown'}), {loaded}"

    return await _awaited("Ollama", look)
