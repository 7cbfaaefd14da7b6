"""When runs happen: gathered changes, missed nights, hours that come twice."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import corpus
from bot.reports import index_report
from bot.schedule import Gathering, Schedule, is_repeated_hour, run_index, was_missed
from bot.settings import ScheduleSettings


def test_changes_wait_until_the_folder_is_still_and_the_last_run_is_old_enough() -> None:
    gathering = Gathering(gather_s=900, quiet_s=30)
    assert not gathering.is_due(0)
    gathering = gathering.changed(100)
    assert not gathering.is_due(110), "a copy may be under way"
    assert gathering.is_due(130)
    gathering = gathering.ran(130)
    assert not gathering.is_due(5000), "nothing changed since"
    gathering = gathering.changed(200)
    assert not gathering.is_due(900)
    assert gathering.is_due(1030)


def test_a_folder_that_never_rests_is_indexed_all_the_same() -> None:
    gathering = Gathering(gather_s=900, quiet_s=30).ran(0)
    gathering = gathering.changed(1199)
    assert not gathering.is_due(1199)
    assert gathering.changed(1201).is_due(1201)


def test_a_night_that_passed_while_the_bot_was_down_was_missed() -> None:
    last = datetime(2026, 3, 1, 3, 0, tzinfo=UTC)
    assert not was_missed("15 2 * * *", "UTC", last, datetime(2026, 3, 2, 2, 0, tzinfo=UTC))
    assert was_missed("15 2 * * *", "UTC", last, datetime(2026, 3, 2, 2, 15, tzinfo=UTC))
    assert was_missed("15 2 * * *", "UTC", None, last)


def test_the_cron_line_is_read_in_its_time_zone() -> None:
    last = datetime(2026, 7, 1, 0, 30, tzinfo=UTC)  # 02:30 in Berlin
    assert not was_missed("15 2 * * *", "Europe/Berlin", last, datetime(2026, 7, 2, 0, 14, tzinfo=UTC))
    assert was_missed("15 2 * * *", "Europe/Berlin", last, datetime(2026, 7, 2, 0, 15, tzinfo=UTC))


def test_the_hour_that_comes_twice_in_autumn_runs_once() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    first = datetime(2026, 10, 25, 0, 30, tzinfo=UTC).astimezone(berlin)
    second = datetime(2026, 10, 25, 1, 30, tzinfo=UTC).astimezone(berlin)
    assert first.hour == second.hour == 2
    assert is_repeated_hour(first, second)
    assert not is_repeated_hour(first, datetime(2026, 10, 26, 1, 30, tzinfo=UTC).astimezone(berlin))
    assert not is_repeated_hour(None, first)


class Night:
    """A schedule whose index runs are scripted and whose messages are kept."""

    def __init__(self, summaries: list[Mapping[str, Any]]) -> None:
        self.summaries = summaries
        self.runs = 0
        self.told: list[str] = []
        self.now_s = 0.0
        self.files: object = "a"
        self.looks: list[float] = []
        self.hold: asyncio.Event | None = None
        self.schedule = Schedule(
            ScheduleSettings(watch_interval_s=30, gather_s=900),
            index=self.index,
            tell=self.tell,
            report=index_report,
            refresh=self.look,
            last_run=lambda: datetime.now(UTC),
            clock=lambda: self.now_s,
        )

    async def index(self) -> Mapping[str, Any]:
        self.runs += 1
        if self.hold is not None:
            await self.hold.wait()
        return self.summaries.pop(0)

    def look(self) -> object:
        self.looks.append(self.now_s)
        return self.files

    async def tell(self, text: str) -> None:
        self.told.append(text)


def test_a_change_leads_to_one_run_and_one_message() -> None:
    night = Night([{"added": ["new.md"], "passages": 3, "seconds": 1.0}])

    async def play() -> None:
        await night.schedule.start()
        night.files = "b"
        for night.now_s in (30.0, 60.0, 90.0, 120.0):
            await night.schedule.watch()
        await night.schedule.stop()

    asyncio.run(play())
    assert night.runs == 1
    assert night.told == ["Guideline index: 3 passages in 1 s.\n- added (1): `new.md`"]


def test_a_failed_run_is_told_and_the_next_one_still_happens() -> None:
    night = Night([{"error": "the folder /x is not there"}, {"passages": 3, "seconds": 2.0}])

    async def play() -> None:
        await night.schedule.nightly()
        await night.schedule.reindex(scheduled=True)

    asyncio.run(play())
    assert "last good index stays in use" in night.told[0]
    assert night.told[1] == "Guideline index: 3 passages in 2 s; nothing changed."


def test_a_file_name_cannot_ping_anyone_or_break_the_message() -> None:
    text = index_report({"failed": [{"file": "@all\n# x`.pdf", "reason": "page `1`\nbad", "page": 2}]}, False)
    assert text.count("`") == 2
    assert text.count("\n") == 1


def test_the_run_of_a_service_indexes_what_the_command_would(tmp_path: Path) -> None:
    """Nothing stands between them: a run that only fails would leave old doses answering for good."""
    shutil.copytree(corpus.GUIDELINES, tmp_path / "guide lines")
    config = tmp_path / "bot.toml"
    config.write_text('[index]\nembedder = "hash"\n[[guidelines.folder]]\npath = "guide lines"\n', encoding="utf-8")
    summary = asyncio.run(run_index(config, tmp_path / "data"))
    assert "error" not in summary
    assert sorted(summary["added"]) == ["behavioural-health-triage.md", "diabetes-protocol.md"]


def test_what_is_withdrawn_during_a_long_run_is_seen_before_it_ends() -> None:
    night = Night([{"passages": 3, "seconds": 900.0}])

    async def play() -> None:
        night.hold = asyncio.Event()
        await night.schedule.start()
        night.files = "b"
        for night.now_s in (30.0, 60.0, 90.0, 120.0, 150.0):
            await asyncio.wait_for(night.schedule.watch(), 5)
        night.hold.set()
        await night.schedule.stop()

    asyncio.run(play())
    assert night.runs == 1
    assert night.looks[-2:] == [120.0, 150.0]
