"""`backup` and `restore`."""

from __future__ import annotations

from pathlib import Path

import click

from bot.__main__ import Place


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.pass_obj
def backup(place: Place, file: Path) -> None:
    """Write ledger and index into FILE (tar.gz with checksums); the bot may run meanwhile."""
    from bot.backup import back_up

    size = back_up(place.data, file)
    click.echo(f"{file}: {size / 1e6:.1f} MB. Keep it apart from this machine, with the configuration and the token.")


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.pass_obj
def restore(place: Place, file: Path) -> None:
    """Put the backup FILE into an empty data directory."""
    import bot.backup

    bot.backup.restore(file, place.data)
    click.echo(f"{place.data} is as it was. Next: guideline-bot doctor.")
