"""A small chart of stacked bars as a PNG, drawn here: a picture a week is worth no drawing library (pure).

PNG as in the W3C recommendation (third edition), true colour, one IDAT chunk, no filter.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

Colour = tuple[int, int, int]

COLOURS: tuple[Colour, ...] = ((46, 125, 90), (214, 140, 40), (150, 150, 150), (70, 110, 180))
_INK: Colour = (50, 50, 50)
_PAPER: Colour = (255, 255, 255)
_LINE: Colour = (215, 215, 215)

_SCALE = 2
_BAR, _GAP, _HEIGHT, _MARGIN = 44, 22, 180, 16
# Rows of each letter from the top; X is ink.
_GLYPHS = {
    "0": "XXX X.X X.X X.X XXX",
    "1": ".X. XX. .X. .X. XXX",
    "2": "XXX ..X XXX X.. XXX",
    "3": "XXX ..X .XX ..X XXX",
    "4": "X.X X.X XXX ..X ..X",
    "5": "XXX X.. XXX ..X XXX",
    "6": "XXX X.. XXX X.X XXX",
    "7": "XXX ..X ..X .X. .X.",
    "8": "XXX X.X XXX X.X XXX",
    "9": "XXX X.X XXX ..X XXX",
    "A": ".X. X.X XXX X.X X.X",
    "B": "XX. X.X XX. X.X XX.",
    "C": ".XX X.. X.. X.. .XX",
    "D": "XX. X.X X.X X.X XX.",
    "E": "XXX X.. XX. X.. XXX",
    "F": "XXX X.. XX. X.. X..",
    "G": ".XX X.. X.X X.X .XX",
    "H": "X.X X.X XXX X.X X.X",
    "I": "XXX .X. .X. .X. XXX",
    "J": "..X ..X ..X X.X .X.",
    "K": "X.X X.X XX. X.X X.X",
    "L": "X.. X.. X.. X.. XXX",
    "M": "X...X XX.XX X.X.X X...X X...X",
    "N": "X..X XX.X X.XX X..X X..X",
    "O": "XXX X.X X.X X.X XXX",
    "P": "XXX X.X XXX X.. X..",
    "Q": "XXX. X.X. X.X. XXX. ..XX",
    "R": "XX. X.X XX. X.X X.X",
    "S": ".XX X.. .X. ..X XX.",
    "T": "XXX .X. .X. .X. .X.",
    "U": "X.X X.X X.X X.X XXX",
    "V": "X.X X.X X.X X.X .X.",
    "W": "X...X X...X X.X.X XX.XX X...X",
    "X": "X.X X.X .X. X.X X.X",
    "Y": "X.X X.X .X. .X. .X.",
    "Z": "XXX ..X .X. X.. XXX",
    " ": "... ... ... ... ...",
}


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar.

    Attributes:
        label: below it; letters A to Z, digits and blanks are drawn.
        values: of each series, not negative.
    """

    label: str
    values: tuple[int, ...]


def bar_chart(bars: Sequence[Bar], series: Sequence[str]) -> bytes:
    """Draw stacked bars with their totals, labels and a legend, and return the PNG file.

    Args:
        bars: at least one, each with a value for every series.
        series: names, bottom first; as many as there are colours at most.
    """
    width = 2 * _MARGIN + len(bars) * (_BAR + _GAP) - _GAP
    legend_width = sum(_text_width(name) + 34 for name in series)
    width = max(width, legend_width + 2 * _MARGIN)
    line = 5 * _SCALE
    floor = _MARGIN + 2 * line + 16 + _HEIGHT
    canvas = _Canvas(width, floor + line + 2 * _MARGIN)
    left = _MARGIN
    for name, colour in zip(series, COLOURS, strict=False):
        canvas.fill(left, _MARGIN, 10, line, colour)
        canvas.write(left + 16, _MARGIN, name)
        left += _text_width(name) + 34
    most = max((sum(bar.values) for bar in bars), default=0) or 1
    canvas.fill(_MARGIN, floor, width - 2 * _MARGIN, 1, _LINE)
    for place, bar in enumerate(bars):
        left, top, below = _MARGIN + place * (_BAR + _GAP), floor, 0
        for value, colour in zip(bar.values, COLOURS, strict=False):
            # Heights come from running sums, so that rounding never moves the top.
            height = _scaled(below + value, most) - _scaled(below, most)
            top -= height
            below += value
            canvas.fill(left, top, _BAR, height, colour)
        total = str(sum(bar.values))
        canvas.write(left + (_BAR - _text_width(total)) // 2, top - line - 4, total)
        canvas.write(left + (_BAR - _text_width(bar.label)) // 2, floor + 8, bar.label)
    return canvas.png()


def _scaled(value: int, most: int) -> int:
    return round(_HEIGHT * value / most)


def _text_width(text: str) -> int:
    return sum((len(_GLYPHS.get(char, _GLYPHS[" "]).split()[0]) + 1) * _SCALE for char in text.upper())


class _Canvas:
    """Pixels, row by row."""

    def __init__(self, width: int, height: int) -> None:
        self.width = width
        self._rows = [bytearray(bytes(_PAPER) * width) for _ in range(height)]

    def fill(self, left: int, top: int, width: int, height: int, colour: Colour) -> None:
        left, right = max(left, 0), min(left + width, self.width)
        if right > left:
            for row in self._rows[max(top, 0) : max(top + height, 0)]:
                row[3 * left : 3 * right] = bytes(colour) * (right - left)

    def write(self, left: int, top: int, text: str) -> None:
        for char in text.upper():
            rows = _GLYPHS.get(char, _GLYPHS[" "]).split()
            for y, row in enumerate(rows):
                for x, ink in enumerate(row):
                    if ink == "X":
                        self.fill(left + x * _SCALE, top + y * _SCALE, _SCALE, _SCALE, _INK)
            left += (len(rows[0]) + 1) * _SCALE

    def png(self) -> bytes:
        header = struct.pack(">IIBBBBB", self.width, len(self._rows), 8, 2, 0, 0, 0)
        pixels = b"".join(b"\0" + bytes(row) for row in self._rows)
        chunks = (("IHDR", header), ("IDAT", zlib.compress(pixels, 9)), ("IEND", b""))
        return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, data) for name, data in chunks)


def _chunk(name: str, data: bytes) -> bytes:
    body = name.encode() + data
    return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))
