"""From a result to the posts of a reply, in Mattermost's Markdown (pure).

A reply stands in this order: the emergency line, the answer or what is quoted with its sources, how the
question was read, notes, the score that was needed, and for refusals the nearest sections and whom to ask.
A quote carries its own source line above it; a written answer carries its quotes as message attachments, or
in further posts where the server's limit on props is too small for that. A reply that is too long for one
post is split between sections, then between blocks, in order; a table that is split keeps its header.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import quote as percent_encoded
from urllib.parse import urlsplit

from bot.display import display, display_line, quote, undo_display
from bot.exchange import Quote, Result
from bot.splitting import split
from retrieval.found import Source

__all__ = [
    "MARK",
    "Limits",
    "Post",
    "display",
    "display_line",
    "notice",
    "quote",
    "render",
    "source_line",
    "undo_display",
]

MARK = "guideline_bot"
"""The key in a post's props under which the bot marks what it posts."""

Kind = Literal["reply", "notice"]

_NEAREST = 5
_READ_AS_MAX_CHARS = 600
_PROPS_SPARE_CHARS = 600
_ATTACHMENT_DEFAULTS_CHARS = 300
_COLOUR = "#2a6db0"

_REFUSED = {
    "below_score": "The guidelines don't cover this.",
    "nothing_indexed": "There is nothing to answer from yet.",
    "fact_absent": "The guidelines don't say this.",
    "filtered_out": "Nothing is found where the question was to be looked up.",
}

_NOT_LOOKED_UP = "This was not looked up."
"""Without a search nothing can be said of what the guidelines cover."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What the server accepts, in characters.

    Attributes:
        max_post_chars: of a message (MaxPostSize).
        max_props_chars: of a post's props as JSON: 8,000 on older servers, 800,000 on current ones.
    """

    max_post_chars: int = 16_383
    max_props_chars: int = 8_000


@dataclass(frozen=True, slots=True)
class Post:
    """One post to create."""

    message: str
    props: dict[str, Any] = field(default_factory=dict)


def render(
    result: Result,
    limits: Limits | None = None,
    *,
    ask_line: str = "",
    question_id: str = "",
    updated: bool = False,
) -> tuple[Post, ...]:
    """Write a result as the posts of one reply, in order.

    Args:
        limits: of the server.
        ask_line: the site's line on whom to ask, for refusals and failures that have none of their own.
        question_id: of the post that is answered; goes into the props of each part.
        updated: the question was edited and this replaces an earlier reply; said at the end.

    Returns:
        At least one post; each carries props `{"guideline_bot": {question, kind, part, parts}}`, part
        from 0.
    """
    limits = limits or Limits()
    pieces = [f"**{display_line(result.emergency)}**"] if result.emergency else []
    attachments: list[dict[str, Any]] = []
    if result.status == "answered" and result.answer:
        pieces += _written(result)
        attachments = _attachments(result)
        if _props_chars(attachments) > limits.max_props_chars:
            attachments = []
            pieces += [_quoted(result, each) for each in result.quotes]
    elif result.status == "answered":
        pieces += _quotes(result)
    elif result.status == "refused":
        pieces += _refusal(result, result.ask_line or ask_line)
    elif result.status == "blocked":
        pieces += _blocked(result)
    else:
        pieces += _failure(result, result.ask_line or ask_line)
    if updated:
        pieces.append("Updated: the question was edited.")
    messages = split(pieces, limits.max_post_chars)
    return tuple(
        Post(
            message, _props("reply", question_id, part, len(messages), attachments if part == len(messages) - 1 else ())
        )
        for part, message in enumerate(messages)
    )


def notice(message: str, *, question_id: str = "") -> Post:
    """Make a post that is no reply: a place in the queue, thanks for feedback.

    Args:
        message: Markdown of our own; what came from elsewhere has been through `display_line`.
    """
    return Post(message, _props("notice", question_id, 0, 1, ()))


def source_line(source: Source) -> str:
    """Write a source in one line: tag, title › path, where, score, version, link."""
    passage = source.passage
    facts = [f"**[{source.tag}]** {display_line(passage.trail)}{_place(source)}", f"score {source.scores.gate:.2f}"]
    if passage.metadata.version:
        facts.append(f"version {display_line(passage.metadata.version)}")
    link = _link(passage.link)
    if link:
        facts.append(f"[original]({link})")
    return " · ".join(facts)


# what a reply says


def _written(result: Result) -> list[str]:
    pieces = [display(result.answer.strip())]
    pieces += _reading(result)
    lines = [source_line(source) for source in result.sources if source.kept]
    pieces.append("\n".join(["Sources", *lines]) if lines else "")
    writer = f" by {display_line(result.model)}" if result.model else ""
    pieces.append(
        "\n".join(
            [
                f"Written{writer}; every sentence was checked against the sources it cites.",
                *_notes(result),
                *_needed(result),
            ]
        )
    )
    return [piece for piece in pieces if piece]


