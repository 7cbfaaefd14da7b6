"""The screen: does a text hold details by which a patient could be recognised?

It looks before anything is stored, embedded, logged or sent to the model. It reports kinds and places, never
the detail itself. Each family of details has its finder in `bot.screening`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from bot.screening.finding import KINDS, Finding

ScreenMode = Literal["block", "redact", "off"]

# `@name` in a chat addresses a colleague or the bot; a redacted text holds "[kind]".
_PASSED_OVER = re.compile(rf"(?<![\w@.])@\w[\w.\-]*(?![\w@])|\[(?:{'|'.join(KINDS)})\]")


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
    """Return every patient detail in a text, in order; overlapping ones are one, under the longest one's kind."""
    from bot.screening.lookalikes import seen

    plain = seen(text)
    found = [Finding(*plain.original(one.start, one.end), one.kind) for one in _found(plain.text, names)]
    details = _joined(found)
    # What stood in the way of another detail is gone once it is redacted: look again until nothing more is seen.
    while found:
        redacted, places = _with_places(text, details)
        plain = seen(redacted)
        found = []
        for one in _found(plain.text, names):
            start, end = plain.original(one.start, one.end)
            found.append(Finding(places[start], places[end - 1] + 1, one.kind))
        details = _joined([*details, *found])
    return tuple(Detail(*one) for one in details)


def _found(text: str, names: Collection[str]) -> Iterator[Finding]:
    # Imported here: patterns and lists of names are paid for only when something is screened.
    from bot.screening.addresses import find_addresses
    from bot.screening.births import birth_after, find_births
    from bot.screening.contacts import find_contacts
    from bot.screening.names import find_names
    from bot.screening.numbers import find_numbers

    text = _PASSED_OVER.sub(lambda match: " " * len(match[0]), text)
    for person in find_names(text, names):
        yield person
        birth = birth_after(text, person.end)
        if birth:
            yield birth
    for find in (find_numbers, find_births, find_addresses, find_contacts):
        yield from find(text)


def _joined(found: Iterable[Finding]) -> list[Finding]:
    joined: list[Finding] = []
    longest = 0
    for one in sorted(found, key=lambda finding: (finding.start, -finding.end)):
        if joined and one.start < joined[-1].end:
            last = joined[-1]
            kind = one.kind if one.end - one.start > longest else last.kind
            longest = max(longest, one.end - one.start)
            joined[-1] = Finding(last.start, max(last.end, one.end), kind)
        else:
            joined.append(one)
            longest = one.end - one.start
    return joined


def _redacted(text: str, details: Iterable[Detail]) -> str:
    return _with_places(text, [Finding(one.start, one.end, one.kind) for one in details])[0]


def _with_places(text: str, details: Iterable[Finding]) -> tuple[str, list[int]]:
    """Return the text with "[kind]" for each detail, and for each of its characters the place in `text`."""
    parts: list[str] = []
    places: list[int] = []
    position = 0
    for detail in details:
        kept, mark = text[position : detail.start], f"[{detail.kind}]"
        parts += [kept, mark]
        places += [*range(position, detail.start), *[detail.start] * (len(mark) - 1), detail.end - 1]
        position = detail.end
    parts.append(text[position:])
    places += range(position, len(text))
    return "".join(parts), places
