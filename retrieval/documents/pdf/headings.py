"""Which lines of a PDF are headings, and of what level (pure)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

MAX_CHARS = 130
MAX_LINES = 3
BIGGER = 1.12
BULLETS = "•●▪■◦‣➢❖·✓☐☑□▫❑◆►▶→⇒»*–—-"
_BULLET = re.compile(rf"^(?:[{re.escape(BULLETS)}]|o\s)")
_NUMBERED = re.compile(r"^(\d{1,2}(?:\.\d{1,2})*)[.)]?\s+(?=[^\W\d_])")
_LETTERED = re.compile(r"^(?:[A-Z]|[IVX]{1,4})[.)]\s+\S")
_DOSE = re.compile(
    r"\d\s*(?:mg|mcg|µg|μg|g|gm|grams?|kg|lbs?|ml|l|cc|units?|iu|meq|mmol|mmhg|joules?|j|%|min|minutes?|hours?|hrs?|days?|"
    r"weeks?|months?|years?|yrs?|bpm|drops|puffs?|tabs?|tablets?)\b",
    re.IGNORECASE,
)
_AGE_OR_WEIGHT_GROUP = re.compile(r"\d\s*(?:kg|lbs?|months?|years?|yrs?)\b", re.IGNORECASE)
_DATED = re.compile(
    r"\b(?:effective|revised|revision|reviewed?|approved|issued?|updated|version|date|supersedes|scope|expires?)\b.*(?:\d|:)",
    re.IGNORECASE,
)
_CAPTION = re.compile(r"^(?:table|figure|fig\.?|chart|box)\s*\d", re.IGNORECASE)
_NAMES_POPULATION = re.compile(
    r"^(?:.{1,60}[-–—:]\s*)?(?:adults?|p(?:a)?ediatrics?|child(?:ren)?|infants?|neonates?|pregnan\w+)"
    r"(?: patients?| dos\w+| treatment)?\W*$",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]{2,}")
_CONTENTS_ENTRY = re.compile(r"(?:\.\s*){4,}|[-_]{5,}|…")


@dataclass(frozen=True, slots=True)
class Look:
    """What decides whether a line is a heading.

    Attributes:
        size: in points.
        bold, underlined: from end to end.
        starts: nothing of the same sentence stands before it.
    """

    text: str
    size: float
    bold: bool
    underlined: bool
    starts: bool


def is_heading(look: Look, body: float) -> bool:
    """Tell whether a line is set and worded like a heading.

    It is bold or underlined from end to end or at least 1.12 times the size of the body; short; no bullet, no
    date line, no dose, no sentence and no entry of a table of contents.
    """
    text = look.text.strip()
    bigger = look.size >= BIGGER * body
    if not (bigger or look.bold or look.underlined) or not look.starts:
        return False
    if len(text) > MAX_CHARS or not _WORD.search(text) or _BULLET.match(text) or _CONTENTS_ENTRY.search(text):
        return False
    if text.endswith((".", ";", ",", "!")) and (not _NUMBERED.match(text) or len(text.split()) > 6):
        return False
    if text[0].islower() or (text[0] in "(*†‡§<>≤≥" and not look.bold):
        return False
    if _DATED.search(text) or _CAPTION.match(text):
        return False
    if _DOSE.search(text) and not (_AGE_OR_WEIGHT_GROUP.search(text) and look.bold and len(text) < 50):
        return look.size >= 1.4 * body
    if not (bigger or look.bold):
        # Underlined alone is weaker: it must end like a heading too.
        return text.endswith(":") or text.isupper()
    return True


def has_dose(text: str) -> bool:
    """Tell whether a number with a unit stands in the text."""
    return bool(_DOSE.search(text))


@dataclass(frozen=True, slots=True)
class HeadingStyle:
    """How a heading is set; orders by prominence, the most prominent first."""

    minus_size: float
    not_bold: bool
    not_capitals: bool
    underlined: bool

    @classmethod
    def of(cls, look: Look) -> HeadingStyle:
        return cls(-look.size, not look.bold, not look.text.isupper(), look.underlined)

    def key(self) -> tuple[float, bool, bool, bool]:
        return self.minus_size, self.not_bold, self.not_capitals, not self.underlined


def number_depth(text: str) -> int:
    """Return the depth of a heading's numbering: 2 for '3.1 Dose', 0 without a number."""
    match = _NUMBERED.match(text)
    return match[1].count(".") + 1 if match else 0


