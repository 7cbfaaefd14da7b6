"""Questions with known truth: what they are, and reading them from a file (pure)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from retrieval.errors import WrongUse
from retrieval.guideline import Passage


class QuestionFileError(WrongUse):
    """A questions file cannot be read; the text names file and line."""


@dataclass(frozen=True, slots=True)
class Gold:
    """A section that answers a question.

    Attributes:
        doc: the guideline's name (path relative to the watched folder), or its end.
        section: the end of the section's path, headings joined by " > "; "" for the text before any heading,
            "*" for every section.
    """

    doc: str
    section: str

    def matches(self, guideline: str, path: Sequence[str]) -> bool:
        """Tell whether a found section is this one: same document, and its path ends with the section."""
        if guideline != self.doc and not guideline.endswith("/" + self.doc):
            return False
        if self.section == "*":
            return True
        wanted, found = _plain(self.section), _plain(" > ".join(path))
        return found == wanted or (bool(wanted) and found.endswith(" > " + wanted))


@dataclass(frozen=True, slots=True)
class EvaluationQuestion:
    """One line of a questions file.

    Attributes:
        gold, also_acceptable: sections that count as a hit; empty for a question that is not answerable.
        gold_text: the words of the guideline that hold the answer; "" where unknown.
        answer: the answer in short; "" where unknown.
        without: sections that must be hidden while this question is asked: how a left-out fact is made.
        line: 1-based line in the file.
    """

    id: str
    question: str
    answerable: bool
    kind: str = ""
    gold: tuple[Gold, ...] = ()
    also_acceptable: tuple[Gold, ...] = ()
    gold_text: str = ""
    answer: str = ""
    without: tuple[Gold, ...] = ()
    line: int = 0

    def is_hit(self, guideline: str, path: Sequence[str]) -> bool:
        return any(gold.matches(guideline, path) for gold in (*self.gold, *self.also_acceptable))

    def hides(self, passage: Passage) -> bool:
        """Tell whether a passage must not be found for this question."""
        return any(gold.matches(passage.guideline, passage.path) for gold in self.without)


def read_questions(text: str, file: str, field_name: str = "question") -> tuple[EvaluationQuestion, ...]:
    """Read a questions file: one JSON object a line, blank lines and lines that begin with # left out.

    Args:
        text: the file's text.
        file: its name, for errors.
        field_name: which field holds the question ("question_short").

    Raises:
        QuestionFileError: with file and line.
    """
    questions: list[EvaluationQuestion] = []
    seen: dict[str, int] = {}
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        question = _question(line, number, file, field_name)
        if question.id in seen:
            raise QuestionFileError(
                f'{file}, line {number}: the id "{question.id}" stands in line {seen[question.id]} too'
            )
        seen[question.id] = number
        questions.append(question)
    if not questions:
        raise QuestionFileError(f'{file} holds no question; each line is like {{"question": "…", "answerable": false}}')
    return tuple(questions)


def _question(line: str, number: int, file: str, field_name: str) -> EvaluationQuestion:
    where = f"{file}, line {number}"
    try:
        row = json.loads(line)
    except ValueError as error:
        raise QuestionFileError(f"{where}: is not JSON ({error})") from None
    if not isinstance(row, dict):
        raise QuestionFileError(f'{where}: must be one JSON object, like {{"question": "…", "answerable": true}}')
    text = row.get(field_name)
    if not isinstance(text, str) or not text.strip():
        raise QuestionFileError(f'{where}: "{field_name}" must be a text that is not empty')
    answerable = row.get("answerable")
    if not isinstance(answerable, bool):
        raise QuestionFileError(f'{where}: "answerable" must be true or false')
    gold = _golds(row, "gold", where)
    if not gold and isinstance(row.get("doc"), str) and isinstance(row.get("section"), str):
        gold = (Gold(row["doc"], row["section"]),)
    if answerable and not gold:
        raise QuestionFileError(
            f'{where}: an answerable question needs "gold": [{{"doc": "file.md", "section": "Heading > Heading"}}]'
        )
    return EvaluationQuestion(
        id=_text(row, "id", where) or f"line-{number}",
        question=text,
        answerable=answerable,
        kind=_text(row, "kind", where),
        gold=gold,
        also_acceptable=_golds(row, "also_acceptable", where),
        gold_text=_text(row, "gold_text", where),
        answer=_text(row, "answer", where),
        without=_golds(row, "without", where),
        line=number,
    )


def _text(row: Mapping[str, Any], name: str, where: str) -> str:
    value = row.get(name)
    if value is None:
        return ""
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return "\n".join(value)
    if not isinstance(value, str):
        raise QuestionFileError(f'{where}: "{name}" must be a text')
    return value


def _golds(row: Mapping[str, Any], name: str, where: str) -> tuple[Gold, ...]:
    value = row.get(name)
    if value is None:
        return ()
    sections = value if isinstance(value, list) else [value]
    for one in sections:
        if not (isinstance(one, dict) and isinstance(one.get("doc"), str) and isinstance(one.get("section"), str)):
            raise QuestionFileError(
                f'{where}: "{name}" must be a list like [{{"doc": "file.md", "section": "Heading"}}]'
            )
    return tuple(Gold(one["doc"], one["section"]) for one in sections)


def _plain(path: str) -> str:
    return " ".join(path.split()).casefold()
