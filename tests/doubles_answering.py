"""Guidelines, a library, a writer and a screen that tests of answering can script."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date

from bot.answering.writing import Assignment, Draft, NotWritten
from retrieval.access import Viewer
from retrieval.found import Filters, Found, Reading, RefusalKind, Scores, Source, Verdict
from retrieval.guideline import Block, Metadata, Passage

HYPO = (
    "A glucose below 70 mg/dL is low. Treat with 15 g of fast-acting carbohydrate and recheck after 15 minutes. "
    "Repeat if glucose is still below 70 mg/dL. Review any medicine that may have caused the low glucose."
)
METFORMIN = (
    "Metformin should not be started if eGFR is below 45. If eGFR falls below 30 during treatment, stop metformin."
)


def paragraphs(*texts: str) -> tuple[Block, ...]:
    return tuple(Block("paragraph", text, group=number) for number, text in enumerate(texts))


def a_passage(
    *blocks: Block | str,
    path: Sequence[str] = ("4. Low blood glucose",),
    title: str = "Diabetes protocol",
    ordinal: int = 0,
    review_by: date | None = None,
) -> Passage:
    """Blocks of one list or table are parted by a line break, all others by a blank line."""
    whole = tuple(
        Block("paragraph", block, group=1000 + n) if isinstance(block, str) else block for n, block in enumerate(blocks)
    )
    text = ""
    for before, block in zip((None, *whole), whole, strict=False):
        text += "" if before is None else "\n" if before.group == block.group else "\n\n"
        text += block.text
    return Passage(
        id=f"{title}/{'/'.join(path)}/{ordinal}",
        guideline=f"{title}.md",
        metadata=Metadata(title, version="2", review_by=review_by),
        path=tuple(path),
        ordinal=ordinal,
        blocks=whole,
        text=text,
        lines=(1, 9),
    )


def a_source(
    tag: str = "S1",
    passage: Passage | str = HYPO,
    *,
    gate: float = 0.8,
    kept: bool = True,
    best_block: int = 0,
) -> Source:
    passage = a_passage(passage) if isinstance(passage, str) else passage
    return Source(tag, passage, Scores(gate, 0.5, 0.5, gate, gate), kept, best_block=best_block)


def found(
    question: str,
    *sources: Source,
    read_as: str = "",
    asks_for: tuple[str, ...] = (),
    ambiguous: tuple[tuple[str, tuple[str, ...]], ...] = (),
    expansions: tuple[tuple[str, str], ...] = (),
    kind: RefusalKind = "below_score",
) -> Found:
    passed = any(source.kept for source in sources)
    best = max((source.scores.gate for source in sources), default=0.0)
    reason = "S1 carries it." if passed else "Nothing in the guidelines comes near enough to this question."
    return Found(
        Reading(question, read_as or question, expansions, ambiguous),
        sources,
        Verdict(passed, best, 0.5, reason, None if passed else kind, asks_for),
        "g1",
        {"embed": 1.0, "search": 1.0, "rerank": 1.0, "gate": 1.0},
    )


class FakeLibrary:
    """Answers from a table of question → Found; anything else finds `otherwise`. Keeps what it was asked."""

    def __init__(self, table: dict[str, Found] | None = None, otherwise: Found | Exception | None = None) -> None:
        self.table = table or {}
        self.otherwise = otherwise if otherwise is not None else found("", a_source())
        self.asked: list[str] = []
        self.viewers: list[Viewer] = []
        self.filters: list[Filters] = []

    def search(self, question: str, *, viewer: Viewer, filters: Filters, limit: int = 10) -> Found:
        self.asked.append(question)
        self.viewers.append(viewer)
        self.filters.append(filters)
        answer = self.table.get(question, self.otherwise)
        if isinstance(answer, Exception):
            raise answer
        if answer.reading.question:
            return answer
        return replace(answer, reading=replace(answer.reading, question=question, read_as=question))


@dataclass
class FakeWriter:
    """Writes the scripted drafts in order; a scripted NotWritten is raised, a callable is awaited."""

    script: list[object] = field(default_factory=list)
    assignments: list[Assignment] = field(default_factory=list)
    dropped: tuple[str, ...] = ()

    async def write(self, assignment: Assignment, within_s: float) -> Draft:
        self.assignments.append(assignment)
        if not self.script:
            raise AssertionError("the model was called once too often")
        step = self.script.pop(0)
        if isinstance(step, NotWritten | Exception):
            raise step
        if callable(step):
            step = await step()
        tags = tuple(source.tag for source in assignment.sources if source.tag not in self.dropped)
        return Draft(str(step), tags, self.dropped, "small:1b", "abcdef0123456789")


@dataclass(frozen=True)
class SeenDetail:
    kind: str


@dataclass(frozen=True)
class FakeScreened:
    text: str
    details: tuple[SeenDetail, ...] = ()
    blocked: bool = False


def lets_through(text: str) -> FakeScreened:
    return FakeScreened(text)


def blocks(word: str) -> Callable[[str], FakeScreened]:
    """A screen that blocks every text that holds `word`."""

    def screen(text: str) -> FakeScreened:
        return FakeScreened(text, (SeenDetail("name"),), True) if word in text else FakeScreened(text)

    return screen


class Clock:
    """Seconds that go forward only when told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now
