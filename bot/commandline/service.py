"""`run`, `sandbox`, `selftest` and `completion`: the bot itself."""

from __future__ import annotations

import asyncio
import logging
import sys

import click

from bot.__main__ import Place
from bot.commandline.output import progress

log = logging.getLogger(__name__)


@click.command()
@click.pass_obj
def run(place: Place) -> None:
    """Run the bot on the configured Mattermost server until it is stopped."""
    import corpus
    from bot.app import folders_of, index_options, now_of, open_embedder, serve
    from bot.logs import configure
    from retrieval.errors import SettingError
    from retrieval.generations import Generations
    from retrieval.indexing import build

    settings = place.settings()
    configure(settings.operations)
    if not settings.mattermost.url:
        raise SettingError(
            'mattermost.url is not set. For example: [mattermost] url = "https://chat.example.org". '
            "To try the bot without a server: guideline-bot sandbox."
        )
    if any(folder.path.resolve().is_relative_to(corpus.HERE) for folder in folders_of(settings)):
        raise SettingError(
            "guidelines.folder: the sample corpus is invented and is not served on a real server. "
            "Name the folder with your own guidelines."
        )
    if Generations(place.data).current() is None:
        log.info("nothing has been indexed yet: the guidelines are indexed first")
        options, now = index_options(settings), now_of(settings)
        with progress() as update:
            build(folders_of(settings), place.data, open_embedder(settings, place.data), options, update, now=now)
    asyncio.run(serve(settings, place.data, config=place.config))


@click.command()
@click.option("--port", default=8065, show_default=True, help="Port of the chat page; 0 for any free one.")
@click.option("--ollama", default="", metavar="URL", help="Write with this Ollama, as http://127.0.0.1:11434.")
@click.pass_obj
def sandbox(place: Place, port: int, ollama: str) -> None:
    """Try the bot: a small local chat server with a page, and the bot in it."""
    from bot.logs import configure
    from bot.sandbox.trial import trial

    settings = place.settings()
    configure(settings.operations)
    with progress() as update:
        asyncio.run(trial(settings, place.data, port=port, ollama=ollama, progress=update, say=click.echo))


@click.command()
def selftest() -> None:
    """Index the sample triage manual, retrieve, answer and refuse, with no service and no model."""
    from bot.selftest import run_selftest

    outcomes = run_selftest()
    for outcome in outcomes:
        click.echo(f"{'PASS' if outcome.passed else 'FAIL'}  {outcome.what}")
    sys.exit(0 if all(outcome.passed for outcome in outcomes) else 1)


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the completion script for SHELL: eval "$(guideline-bot completion bash)"."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None, "click knows the three shells that the argument allows"
    click.echo(kind(ctx.find_root().command, {}, "guideline-bot", "_GUIDELINE_BOT_COMPLETE").source())
