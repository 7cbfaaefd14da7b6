"""Which reading of a follow-up is answered, and from which of its sources (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bot.answering.followups import FollowUp, speaks_of
from retrieval.found import Found

NEW_SUBJECT_MARGIN = 0.05
"""How much better a question must do by itself than joined to the one before it, to be a new subject."""


def only_what_speaks_of(joined: FollowUp, found: Found) -> Found:
    """Keep only sources that speak of what the follow-up added: an adult dose does not answer 'and in children?'."""
    if not joined.adds:
        return found
    sources = tuple(
        source
        if not source.kept or speaks_of(joined.adds, f"{source.passage.trail}\n{source.passage.text}")
        else replace(source, kept=False, reason=f"It does not speak of {_quoted_words(joined.adds)}.")
        for source in found.sources
    )
    if not found.kept or any(source.kept for source in sources):
        return replace(found, sources=sources)
    reason = f"The sections found for this do not speak of {_quoted_words(joined.adds)}."
    verdict = replace(found.verdict, passed=False, kind="fact_absent", reason=reason)
    return replace(found, sources=sources, verdict=verdict)


def _quoted_words(words: Sequence[str]) -> str:
    return " or ".join(f"“{word}”" for word in words)


def better_reading(alone: Found, together: Found) -> Found:
    """Choose between a question by itself and joined to what came before it.

    By itself it is a new subject: when only so the guidelines carry it, or clearly better.
    """
    if not alone.verdict.passed:
        return together
    if not together.verdict.passed or alone.verdict.best - together.verdict.best > NEW_SUBJECT_MARGIN - 1e-9:
        return alone
    return together
