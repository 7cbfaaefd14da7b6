"""When the guidelines are indexed again, and who is told.

Every night by a cron line; soon after files change, gathered so that at most one run starts in `gather_s`;
at the start when a nightly run was missed while the bot was down. The run is a process of its own at low
priority: the bot answers from the last generation until the next one is swapped in.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.cron import CronTrigger
from apscheduler.triggers.interval import IntervalTrigger

from bot.settings import ScheduleSettings

log = logging.getLogger(__name__)

NIGHTLY = "40 3 * * *"

IndexRun = Callable[[], Awaitable[Mapping[str, Any]]]
Tell = Callable[[str], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Gathering:
    """Decides when changes that were seen become a run (pure).

    Attributes:
        gather_s: shortest time between two runs that changes cause.
        quiet_s: how long the folders must have been still, so that a copy under way is not indexed half.
        last_run_s, changed_s: when the last run started and the last change was seen; None: never.
    """

    gather_s: float
    quiet_s: float
    last_run_s: float | None = None
    changed_s: float | None = None

    def changed(self, now_s: float) -> Gathering:
        return replace(self, changed_s=now_s)

    def ran(self, now_s: float) -> Gathering:
        """Forget the changes so far: the run that starts now sees them."""
        return replace(self, last_run_s=now_s, changed_s=None)

    def is_due(self, now_s: float) -> bool:
        if self.changed_s is None:
            return False
        rested = self.last_run_s is None or now_s - self.last_run_s >= self.gather_s
        # Folders that never rest are indexed all the same once gather_s has passed since the last run.
        still = now_s - self.changed_s >= self.quiet_s
        overdue = self.last_run_s is not None and now_s - self.last_run_s >= self.gather_s + 10 * self.quiet_s
        return rested and (still or overdue)


def was_missed(cron: str, timezone: str, last_run: datetime | None, now: datetime) -> bool:
    """Tell whether a run by this cron line should have happened since the last one (pure).

    Args:
        last_run, now: aware times; None: there has never been a run, which counts as missed.
    """
    if last_run is None:
        return True
    zone = ZoneInfo(timezone)
    due = CronTrigger.from_crontab(cron, timezone=zone).get_next_fire_time(None, last_run.astimezone(zone))
    return due is not None and due.astimezone(ZoneInfo("UTC")) <= now.astimezone(ZoneInfo("UTC"))


def is_repeated_hour(last_fired: datetime | None, now: datetime) -> bool:
    """Tell whether this is the same wall-clock minute as the last firing: clocks went back an hour (pure)."""
    if last_fired is None:
        return False
    same_minute = last_fired.replace(tzinfo=None, fold=0, second=0, microsecond=0) == now.replace(
        tzinfo=None, fold=0, second=0, microsecond=0
    )
    return same_minute and abs(now - last_fired) < timedelta(days=1) and last_fired.utcoffset() != now.utcoffset()


def index_command(config: Path | None, data: Path) -> list[str]:
    """Return the command line of an index run in a process of its own."""
    command = [sys.executable, "-m", "bot"]
    if config is not None:
        command += ["--config", str(config)]
    return [*command, "--data", str(data), "index", "--json", "--low-priority"]


async def run_index(config: Path | None, data: Path, environment: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Run the indexing in a process of its own at low priority and return its summary.

    Returns:
        what `index --json` prints, or {"error": sentence} when it failed.
    """
    process = await asyncio.create_subprocess_exec(
        *index_command(config, data),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, **(environment or {})},
    )
    try:
        output, complaint = await process.communicate()
    except asyncio.CancelledError:
        process.terminate()
        await process.wait()
        raise
    try:
        summary = json.loads(output.splitlines()[-1]) if output.strip() else None
    except (json.JSONDecodeError, UnicodeDecodeError):
        summary = None
    if isinstance(summary, dict):
        return summary
    words = complaint.decode("utf-8", "replace").strip().splitlines()
    return {"error": words[-1] if words else f"the index run ended with status {process.returncode}"}


