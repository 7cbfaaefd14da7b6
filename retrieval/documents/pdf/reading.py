"""The only module that speaks with pdfium: a file's pages as plain values.

pdfium is not safe in threads: everything here happens under one lock.
"""

from __future__ import annotations

import ctypes
import re
import threading
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from retrieval.documents.pdf.grounds import edges_of
from retrieval.documents.pdf.lines import lines_of
from retrieval.documents.pdf.ordering import in_reading_order
from retrieval.documents.pdf.outline import Entry
from retrieval.documents.pdf.page import Box, Char, Page, Style
from retrieval.documents.pdf.signs import or_equal
from retrieval.errors import DocumentError

Matrix = tuple[float, float, float, float, float, float]
Corners = tuple[float, float, float, float]
_LOCK = threading.RLock()
# Written by pdfium under the lock, and read at once.
_FONT_NAME = ctypes.create_string_buffer(128)
_FONT_FLAGS = ctypes.c_int()
# A path of more parts than this is a drawing.
MAX_PATH_PARTS = 400
MAX_PAGE_OBJECTS = 20_000
MAX_PAGE_CHARS = 200_000
MAX_PAGES = 5_000
END_WITHIN_BYTES = 8_192
RULE_MAX_POINTS = 3.0
# Letters that are wider than this on average, in heights, have a gap between them.
LETTER_WIDTH = 0.8
BOLD_WEIGHT = 600
_RUN = re.compile(r"[A-Za-z\u00c0-\u024f]{2,}|.", re.DOTALL)
_BOLD_NAMES = ("bold", "black", "heavy", "demi")
_ITALIC_NAMES = ("italic", "oblique")
# Symbol fonts have their signs in a private range of Unicode.
_SYMBOL_FONT = {
    0xF0A3: "≤", 0xF0B3: "≥", 0xF0B1: "±", 0xF06D: "μ", 0xF0B0: "°", 0xF0B4: "×", 0xF0AE: "→", 0xF0AC: "←",
    0xF0AD: "↑", 0xF0AF: "↓", 0xF0B9: "≠", 0xF0BB: "≈", 0xF061: "α", 0xF062: "β", 0xF067: "γ", 0xF044: "Δ",
    0xF03C: "<", 0xF03E: ">", 0xF03D: "=", 0xF02B: "+", 0xF02D: "−", 0xF025: "%", 0xF0B7: "•",
}  # fmt: skip
_DINGBATS = {
    0xF0B7: "•", 0xF0A7: "▪", 0xF0D8: "➢", 0xF076: "❖", 0xF0FC: "✓", 0xF0FE: "☑", 0xF0A8: "☐", 0xF06F: "□",
    0xF0E0: "→", 0xF0E8: "→", 0xF0F0: "→", 0xF0DF: "←", 0xF0E1: "↑", 0xF0E2: "↓", 0xF0A6: "▫", 0xF071: "❑",
    0xF06E: "■", 0xF06C: "●", 0xF0FB: "✗",
}  # fmt: skip
_ARROWS = {0xF0A6: "→", 0xF0A5: "←", 0xF0A7: "↑", 0xF0A8: "↓", 0xF068: "→", 0xF066: "←", 0xF067: "→", 0xF069: "↓"}


@contextmanager
def opened(data: bytes, name: str) -> Iterator[pdfium.PdfDocument]:
    """Open a PDF for this thread alone.

    Raises:
        DocumentError: it is damaged, truncated, or needs a password to be read.
    """
    if b"%%EOF" not in data[-END_WITHIN_BYTES:]:
        # pdfium would repair it and give the pages that are left, without a word of the others.
        raise DocumentError(name, "is a truncated PDF: its end is missing; put a whole copy in its place")
    with _LOCK:
        try:
            document = pdfium.PdfDocument(data)
        except pdfium.PdfiumError as error:
            raise DocumentError(name, _reason(error)) from None
        try:
            if len(document) == 0:
                raise DocumentError(name, "is a PDF without pages; put a whole copy in its place")
            if len(document) > MAX_PAGES:
                raise DocumentError(name, f"has more than {MAX_PAGES} pages; split it")
            yield document
        finally:
            document.close()


def properties_of(document: pdfium.PdfDocument) -> dict[str, str]:
    """Return the title in the document's properties, where it is one."""
    title = " ".join((document.get_metadata_value("Title") or "").replace("\x00", "").split())
    return {"title": title} if title else {}


