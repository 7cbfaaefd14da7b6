"""Measure what becomes of a real small model's answers, through search, writer, checker and answerer.

    python -m tests.measure_writing DATA_DIR [--questions FILE.jsonl] [--first 0] [--count 200] [--samples 2]
                                    [--out FILE.jsonl]

DATA_DIR is an index as `guideline-bot index` makes it. The model is far too small to follow the rules, so its
answers are measured in two ways:

    as it is    the shipped prompt and writer; the shares written, quoted and refused
                of those questions that the gate let through to the model; COUNT of them are asked
    tagged      each text that it wrote (also to a short prompt, and at temperatures above 0) is cut to whole
                sentences and every sentence gets the tag of the source it shares most words with: wrong text
                with valid-looking tags. The whole text and each of its sentences go through the answerer.

Questions about doses are written too here. FILE.jsonl holds one line an answer, for reading: every one that was
shown must be carried by what it cites.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from bot.answering.answerer import Answerer
from bot.answering.ollama_writer import OllamaWriter
from bot.answering.prompts import says_not_covered
from bot.answering.sentences import split_sentences, without_tags
from bot.answering.writing import Assignment, Draft
from bot.app import open_library, screen_of
from bot.exchange import Result
from bot.settings import AnswerSettings, OllamaSettings, Settings
from retrieval.drafting import draft_questions
from retrieval.found import Found
from retrieval.guideline import Passage
from retrieval.library import Library
from retrieval.terms import content_terms
from tests.doubles_ollama import Backend, Messages, Model, OllamaServer
from tests.doubles_small_model import smollm2

MODEL = "smollm2:135m"
CONTEXT_TOKENS = 1536
ANSWER_TOKENS = 64
PLAIN_CHARS = 1400
"""How much of a section the short prompt holds."""


@dataclass
class Recorded:
    """A backend that keeps what it wrote."""

    backend: Backend
    texts: list[str] = field(default_factory=list)

    async def __call__(self, messages: Messages, options: Mapping[str, Any]) -> AsyncIterator[str]:
        self.texts.append("")
        async for piece in self.backend(messages, options):
            self.texts[-1] += piece
            yield piece


@dataclass(frozen=True)
class Searched:
    """A library that found one thing."""

    found: Found

    def search(self, question: str, **_: Any) -> Found:
        return self.found


@dataclass(frozen=True)
class Written:
    """A writer that says one thing."""

    text: str

    async def write(self, assignment: Assignment, within_s: float) -> Draft:
        return Draft(self.text, tuple(source.tag for source in assignment.sources), model=MODEL)


def questions_of(library: Library, file: Path | None, count: int) -> list[str]:
    """Return the answerable questions of a file, then questions drafted from the sections, `count` at most."""
    asked = [row["question"] for row in _rows(file) if row["answerable"]] if file else []
    drafted = [row["question"] for row in draft_questions(library.passages(), 4 * count) if row["answerable"]]
    headed = list(_headed(library.passages()))
    for pair in zip(drafted, headed, strict=False):
        asked += pair
    return list(dict.fromkeys(asked))[:count]


def _rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]


def _headed(passages: Sequence[Passage]) -> Iterator[str]:
    """Ask for a section by its heading: what people ask that is not about a number."""
    step = 7  # sections of many guidelines, and of all kinds
    for passage in passages[::step]:
        if passage.path and content_terms(passage.heading):
            yield f"What is the {passage.heading.lower().rstrip('.:')} for {passage.title.lower()}?"


def whole_sentences(text: str) -> list[str]:
    """Return the sentences of a text without their tags; what broke off at its end is left out."""
    sentences = [without_tags(sentence).strip() for sentence in split_sentences(text)]
    if sentences and not re.search(r"[.!?)]\W*$", sentences[-1]):
        sentences.pop()
    return [one for one in sentences if re.search(r"[A-Za-z]{3}", one) and "=====" not in one]


def tagged(sentence: str, found: Found) -> str:
    """Give a sentence the tag of the kept source that it shares most words with."""
    words = set(content_terms(sentence))
    best = max(found.kept, key=lambda s: len(words & set(content_terms(s.passage.trail + " " + s.passage.text))))
    return f"{sentence.rstrip('. ')} [{best.tag}]."


async def plain_texts(backend: Backend, question: str, found: Found, samples: int) -> list[str]:
    """Let the model answer a short prompt, once as likely as can be and `samples` times at higher temperatures."""
    texts = []
    passage = found.kept[0].passage
    prompt = f"{passage.trail}\n{passage.text[:PLAIN_CHARS]}\n\nAnswer in one or two short sentences: {question}"
    for sample in range(samples + 1):
        options = {"num_predict": ANSWER_TOKENS, "temperature": min(1.0, 0.5 * sample)}
        texts.append("".join([piece async for piece in backend([{"role": "user", "content": prompt}], options)]))
    return texts


async def measure(
    data: Path, questions: Path | None, first: int, count: int, samples: int, out: TextIO | None
) -> dict[str, Any]:
    """Ask all questions and return the figures."""
    recorded = Recorded(smollm2)
    tallies: dict[str, Counter[str]] = {"as it is": Counter(), "tagged": Counter(), "tagged sentences": Counter()}
    fallbacks: Counter[str] = Counter()
    kept = Settings(
        answer=AnswerSettings(quote_dose_questions=False, written_within_s=600),
        ollama=OllamaSettings(url="http://127.0.0.1:1", model=MODEL, num_ctx=CONTEXT_TOKENS, max_tokens=ANSWER_TOKENS),
    )
    library = open_library(kept, data)
    async with OllamaServer(Model(MODEL, trained_context=2048), backend=recorded) as server:
        settings = kept.model_copy(update={"ollama": kept.ollama.model_copy(update={"url": server.url})})
        writer = OllamaWriter(settings.ollama)
        await writer.warm_up()
        for question in questions_of(library, questions, first + 3 * count)[first:]:
            if tallies["as it is"].total() >= count:
                break
            found = library.search(question)
            recorded.texts.clear()
            result = await Answerer(Searched(found), settings, writer, screen_of(settings)).answer(question)
            if not found.verdict.passed or not found.kept:
                continue
            tallies["as it is"][_outcome(result)] += 1
            fallbacks[result.fallback] += 1
            _note(out, "as it is", question, " ⏎⏎ ".join(recorded.texts), result)
            texts = [*recorded.texts, *await plain_texts(smollm2, question, found, samples)]
            for text in dict.fromkeys(texts):
                sentences = [] if says_not_covered(text) else whole_sentences(text)
                drafts = {"tagged sentences": [tagged(one, found) for one in sentences]}
                if len(sentences) > 1:
                    drafts["tagged"] = [" ".join(drafts["tagged sentences"])]
                for way, said in drafts.items():
                    for draft in dict.fromkeys(said):
                        answerer = Answerer(Searched(found), settings, Written(draft), screen_of(settings))
                        result = await answerer.answer(question)
                        tallies[way][_outcome(result)] += 1
                        _note(out, way, question, draft, result)
        await writer.close()
    library.close()
    return {**{way: dict(tally) for way, tally in tallies.items()}, "quoted because": dict(fallbacks)}


def _outcome(result: Result) -> str:
    return result.mode if result.status == "answered" else result.status


def _note(out: TextIO | None, way: str, question: str, draft: str, result: Result) -> None:
    if out is None:
        return
    cited = {tag for check in result.checks for tag in check.cites}
    row = {
        "way": way,
        "question": question,
        "draft": draft,
        "outcome": _outcome(result),
        "reason": result.reason,
        "fallback": result.fallback,
        "answer": result.answer,
        "checks": [{"sentence": c.sentence, "problems": c.problems} for c in result.checks],
        "sources": {
            s.tag: {"text": s.passage.text, "path": s.passage.path, "title": s.passage.title}
            for s in result.sources
            if s.tag in cited
        },
    }
    out.write(json.dumps(row, ensure_ascii=False) + "\n")
    out.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--questions", type=Path)
    parser.add_argument("--first", type=int, default=0, help="leave out so many questions")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--samples", type=int, default=2)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    out = given.out.open("w", encoding="utf-8") if given.out else None
    figures = asyncio.run(measure(given.data, given.questions, given.first, given.count, given.samples, out))
    print(json.dumps(figures, indent=2, ensure_ascii=False))


if __name__ == "__main__":
    main()
