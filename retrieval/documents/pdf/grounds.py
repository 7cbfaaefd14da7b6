"""Coloured grounds of cells → the edges between them, for tables that are drawn without lines (pure)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from retrieval.documents.pdf.page import Box

WHITE = 0xFFFFFF
MIN_POINTS = 8.0
TOUCH_POINTS = 1.5
MAX_GROUNDS = 600


def edges_of(grounds: Sequence[tuple[Box, int]]) -> Iterator[Box]:
    """Yield the edges of filled rectangles as thin boxes.

    Rectangles of one colour that lie on top of each other are one ground: programs colour a cell line by line.

    Args:
        grounds: box and colour (0xRRGGBB) of each filled rectangle, in the order they are painted.
    """
    if len(grounds) > MAX_GROUNDS:
        return
    merged: list[tuple[Box, int]] = []
    for box, colour in sorted(grounds, key=lambda ground: (ground[1], ground[0].x0, ground[0].y0)):
        if colour == WHITE or box.width < MIN_POINTS:
            continue
        if merged and colour == merged[-1][1] and _continues(merged[-1][0], box):
            merged[-1] = (merged[-1][0].union(box), colour)
        else:
            merged.append((box, colour))
    for box, _ in merged:
        if box.height < MIN_POINTS:
            continue
        yield Box(box.x0, box.y0, box.x0, box.y1)
        yield Box(box.x1, box.y0, box.x1, box.y1)
        yield Box(box.x0, box.y0, box.x1, box.y0)
        yield Box(box.x0, box.y1, box.x1, box.y1)


def _continues(above: Box, box: Box) -> bool:
    return (
        abs(above.x0 - box.x0) <= TOUCH_POINTS
        and abs(above.x1 - box.x1) <= TOUCH_POINTS
        and box.y0 <= above.y1 + TOUCH_POINTS
    )
