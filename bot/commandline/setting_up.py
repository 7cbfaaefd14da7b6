"""`setup`: bot account, token, channels and configuration."""

from __future__ import annotations

from pathlib import Path

import click
from pydantic import SecretStr

from bot.__main__ import Place


@click.command()
@click.option("--url", prompt="Address of your Mattermost, as https://chat.example.org", help="Your Mattermost.")
@click.option("--username", default="guidebot", show_default=True, help="Of the bot account.")
@click.option("--channel", "channels", multiple=True, help="team-name/channel-name that may ask; may be given again.")
@click.option("--report-channel", default="", help="team-name/channel-name where index reports go.")
@click.option(
    "--folder", prompt="Folder with your guidelines", type=click.Path(path_type=Path), help="With your guidelines."
)
@click.option("--ca-file", default="", help="Certificate of a private authority.")
@click.option(
    "--admin-token-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="File with a system administrator's access token; asked for otherwise. It is used once and not kept.",
)
@click.pass_obj
def setup(
    place: Place,
    url: str,
    username: str,
    channels: tuple[str, ...],
    report_channel: str,
    folder: Path,
    ca_file: str,
    admin_token_file: Path | None,
) -> None:
    """Make the bot account and write the configuration; safe to run again."""
    from bot.setup import Wanted, set_up, split_channels

    if admin_token_file is not None:
        token = admin_token_file.read_text(encoding="utf-8").strip()
    else:
        token = click.prompt("A system administrator's access token (used once, not kept)", hide_input=True)
    wanted = Wanted(
        url=url.rstrip("/"),
        username=username,
        channels=split_channels(channels),
        folder=folder,
        config=place.config or Path("bot.toml"),
        ca_file=ca_file,
        report_channel=report_channel,
    )
    set_up(wanted, SecretStr(token), click.echo)
    click.echo(f"Next: guideline-bot --config {wanted.config} doctor, then index, then run.")
