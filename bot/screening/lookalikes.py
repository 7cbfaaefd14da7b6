"""Text as it is seen: look-alike characters made plain, invisible ones left out, places kept (pure).

A full-width digit, a no-break space or a zero-width character inside a number hides it from a pattern and not
from a reader.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

_PLAIN = str.maketrans(
    {
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d", "-"),
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u02b9\u02bc\u00b4\u0060\u2032\uff07", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u00ab\u00bb", '"'),
        **dict.fromkeys("\u2024\u3002\uff61", "."),
        **dict.fromkeys("\u2044\u2215", "/"),
    }
)


@dataclass(frozen=True, slots=True)
class Seen:
    """A text as it is seen.

    Attributes:
        text: plain.
        places: for each of its characters the place in the original, and at last the original's length.
    """

    text: str
    places: tuple[int, ...]

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Return the span in the original of a span that is not empty."""
        return self.places[start], self.places[end - 1] + 1


def seen(text: str) -> Seen:
    """Return the text with look-alikes made plain and invisible characters left out."""
    if text.isascii():
        return Seen(text, tuple(range(len(text) + 1)))
    characters: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        for plain in _plain(character):
            characters.append(plain)
            places.append(place)
    return Seen("".join(characters), (*places, len(text)))


def _plain(character: str) -> str:
    if character.isascii():
        return character
    category = unicodedata.category(character)
    # A soft hyphen is only seen at the end of a line.
    if category == "Cf" or "\ufe00" <= character <= "\ufe0f":
        return ""
    if category == "Zs":
        return " "
    if category == "Nd":
        return str(unicodedata.digit(character))
    if category in ("Mn", "Me"):
        return character
    if unicodedata.decomposition(character).startswith(
        ("<wide>", "<narrow>", "<font>", "<circle>", "<super>", "<sub>")
    ):
        return unicodedata.normalize("NFKC", character).translate(_PLAIN)
    return character.translate(_PLAIN)