def outline_of(document: pdfium.PdfDocument) -> tuple[Entry, ...]:
    """Return the bookmarks; an entry without a destination has page None."""
    entries: list[Entry] = []
    try:
        for mark in document.get_toc(max_depth=15):
            destination = mark.get_dest()
            index = destination.get_index() if destination is not None else None
            title = " ".join((mark.get_title() or "").replace("\x00", "").split())
            entries.append(Entry(mark.level + 1, title, None if index is None else index + 1))
            if len(entries) > MAX_PAGES:
                break
    except (pdfium.PdfiumError, RecursionError, ValueError):
        return ()
    return tuple(entries)


def pages_of(document: pdfium.PdfDocument, name: str) -> Iterator[Page]:
    """Read the pages one by one; a page that can't be read is an empty one with a warning."""
    for index in range(len(document)):
        try:
            page = document[index]
        except pdfium.PdfiumError:
            yield Page(
                index + 1, 0.0, 0.0, "", "", warnings=("is damaged and was not read; put a whole copy in its place",)
            )
            continue
        try:
            yield _page(document, page, index)
        finally:
            page.close()


def picture_of(document: pdfium.PdfDocument, index: int, dpi: int) -> bytes:
    """Return a page as a colour picture in the PPM format."""
    page = document[index - 1]
    try:
        bitmap = page.render(scale=dpi / 72, rev_byteorder=True, no_smoothtext=False)
        pixels = bitmap.to_numpy()[:, :, :3]
        height, width, _ = pixels.shape
        return b"P6 %d %d 255\n" % (width, height) + bytes(pixels.tobytes())
    finally:
        page.close()


def _reason(error: Exception) -> str:
    text = str(error).lower()
    if "password" in text:
        return "is protected by a password; save a copy without it"
    return "is a damaged PDF; open it in a PDF program and save it again"


def _page(document: pdfium.PdfDocument, page: pdfium.PdfPage, index: int) -> Page:
    turn = _Turn(page)
    label = (document.get_page_label(index) or "").strip()
    textpage = page.get_textpage()
    try:
        rules, grounds, drawn = _drawings(page, turn)
        walls = sorted(rule.middle_x for rule in (*rules, *grounds) if rule.height > rule.width)
        chars = _chars(textpage.raw, turn, walls)
        chars = or_equal(chars, rules)
        fonts = _Fonts(textpage.raw)
        lines = in_reading_order(tuple(lines_of(chars, index + 1, fonts.style)))
    finally:
        textpage.close()
    raw = "".join(char.text for char in chars)
    return Page(index + 1, turn.width, turn.height, label, raw, tuple(lines), tuple(rules), tuple(grounds), drawn)


