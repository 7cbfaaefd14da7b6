"""The weekly message: what it counts, whom it names (nobody), and that it is posted once with its picture."""

from __future__ import annotations

import asyncio
import struct
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from bot.auditing.chain import verify
from bot.auditing.exchanges import Exchange, exchanges_of
from bot.chart import COLOURS, Bar, bar_chart
from bot.housekeeping import CHART, Housekeeping
from bot.ledger import Ledger
from bot.sandbox.server import SandboxServer
from bot.settings import Settings
from bot.weekly import Lack, chart_as_text, group, week_chart, week_of, week_text
from retrieval.access import Viewer, may_see
from retrieval.entries import GuidelineEntry
from retrieval.guideline import Coverage, Metadata
from tests.doubles_mattermost import PATIENT, a_bot, bot_posts, screen, settings_for

MONDAY = datetime(2026, 11, 30, 8, 0, tzinfo=UTC)


def entry(name: str, title: str, *, review: Any = "ahead", audience: Sequence[str] = ()) -> GuidelineEntry:
    metadata = Metadata(title, audience=tuple(audience))
    return GuidelineEntry(name, metadata, True, "", 1, Coverage(), (), review, False)


class Days:
    """A ledger whose events are written on days of the week before MONDAY."""

    def __init__(self, tmp_path: Path) -> None:
        self.now = MONDAY - timedelta(days=7)
        self.ledger = Ledger.open(tmp_path / "days.sqlite", clock=lambda: self.now.timestamp())
        self.count = 0

    def ask(self, days_ago: float, status: str, read_as: str = "", **body: Any) -> str:
        self.now = MONDAY - timedelta(days=days_ago)
        self.count += 1
        id = f"q{self.count}"
        self.ledger.append("result", id, {"status": status, **body}, {"read_as": read_as, "question": read_as})
        return id

    def refuse(self, days_ago: float, read_as: str, kind: str = "below_score") -> str:
        return self.ask(days_ago, "refused", read_as, gate={"kind": kind})

    @property
    def exchanges(self) -> list[Exchange]:
        return exchanges_of(self.ledger.events())


def anything(_: str) -> bool:
    return True


def test_a_week_is_seven_whole_days_and_counts_each_question_once(tmp_path: Path) -> None:
    days = Days(tmp_path)
    days.ask(0.2, "answered")  # today
    days.ask(7.5, "answered")  # before
    for days_ago, status in ((1, "answered"), (1, "refused"), (2, "blocked"), (7, "answered"), (3, "failed")):
        days.ask(days_ago, status)
    days.ask(2, "answered", command="search")
    id = days.ask(4, "answered")
    days.ledger.append("feedback", id, {"person": "u", "says": "down", "added": True})
    week = week_of(days.exchanges, (), MONDAY, anything)
    assert [day for day, _ in week.days] == [date(2026, 11, 23) + timedelta(days=number) for number in range(7)]
    assert (week.questions, week.answered, week.refused, week.blocked) == (6, 3, 1, 1)
    assert (week.thumbs_up, week.thumbs_down) == (0, 1)
    assert dict(week.days)[date(2026, 11, 29)] == (1, 1, 0)


def test_refused_questions_are_grouped_by_the_words_that_they_share(tmp_path: Path) -> None:
    days = Days(tmp_path)
    for reading in (
        "How do I store insulin pens?",
        "insulin storage in summer",
        "Where is insulin stored?",
        "burn dressing for a hand",
        "Which dressing for burns?",
        "snake bites",
    ):
        days.refuse(2, reading)
    week = week_of(days.exchanges, (), MONDAY, anything)
    assert [(lack.words[0], lack.questions) for lack in week.lacks] == [("burn", 2), ("insulin", 3)][::-1]
    assert week.alone == 1
    text = week_text(week)
    assert "insulin" in text
    assert "snake" not in text, "what one person asked is nobody's business"
    assert "other subjects: 1" in text


@given(st.lists(st.lists(st.sampled_from(["insulin", "burns", "asthma", "rabies", "sepsis"]), max_size=4), max_size=8))
def test_every_refused_question_is_in_one_group_or_alone_and_no_word_is_one_persons_own(drawn: list[list[str]]) -> None:
    readings = [" ".join(words) for words in drawn]
    lacks, alone = group(readings)
    assert sum(lack.questions for lack in lacks) + alone == len(readings)
    for lack in lacks:
        assert lack.questions >= 2
        for word in lack.words:
            assert sum(word in reading.split() for reading in readings) >= 2


