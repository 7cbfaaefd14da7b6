"""Trying the bot: the sandbox server, the sample corpus and the bot in one process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from pydantic import SecretStr

import corpus
from bot.app import index_options, now_of, open_embedder, serve
from bot.sandbox.server import BOT_NAME, SandboxServer
from bot.settings import Settings
from retrieval.errors import ServiceAway
from retrieval.indexing import Folder, build

Progress = Callable[[str, int, int], None]


def trial_settings(settings: Settings, url: str, token: str, ollama: str = "") -> Settings:
    """Return the settings with the sandbox as server and the sample corpus where no folder is set."""
    mattermost = settings.mattermost.model_copy(update={"url": url, "token": SecretStr(token), "token_file": ""})
    update: dict[str, object] = {"mattermost": mattermost}
    if not settings.guidelines.folder:
        sample = {"path": corpus.GUIDELINES}
        guidelines = settings.guidelines.model_dump() | {"folder": [sample]}
        guidelines["glossary"] = guidelines["glossary"] or str(corpus.GLOSSARY)
        update["guidelines"] = type(settings.guidelines).model_validate(guidelines)
    if ollama:
        update["ollama"] = type(settings.ollama).model_validate(settings.ollama.model_dump() | {"url": ollama})
    return settings.model_copy(update=update)


async def trial(
    settings: Settings,
    data: Path,
    *,
    port: int,
    ollama: str,
    progress: Progress,
    say: Callable[[str], None],
    stop: asyncio.Event | None = None,
) -> None:
    """Index what is new, start server and bot, and run until stopped.

    Args:
        port: of the chat page; 0 for any free one.
        ollama: URL of an Ollama to write with; "" as the settings say.
        progress: is told how far indexing is.
        say: prints a line.

    Raises:
        ServiceAway: the port is taken.
    """
    server = SandboxServer()
    try:
        url = await server.start(port=port)
    except OSError as error:
        raise ServiceAway(f"Port {port} cannot be opened ({error.strerror}). Choose another: --port 0.") from None
    try:
        own = trial_settings(settings, url, server.token_of(BOT_NAME), ollama)
        folders = tuple(Folder(one.path, one.base_url) for one in own.guidelines.folder)
        say("Indexing the guidelines ...")
        summary = await asyncio.to_thread(
            build, folders, data, open_embedder(own, data), index_options(own), progress, now=now_of(own)
        )
        say(f"{summary.passages} passages of {len(folders)} folder(s) are indexed.")
        environment = {
            "GUIDELINE_BOT_GUIDELINES_FOLDER": ",".join(str(folder.path) for folder in folders),
            "GUIDELINE_BOT_GUIDELINES_GLOSSARY": own.guidelines.glossary,
        }

        def ready() -> None:
            say(f"\nOpen {url} and mention the bot: @guidebot Can I start metformin with an eGFR of 40?")
            say("Stop with Ctrl-C.")

        await serve(own, data, environment=environment, ready=ready, stop=stop)
    finally:
        await server.stop()