class Schedule:
    """The jobs of a running bot.

    Args:
        index: does one index run and returns its summary.
        tell: posts one line to the team's channel.
        report: makes that line from a summary; "" when there is nothing to tell.
        refresh: looks at the folders; updates what is withdrawn and returns a value that changes whenever a
            file does. Called in a worker thread.
        last_run: when the last complete index run was.
        clock: seconds, monotonic.
        weekly: posts the weekly message; called where a channel for it is set.
        nightly: other work of the night: clearing the ledger.
    """

    def __init__(
        self,
        settings: ScheduleSettings,
        *,
        index: IndexRun,
        tell: Tell,
        report: Callable[[Mapping[str, Any], bool], str],
        refresh: Callable[[], object],
        last_run: Callable[[], datetime | None],
        clock: Callable[[], float],
        weekly: Callable[[], Awaitable[None]] | None = None,
        nightly: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._settings = settings
        self._index = index
        self._tell = tell
        self._report = report
        self._refresh = refresh
        self._last_run = last_run
        self._clock = clock
        self._weekly = weekly
        self._other_nightly = nightly
        self._gathering = Gathering(settings.gather_s, settings.watch_interval_s)
        self._seen: object = None
        self._last_fired: datetime | None = None
        self._running = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._scheduler = AsyncIOScheduler(
            timezone=ZoneInfo(settings.timezone),
            # A busy minute must not cost the night's run, nor several waiting ones run one after another.
            job_defaults={"misfire_grace_time": 3600, "coalesce": True, "max_instances": 1},
        )

    async def start(self) -> None:
        """Start the jobs; a nightly run that was missed starts now, in the background."""
        settings = self._settings
        zone = ZoneInfo(settings.timezone)
        self._seen = await asyncio.to_thread(self._refresh)
        self._scheduler.add_job(self.nightly, CronTrigger.from_crontab(settings.reindex_cron, timezone=zone))
        if settings.watch:
            self._scheduler.add_job(self.watch, IntervalTrigger(seconds=settings.watch_interval_s))
        if self._weekly is not None and settings.weekly_channel:
            self._scheduler.add_job(self._weekly, CronTrigger.from_crontab(settings.weekly_cron, timezone=zone))
        if self._other_nightly is not None:
            self._scheduler.add_job(self._other_nightly, CronTrigger.from_crontab(NIGHTLY, timezone=zone))
        self._scheduler.start()
        if was_missed(settings.reindex_cron, settings.timezone, self._last_run(), datetime.now(ZoneInfo("UTC"))):
            self.start_run(scheduled=True)

    def start_run(self, *, scheduled: bool = False) -> bool:
        """Start a run in the background; False when one is under way."""
        if self._running.locked():
            return False
        task = asyncio.create_task(self.reindex(scheduled=scheduled))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return True

    async def stop(self) -> None:
        """Stop the jobs; a run under way is ended, and the last generation stays."""
        if self._scheduler.running:
            self._scheduler.shutdown(wait=False)
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def nightly(self) -> None:
        """Index again and report."""
        now = datetime.now(ZoneInfo(self._settings.timezone))
        if is_repeated_hour(self._last_fired, now):
            return
        self._last_fired = now
        await self.reindex(scheduled=True)

    async def watch(self) -> None:
        """Look at the folders once; start a run when changes have been gathered."""
        try:
            seen = await asyncio.to_thread(self._refresh)
        except Exception as error:
            log.warning("The watched folders could not be looked at (%s); tried again.", type(error).__name__)
            return
        now_s = self._clock()
        if seen != self._seen:
            self._seen = seen
            self._gathering = self._gathering.changed(now_s)
        if self._gathering.is_due(now_s):
            # Not awaited: what is withdrawn during a long run must be seen meanwhile.
            self.start_run(scheduled=False)

    async def reindex(self, *, scheduled: bool) -> None:
        """Run the indexing once, unless a run is under way, and tell the channel what changed."""
        if self._running.locked():
            return
        async with self._running:
            self._gathering = self._gathering.ran(self._clock())
            summary = await self._index()
            text = self._report(summary, scheduled)
            if "error" in summary:
                log.error("The index run failed: %s", summary["error"])
            if text:
                try:
                    await self._tell(text)
                except Exception as error:
                    log.error("The index report could not be posted (%s).", type(error).__name__)
