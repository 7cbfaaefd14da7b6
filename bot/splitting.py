"""Cut a reply that is too long for one post: between its pieces, then between blocks (pure)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from bot.display import ZWSP

_LABEL_CHARS = 40

_CONTINUED = re.compile(rf">?{ZWSP}?[ \t]{{2,}}(?![-*]\s|\d)")
_DELIMITER = re.compile(r"(?:> )?\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)+\|?\s*")


def split(pieces: Sequence[str], max_chars: int) -> list[str]:
    """Join pieces to as few messages as hold them in order.

    Args:
        pieces: Markdown that belongs together, each kept whole where it fits.
        max_chars: of a message; at least 200.

    Returns:
        At least one message; of several, each says which part it is.
    """
    whole = "\n\n".join(pieces)
    if len(whole) <= max_chars:
        return [whole]
    room = max_chars - _LABEL_CHARS
    messages: list[str] = []
    current = ""
    for piece in (part for whole_piece in pieces for part in _fitting(whole_piece, room)):
        joined = f"{current}\n\n{piece}" if current else piece
        if len(joined) <= room:
            current = joined
        else:
            messages.append(current)
            current = piece
    messages.append(current)
    labelled = []
    for number, message in enumerate(messages, start=1):
        label = f"(part {number} of {len(messages)})"
        labelled.append(f"{message}\n\n{label}" if number == 1 else f"{label}\n\n{message}")
    return labelled


def _fitting(piece: str, room: int) -> list[str]:
    """Cut a piece that is too long between its blocks; a table's header is repeated."""
    if len(piece) <= room:
        return [piece]
    cut: list[str] = []
    current: list[str] = []
    for block, header in _blocks(piece, room):
        if current and len("\n".join([*current, block])) > room:
            cut.append("\n".join(current).strip("\n"))
            current = [header] if header and len(header) + len(block) < room else []
        current.append(block)
    cut.append("\n".join(current).strip("\n"))
    return [part for part in cut if part.strip("\n >")]


def _blocks(piece: str, room: int) -> Iterator[tuple[str, str]]:
    """Yield the pieces of a text that stay whole, each with the table header that must stand above it."""
    lines = piece.split("\n")
    header = ""
    number = 0
    while number < len(lines):
        line = lines[number]
        if number + 1 < len(lines) and "|" in line and _DELIMITER.fullmatch(lines[number + 1]):
            header = f"{line}\n{lines[number + 1]}"
            number += 2
            if len(header) <= room // 2:
                yield header, ""
                continue
            yield from ((short, "") for short in _short(header, room))
            header = ""
            continue
        if "|" not in line:
            header = ""
        block = [line]
        while number + 1 < len(lines) and not header and _CONTINUED.match(lines[number + 1]):
            number += 1
            block.append(lines[number])
        number += 1
        for short in _short("\n".join(block), room):
            yield short, header


def _short(block: str, room: int) -> Iterator[str]:
    """Cut a block that fits into no post, between words where there are any, never inside an escape."""
    prefix = "> " if block.startswith("> ") else ""
    while len(block) > room:
        end = max(block.rfind(" ", len(prefix) + 1, room), block.rfind("\n", len(prefix) + 1, room))
        if end <= len(prefix):
            end = room
            while end > len(prefix) + 1 and re.search(r"\\$|⟨[^⟩]*$", block[max(0, end - 10) : end]):
                end -= 1
        yield block[:end]
        block = prefix + block[end:].lstrip("\n").removeprefix(" ").removeprefix("> ")
    yield block
