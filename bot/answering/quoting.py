"""What is quoted of a source, word for word (pure).

A short passage is quoted whole. Of a long one the whole blocks around what matched are quoted, with the sentence
that leads a list in, the header of a table, and a line that holds only "…" wherever something was left out; never
is a block (a paragraph, a list item with all that is nested in it, a table row) cut.

`max_sentences` does what other systems do: only the sentences most similar to the question are quoted. It is off
by default, because similarity to a question is not importance to a patient. Of the section

    A glucose below 70 mg/dL is low. Treat with 15 g of fast-acting carbohydrate and recheck after 15 minutes.
    Repeat if glucose is still below 70 mg/dL. Review any medicine that may have caused the low glucose.

the two sentences most similar to 'What should I do about a hypo (hypoglycaemia, low blood glucose)?' are the last two
(all-MiniLM-L6-v2: .50, .27, .50, .69), and the treatment, least similar of all, is lost. Quoted whole, it never is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bot.answering.sentences import split_sentences
from bot.exchange import Quote
from retrieval.found import Source
from retrieval.guideline import Block, Passage

LEFT_OUT = "…"

Similarity = Callable[[str, Sequence[str]], Sequence[float]]
"""Scores sentences against a question, one number a sentence, higher is more similar."""


@dataclass(frozen=True, slots=True)
class QuoteOptions:
    """How much is quoted.

    Attributes:
        whole_chars: a passage up to this length is quoted whole; of a longer one about this much.
        max_sentences: 0 for whole blocks; otherwise how many sentences, see the module's warning.
        close_margin: how close the gate scores of the best two sources must be for both to be quoted.
    """

    whole_chars: int = 2400
    max_sentences: int = 0
    close_margin: float = 0.05


def to_quote(kept: Sequence[Source], close_margin: float) -> tuple[Source, ...]:
    """Choose the sources that a quoted answer shows: the best, and the second where it is as good.

    Args:
        kept: sources that the gate let through, best first.
        close_margin: largest difference of their gate scores, 0 for equal scores only.
    """
    if len(kept) < 2:
        return tuple(kept)
    apart = abs(kept[0].scores.gate - kept[1].scores.gate)
    return tuple(kept[:2] if apart <= close_margin + 1e-9 else kept[:1])


def quote(source: Source, options: QuoteOptions, *, question: str = "", similarity: Similarity | None = None) -> Quote:
    """Quote a source.

    Args:
        source: `best_block` says what matched.
        options: how much.
        question: as read; only `max_sentences` looks at it.
        similarity: ranks the sentences for `max_sentences`; by default the share of the question's words.
    """
    passage = source.passage
    if options.max_sentences:
        return _most_similar(source, options.max_sentences, question, similarity or word_overlap)
    if len(passage.text) <= options.whole_chars or len(passage.blocks) < 2:
        return Quote(source.tag, passage.text, whole=True)
    text = _text_of(passage, _around(passage.blocks, source.best_block, options.whole_chars))
    return Quote(source.tag, text, whole=text == passage.text)


def word_overlap(question: str, sentences: Sequence[str]) -> list[float]:
    """Return, for each sentence, the share of the question's longer words that stand in it, in [0, 1]."""
    asked = set(re.findall(r"\w{4,}", question.casefold()))
    return [len(asked & set(re.findall(r"\w{4,}", one.casefold()))) / max(len(asked), 1) for one in sentences]


def _most_similar(source: Source, count: int, question: str, similarity: Similarity) -> Quote:
    sentences = split_sentences(source.passage.text)
    if len(sentences) <= count:
        return Quote(source.tag, source.passage.text, whole=True)
    scores = similarity(question, sentences)
    best = sorted(sorted(range(len(sentences)), key=lambda index: (-scores[index], index))[:count])
    return Quote(source.tag, _with_gaps([(index, sentences[index]) for index in best], len(sentences)), whole=False)


