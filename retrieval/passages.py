"""A guideline's section tree becomes passages: whole sections, or runs of whole blocks of long ones (pure)."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from retrieval.guideline import Block, BlockKind, Guideline, Passage

# A paragraph this short in front of a list or table introduces it and goes with its first item or row.
LEAD_IN_CHARS = 300


@dataclass(frozen=True, slots=True)
class Run:
    """Whole blocks that stand together, and the lead-in or header that is repeated in front of them."""

    repeated: tuple[Block, ...]
    own: tuple[Block, ...]


def passages_of(guideline: Guideline, max_chars: int) -> tuple[Passage, ...]:
    """Divide a guideline into passages, in reading order.

    A section's own blocks make one passage where they fit; otherwise they are divided between blocks, at the
    edge of a list or table where it fits whole. A run that begins inside a list or table starts with a copy
    of its lead-in sentence or header. A section without text of its own gives no passage; its heading stays
    in its children's paths.

    Args:
        guideline: with its section tree.
        max_chars: length that a passage should not exceed. A single longer block is kept whole.

    Returns:
        passages with ordinals from 0. Every block is in exactly one of them.
    """
    passages: list[Passage] = []
    seen: Counter[tuple[str, ...]] = Counter()
    for path, section in guideline.root.walk():
        for run in runs_of(section.blocks, max_chars):
            blocks = (*run.repeated, *run.own)
            text = text_of(blocks)
            first = run.own[0]
            passages.append(
                Passage(
                    id=passage_id(guideline.name, path, seen[path], text),
                    guideline=guideline.name,
                    metadata=guideline.metadata,
                    path=path,
                    ordinal=len(passages),
                    blocks=blocks,
                    text=text,
                    lines=_span(run.own),
                    page=first.page,
                    page_label=first.page_label,
                    link=guideline.link,
                    sha256=guideline.sha256,
                )
            )
            seen[path] += 1
    return tuple(passages)


def passage_id(guideline: str, path: Sequence[str], ordinal: int, text: str) -> str:
    """Return 32 hex digits that stay the same while the arguments do.

    Args:
        ordinal: position among the guideline's passages with the same path, from 0: an edit elsewhere in the
            document leaves it alone, and two sections with the same heading and text stay apart.
    """
    key = "\0".join((guideline, "\x1f".join(path), str(ordinal), text))
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def text_of(blocks: Sequence[Block]) -> str:
    """Join blocks as they stand in the document.

    Blocks with line numbers are parted by as many line breaks as in the file. The others by a blank line,
    items and rows of one list or table by a line break.
    """
    parts: list[str] = []
    for before, block in zip((None, *blocks), blocks, strict=False):
        if before is not None:
            parts.append("\n" * _breaks(before, block))
        parts.append(block.text)
    return "".join(parts)


def runs_of(blocks: Sequence[Block], max_chars: int) -> list[Run]:
    """Divide a section's blocks into runs of at most `max_chars`.

    Longer are only a single longer block, with what introduces it, and a list or table that fits whole but not
    together with its repeated lead-in.
    """
    if not blocks:
        return []
    if _chars(blocks) <= max_chars:
        return [Run((), tuple(blocks))]
    runs: list[Run] = []
    repeated: tuple[Block, ...] = ()
    own: list[Block] = []
    done = 0
    for piece in _pieces(blocks, max_chars):
        if own and _chars([*repeated, *own, *piece]) > max_chars:
            runs.append(Run(repeated, tuple(own)))
            done += len(own)
            repeated = _lead_in(blocks, done)
            own = []
        own.extend(piece)
    runs.append(Run(repeated, tuple(own)))
    return runs


def _breaks(before: Block, block: Block) -> int:
    if before.lines is not None and block.lines is not None and block.lines[0] > before.lines[1]:
        return block.lines[0] - before.lines[1]
    together = before.group == block.group and {before.kind, block.kind} <= {"item", "header", "row"}
    return 1 if together else 2


def _chars(blocks: Sequence[Block]) -> int:
    gaps = sum(_breaks(before, block) for before, block in pairwise(blocks))
    return gaps + sum(len(block.text) for block in blocks)


def _pieces(blocks: Sequence[Block], max_chars: int) -> Iterator[list[Block]]:
    """Yield what a run may not be divided in: a whole list or table where it fits, else its smallest parts."""
    for cluster in _joined(blocks, lambda one, two: _introduces(one, two) or one.group == two.group):
        if _chars(cluster) <= max_chars:
            yield cluster
        else:
            yield from _joined(cluster, lambda one, two: _introduces(one, two) or one.kind == "header")


def _joined(blocks: Sequence[Block], belong: Callable[[Block, Block], bool]) -> Iterator[list[Block]]:
    joined: list[Block] = []
    for block in blocks:
        if joined and not belong(joined[-1], block):
            yield joined
            joined = []
        joined.append(block)
    if joined:
        yield joined


def _introduces(one: Block, two: Block) -> bool:
    return (
        one.kind == "paragraph"
        and two.kind in ("item", "header", "row")
        and one.group != two.group
        and len(one.text) <= LEAD_IN_CHARS
    )


def _lead_in(blocks: Sequence[Block], index: int) -> tuple[Block, ...]:
    """Return copies of what must be read with a block that starts a run, outermost first.

    A copy has no lines: it does not stand where it is repeated.
    """
    block = blocks[index]
    if block.lead is None:
        return ()
    kind: BlockKind = "header" if block.kind == "row" else "paragraph"
    for position in range(index - 1, -1, -1):
        earlier = blocks[position]
        if earlier.kind == kind and block.lead in earlier.text:
            return (*_lead_in(blocks, position), replace(earlier, text=block.lead, lines=None))
    return (Block(kind, block.lead, page=block.page, page_label=block.page_label, group=block.group, ocr=block.ocr),)


def _span(blocks: Sequence[Block]) -> tuple[int, int] | None:
    spans = [block.lines for block in blocks if block.lines is not None]
    return (min(first for first, _ in spans), max(last for _, last in spans)) if spans else None
