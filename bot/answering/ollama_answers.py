"""Is what a model wrote a whole answer? (pure)"""

from __future__ import annotations

import re

from bot.answering.prompts import Prompt
from bot.answering.writing import NotWritten

_THOUGHT = re.compile(r"\s*<think(?:ing)?>.*?</think(?:ing)?>\s*", re.DOTALL | re.IGNORECASE)
_OPEN_THOUGHT = re.compile(r"\s*<think(?:ing)?>", re.IGNORECASE)


def without_thoughts(text: str) -> str:
    """Take out what a thinking model wrote to itself; a thought without an end leaves nothing."""
    text = _THOUGHT.sub("", text)
    return "" if _OPEN_THOUGHT.match(text) else text


def check_complete(
    text: str, done_reason: str | None, counted_tokens: int | None, prompt: Prompt, context_tokens: int
) -> None:
    """Make sure that an answer was written to its end, from the whole prompt.

    Args:
        text: the answer, without thoughts.
        done_reason: as the server said; None where it said nothing.
        counted_tokens: what the server counted of the prompt; None where it did not.
        context_tokens: what prompt and answer may take together.

    Raises:
        NotWritten: it was not.
    """
    if done_reason == "length":
        raise NotWritten("length")
    # No tokenizer in use joins words, so a complete prompt has at least as many tokens as words.
    if counted_tokens is not None and (counted_tokens >= context_tokens or counted_tokens < prompt.words):
        raise NotWritten("prompt_cut")
    if not text:
        raise NotWritten("empty")
    if done_reason not in (None, "stop"):
        raise NotWritten("incomplete")
