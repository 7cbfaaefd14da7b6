"""The main job, watched from the chat: a mention becomes a cited reply in its thread, or an honest refusal."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from bot.ledger import Ledger
from bot.mattermost.client import MattermostClient
from bot.presence import Presence
from bot.sandbox import trial as trial_module
from bot.sandbox.server import SandboxServer
from bot.settings import IndexSettings, MattermostSettings, ScheduleSettings, Settings
from retrieval.errors import ServiceAway
from tests.doubles_ollama import OllamaServer, saying

PATIENCE_S = 60.0


class Room:
    """The sandbox with the bot in it, as people in a channel see it."""

    def __init__(self, server: SandboxServer) -> None:
        self.server = server
        self.happened = asyncio.Event()
        server.world.listeners.append(lambda _event: self.happened.set())

    async def ask(self, words: str, *, who: str = "ann") -> str:
        """Mention the bot in the triage channel and return its whole reply."""
        channel = self.server.channel("triage")["id"]
        question = self.server.post(who, channel, f"@guidebot {words}")
        async with asyncio.timeout(PATIENCE_S):
            while not (replies := self.replies(question["id"])):
                self.happened.clear()
                await self.happened.wait()
        return "\n".join(post["message"] for post in replies)

    def posts_with(self, message: str) -> list[dict[str, Any]]:
        return [post for post in self.server.world.posts.values() if post["message"] == message]

    def replies(self, root_id: str) -> list[dict[str, Any]]:
        posts = self.server.world.posts.values()
        return [
            post
            for post in posts
            if post["root_id"] == root_id
            and post["user_id"] == self.server.bot.id
            and post["props"].get("guideline_bot", {}).get("kind") == "reply"
        ]


def in_the_room(
    tmp_path: Path,
    embedder: str,
    scene: Callable[[Room], Awaitable[None]],
    monkeypatch: pytest.MonkeyPatch,
    ollama: OllamaServer | None = None,
) -> None:
    """Play a scene in the sandbox that `make run` starts, with an Ollama where one is given."""
    servers: list[SandboxServer] = []

    class Watched(SandboxServer):
        def __init__(self) -> None:
            super().__init__()
            servers.append(self)

    monkeypatch.setattr(trial_module, "SandboxServer", Watched)
    settings = Settings(
        index=IndexSettings(embedder=embedder),  # type: ignore[arg-type]
        schedule=ScheduleSettings(watch=False),
    )

    async def play() -> None:
        ollama_url = "" if ollama is None else await ollama.start()
        stop, online = asyncio.Event(), asyncio.Event()

        def say(line: str) -> None:
            if "Open http://127.0.0.1:" in line:
                online.set()

        running = asyncio.create_task(
            trial_module.trial(
                settings, tmp_path, port=0, ollama=ollama_url, progress=lambda *_: None, say=say, stop=stop
            )
        )
        waiting = asyncio.create_task(online.wait())
        await asyncio.wait({running, waiting}, return_when=asyncio.FIRST_COMPLETED, timeout=PATIENCE_S)
        assert online.is_set(), running
        try:
            await scene(Room(servers[0]))
        finally:
            stop.set()
            await running
            if ollama is not None:
                await ollama.stop()

    asyncio.run(play())


def test_a_mention_is_answered_in_its_thread_with_source_score_and_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scene(room: Room) -> None:
        reply = await room.ask("When must metformin be stopped because of the kidneys?")
        assert "If eGFR falls below 30 during treatment, stop metformin." in reply
        assert "S1" in reply
        assert "2. Kidney function and metformin" in reply
        assert "3.0" in reply
        refusal = await room.ask("How do I repair the photocopier?", who="ben")
        assert "score" in refusal.casefold()

    in_the_room(tmp_path, "hash", scene, monkeypatch)


def test_a_checked_answer_is_written_and_an_unsupported_one_is_never_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ollama = OllamaServer("llama3.1:8b")
    ollama.script += [
        saying("If eGFR falls below 30 during treatment, stop metformin. [S1]"),
        saying("If eGFR falls below 40 during treatment, continue metformin. [S1]"),
        saying("If eGFR falls below 40 during treatment, stop metformin. [S1]"),
    ]

    async def scene(room: Room) -> None:
        await ollama.until("loaded llama3.1:8b")
        written = await room.ask("When must metformin be stopped because of the kidneys?")
        assert "stop metformin. [S1]" in written
        (post,) = room.posts_with(written)
        assert "Metformin should not be started if eGFR is below 45." in str(post["props"]["attachments"])
        quoted = await room.ask("And when is metformin stopped because of the kidneys?", who="ben")
        assert "40" not in quoted
        assert "If eGFR falls below 30 during treatment, stop metformin." in quoted
        asked = len(ollama.chats())
        await room.ask("How do I repair the photocopier?", who="zoe")
        assert len(ollama.chats()) == asked, "the model is not called on a refusal"

    in_the_room(tmp_path, "hash", scene, monkeypatch, ollama)


@pytest.mark.model
def test_the_three_questions_of_the_readme_get_what_it_promises(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scene(room: Room) -> None:
        metformin = await room.ask("Can I start metformin with an eGFR of 40?")
        assert "Metformin should not be started if eGFR is below 45." in metformin
        hypo = await room.ask("What should I do about a hypo?")
        for sentence in (
            "A glucose below 70 mg/dL is low.",
            "Treat with 15 g of fast-acting carbohydrate and recheck after 15 minutes.",
            "Repeat if glucose is still below 70 mg/dL.",
            "Review any medicine that may have caused the low glucose.",
        ):
            assert sentence in hypo
        assert "hypo (hypoglycaemia, low blood glucose)" in hypo
        semaglutide = await room.ask("What dose of semaglutide should I start?")
        assert "Nearest sections" in semaglutide
        assert "[S1]" not in semaglutide

    in_the_room(tmp_path, "sentence-transformers", scene, monkeypatch)


def test_a_port_that_is_taken_is_one_clear_sentence(tmp_path: Path) -> None:
    async def play() -> None:
        other = SandboxServer()
        await other.start()
        try:
            with pytest.raises(ServiceAway, match="--port 0"):
                await trial_module.trial(
                    Settings(), tmp_path, port=other.port, ollama="", progress=lambda *_: None, say=lambda _: None
                )
        finally:
            await other.stop()

    asyncio.run(play())


def test_a_wrong_address_ends_the_start_with_a_sentence_that_names_it() -> None:
    settings = MattermostSettings(url="http://127.0.0.1:1", token=SecretStr("t"), start_within_s=3)
    waited: list[float] = []

    async def sleep(wait_s: float) -> None:
        waited.append(wait_s)

    class Nothing:
        def __getattr__(self, name: str) -> Any:
            raise AssertionError("nothing is touched before the server is there")

    async def play(place: Path) -> None:
        ledger = Ledger.open(place / "ledger.sqlite")
        client = MattermostClient(settings, SecretStr("t"), sleep=sleep)
        presence = Presence(
            client, Nothing(), ledger, Settings(mattermost=settings), screen=lambda text: Nothing(), sleep=sleep
        )
        try:
            with pytest.raises(ServiceAway, match=r"127\.0\.0\.1:1 cannot be reached"):
                await presence.start()
        finally:
            ledger.close()
            client.close()

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(play(Path(folder)))
    assert sum(waited) >= 3
