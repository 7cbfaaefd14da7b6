"""Running headers and footers, page numbers and printed page labels (pure)."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from retrieval.documents.pdf.page import Line, Page

# Only what stands this near to the top or bottom can run, as a share of the page's height.
BAND = 0.16
POSITION_SLACK_POINTS = 6.0
_DIGITS = re.compile(r"\d+")
_ROMAN_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
_ROMAN = r"[ivxlc]{1,6}"
_PAGE_NUMBER = re.compile(
    rf"^[\s\-–—|]*(?:(?:page|pg\.?|p\.)\s*)?((?:[A-Z]{{1,2}}[-.–])?\d{{1,4}}(?:[.\-–]\d{{1,3}})?|{_ROMAN})"
    rf"(?:\s*(?:of|/)\s*\d{{1,4}})?[\s\-–—|]*$",
    re.IGNORECASE,
)
_NUMBER_WITHIN = re.compile(
    r"(?:\bpage\s+([\w.\-–]+?)(?:\s+of\s+\d+)?\s*$)|(?:^page\s+([\w.\-–]+)(?:\s+of\s+\d+)?\b)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Running:
    """What runs over the pages.

    Attributes:
        lines: (page index, position in that page's lines) of every line to leave out.
        labels: page index → printed label.
    """

    lines: frozenset[tuple[int, int]]
    labels: dict[int, str]


def running_of(pages: Sequence[Page], in_tables: Mapping[int, Collection[int]]) -> Running:
    """Find running lines: the same text, digits aside, at the same height on several pages.

    Its first occurrence stays where it is set like a heading: it may be the title. Page numbers go even where
    there is one page only.

    Args:
        in_tables: page index → positions of its lines that stand in a table of more than a header or footer.
    """
    found: dict[tuple[str, str], list[tuple[int, int, Line]]] = defaultdict(list)
    numbers: list[tuple[int, int, Line]] = []
    with_text = sum(1 for page in pages if page.lines)
    for page in pages:
        for place, line in enumerate(page.lines):
            side = _side(page, line)
            if side is None or place in in_tables.get(page.index, ()):
                continue
            found[side, _masked(line.text)].append((page.index, place, line))
            if _PAGE_NUMBER.match(line.text):
                numbers.append((page.index, place, line))
    needed = 2 if with_text <= 4 else max(3, round(0.2 * with_text))
    gone: set[tuple[int, int]] = set()
    body = body_size(pages)
    for (_, text), places in found.items():
        for cluster in _by_height(places):
            if len({page for page, _, _ in cluster}) < needed or not text:
                continue
            cluster.sort(key=lambda entry: entry[:2])
            first = cluster[0]
            keep_first = first[0] == pages[0].index and (first[2].style.bold or first[2].style.size >= 1.12 * body)
            gone.update((page, place) for page, place, _ in cluster[1 if keep_first else 0 :])
    by_index = {page.index: page for page in pages}
    counted = [entry for entry in numbers if _is_outermost(by_index[entry[0]], entry[2])]
    gone.update((page, place) for page, place, _ in _counting(counted))
    return Running(frozenset(gone), _labels(pages, gone))


def _counting(numbers: Sequence[tuple[int, int, Line]]) -> list[tuple[int, int, Line]]:
    """Return the page numbers: those that say 'page', that are the page's index, or that count on over pages.

    A lone number at the top of a page may as well be the number of the guideline.
    """
    shifts: Counter[int] = Counter()
    values: list[int | None] = []
    for page, _, line in numbers:
        match = _PAGE_NUMBER.match(line.text)
        value = _last_number(match[1]) if match else None
        values.append(None if value is None else value - page)
    shifts.update(value for value in values if value is not None)
    kept: list[tuple[int, int, Line]] = []
    for entry, shift in zip(numbers, values, strict=True):
        says_page = entry[2].text.strip().lower().startswith(("page", "pg", "p."))
        if says_page or shift == 0 or (shift is not None and shifts[shift] >= 2):
            kept.append(entry)
    return kept


def _last_number(label: str) -> int | None:
    digits = _DIGITS.findall(label)
    if digits:
        return int(digits[-1])
    total = 0
    values = [_ROMAN_VALUES.get(sign, 0) for sign in label.lower()]
    for value, after in zip(values, [*values[1:], 0], strict=True):
        total += -value if value < after else value
    return total or None


def _side(page: Page, line: Line) -> str | None:
    if line.box.middle_y < BAND * page.height:
        return "top"
    if line.box.middle_y > (1 - BAND) * page.height:
        return "bottom"
    return None


def _masked(text: str) -> str:
    masked = _DIGITS.sub("#", " ".join(text.lower().split()))
    return re.sub(rf"\bpage {_ROMAN}\b", "page #", masked)


def _by_height(places: Sequence[tuple[int, int, Line]]) -> list[list[tuple[int, int, Line]]]:
    clusters: list[list[tuple[int, int, Line]]] = []
    for entry in sorted(places, key=lambda entry: entry[2].box.middle_y):
        if clusters and entry[2].box.middle_y - clusters[-1][-1][2].box.middle_y <= POSITION_SLACK_POINTS:
            clusters[-1].append(entry)
        else:
            clusters.append([entry])
    return clusters


def _is_outermost(page: Page, line: Line) -> bool:
    """Tell whether nothing stands further out than a page number, other than lines in the same band."""
    if line.box.middle_y < page.height / 2:
        return not any(other.box.y1 < line.box.y0 - 20 for other in page.lines)
    return not any(other.box.y0 > line.box.y1 + 30 for other in page.lines)


def body_size(pages: Sequence[Page]) -> float:
    sizes: Counter[float] = Counter()
    for page in pages:
        for line in page.lines:
            sizes[line.style.size] += len(line.text)
    return max(sizes, key=lambda size: (sizes[size], -size)) if sizes else 0.0


def _labels(pages: Sequence[Page], gone: set[tuple[int, int]]) -> dict[int, str]:
    """Return the printed labels that differ from the page's index."""
    found: dict[int, list[tuple[str, int | None, bool]]] = {page.index: [] for page in pages}
    shifts: Counter[int] = Counter()
    for page in pages:
        for place, line in enumerate(page.lines):
            if (page.index, place) not in gone:
                continue
            match = _PAGE_NUMBER.match(line.text) or _NUMBER_WITHIN.search(line.text)
            if match is not None:
                label = next(group for group in match.groups() if group)
                number = _last_number(label)
                shift = None if number is None else number - page.index
                found[page.index].append((label, shift, "page" in line.text.lower()))
        shifts.update({shift for _, shift, _ in found[page.index] if shift is not None})
    labels: dict[int, str] = {}
    for page in pages:
        printed = [
            label
            for label, shift, says_page in found[page.index]
            if says_page or (shift is not None and shifts[shift] >= 2)
        ]
        stated = page.label if page.label != str(page.index) else ""
        label = stated or next(iter(printed), "")
        if label and label != str(page.index):
            labels[page.index] = label
    return labels


def is_bold(pages: Sequence[Page]) -> bool:
    """Tell whether most of the text is bold, so that bold sets nothing apart."""
    bold = sum(len(line.text) for page in pages for line in page.lines if line.style.bold)
    return bold > 0.6 * sum(len(line.text) for page in pages for line in page.lines)
