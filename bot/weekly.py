"""The weekly message for team leads: how many questions, what the guidelines lack, what wants reviewing (pure).

It is read by everyone in its channel, so it names no question and nobody: of refused questions only words that
several of them share, and of guidelines only those that every reader of the channel may see.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from bot.auditing.exchanges import Exchange
from bot.chart import Bar, bar_chart
from bot.display import display_line
from retrieval.entries import GuidelineEntry
from retrieval.terms import content_terms, is_content, stem, words

DAYS = 7
SERIES = ("answered", "refused", "other")
_SHOWN = 8
_SHARED_WORDS = 2
_LACKING = ("below_score", "fact_absent", "nothing_indexed")


@dataclass(frozen=True, slots=True)
class Lack:
    """A subject that several refused questions share.

    Attributes:
        words: those that most of them share, the most frequent first.
    """

    words: tuple[str, ...]
    questions: int


@dataclass(frozen=True, slots=True)
class Week:
    """What a week held.

    Attributes:
        days: each day, with how many were answered, refused, and came to something else.
        lacks: refused questions by what they share; `alone` are those that share nothing with another.
        thumbs_down: answers that somebody thinks ill of.
        past_review: titles of guidelines that are served past their review date.
        sections: (title and path, how often it was cited), most used first.
    """

    days: tuple[tuple[date, tuple[int, int, int]], ...]
    blocked: int
    lacks: tuple[Lack, ...]
    alone: int
    thumbs_up: int
    thumbs_down: int
    past_review: tuple[str, ...]
    sections: tuple[tuple[str, int], ...]

    @property
    def answered(self) -> int:
        return sum(counts[0] for _, counts in self.days)

    @property
    def refused(self) -> int:
        return sum(counts[1] for _, counts in self.days)

    @property
    def questions(self) -> int:
        return sum(sum(counts) for _, counts in self.days)


def week_of(
    exchanges: Iterable[Exchange],
    visible: Sequence[GuidelineEntry],
    until: datetime,
    may_repeat: Callable[[str], bool],
) -> Week:
    """Sum up the seven days before a moment.

    Args:
        visible: the guidelines that every reader of the message may see.
        until: an aware time; its time zone says what day it is. Its own day is not in the week.
        may_repeat: whether a text passes the screen for patient details.
    """
    zone = until.tzinfo or ZoneInfo("UTC")
    first = until.date() - timedelta(days=DAYS)
    counts = {first + timedelta(days=number): [0, 0, 0] for number in range(DAYS)}
    known = {entry.name: entry for entry in visible}
    cited: Counter[str] = Counter()
    readings = []
    blocked = up = down = 0
    for one in exchanges:
        day = datetime.fromtimestamp(one.outcome.at_ms / 1000, zone).date()
        if day not in counts or one.status in ("command", "dropped") or "command" in one.record:
            continue
        counts[day][{"answered": 0, "refused": 1}.get(one.status, 2)] += 1
        blocked += one.status == "blocked"
        up, down = up + bool(one.thumbs[0]), down + bool(one.thumbs[1])
        if one.status == "refused" and (one.record.get("gate") or {}).get("kind") in _LACKING:
            reading = str(one.texts.get("read_as", ""))
            readings.append(reading if may_repeat(reading) else "")
        for source in one.cited if one.status == "answered" else ():
            if source.get("guideline") in known:
                cited[" › ".join([str(source.get("title", "")), *map(str, source.get("path") or ())])] += 1
    lacks, alone = group(readings)
    return Week(
        tuple((day, (tally[0], tally[1], tally[2])) for day, tally in counts.items()),
        blocked,
        lacks,
        alone,
        up,
        down,
        tuple(sorted(entry.title for entry in visible if entry.served and entry.review == "past")),
        tuple(sorted(cited.items(), key=lambda item: (-item[1], item[0]))),
    )


def group(readings: Sequence[str]) -> tuple[tuple[Lack, ...], int]:
    """Group questions by the content words they share, largest group first.

    The word that most of the remaining questions share makes a group of them, until none is shared by two.

    Returns:
        the groups, and how many questions are in none.
    """
    left = [frozenset(content_terms(reading)) for reading in readings]
    shown = _as_written(readings)
    lacks = []
    while True:
        shared = Counter(term for terms in left for term in terms)
        if not shared:
            break
        term, most = min(shared.items(), key=lambda item: (-item[1], item[0]))
        if most < 2:
            break
        members = [terms for terms in left if term in terms]
        within = Counter(other for terms in members for other in terms)
        # Only words that two people used: one person's own words would tell what was asked.
        common = sorted((-count, other) for other, count in within.items() if count >= 2 and 2 * count >= len(members))
        names = [shown.get(other, other) for _, other in common[:_SHARED_WORDS]]
        lacks.append(Lack(tuple(names), len(members)))
        left = [terms for terms in left if term not in terms]
    return tuple(sorted(lacks, key=lambda lack: (-lack.questions, lack.words))), len(left)


def _as_written(readings: Iterable[str]) -> dict[str, str]:
    """Return for each stem the word that was written most often."""
    written: dict[str, Counter[str]] = {}
    for reading in readings:
        for word in words(reading):
            if is_content(word):
                written.setdefault(stem(word), Counter())[word] += 1
    return {term: min(forms.items(), key=lambda item: (-item[1], item[0]))[0] for term, forms in written.items()}


def week_text(week: Week) -> str:
    """Return the message, as Markdown."""
    first, last = week.days[0][0], week.days[-1][0]
    lines = [f"**Guideline Bot, {first:%d %b} to {last:%d %b %Y}**", ""]
    other = week.questions - week.answered - week.refused
    more = f", {other} other" if other else ""
    lines.append(
        f"{_counted(week.questions, 'question')}: {week.answered} answered, {week.refused} refused{more}"
        f"{f' ({week.blocked} held patient details)' if week.blocked else ''}. "
        f"👍 under {_counted(week.thumbs_up, 'answer')}, 👎 under {week.thumbs_down}."
    )
    if week.lacks or week.alone:
        lines += ["", "**Asked for and not in the guidelines**"]
        lines += [
            f"- {display_line(', '.join(lack.words))}: {_counted(lack.questions, 'question')}"
            for lack in week.lacks[:_SHOWN]
        ]
        rest = week.alone + sum(lack.questions for lack in week.lacks[_SHOWN:])
        lines += [f"- {'other' if week.lacks else 'different'} subjects: {rest}"] if rest else []
    if week.sections:
        lines += ["", "**Most used sections**"]
        lines += [f"- {display_line(trail)}: {count}" for trail, count in week.sections[:_SHOWN]]
    if week.past_review:
        lines += ["", f"**Past their review date ({len(week.past_review)})**"]
        lines += [f"- {display_line(title)}" for title in week.past_review[:_SHOWN]]
        rest = len(week.past_review) - _SHOWN
        lines += [f"- and {rest} more"] if rest > 0 else []
    return "\n".join(lines)


def week_chart(week: Week) -> bytes:
    """Return the picture of the week's days as a PNG file."""
    return bar_chart([Bar(f"{day:%a} {day.day}", counts) for day, counts in week.days], SERIES)


def chart_as_text(week: Week) -> str:
    """Return the same as a small table, for a server that takes no files."""
    most = max((sum(counts) for _, counts in week.days), default=0) or 1
    rows = []
    for day, counts in week.days:
        bar = "█" * counts[0] + "▒" * counts[1] + "░" * counts[2]
        scale = min(1.0, 30 / most)
        shown = "".join(char * round(bar.count(char) * scale) for char in "█▒░")
        rows.append(f"{day:%a %d}  {sum(counts):>4}  {shown}".rstrip())
    return "```\n" + "\n".join(rows) + "\n█ answered  ▒ refused  ░ other\n```"


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
