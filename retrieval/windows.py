"""A passage becomes the windows that are embedded: its path in front, short enough for the model (pure)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from retrieval.guideline import Passage
from retrieval.units import embedded_text, sentences_of, units_of

CountTokens = Callable[[str], int]


def windows_of(passage: Passage, count_tokens: CountTokens, max_tokens: int) -> tuple[str, ...]:
    """Divide a passage's text into windows of about the same length, at the ends of sentences and lines.

    Together they hold every word of the text, in order. Only a sentence that is too long for a window of its
    own is cut between words, and only a word that is too long inside.

    Args:
        count_tokens: the embedder's count, what it adds to every text included.
        max_tokens: most tokens of a window, title and path included; at least 16.

    Returns:
        at least one window, each "Title. Heading. Heading. text".
    """
    lead = shortened(". ".join(filter(None, (passage.title, *passage.path))), count_tokens, max_tokens // 2 - 1)
    front = f"{lead}. " if lead else ""
    room = max_tokens - count_tokens(front) + count_tokens("")
    windows: list[str] = []
    for body in divided(passage.text, count_tokens, room):
        # A tokenizer may join across a border, so that the whole is longer than its parts.
        fits = count_tokens(front + body) <= max_tokens
        parts = [body] if fits else divided(body, count_tokens, max(4, room // 2))
        windows += ((front + part).rstrip() for part in parts)
    return tuple(windows)


def unit_texts_of(passage: Passage, count_tokens: CountTokens, max_tokens: int) -> tuple[str, ...]:
    """Return what is embedded for each unit of a passage, in their order; a longer one loses its end.

    Args:
        max_tokens: what the embedder takes at most.
    """
    texts = (embedded_text(passage, unit) for unit in units_of(passage))
    return tuple(
        text if count_tokens(text) <= max_tokens else divided(text, count_tokens, max_tokens)[0] for text in texts
    )


def shortened(lead: str, count_tokens: CountTokens, max_tokens: int) -> str:
    """Take words off the front of a title and path until they fit: the nearest headings say most."""
    while count_tokens(lead) > max_tokens:
        words = lead.split()
        if len(words) <= 1:
            lead = lead[: len(lead) // 2]
        else:
            lead = " ".join(words[max(1, len(words) // 8) :])
    return lead


def divided(text: str, count_tokens: CountTokens, max_tokens: int) -> list[str]:
    """Divide a text at the ends of sentences and lines into stretches of at most `max_tokens`.

    Args:
        max_tokens: what the embedder adds to every text included.

    Returns:
        as few stretches as fit, of about the same length; their words are those of the text, in order. [""]
        for a text without words.
    """
    fixed = count_tokens("")
    pieces = [
        part
        for line in text.splitlines()
        for sentence in sentences_of(line)
        for part in _fitting(sentence, count_tokens, max_tokens)
    ]
    sizes = [count_tokens(piece) - fixed for piece in pieces]
    room = max(1, max_tokens - fixed)
    fewest = len(_packed(sizes, room))
    # The same number of stretches with less room each: none of them is a short rest.
    low, high = max(1, -(-sum(sizes) // max(1, fewest))), room
    while low < high:
        middle = (low + high) // 2
        if len(_packed(sizes, middle)) <= fewest:
            high = middle
        else:
            low = middle + 1
    stretches = ["\n".join(pieces[start:end]) for start, end in _packed(sizes, high)]
    return stretches or [""]


def _packed(sizes: Sequence[int], room: int) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    start, filled = 0, 0
    for index, size in enumerate(sizes):
        if index > start and filled + size > room:
            spans.append((start, index))
            start, filled = index, 0
        filled += size
    if start < len(sizes):
        spans.append((start, len(sizes)))
    return spans


def _fitting(piece: str, count_tokens: CountTokens, max_tokens: int) -> list[str]:
    """Halve a piece, between words where there are several, until its parts fit."""
    if not piece:
        return []
    if len(piece) == 1 or count_tokens(piece) <= max_tokens:
        return [piece]
    middle = len(piece) // 2
    space = piece.rfind(" ", 1, middle + 1)
    if space < 0:
        space = piece.find(" ", middle)
    cut = space if space > 0 else middle
    return [
        part for half in (piece[:cut].strip(), piece[cut:].strip()) for part in _fitting(half, count_tokens, max_tokens)
    ]