class _Turn:
    """Turns pdfium's coordinates (origin bottom left, page as stored) into those of the page as it is read."""

    def __init__(self, page: pdfium.PdfPage) -> None:
        self.quarter = (page.get_rotation() // 90) % 4
        left, bottom, right, top = page.get_bbox()
        self.left, self.bottom, self.right, self.top = left, bottom, right, top
        across, up = right - left, top - bottom
        self.width, self.height = (up, across) if self.quarter % 2 else (across, up)

    def corners(self, left: float, bottom: float, right: float, top: float) -> Corners:
        """Return (x0, y0, x1, y1) of a box."""
        if self.quarter == 0:
            return left - self.left, self.top - top, right - self.left, self.top - bottom
        if self.quarter == 1:
            return bottom - self.bottom, left - self.left, top - self.bottom, right - self.left
        if self.quarter == 2:
            return self.right - right, bottom - self.bottom, self.right - left, top - self.bottom
        return self.top - top, self.right - right, self.top - bottom, self.right - left


def _chars(textpage: Any, turn: _Turn, walls: Sequence[float]) -> list[Char]:
    """Return the characters in the order of content; `walls`: where upright lines stand, from the left."""
    rectangle = pdfium_c.FS_RECTF()
    reference = ctypes.byref(rectangle)
    box_of = pdfium_c.FPDFText_GetLooseCharBox
    turned = turn.corners
    chars: list[Char] = []
    append = chars.append
    count = min(pdfium_c.FPDFText_CountChars(textpage), MAX_PAGE_CHARS)
    codes = _codes(textpage, count)
    text = "".join([chr(code) if code < 0x110000 else "\ufffd" for code in codes])
    for match in _RUN.finditer(text):
        first, end = match.span()
        run = match[0]
        if run <= " ":
            # Breaks and blanks part words; where they stand does not matter.
            append(Char(run, 0.0, 0.0, 0.0, 0.0, first))
            continue
        box_of(textpage, first, reference)
        x0, y0, x1, y1 = turned(rectangle.left, rectangle.bottom, rectangle.right, rectangle.top)
        if end - first > 1:
            # Letters side by side: the first and the last say where all of them are.
            box_of(textpage, end - 1, reference)
            a0, b0, a1, b1 = turned(rectangle.left, rectangle.bottom, rectangle.right, rectangle.top)
            wall = bisect_right(walls, x0 + 1)
            crossed = wall < len(walls) and walls[wall] < a1 - 1
            if crossed or a1 - x0 > LETTER_WIDTH * (end - first) * max(y1 - y0, 1.0):
                # Cells side by side may be stored without a blank between them: a box for each letter.
                for number in range(first, end):
                    box_of(textpage, number, reference)
                    corners = turned(rectangle.left, rectangle.bottom, rectangle.right, rectangle.top)
                    append(Char(text[number], *corners, number))
                continue
            x0, y0, x1, y1 = min(x0, a0), min(y0, b0), max(x1, a1), max(y1, b1)
        elif "\uf000" <= run <= "\uf0ff":
            run = _private(textpage, first, ord(run))
        append(Char(run, x0, y0, x1, y1, first))
    return chars


def _codes(textpage: Any, count: int) -> list[int]:
    """Return the code points of the first `count` characters."""
    buffer = (ctypes.c_ushort * (count + 1))()
    written = pdfium_c.FPDFText_GetText(textpage, 0, count, buffer)
    codes = list(buffer[: max(written - 1, 0)])
    if len(codes) == count and not any(0xD800 <= code < 0xE000 for code in codes):
        return codes
    # Characters without a code are left out there, and some take two places: one by one, then.
    return [pdfium_c.FPDFText_GetUnicode(textpage, number) for number in range(count)]


def _private(textpage: Any, index: int, code: int) -> str:
    name, _ = _font(textpage, index)
    if "wingdings3" in name.replace(" ", ""):
        table = _ARROWS
    else:
        table = _SYMBOL_FONT if "symbol" in name else _DINGBATS
    return table.get(code, chr(code))


def _font(textpage: Any, index: int) -> tuple[str, int]:
    """Return the lower-case name and the flags of a character's font."""
    size = pdfium_c.FPDFText_GetFontInfo(textpage, index, _FONT_NAME, 128, ctypes.byref(_FONT_FLAGS))
    return (_FONT_NAME.value.decode("utf-8", "ignore").lower() if 0 < size <= 128 else ""), _FONT_FLAGS.value


class _Fonts:
    """Tells the style of a line by its first and last letter."""

    def __init__(self, textpage: Any) -> None:
        self._textpage = textpage

    def style(self, first: Char, last: Char, size: float) -> Style:
        bold, italic = self._face(first.number)
        end = last.number + len(last.text) - 1
        if bold and end != first.number:
            bold = self._face(end)[0]
        return Style(round(size * 2) / 2, bold, italic)

    def _face(self, index: int) -> tuple[bool, bool]:
        name, flags = _font(self._textpage, index)
        heavy = pdfium_c.FPDFText_GetFontWeight(self._textpage, index) >= BOLD_WEIGHT
        bold = heavy or bool(flags & 0x40000) or any(word in name for word in _BOLD_NAMES)
        return bold, bool(flags & 0x40) or any(word in name for word in _ITALIC_NAMES)


def _drawings(page: pdfium.PdfPage, turn: _Turn) -> tuple[list[Box], list[Box], int]:
    """Return a page's level and upright lines, the edges of its grounds, and how many drawings it has."""
    rules: list[Box] = []
    grounds: list[tuple[Box, int]] = []
    drawn = 0
    identity = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
    waiting = [(pdfium_c.FPDFPage_GetObject(page.raw, n), identity) for n in range(_count(page))]
    waiting.reverse()
    while waiting and drawn < MAX_PAGE_OBJECTS:
        item, matrix = waiting.pop()
        kind = pdfium_c.FPDFPageObj_GetType(item)
        if kind == pdfium_c.FPDF_PAGEOBJ_IMAGE or kind == pdfium_c.FPDF_PAGEOBJ_SHADING:
            drawn += 1
        elif kind == pdfium_c.FPDF_PAGEOBJ_PATH:
            drawn += 1
            path = _Path.read(item, matrix)
            if path is not None:
                rules.extend(Box(*turn.corners(*corners)) for corners in path.rules())
                if path.is_ground():
                    grounds.append((Box(*turn.corners(*path.corners)), _colour(item)))
        elif kind == pdfium_c.FPDF_PAGEOBJ_FORM:
            inner = _times(_matrix(item), matrix)
            count = pdfium_c.FPDFFormObj_CountObjects(item)
            parts = [pdfium_c.FPDFFormObj_GetObject(item, n) for n in range(min(count, MAX_PAGE_OBJECTS))]
            waiting.extend((part, inner) for part in reversed(parts) if part)
    return rules, list(edges_of(grounds)), drawn


def _colour(item: Any) -> int:
    red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
    pdfium_c.FPDFPageObj_GetFillColor(
        item, ctypes.byref(red), ctypes.byref(green), ctypes.byref(blue), ctypes.byref(alpha)
    )
    return (red.value << 16) | (green.value << 8) | blue.value


def _count(page: pdfium.PdfPage) -> int:
    return min(int(pdfium_c.FPDFPage_CountObjects(page.raw)), MAX_PAGE_OBJECTS)


def _matrix(item: Any) -> Matrix:
    matrix = pdfium_c.FS_MATRIX()
    pdfium_c.FPDFPageObj_GetMatrix(item, ctypes.byref(matrix))
    return matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f


def _times(inner: Matrix, outer: Matrix) -> Matrix:
    a, b, c, d, e, f = inner
    g, h, i, j, k, m = outer
    return a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j, e * g + f * i + k, e * h + f * j + m


@dataclass(frozen=True, slots=True)
class _Path:
    """A path of straight lines: its corners (left, bottom, right, top), its points and how it is drawn."""

    corners: Corners
    points: tuple[tuple[float, float], ...]
    kinds: tuple[int, ...]
    filled: bool
    stroked: bool

    @classmethod
    def read(cls, item: Any, outer: Matrix) -> _Path | None:
        parts = pdfium_c.FPDFPath_CountSegments(item)
        if parts < 2 or parts > MAX_PATH_PARTS:
            return None
        a, b, c, d, e, f = _times(_matrix(item), outer)
        fill, stroke = ctypes.c_int(), ctypes.c_int()
        pdfium_c.FPDFPath_GetDrawMode(item, ctypes.byref(fill), ctypes.byref(stroke))
        x, y = ctypes.c_float(), ctypes.c_float()
        points: list[tuple[float, float]] = []
        kinds: list[int] = []
        for part in range(parts):
            segment = pdfium_c.FPDFPath_GetPathSegment(item, part)
            kinds.append(pdfium_c.FPDFPathSegment_GetType(segment))
            if kinds[-1] == pdfium_c.FPDF_SEGMENT_BEZIERTO:
                return None
            pdfium_c.FPDFPathSegment_GetPoint(segment, ctypes.byref(x), ctypes.byref(y))
            points.append((a * x.value + c * y.value + e, b * x.value + d * y.value + f))
        across, up = [px for px, _ in points], [py for _, py in points]
        corners = (min(across), min(up), max(across), max(up))
        return cls(corners, tuple(points), tuple(kinds), bool(fill.value), bool(stroke.value))

    @property
    def is_thin(self) -> bool:
        left, bottom, right, top = self.corners
        return right - left <= RULE_MAX_POINTS or top - bottom <= RULE_MAX_POINTS

    def is_ground(self) -> bool:
        """Tell whether it is a filled rectangle, such as the ground of a cell."""
        return self.filled and not self.is_thin and len(self.points) <= 6 and len(set(self.points)) == 4

    def rules(self) -> Iterator[Corners]:
        """Yield its level and upright lines."""
        if self.is_thin:
            if self.filled or self.stroked:
                yield self.corners
            return
        if not self.stroked:
            return
        start = self.points[0]
        for number, (point, kind) in enumerate(zip(self.points, self.kinds, strict=True)):
            if kind == pdfium_c.FPDF_SEGMENT_MOVETO:
                start = point
                continue
            yield from _level_or_upright(self.points[number - 1], point)
            closes = number + 1 == len(self.points) or self.kinds[number + 1] == pdfium_c.FPDF_SEGMENT_MOVETO
            if closes and point != start:
                yield from _level_or_upright(point, start)


def _level_or_upright(one: tuple[float, float], two: tuple[float, float]) -> Iterator[Corners]:
    (x0, y0), (x1, y1) = one, two
    if abs(x0 - x1) <= 1 or abs(y0 - y1) <= 1:
        yield min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)
