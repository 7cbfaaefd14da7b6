"""Check a written answer against the sources that it cites, sentence by sentence; report, never edit."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from bot.answering.sentences import split_sentences, tags_of, without_tags
from bot.exchange import SentenceCheck


@dataclass(frozen=True, slots=True)
class SourceText:
    """What the model was shown of one source.

    Attributes:
        text: the passage as it is quoted.
        path: headings from the top.
        title: of the guideline.
    """

    text: str
    path: tuple[str, ...] = ()
    title: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """What the checker found.

    Attributes:
        supported: the answer has at least one sentence and none has a problem.
        sentences: in order; problems are (kind, detail) with kind citation, number, unit, negation, term or
            unsupported.
    """

    supported: bool
    sentences: tuple[SentenceCheck, ...]


_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def check(
    answer: str,
    sources: Mapping[str, SourceText | str],
    *,
    question: str = "",
    glossary: Mapping[str, str] | None = None,
) -> Report:
    """Check every sentence of `answer` against the sources it cites.

    Args:
        answer: as the model wrote it, with [S#] tags.
        sources: tag → what the model was shown; only kept sources.
        question: as it was read; decides what a bare yes or no means.
        glossary: abbreviation → long form.
    """
    checks = tuple(_check_sentence(sentence, sources) for sentence in split_sentences(answer))
    return Report(bool(checks) and not any(c.problems for c in checks), checks)


def _check_sentence(sentence: str, sources: Mapping[str, SourceText | str]) -> SentenceCheck:
    cites = tags_of(sentence)
    problems: list[tuple[str, str]] = []
    if not cites:
        problems.append(("citation", "the sentence cites no source"))
    problems += [("citation", f"[{tag}] is not among the sources") for tag in cites if tag not in sources]
    text = " ".join(_whole(sources[tag]) for tag in cites if tag in sources).lower()
    body = without_tags(sentence)
    numbers = set(_NUMBER.findall(text))
    problems += [("number", f"{n} is not in the source") for n in _NUMBER.findall(body) if n not in numbers]
    words = set(re.findall(r"\w+", text))
    missing = [w for w in re.findall(r"[a-z]{5,}", body.lower()) if w not in words]
    if len(missing) > 3:
        problems.append(("term", f"not in the source: {', '.join(missing[:5])}"))
    return SentenceCheck(sentence, cites, tuple(problems))


def _whole(source: SourceText | str) -> str:
    return source if isinstance(source, str) else " ".join((source.title, *source.path, source.text))
