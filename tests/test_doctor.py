"""The doctor says for each thing whether it is well, and what to do where it is not."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import SecretStr

import corpus
from bot.doctor import Finding, examine
from bot.sandbox.server import BOT_NAME, SandboxServer
from bot.settings import (
    FolderSettings,
    GuidelinesSettings,
    IndexSettings,
    MattermostSettings,
    OllamaSettings,
    Settings,
)
from retrieval.embedding import HashEmbedder
from retrieval.indexing import Folder, build


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    data = tmp_path_factory.mktemp("doctor") / "data"
    build([Folder(corpus.GUIDELINES)], data, HashEmbedder())
    yield data
    shutil.rmtree(data)


def settings_for(server: SandboxServer, token: str = "", **more: str) -> Settings:
    return Settings(
        mattermost=MattermostSettings(url=server.url, token=SecretStr(token or server.token_of(BOT_NAME)), **more),
        guidelines=GuidelinesSettings(folder=(FolderSettings(path=corpus.GUIDELINES),)),
        index=IndexSettings(embedder="hash"),
    )


def examined(data: Path, make: object, prepare: object = None) -> dict[str, Finding]:
    async def play() -> list[Finding]:
        server = SandboxServer()
        await server.start()
        try:
            if callable(prepare):
                prepare(server)
            assert callable(make)
            return await examine(make(server), data)
        finally:
            await server.stop()

    return {finding.what: finding for finding in asyncio.run(play())}


def test_a_bot_that_has_everything_is_well(indexed: Path) -> None:
    findings = examined(indexed, settings_for)
    assert {what for what, finding in findings.items() if not finding.well} == set()
    assert set(findings) >= {
        "settings", "guideline folders", "embedding model", "index", "disk", "ledger", "name of the server", "clock",
        "token", "channels", "websocket round trip", "Ollama",
    }  # fmt: skip
    assert f"@{BOT_NAME}" in findings["token"].detail


def test_a_wrong_token_is_named_and_never_shown(indexed: Path) -> None:
    findings = examined(indexed, lambda server: settings_for(server, "wrong-token-9876"))
    assert findings["token"].well is False
    assert "token" in findings["token"].detail
    assert "9876" not in str(findings)
    assert "channels" not in findings, "what needs the token is not looked at"


def test_a_person_s_account_is_no_bot(indexed: Path) -> None:
    findings = examined(indexed, lambda server: settings_for(server, server.token_of("ann")))
    assert "no bot account" in findings["token"].detail


def test_a_report_channel_that_is_not_there_is_named(indexed: Path) -> None:
    findings = examined(indexed, lambda server: settings_for(server, report_channel="clinic/nowhere"))
    assert findings["channels"].well is False


def test_an_empty_data_directory_says_how_to_index(tmp_path: Path) -> None:
    findings = examined(tmp_path / "data", settings_for)
    assert findings["index"].well is False
    assert "index" in findings["index"].detail


def test_a_server_and_an_ollama_that_are_away_are_named(indexed: Path) -> None:
    def away(_server: SandboxServer) -> Settings:
        return Settings(
            mattermost=MattermostSettings(url="http://127.0.0.1:1", token=SecretStr("x")),
            ollama=OllamaSettings(url="http://127.0.0.1:2"),
            index=IndexSettings(embedder="hash"),
        )

    findings = examined(indexed, away)
    assert findings["clock"].well is False
    assert "Ollama does not answer" in findings["Ollama"].detail
    assert "guidelines.folder" in findings["guideline folders"].detail