def _with_gaps(parts: Sequence[tuple[int, str]], total: int) -> str:
    lines: list[str] = []
    expected = 0
    for index, text in parts:
        if index > expected:
            lines.append(LEFT_OUT)
        lines.append(text)
        expected = index + 1
    if expected < total:
        lines.append(LEFT_OUT)
    return "\n".join(lines)


def _around(blocks: Sequence[Block], best: int, max_chars: int) -> list[int]:
    """Choose whole blocks around `best`, as many as fit; what must be read with a block always comes along."""
    best = min(max(best, 0), len(blocks) - 1)
    shown = _with_company(blocks, {best})
    list_or_table = {i for i, block in enumerate(blocks) if block.group == blocks[best].group}
    together = _with_company(blocks, shown | list_or_table)
    if _chars(blocks, together) <= max_chars:
        shown = together
    # What follows comes before what precedes: exceptions and next steps stand behind a rule, not in front of it.
    grown = True
    while grown:
        grown = False
        for neighbour in (_next(shown, best, len(blocks)), _previous(shown, best)):
            if neighbour is None:
                continue
            more = _with_company(blocks, shown | {neighbour})
            if _chars(blocks, more) <= max_chars:
                shown, grown = more, True
    return sorted(shown)


def _next(shown: set[int], best: int, total: int) -> int | None:
    index = best
    while index in shown:
        index += 1
    return index if index < total else None


def _previous(shown: set[int], best: int) -> int | None:
    index = best
    while index in shown:
        index -= 1
    return index if index >= 0 else None


def _chars(blocks: Sequence[Block], chosen: set[int]) -> int:
    return sum(len(blocks[index].text) + 2 for index in chosen)


def _with_company(blocks: Sequence[Block], chosen: set[int]) -> set[int]:
    """Add what the chosen blocks must not be shown without: lead-ins, table headers, what a colon announces."""
    company = set(chosen)
    while True:
        leads = {index: _lead_of(blocks, index) for index in company}
        needed = {lead for lead in leads.values() if lead is not None}
        needed |= {
            index + 1
            for index in company
            if _announces(blocks[index]) and index not in leads.values() and index + 1 < len(blocks)
        }
        if needed <= company:
            return company
        company |= needed


def _announces(block: Block) -> bool:
    return block.kind == "header" or block.text.rstrip().endswith(":")


def _lead_of(blocks: Sequence[Block], index: int) -> int | None:
    lead = blocks[index].lead
    if not lead:
        return None
    return next((i for i in range(index - 1, -1, -1) if lead in blocks[i].text), None)


def _text_of(passage: Passage, shown: Sequence[int]) -> str:
    """Return the blocks as they stand in the passage, blanks between neighbours included."""
    spans = _spans(passage)
    if spans is None:
        return passage.text
    parts: list[str] = []
    before: int | None = None
    for index in shown:
        start, end = spans[index]
        lead = passage.blocks[index].lead
        if before is None:
            if lead and index not in shown[1:] and not any(lead in passage.blocks[i].text for i in shown if i < index):
                parts.append(f"{lead}\n")
            if index > 0:
                parts.append(f"{LEFT_OUT}\n")
        elif before == index - 1:
            parts.append(passage.text[spans[before][1] : start])
        else:
            parts.append(f"\n{LEFT_OUT}\n")
        parts.append(passage.text[start:end])
        before = index
    if before is not None and before < len(passage.blocks) - 1:
        parts.append(f"\n{LEFT_OUT}")
    return "".join(parts)


def _spans(passage: Passage) -> list[tuple[int, int]] | None:
    """Locate the blocks in the passage's text; None where one is not in it, and nothing can safely be left out."""
    spans: list[tuple[int, int]] = []
    position = 0
    for block in passage.blocks:
        start = passage.text.find(block.text, position)
        if start < 0:
            return None
        position = start + len(block.text)
        spans.append((start, position))
    return spans