def levels_of(looks: Sequence[Look], known: Mapping[int, int]) -> list[int]:
    """Return a level for each heading, 1 the highest.

    Numbering sets the level among numbered headings, else the rank of the style. Where bookmarks know some
    levels, a style takes the level that they give it most often, and other styles stand below.

    Args:
        known: position in `looks` → level from the bookmarks.
    """
    styles = [HeadingStyle.of(look) for look in looks]
    ranked = sorted({style.key() for style in styles})
    rank = {key: number for number, key in enumerate(ranked)}
    depths = [number_depth(look.text) for look in looks]
    numbered = [rank[style.key()] for style, depth in zip(styles, depths, strict=True) if depth]
    top_numbered = min(numbered, default=0)
    voted = _voted(styles, {place: level for place, level in known.items() if not depths[place]})
    tops = [level - depths[place] for place, level in known.items() if depths[place]]
    above_numbered = max(set(tops), key=lambda top: (tops.count(top), top)) if tops else None
    deepest = max(known.values(), default=0)
    first_style = min((style.key() for style, depth in zip(styles, depths, strict=True) if depth == 1), default=None)
    levels: list[int] = []
    last: tuple[int, tuple[float, bool, bool, bool]] | None = None
    for place, (style, depth) in enumerate(zip(styles, depths, strict=True)):
        if place in known:
            levels.append(known[place])
        elif depth and above_numbered is not None:
            levels.append(above_numbered + depth)
        elif depth:
            levels.append(deepest + 10 * (top_numbered + 1) + depth)
        elif style.key() in voted:
            levels.append(voted[style.key()])
        else:
            levels.append(deepest + 10 * (rank[style.key()] + 1))
        if depth:
            last = (levels[-1], style.key())
        elif place not in known and last is not None:
            chapter = first_style is not None and style.key() <= first_style and last[1] != first_style
            if not chapter and style.minus_size >= last[1][0]:
                # Without a number, and set no larger: it stands within the numbered section above it.
                levels[-1] = max(levels[-1], last[0] + 1)
    return _within_populations(looks, levels)


def _within_populations(looks: Sequence[Look], levels: Sequence[int]) -> list[int]:
    """Return the levels with what is repeated for each population below its name.

    Where 'ADULT' and 'PEDIATRIC' are headings and 'ALS TREATMENT' stands below both, its second occurrence is
    for children however it is set; a path without the population would give a child an adult's dose.
    """
    names = [bool(_NAMES_POPULATION.match(look.text)) for look in looks]
    times = Counter(look.text.casefold().strip(" :") for look in looks)
    within = list(levels)
    scope: int | None = None
    for place, (look, is_name) in enumerate(zip(looks, names, strict=True)):
        if is_name:
            scope = levels[place]
        elif scope is not None and levels[place] <= scope:
            if times[look.text.casefold().strip(" :")] < 2:
                scope = None
            else:
                within[place] = scope + 1
        elif scope is not None:
            # What stood below a heading that went down goes down with it.
            within[place] = max(levels[place], scope + 2) if _went_down(levels, within, place) else levels[place]
    return within


def _went_down(levels: Sequence[int], within: Sequence[int], place: int) -> bool:
    """Tell whether the nearest heading above that is higher than this one was put lower."""
    for before in range(place - 1, -1, -1):
        if levels[before] < levels[place]:
            return within[before] != levels[before]
    return False


def _voted(styles: Sequence[HeadingStyle], known: Mapping[int, int]) -> dict[tuple[float, bool, bool, bool], int]:
    votes: dict[tuple[float, bool, bool, bool], list[int]] = {}
    for place, level in known.items():
        votes.setdefault(styles[place].key(), []).append(level)
    return {key: max(set(levels), key=lambda level: (levels.count(level), level)) for key, levels in votes.items()}