def _quotes(result: Result) -> list[str]:
    pieces = [_quoted(result, each) for each in result.quotes]
    pieces += _reading(result)
    quoted = {each.tag for each in result.quotes}
    others = [source_line(source) for source in result.sources if source.kept and source.tag not in quoted]
    if others:
        pieces.append("\n".join(["Also found", *others]))
    reason = [display_line(result.reason)] if result.reason else []
    last = "\n".join([*reason, *_notes(result), *_needed(result)])
    return [piece for piece in [*pieces, last] if piece]


def _refusal(result: Result, ask_line: str) -> list[str]:
    verdict = result.verdict
    first = f"**{_NOT_LOOKED_UP if verdict is None else _REFUSED.get(verdict.kind or 'below_score', '')}**"
    pieces = [f"{first} {display_line(result.reason)}".rstrip(), *_reading(result)]
    if result.nearest:
        lines = [
            f"- {display_line(source.passage.trail)} (score {source.scores.gate:.2f})"
            for source in result.nearest[:_NEAREST]
        ]
        pieces.append("\n".join(["Nearest sections:", *lines]))
    pieces.append("\n".join([*_notes(result), *_needed(result, best=True)]))
    pieces.append(display_line(ask_line))
    return [piece for piece in pieces if piece]


def _blocked(result: Result) -> list[str]:
    seen = ", ".join(display_line(kind.replace("_", " ")) for kind in dict.fromkeys(result.details))
    if result.reason:
        pieces = [f"**Not answered.** {display_line(result.reason)}", "Please delete the post: others can read it."]
    else:
        first = "**Not answered: the question seems to hold details of a patient.**"
        pieces = [first, f"Seen: {seen}." if seen else "", "Please delete the post and ask again without them."]
    return [piece for piece in [*pieces, "\n".join(_notes(result))] if piece]


def _failure(result: Result, ask_line: str) -> list[str]:
    pieces = [
        f"**This could not be answered just now.** {display_line(result.reason)}".rstrip(),
        "\n".join(_notes(result)),
        display_line(ask_line),
    ]
    return [piece for piece in pieces if piece]


def _reading(result: Result) -> list[str]:
    reading = result.reading
    lines = []
    if " ".join(reading.read_as.split()) != " ".join(reading.question.split()) and reading.read_as:
        read_as = " ".join(reading.read_as.split())
        if len(read_as) > _READ_AS_MAX_CHARS:
            read_as = f"{read_as[:_READ_AS_MAX_CHARS]}…"
        lines.append(f"Read as: {display_line(read_as)}")
    for short, senses in reading.ambiguous:
        lines.append(f"{display_line(short)} could also mean: {display_line(', '.join(senses))}.")
    return ["\n".join(lines)] if lines else []


def _notes(result: Result) -> list[str]:
    return [f"Note: {display_line(note)}" for note in result.notes]


def _needed(result: Result, *, best: bool = False) -> list[str]:
    verdict = result.verdict
    if verdict is None or (best and f"{verdict.min_score:.2f}" in result.reason):
        return []  # the reason has said it
    found = f"; the best found is {verdict.best:.2f}" if best and (result.nearest or verdict.best) else ""
    return [f"A source needs a score of {verdict.min_score:.2f}{found}."]


def _quoted(result: Result, each: Quote) -> str:
    source = next((source for source in result.sources if source.tag == each.tag), None)
    heading = source_line(source) if source is not None else f"**[{display_line(each.tag)}]**"
    return f"{heading}\n\n{quote(each.text)}"


def _place(source: Source) -> str:
    passage = source.passage
    places = []
    if passage.page is not None:
        places.append(f"page {display_line(passage.page_label or str(passage.page))}")
    if passage.lines is not None:
        first, last = passage.lines
        places.append(f"line {first}" if first == last else f"lines {first}–{last}")
    return "".join(f", {place}" for place in places)


def _link(link: str | None) -> str:
    """Return a link that holds nothing but an http address, "" for any other."""
    if not link or urlsplit(link).scheme not in ("http", "https"):
        return ""
    return percent_encoded(link, safe=":/?#@!$&'*+,;=%~").replace("'", "%27").replace("@", "%40")


# how it is marked and attached


def _props(
    kind: Kind, question_id: str, part: int, parts: int, attachments: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    props: dict[str, Any] = {MARK: {"question": question_id, "kind": kind, "part": part, "parts": parts}}
    if attachments:
        props["attachments"] = list(attachments)
    return props


def _attachments(result: Result) -> list[dict[str, Any]]:
    sources = {source.tag: source for source in result.sources}
    attachments = []
    for each in result.quotes:
        source = sources.get(each.tag)
        trail = display_line(source.passage.trail) if source is not None else ""
        attachments.append(
            {
                "fallback": f"[{each.tag}] {trail}",
                "color": _COLOUR,
                "text": f"**[{each.tag}]** {trail}\n\n{quote(each.text)}",
            }
        )
    return attachments


def _props_chars(attachments: Sequence[Mapping[str, Any]]) -> int:
    """Return how many characters the props take on the server, which fills attachments up and escapes <>&."""
    text = json.dumps(attachments)
    return (
        len(text)
        + sum(text.count(mark) * 5 for mark in "<>&")
        + len(attachments) * _ATTACHMENT_DEFAULTS_CHARS
        + _PROPS_SPARE_CHARS
    )
