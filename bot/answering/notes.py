"""Short lines that a reader should see beside an answer (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from bot.exchange import Quote
from retrieval.found import Reading, Source


def notes_on(
    sources: Sequence[Source],
    quotes: Sequence[Quote],
    reading: Reading,
    *,
    today: date,
    dropped: Sequence[str] = (),
) -> tuple[str, ...]:
    """Say what a reader should know of the sources that an answer rests on, and of how the question was read.

    Args:
        sources: those that are quoted or cited.
        quotes: what is quoted of them.
        reading: how the question was read.
        today: a guideline whose review date lies before it is past its review.
        dropped: tags of sources that found no room in the prompt.

    Returns:
        whole sentences, each once, in the order: reading, guideline, text, prompt.
    """
    notes = [_sense(reading, written, others) for written, others in reading.ambiguous]
    for source in sources:
        known = source.passage.metadata
        if known.review_by is not None and known.review_by < today:
            notes.append(f"“{known.title}” is past its review date ({known.review_by.isoformat()}).")
        if known.status == "draft":
            notes.append(f"“{known.title}” is a draft.")
        if known.status == "retired":
            notes.append(f"“{known.title}” is retired.")
        notes.extend(source.notes)
    shown = {one.tag: one.text for one in quotes}
    for source in sources:
        if any(block.ocr and block.text in shown.get(source.tag, "") for block in source.passage.blocks):
            notes.append(f"The text of {source.tag} was read from a picture of the page; compare it with the original.")
    if dropped:
        notes.append(f"{_listed(dropped)} had no room in the language model's prompt and {_was(dropped)} not used.")
    return tuple(dict.fromkeys(notes))


def _sense(reading: Reading, written: str, others: Sequence[str]) -> str:
    read_as = dict(reading.expansions).get(written)
    could_be = " or ".join(f"“{other}”" for other in others)
    if read_as:
        return f"“{written}” was read as “{read_as}”; it could also mean {could_be}."
    return f"“{written}” has several meanings ({could_be}) and was left as it is; say which one you mean."


def _listed(tags: Sequence[str]) -> str:
    return tags[0] if len(tags) == 1 else f"{', '.join(tags[:-1])} and {tags[-1]}"


def _was(tags: Sequence[str]) -> str:
    return "was" if len(tags) == 1 else "were"