def test_a_reading_that_the_screen_would_stop_now_is_only_counted(tmp_path: Path) -> None:
    days = Days(tmp_path)
    for _ in range(2):
        days.refuse(2, f"{PATIENT} insulin")
    week = week_of(days.exchanges, (), MONDAY, lambda text: PATIENT not in text)
    assert week.lacks == ()
    assert week.alone == 2


def test_what_the_asker_filtered_out_is_no_lack_of_the_guidelines(tmp_path: Path) -> None:
    days = Days(tmp_path)
    for _ in range(2):
        days.refuse(1, "insulin", kind="filtered_out")
    assert week_of(days.exchanges, (), MONDAY, anything).lacks == ()


def test_sections_and_review_dates_of_guidelines_that_readers_may_not_see_are_left_out(tmp_path: Path) -> None:
    days = Days(tmp_path)
    for guideline, title in (("a.md", "Open"), ("a.md", "Open"), ("s.md", "Secret")):
        source = {"guideline": guideline, "title": title, "path": ["Dose"], "cited": True}
        days.ask(1, "answered", sources=[source, {**source, "path": ["Other"], "cited": False}])
    week = week_of(days.exchanges, [entry("a.md", "Open", review="past")], MONDAY, anything)
    assert week.sections == (("Open › Dose", 2),)
    assert week.past_review == ("Open",)
    assert "Secret" not in week_text(week)


def test_the_message_calls_nobody_whatever_a_title_holds(tmp_path: Path) -> None:
    week = week_of((), [entry("a.md", "@all **now** | x", review="past")], MONDAY, anything)
    assert "@all" not in week_text(week)


# --- the picture --------------------------------------------------------------------------------------------


