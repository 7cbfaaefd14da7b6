"""`setup`: a bot account, its token, its channels and a configuration, with an administrator's token used once."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from mattermostdriver import Driver
from mattermostdriver.endpoints.bots import Bots
from pydantic import SecretStr

from bot.mattermost.errors import MattermostError, MattermostRefused
from bot.mattermost.session import Session
from bot.mattermost.tls import trust_of
from bot.settings import MattermostSettings
from retrieval.errors import ServiceAway, SettingError, WrongUse

CONFIGURATION = """\
# Written by guideline-bot setup. Every setting: docs/settings.md.

[mattermost]
url = {url}
token_file = {token_file}
{ca_file}{report_channel}
[[guidelines.folder]]
path = {folder}

# [ollama]
# url = "http://127.0.0.1:11434"
# model = "llama3.1:8b"
"""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be set up.

    Attributes:
        url: of the server.
        username: of the bot account.
        channels: "team/channel" each; the bot is added to them and to their teams.
        folder: with the guidelines.
        config: the file to write; the token goes beside it.
        report_channel: one of `channels` or ""; where index reports go.
    """

    url: str
    username: str
    channels: tuple[str, ...]
    folder: Path
    config: Path
    ca_file: str = ""
    report_channel: str = ""

    @property
    def token_file(self) -> Path:
        return self.config.with_name("token")


def set_up(wanted: Wanted, admin_token: SecretStr, say: Callable[[str], None]) -> None:
    """Do what is still to be done, and say each step; safe to run again.

    Raises:
        SettingError, WrongUse: an address, a name or the administrator's token is wrong.
        ServiceAway: the server is away or its answer makes no sense.
    """
    settings = MattermostSettings(url=wanted.url, ca_file=wanted.ca_file)
    _check(wanted, settings)
    admin = _driver(settings, admin_token)
    try:
        _set_up(wanted, settings, admin, say)
    except MattermostRefused as error:
        if error.status in (401, 403):
            raise WrongUse(
                f"The server does not take the administrator's token for this ({error.id or error.status}). Use a "
                "system administrator's personal access token, and allow bot accounts and personal access tokens in "
                "the System Console under Integrations."
            ) from None
        raise
    finally:
        admin.client.close()


def _set_up(wanted: Wanted, settings: MattermostSettings, admin: Any, say: Callable[[str], None]) -> None:
    bot_id = _account(wanted, admin, say)
    _join(wanted, admin, bot_id, say)
    if _works(settings, wanted.token_file, bot_id):
        say(f"The token in {wanted.token_file} works; it is kept.")
    else:
        made = admin.users.create_user_access_token(bot_id, {"description": "guideline-bot"})
        _write_private(wanted.token_file, str(made["token"]) + "\n")
        say(f"A new token is in {wanted.token_file}, readable by its owner only.")
    if wanted.config.exists():
        say(f"{wanted.config} is there already; it is left as it is.")
    else:
        _write_private(wanted.config, configuration(wanted))
        say(f"The configuration is in {wanted.config}.")


def configuration(wanted: Wanted) -> str:
    """Return the text of the configuration file."""
    return CONFIGURATION.format(
        url=_toml(wanted.url),
        token_file=_toml(wanted.token_file.name),
        ca_file=f"ca_file = {_toml(str(Path(wanted.ca_file).resolve()))}\n" if wanted.ca_file else "",
        report_channel=f"report_channel = {_toml(wanted.report_channel)}\n" if wanted.report_channel else "",
        folder=_toml(str(wanted.folder.resolve())),
    )


def _check(wanted: Wanted, settings: MattermostSettings) -> None:
    if not urlsplit(settings.url).hostname:
        raise SettingError('The server\'s address is missing. For example: --url "https://chat.example.org".')
    if not wanted.folder.is_dir():
        raise WrongUse(f"{wanted.folder} is no folder: name the one with your guidelines, --folder DIR.")
    wrong = [one for one in (*wanted.channels, wanted.report_channel) if one and one.count("/") != 1]
    if wrong:
        raise WrongUse(f'"{wrong[0]}" is no channel: write team-name/channel-name, as in their addresses.')


def _driver(settings: MattermostSettings, token: SecretStr) -> Any:
    parts = urlsplit(settings.url)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    options = {
        "scheme": parts.scheme,
        "url": host,
        "port": parts.port or (443 if parts.scheme == "https" else 80),
        "basepath": parts.path.rstrip("/") + "/api/v4",
        "verify": trust_of(settings).verify,
        "secret": token,
        "timeouts": (settings.connect_timeout_s, settings.request_timeout_s),
    }
    return Driver(options, client_cls=Session)


def _account(wanted: Wanted, admin: Any, say: Callable[[str], None]) -> str:
    try:
        user = admin.users.get_user_by_username(wanted.username)
    except MattermostRefused as error:
        if error.status != 404:
            raise
        made = Bots(admin.client).create_bot(
            {
                "username": wanted.username,
                "display_name": "Guideline Bot",
                "description": "Answers from the organisation's guidelines",
            }
        )
        say(f"The bot account @{wanted.username} is made.")
        return _id(made, "user_id")
    if not user.get("is_bot"):
        raise WrongUse(f"@{wanted.username} is a person's account. Choose another name: --username NAME.")
    say(f"The bot account @{wanted.username} is there already.")
    return _id(user, "id")


def _join(wanted: Wanted, admin: Any, bot_id: str, say: Callable[[str], None]) -> None:
    for place in dict.fromkeys((*wanted.channels, *([wanted.report_channel] if wanted.report_channel else []))):
        team_name, _, channel_name = place.partition("/")
        try:
            team = admin.teams.get_team_by_name(team_name)
            admin.teams.add_user_to_team(_id(team, "id"), {"team_id": team["id"], "user_id": bot_id})
            channel = admin.channels.get_channel_by_name(team["id"], channel_name)
            admin.channels.add_user(_id(channel, "id"), {"user_id": bot_id})
        except MattermostRefused as error:
            if error.status == 404:
                raise WrongUse(
                    f'There is no channel "{place}": use the names in its address, .../TEAM/channels/CHANNEL.'
                ) from None
            raise
        say(f"The bot is in {place}.")


def _works(settings: MattermostSettings, token_file: Path, bot_id: str) -> bool:
    try:
        token = SecretStr(token_file.read_text(encoding="utf-8").strip())
    except (OSError, UnicodeDecodeError):
        return False
    own = _driver(settings, token)
    try:
        return bool(own.users.get_user("me").get("id") == bot_id)
    except MattermostError:
        return False
    finally:
        own.client.close()


def _id(raw: Any, name: str) -> str:
    if not isinstance(raw, dict) or not isinstance(raw.get(name), str):
        raise ServiceAway("What answers at this address does not speak as Mattermost does; check --url.")
    return str(raw[name])


def _toml(text: str) -> str:
    # A JSON string is a TOML basic string, but for the one escape that TOML lacks.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")


def _write_private(file: Path, text: str) -> None:
    """Write a file that only its owner may read, in one step."""
    draft = file.with_name(f".{file.name}.{os.getpid()}.new")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as out:
            out.write(text)
        draft.replace(file)
    except OSError as error:
        raise WrongUse(f"{file} cannot be written ({error.strerror}); choose another place with --config.") from None


def split_channels(names: Sequence[str]) -> tuple[str, ...]:
    """Return channel names given one by one or separated by commas."""
    return tuple(part.strip() for name in names for part in name.split(",") if part.strip())
