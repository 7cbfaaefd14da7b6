"""Setting up: once, twice, and with everything that can be wrong."""

from __future__ import annotations

import asyncio
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from bot.sandbox.server import SandboxServer
from bot.settings import load, token_of
from bot.setup import Wanted, set_up
from retrieval.errors import ProductError, ServiceAway, WrongUse


class Office:
    """Runs a set-up against a sandbox, as the person at the terminal sees it."""

    def __init__(self, place: Path) -> None:
        self.place = place
        (place / "guidelines").mkdir()
        self.said: list[str] = []

    def wanted(self, url: str, **more: object) -> Wanted:
        values: dict[str, object] = {
            "url": url,
            "username": "nightbot",
            "channels": ("clinic/triage",),
            "folder": self.place / "guidelines",
            "config": self.place / "etc" / "bot.toml",
            "report_channel": "clinic/ward-3",
        }
        return Wanted(**(values | more))  # type: ignore[arg-type]

    def run(self, scene: Callable[[SandboxServer], None]) -> None:
        async def play() -> None:
            server = SandboxServer()
            await server.start()
            try:
                await asyncio.to_thread(scene, server)
            finally:
                await server.stop()

        asyncio.run(play())

    def set_up(self, server: SandboxServer, token: str = "", **more: Any) -> None:
        set_up(self.wanted(server.url, **more), SecretStr(token or server.token_of("admin")), self.said.append)


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return Office(tmp_path)


def test_it_makes_account_token_membership_and_a_configuration_that_loads(office: Office) -> None:
    def scene(server: SandboxServer) -> None:
        office.set_up(server)
        bot = server.user("nightbot")
        assert bot.is_bot
        for name in ("triage", "ward-3"):
            assert server.world.is_member(server.channel(name)["id"], bot.id)
        settings = load(office.place / "etc" / "bot.toml", {})
        found = server.world.user_of(token_of(settings.mattermost).get_secret_value())
        assert found is not None
        assert found.id == bot.id
        assert settings.mattermost.report_channel == "clinic/ward-3"

    office.run(scene)


def test_a_second_time_changes_nothing(office: Office) -> None:
    def scene(server: SandboxServer) -> None:
        office.set_up(server)
        files = {file.name: file.read_text() for file in (office.place / "etc").iterdir()}
        office.set_up(server)
        assert {file.name: file.read_text() for file in (office.place / "etc").iterdir()} == files
        assert any("works; it is kept" in line for line in office.said)

    office.run(scene)


def test_a_token_that_was_revoked_is_replaced(office: Office) -> None:
    def scene(server: SandboxServer) -> None:
        office.set_up(server)
        token_file = office.place / "etc" / "token"
        token_file.write_text("revoked\n")
        office.set_up(server)
        assert token_file.read_text() != "revoked\n"

    office.run(scene)


def test_what_it_writes_is_readable_by_its_owner_only_and_holds_no_administrator_s_token(office: Office) -> None:
    def scene(server: SandboxServer) -> None:
        office.set_up(server)
        for file in (office.place / "etc").iterdir():
            assert stat.S_IMODE(file.stat().st_mode) == 0o600
            assert server.token_of("admin") not in file.read_text()
        assert server.token_of("admin") not in "".join(office.said)

    office.run(scene)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"channels": ("clinic/nowhere",)}, "clinic/nowhere"),
        ({"channels": ("triage",)}, "team-name/channel-name"),
        ({"username": "ann"}, "person's account"),
        ({"folder": Path("/nowhere")}, "/nowhere"),
    ],
)
def test_what_is_wrong_is_named(office: Office, more: dict[str, Any], words: str) -> None:
    def scene(server: SandboxServer) -> None:
        with pytest.raises(WrongUse, match=words):
            office.set_up(server, **more)

    office.run(scene)


@pytest.mark.parametrize("who", ["nobody-at-all", "ann"])
def test_a_token_that_may_not_do_it_says_whose_is_needed(office: Office, who: str) -> None:
    def scene(server: SandboxServer) -> None:
        token = server.token_of(who) if who == "ann" else who
        with pytest.raises(ProductError, match="administrator") as caught:
            office.set_up(server, token=token)
        assert token not in str(caught.value)

    office.run(scene)


def test_a_server_that_is_away_is_exit_status_3(office: Office) -> None:
    with pytest.raises(ServiceAway):
        set_up(office.wanted("http://127.0.0.1:1"), SecretStr("x"), office.said.append)
