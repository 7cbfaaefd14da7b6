"""Places at the desk and turns at the model."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from bot.answering.writing import Assignment, Draft
from bot.commands import parse
from bot.lanes import Job, Lane, ModelTurns, TurnTakingWriter
from bot.ledger import Claim
from bot.mattermost.events import Post, Question

ASSIGNMENT = Assignment("what is a hypo?", ())


def job(name: str, person: str = "ann") -> Job:
    question = Question(Post(name, "c", person, name), name, "O")
    return Job(question, parse(name), Claim(name, "me", 1, 0))


class Model:
    """A model that writes one at a time, when it is told to."""

    def __init__(self) -> None:
        self.writing: list[str] = []
        self.done = asyncio.Event()

    async def write(self, assignment: Assignment, within_s: float) -> Draft:
        self.writing.append(assignment.question)
        await self.done.wait()
        return Draft("text", ())


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


def lane(places: int, work: Callable[[Job], Awaitable[None]]) -> Lane:
    return Lane(places, 100, 100, work)


def test_no_more_are_at_work_than_there_are_places() -> None:
    async def scene() -> None:
        began: list[str] = []
        go = asyncio.Event()

        async def work(it: Job) -> None:
            began.append(it.question.id)
            await go.wait()

        desk = lane(2, work)
        for name in "abcd":
            assert desk.put(job(name)) is None
        await settle()
        assert began == ["a", "b"]
        go.set()
        await settle()
        assert began == ["a", "b", "c", "d"]

    asyncio.run(scene())


def test_who_waits_for_the_model_gives_the_place_to_the_next_and_takes_turns_fairly() -> None:
    async def scene() -> None:
        model = Model()
        turns = ModelTurns()
        writer = TurnTakingWriter(model, turns)
        quoted: list[str] = []
        written: list[str] = []

        async def work(it: Job) -> None:
            if it.question.id.startswith("quote"):
                quoted.append(it.question.id)
                return
            await writer.write(Assignment(it.question.id, ()), 20.0)
            written.append(it.question.id)

        desk = lane(1, work)
        jobs = [job("a1"), job("a2"), job("a3"), job("b1", "ben"), job("quote", "zoe")]
        for it in jobs:
            desk.put(it)
        await settle()
        assert quoted == ["quote"], "with one place at the desk and the model busy"
        assert model.writing == ["a1"]
        assert [it.place for it in jobs[1:4]] == [1, 3, 2], "ben's only question is not behind all of ann's"
        model.done.set()
        await settle()
        assert written == ["a1", "a2", "b1", "a3"]
        assert turns.busy == 0
        assert [it.place for it in jobs] == [None] * 5

    asyncio.run(scene())


@pytest.mark.parametrize("when", ["waiting", "writing"])
def test_a_question_that_is_given_up_gives_its_turn_back(when: str) -> None:
    async def scene() -> None:
        model = Model()
        turns = ModelTurns()
        writer = TurnTakingWriter(model, turns)
        first = asyncio.create_task(writer.write(ASSIGNMENT, 20.0))
        second = asyncio.create_task(writer.write(ASSIGNMENT, 20.0))
        await settle()
        (second if when == "waiting" else first).cancel()
        await settle()
        model.done.set()
        await (first if when == "waiting" else second)
        assert turns.busy == 0
        assert len(turns.queue) == 0

    asyncio.run(scene())


def test_a_turn_that_comes_just_as_its_question_is_given_up_goes_to_the_next() -> None:
    async def scene() -> None:
        turns = ModelTurns()
        got: list[str] = []
        hold = asyncio.Event()

        async def take(name: str, until: asyncio.Event | None = None) -> None:
            async with turns.turn(name):
                got.append(name)
                if until is not None:
                    await until.wait()

        first = asyncio.create_task(take("a", hold))
        await settle()
        second = asyncio.create_task(take("b"))
        third = asyncio.create_task(take("c"))
        await settle()
        hold.set()
        await first
        second.cancel()
        await settle()
        await third
        assert "c" in got
        assert turns.busy == 0

    asyncio.run(scene())


def test_a_place_that_was_left_is_taken_back_before_anything_new_begins() -> None:
    async def scene() -> None:
        model = Model()
        writer = TurnTakingWriter(model, ModelTurns())
        order: list[str] = []
        go = asyncio.Event()

        async def work(it: Job) -> None:
            order.append(f"{it.question.id} begins")
            if it.question.id == "written":
                await writer.write(ASSIGNMENT, 20.0)
                order.append("written is back")
            else:
                await go.wait()

        desk = lane(1, work)
        for name in ("written", "x", "y"):
            desk.put(job(name))
        await settle()
        assert order == ["written begins", "x begins"]
        model.done.set()
        await settle()
        go.set()
        await settle()
        assert order == ["written begins", "x begins", "written is back", "y begins"]

    asyncio.run(scene())
