"""The screen: does a text hold details by which a patient could be recognised?

It looks before anything is stored, embedded, logged or sent to the model. It reports kinds and places, never
the detail itself. Two families of finders: numbers and contacts (`bot.identifiers`), and names (`bot.names`).
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

ScreenMode = Literal["block", "redact", "off"]

# `@name` in a chat addresses a colleague or the bot.
_MENTION = re.compile(r"(?<![\w@])@[\w][\w.-]*")


@dataclass(frozen=True, slots=True)
class Detail:
    """A patient detail: where it stands in the text (0-based, end excluded) and of what kind it is."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True)
class Screened:
    """What the screen made of a text.

    Attributes:
        text: the text to go on with: as it was, or in mode `redact` with each detail as "[kind]". In mode
            `block` with `blocked` set it is empty, so that it cannot be kept by mistake.
        details: in the order of the text, not overlapping.
        blocked: nothing may be done with the text.
    """

    text: str
    details: tuple[Detail, ...]
    blocked: bool

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of detail seen, each once, in the order of the text."""
        return tuple(dict.fromkeys(detail.kind for detail in self.details))


def screen(text: str, mode: ScreenMode = "block", names: Collection[str] = ()) -> Screened:
    """Look for identifiable patient details.

    Args:
        text: what a person wrote.
        mode: `block` stops the text, `redact` replaces what was found, `off` looks at nothing.
        names: names of colleagues (display names, user names) that may stand in a question.
    """
    if mode == "off":
        return Screened(text, (), False)
    details = find_details(text, names)
    if not details:
        return Screened(text, (), False)
    if mode == "redact":
        return Screened(_redacted(text, details), details, False)
    return Screened("", details, True)


def find_details(text: str, names: Collection[str] = ()) -> tuple[Detail, ...]:
    """Return every patient detail in a text, in order, overlapping ones joined under the first one's kind."""
    # Imported here: the lists of names are read only when something is screened.
    from bot.identifiers import find_identifiers
    from bot.names import find_names

    seen = _same_length(text)
    for mention in _MENTION.finditer(seen):
        seen = seen[: mention.start()] + " " * len(mention[0]) + seen[mention.end() :]
    found = [Detail(start, end, kind) for start, end, kind in (*find_identifiers(seen), *find_names(seen, names))]
    found.sort(key=lambda detail: (detail.start, -detail.end))
    joined: list[Detail] = []
    for detail in found:
        if joined and detail.start < joined[-1].end:
            last = joined[-1]
            joined[-1] = Detail(last.start, max(last.end, detail.end), last.kind)
        else:
            joined.append(detail)
    return tuple(joined)


def _same_length(text: str) -> str:
    """Return the text with look-alikes made plain, one character for one, so that places stay true."""
    plain = []
    for character in text:
        if character.isdigit() and not character.isascii():
            digit = _digit(character)
            plain.append(digit)
        elif character in "\u00a0\u2007\u2009\u202f\u3000":
            plain.append(" ")
        elif character in "\u2010\u2011\u2012\u2013\u2014\u2212\ufe63\uff0d":
            plain.append("-")
        elif character in "\u2018\u2019\u02bc\uff07":
            plain.append("'")
        elif character == "\uff20":
            plain.append("@")
        elif character in "\u200b\u200c\u200d\u2060\ufeff\u00ad":
            # Invisible: inside a number it would hide it. A separator that the finders allow takes its place.
            plain.append("\u2060")
        else:
            plain.append(character)
    return "".join(plain)


def _digit(character: str) -> str:
    import unicodedata

    value = unicodedata.digit(character, -1)
    return str(value) if 0 <= value <= 9 else character


def _redacted(text: str, details: tuple[Detail, ...]) -> str:
    parts, position = [], 0
    for detail in details:
        parts += [text[position : detail.start], f"[{detail.kind}]"]
        position = detail.end
    return "".join([*parts, text[position:]])