def pixels(png: bytes) -> list[list[tuple[int, int, int]]]:
    """Decode what bar_chart makes, by the PNG recommendation."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    place, chunks = 8, []
    while place < len(png):
        size, name = struct.unpack(">I4s", png[place : place + 8])
        data = png[place + 8 : place + 8 + size]
        (crc,) = struct.unpack(">I", png[place + 8 + size : place + 12 + size])
        assert crc == zlib.crc32(name + data)
        chunks.append((name, data))
        place += 12 + size
    assert [name for name, _ in chunks] == [b"IHDR", b"IDAT", b"IEND"]
    width, height, depth, colour, *_ = struct.unpack(">IIBBBBB", chunks[0][1])
    assert (depth, colour) == (8, 2)
    raw = zlib.decompress(chunks[1][1])
    assert len(raw) == height * (1 + 3 * width)
    rows = []
    for y in range(height):
        row = raw[y * (1 + 3 * width) : (y + 1) * (1 + 3 * width)]
        assert row[0] == 0
        rows.append([tuple(row[1 + 3 * x : 4 + 3 * x]) for x in range(width)])
    return rows  # type: ignore[return-value]


def test_bars_are_as_high_as_what_they_count() -> None:
    rows = pixels(bar_chart([Bar("MON 1", (10, 5, 0)), Bar("TUE 2", (20, 10, 0)), Bar("WED 3", (0, 0, 0))], "abc"))

    def inked(colour: tuple[int, int, int], left: int) -> int:
        return sum(row[left] == colour for row in rows[40:])

    heights = [[inked(colour, left) for colour in COLOURS[:2]] for left in (40, 106, 172)]
    assert heights == [[60, 30], [120, 60], [0, 0]]


@given(st.lists(st.tuples(*[st.integers(0, 10_000)] * 3), min_size=1, max_size=9))
def test_any_week_gives_a_whole_picture(values: list[tuple[int, int, int]]) -> None:
    assert pixels(bar_chart([Bar("Sa 1", counts) for counts in values], ("answered", "refused", "other")))


def test_the_same_is_drawn_in_text_where_no_file_can_be_posted(tmp_path: Path) -> None:
    days = Days(tmp_path)
    for _ in range(90):
        days.ask(1, "answered")
    text = chart_as_text(week_of(days.exchanges, (), MONDAY, anything))
    assert "Sun 29    90  " + "█" * 30 in text
    assert max(len(line) for line in text.splitlines()) < 60


# --- posting ------------------------------------------------------------------------------------------------


class Shelf:
    def __init__(self, entries: Sequence[GuidelineEntry]) -> None:
        self.entries = entries

    def guidelines(self, viewer: Viewer) -> list[GuidelineEntry]:
        return [one for one in self.entries if may_see(one.metadata.audience, viewer)]


SHELF = Shelf([entry("a.md", "Open", review="past"), entry("s.md", "Secret", review="past", audience=["team:x"])])


def play(tmp_path: Path, scene: Callable[..., Any], *, server: SandboxServer | None = None, **ledger: Any) -> None:
    async def run() -> None:
        if server is not None:
            await server.start()
        async with a_bot(tmp_path, server=server) as (there, presence, _):
            settings = settings_for(there.url)
            place = f"{there.team['name']}/triage"
            settings = Settings.model_validate(
                {**settings.model_dump(), "schedule": {"weekly_channel": place}, "ledger": ledger}
            )
            house = Housekeeping(presence, SHELF, settings, screen, clock=lambda: MONDAY.timestamp())
            await scene(there, presence, house)
        if server is not None:
            await server.stop()

    asyncio.run(run())


def test_the_message_is_posted_once_with_its_picture_and_shows_nothing_hidden(tmp_path: Path) -> None:
    async def scene(server: SandboxServer, presence: Any, house: Housekeeping) -> None:
        await house.weekly()
        await house.weekly()
        (post,) = bot_posts(server)
        assert post["channel_id"] == server.channel("triage")["id"]
        assert "0 questions" in post["message"]
        assert "Open" in post["message"]
        assert "Secret" not in post["message"]
        (file_id,) = post["file_ids"]
        info, content = server.world.files[file_id]
        assert (info["name"], info["mime_type"]) == (CHART, "image/png")
        assert pixels(content)
        assert verify(presence.desk.ledger.ledger.rows()).intact
        assert exchanges_of(presence.desk.ledger.ledger.events()) == [], "it is no exchange"

    play(tmp_path, scene)


def test_a_server_that_takes_no_files_gets_the_picture_as_text(tmp_path: Path) -> None:
    @web.middleware
    async def refuse(request: web.Request, handler: Any) -> web.StreamResponse:
        if request.path.endswith("/files"):
            return web.json_response({"id": "api.file.attachments.disabled.app_error", "status_code": 501}, status=501)
        answered: web.StreamResponse = await handler(request)
        return answered

    async def scene(server: SandboxServer, presence: Any, house: Housekeeping) -> None:
        await house.weekly()
        (post,) = bot_posts(server)
        assert "█ answered" in post["message"]
        assert not post["file_ids"]

    play(tmp_path, scene, server=SandboxServer(middlewares=[refuse]))


def test_at_night_old_events_are_purged_and_the_head_is_posted(tmp_path: Path) -> None:
    async def scene(server: SandboxServer, presence: Any, house: Housekeeping) -> None:
        ledger = presence.desk.ledger.ledger
        old = Ledger.open(tmp_path / "ledger.sqlite", clock=lambda: (MONDAY - timedelta(days=31)).timestamp())
        old.append("result", "q1", {"status": "refused"}, {"question": "zanzibar"})
        old.close()
        seq, digest = 0, ""
        await house.nightly()
        (event,) = ledger.events(kinds=("purged",))
        assert ledger.events("q1")[0].texts is None
        (post,) = bot_posts(server)
        seq, digest = next((e.seq, e.hash) for e in ledger.events() if f"{e.seq}:{e.hash}" in post["message"])
        assert seq > event.seq
        assert verify(ledger.rows(), [(seq, digest)]).intact
        await house.nightly()
        assert len(bot_posts(server)) == 1

    play(tmp_path, scene, retention_days=30, head_channel="clinic/triage")


def test_a_channel_that_is_not_there_is_logged_and_stops_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def scene(server: SandboxServer, presence: Any, house: Housekeeping) -> None:
        await house.nightly()
        assert any("nightly work" in record.getMessage() for record in caplog.records)

    play(tmp_path, scene, head_channel="clinic/nowhere")


def test_a_quiet_week_says_so() -> None:
    week = week_of((), (), MONDAY, anything)
    assert week_text(week).startswith("**Guideline Bot, 23 Nov to 29 Nov 2026**")
    assert replace(week, lacks=(Lack(("x",), 2),)).questions == 0
    assert pixels(week_chart(week))
