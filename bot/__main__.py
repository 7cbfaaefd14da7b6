"""The command line: `guideline-bot COMMAND`, also `python -m bot`.

Exit status: 0 done, 1 refused or falls short, 2 wrong use or configuration, 3 a service is away.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

# Before anything that might read them is imported: nothing may leave the machine.
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("ANONYMIZED_TELEMETRY", "False")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import click

if TYPE_CHECKING:
    from bot.settings import Settings

# command → module and function; a command's imports are paid for only when it runs.
_COMMANDS: Mapping[str, str] = {
    "run": "bot.commandline.service:run",
    "sandbox": "bot.commandline.service:sandbox",
    "index": "bot.commandline.indexing:index",
    "rollback": "bot.commandline.indexing:rollback",
    "guidelines": "bot.commandline.indexing:guidelines",
    "evaluate": "bot.commandline.evaluating:evaluate",
    "ask": "bot.commandline.asking:ask",
    "why": "bot.commandline.asking:why",
    "check": "bot.commandline.checking:check",
    "screen": "bot.commandline.checking:screen",
    "audit": "bot.commandline.auditing:audit",
    "setup": "bot.commandline.setting_up:setup",
    "backup": "bot.commandline.keeping:backup",
    "restore": "bot.commandline.keeping:restore",
    "doctor": "bot.commandline.examining:doctor",
    "selftest": "bot.commandline.service:selftest",
    "completion": "bot.commandline.service:completion",
}


@dataclass(frozen=True, slots=True)
class Place:
    """What the options before the command name."""

    config: Path | None
    data: Path

    def settings(self) -> Settings:
        """Read the settings; raises SettingError."""
        from bot.settings import load

        return load(self.config)


class _Commands(click.Group):
    """Imports a command when it is called, and turns our errors into one sentence and an exit status."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        target = _COMMANDS.get(cmd_name)
        if target is None:
            return None
        module, _, function = target.partition(":")
        command: click.Command = getattr(import_module(module), function)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        from retrieval.errors import ProductError

        try:
            return super().invoke(ctx)
        except ProductError as error:
            click.echo(f"guideline-bot: {error}", err=True)
            ctx.exit(error.exit_status)
        except BrokenPipeError:
            # The reader (head, less) went away; that is no error of ours.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(0)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "auto_envvar_prefix": None})
@click.option(
    "--config",
    type=click.Path(dir_okay=False, path_type=Path),
    envvar="GUIDELINE_BOT_CONFIG",
    help="Settings in TOML; every one can also come from the environment, GUIDELINE_BOT_GROUP_NAME.",
)
@click.option(
    "--data",
    type=click.Path(file_okay=False, path_type=Path),
    envvar="GUIDELINE_BOT_DATA",
    default=Path("guideline-bot-data"),
    show_default=True,
    help="Where index, cache and ledger live.",
)
@click.version_option(package_name="guideline-bot")
@click.pass_context
def main(ctx: click.Context, config: Path | None, data: Path) -> None:
    """Answer questions from your own guidelines, with citations, or say that they don't cover it.

    No medical device: it shows what the guidelines say.
    """
    ctx.obj = Place(config, data)


if __name__ == "__main__":
    main(prog_name="guideline-bot")
