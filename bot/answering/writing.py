"""What is asked of a writer and what comes back: the seam between the answerer and a language model (pure)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from retrieval.found import Source

REASONS = {
    "asked_for": "",
    "dose_question": "Questions about doses are answered in the guideline's own words.",
    "no_model": "No language model is set up, so the guideline is quoted.",
    "connection": "The language model cannot be reached, so the guideline is quoted.",
    "model_missing": "The language model is not installed, so the guideline is quoted.",
    "model_refused": "The language model is not approved, so the guideline is quoted.",
    "model_error": "The language model failed, so the guideline is quoted.",
    "loading": "The language model is loading, so the guideline is quoted.",
    "busy": "The language model has too much to do, so the guideline is quoted.",
    "timeout": "The language model took too long, so the guideline is quoted.",
    "prompt_too_long": "The section is too long for the language model, so it is quoted.",
    "prompt_cut": "The language model did not see all of the sections, so they are quoted.",
    "length": "The language model's answer grew too long, so the guideline is quoted.",
    "incomplete": "The language model stopped in mid-answer, so the guideline is quoted.",
    "empty": "The language model wrote nothing, so the guideline is quoted.",
    "check_failed": "What the language model wrote is not carried by the sections it cites, so they are quoted.",
}
"""Why an answer is quoted and not written: machine-readable, and as the reader is told it."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """What is to be written.

    Attributes:
        question: as it was read.
        sources: the kept ones, best first; nothing else may be used.
        rejected: the draft that the checker turned down; "" for the first one.
        problems: what was wrong with it, one sentence each.
    """

    question: str
    sources: tuple[Source, ...]
    rejected: str = ""
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Draft:
    """What a model wrote. Nothing of it is shown before it was checked.

    Attributes:
        tags: of the sources that were in the prompt; only these may be cited.
        dropped: tags of the sources that found no room in the prompt.
    """

    text: str
    tags: tuple[str, ...]
    dropped: tuple[str, ...] = ()
    model: str = ""
    digest: str = ""


@dataclass(frozen=True, slots=True)
class WriterState:
    """Whether a writer could write now.

    Attributes:
        up: the service answers.
        loaded: the model is in memory, so that an answer starts at once.
        digest: of the model's weights; "" while it is not known.
        context_tokens: what the loaded model takes, prompt and answer together; 0 while it is not known.
        fallback: "" when it may write; otherwise why not, machine-readable (see `bot.exchange.Result`).
        reason: the same as one sentence that says what to do; "" when it may write.
    """

    up: bool
    loaded: bool
    model: str
    digest: str = ""
    context_tokens: int = 0
    fallback: str = ""
    reason: str = ""

    @property
    def ready(self) -> bool:
        return self.loaded and not self.fallback


class NotWritten(Exception):
    """There is no draft; the sections are quoted instead.

    Args:
        fallback: machine-readable reason, one of `REASONS` or a new one.
        reason: one sentence for the reader; by default the one that `REASONS` has.
    """

    def __init__(self, fallback: str, reason: str | None = None) -> None:
        self.fallback = fallback
        self.reason = REASONS.get(fallback, REASONS["model_error"]) if reason is None else reason
        super().__init__(self.reason)


class Writer(Protocol):
    """Writes from sources. `bot.answering.ollama_writer` is the one that ships."""

    async def write(self, assignment: Assignment, within_s: float) -> Draft:
        """Write, or raise NotWritten within `within_s` seconds."""
        ...
