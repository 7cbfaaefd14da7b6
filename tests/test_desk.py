"""The bot's life on a server, as the people there see it."""

from __future__ import annotations

import asyncio
import json
import os
import random
import time
import tracemalloc
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from bot.exchange import Quote, Result
from bot.ledger import Ledger
from bot.presence import Presence
from bot.sandbox import posting
from bot.sandbox.limiter import RateLimiter
from bot.sandbox.server import SandboxServer
from retrieval.access import OPERATOR, Viewer
from retrieval.found import Filters, Reading, Scores, Source, Verdict
from retrieval.guideline import Block, Metadata, Passage
from tests.doubles_mattermost import (
    PATIENT,
    FakeAnswerer,
    FastTime,
    a_bot,
    bot_posts,
    make_presence,
    mark,
    notices_for,
    replies_to,
    settings_for,
    until,
)

LONG = os.environ.get("GUIDELINE_BOT_FAULTS") == "long"

Scene = Callable[[SandboxServer, Presence, FakeAnswerer], Awaitable[None]]


def play(tmp_path: Path, scene: Scene, answerer: Any = None, **more: Any) -> None:
    async def run() -> None:
        async with a_bot(tmp_path, answerer, **more) as (server, presence, answers):
            await scene(server, presence, answers)

    asyncio.run(run())


class Held:
    """Holds answers back until they are let go."""

    def __init__(self) -> None:
        self.open = asyncio.Event()
        self.began: list[str] = []

    async def __call__(self, question: str) -> None:
        self.began.append(question)
        await self.open.wait()


def held_answerer() -> tuple[FakeAnswerer, Held]:
    held = Held()
    return FakeAnswerer(before=held), held


def triage(server: SandboxServer) -> str:
    return str(server.channel("triage")["id"])


async def answered(server: SandboxServer, question: dict[str, Any]) -> dict[str, Any]:
    await until(lambda: replies_to(server, question))
    return replies_to(server, question)[0]


async def idle(presence: Presence, within_s: float = 10.0) -> None:
    await until(lambda: not presence.desk.jobs and not presence.desk.arriving, within_s)


def reactions(server: SandboxServer, post_id: str) -> set[str]:
    there = server.world.reactions.get(post_id, [])
    return {one["emoji_name"] for one in there if one["user_id"] == server.bot.id and not one["delete_at"]}


# --- the ordinary way ---------------------------------------------------------------------------------------


def test_a_mention_is_seen_at_once_answered_in_its_thread_and_then_tidied_up(tmp_path: Path) -> None:
    answerer, held = held_answerer()

    async def scene(server: SandboxServer, presence: Presence, _: FakeAnswerer) -> None:
        typed: list[str] = []
        server.world.listeners.append(lambda event: typed.append(event.channel_id) if event.name == "typing" else None)
        began = time.monotonic()
        question = server.post("ann", triage(server), "@guidebot what is a hypo?")
        await until(lambda: reactions(server, question["id"]) == {"eyes"})
        await until(lambda: typed == [triage(server)])
        assert time.monotonic() - began < 1.0, "nobody is left waiting without a sign"
        held.open.set()
        reply = await answered(server, question)
        assert reply["root_id"] == question["id"]
        assert "what is a hypo?" in reply["message"]
        await idle(presence)
        assert reactions(server, question["id"]) == set()
        assert reactions(server, reply["id"]) == {"+1", "-1"}
        kinds = [event.kind for event in presence.desk.ledger.ledger.events(question["id"])]
        assert kinds == ["claim", "result", "posted"]

    play(tmp_path, scene, answerer)


def test_a_follow_up_in_the_thread_is_read_with_what_came_before(tmp_path: Path) -> None:
    async def scene(server: SandboxServer, presence: Presence, answerer: FakeAnswerer) -> None:
        first = server.post("ann", triage(server), "@guidebot dose of amoxicillin?")
        await answered(server, first)
        server.post("ben", triage(server), "I think so too", root_id=first["id"])
        second = server.post("ben", triage(server), "@guidebot and in children?", root_id=first["id"])
        reply = await answered(server, second)
        assert reply["root_id"] == first["id"]
        assert answerer.asked[-1].earlier == ("dose of amoxicillin?",)
        elsewhere = server.post("ben", triage(server), "@guidebot and in children?")
        await answered(server, elsewhere)
        assert answerer.asked[-1].earlier == (), "another thread is another subject"
        assert len(answerer.asked) == 3

    play(tmp_path, scene)


def test_in_a_direct_message_every_post_is_a_question_and_follows_on_the_last(tmp_path: Path) -> None:
    async def scene(server: SandboxServer, presence: Presence, answerer: FakeAnswerer) -> None:
        direct = server.direct("ann")["id"]
        await answered(server, server.post("ann", direct, "dose of amoxicillin?"))
        await answered(server, server.post("ann", direct, "and in children?"))
        assert answerer.asked[-1].earlier == ("dose of amoxicillin?",)

    play(tmp_path, scene)


def test_nobody_but_a_person_who_names_the_bot_is_answered(tmp_path: Path) -> None:
    async def scene(server: SandboxServer, presence: Presence, answerer: FakeAnswerer) -> None:
        other = server.world.add_user("otherbot", bot=True)
        server.world.team_members[server.team["id"]].append(other.id)
        server.world.add_member(triage(server), other.id)
        here = triage(server)
        server.post("otherbot", here, "@guidebot hello, I am a bot")
        # A bot account that posts like a person, without the server's mark.
        server.post("otherbot", here, "@guidebot hello again", props={"from_bot": "false"})
        server.post("admin", here, "@guidebot from a hook", props={"from_webhook": "true"})
        server.post("ann", here, "@all @here @channel please read")
        server.post("ann", here, "nothing for the bot")
        server.post("guidebot", here, "@guidebot @otherbot to ourselves")
        header = "ann updated the channel header to: ask @guidebot"
        posting.say_system(server.world, server.user("ann"), here, "system_header_change", header, {})
        last = server.post("ann", here, "@guidebot one real question")
        await answered(server, last)
        await idle(presence)
        assert [asked.question for asked in answerer.asked] == ["one real question"]

    play(tmp_path, scene)


def test_the_bot_asks_its_server_not_to_be_named_by_all(tmp_path: Path) -> None:
    async def scene(server: SandboxServer, presence: Presence, _: FakeAnswerer) -> None:
        assert server.bot.notify_props["channel"] == "false"

    play(tmp_path, scene)


def test_a_reply_that_is_too_long_for_one_post_comes_in_parts_and_in_order(tmp_path: Path) -> None:
    async def scene(server: SandboxServer, presence: Presence, answerer: FakeAnswerer) -> None:
        answerer.answer_text = lambda question: "line of the answer\n" * 2000
        question = server.post("ann", triage(server), "@guidebot long?")
        await until(lambda: len(replies_to(server, question)) == 3)
        parts = replies_to(server, question)
        assert [mark(part)["part"] for part in parts] == [1, 2, 3]
        assert all(len(part["message"]) <= 16_383 for part in parts)
        await idle(presence)
        assert reactions(server, parts[-1]["id"]) == {"+1", "-1"}

    play(tmp_path, scene)


def test_patient_details_never_reach_the_ledger(tmp_path: Path) -> None:
    async def scene(server: SandboxServer, presence: Presence, answerer: FakeAnswerer) -> None:
        question = server.post("ann", triage(server), f"@guidebot dose for {PATIENT}?")
        reply = await answered(server, question)
        await idle(presence)
        assert PATIENT not in reply["message"]
        kept = json.dumps([[event.body, event.texts] for event in presence.desk.ledger.ledger.events()])
        assert PATIENT not in kept
        follow = server.post("ann", triage(server), "@guidebot and in children?", root_id=question["id"])
        await answered(server, follow)
        assert answerer.asked[-1].earlier == ()
        for text in (f'@guidebot --guideline "{PATIENT}" what dose?', f"@guidebot guidelines {PATIENT}"):
            await answered(server, server.post("ann", triage(server), text))
        kept = json.dumps([[event.body, event.texts] for event in presence.desk.ledger.ledger.events()])
        assert PATIENT not in kept, "not by way of a filter or a command either"

    play(tmp_path, scene)


# --- who reads it -------------------------------------------------------------------------------------------


def test_the_viewer_is_everyone_who_can_read_the_reply(tmp_path: Path) -> None:
    async def scene(server: SandboxServer, presence: Presence, answerer: FakeAnswerer) -> None:
        team, here = server.team, server.channel("triage")
        place = {f"team:{team['id']}", "team:clinic", f"channel:{here['id']}", "channel:triage"}
        await answered(server, server.post("ann", here["id"], "@guidebot public?"))
        assert answerer.asked[-1].viewer == Viewer.of([place]), "anyone of the team can read a public channel"

        private = server.world.add_channel("icu", "ICU", kind="P", team_id=team["id"], creator_id=server.bot.id)
        for name in ("guidebot", "ann", "ben"):
            server.world.add_member(private["id"], server.user(name).id)
        await answered(server, server.post("ann", private["id"], "@guidebot private?"))
        inside = {f"team:{team['id']}", "team:clinic", f"channel:{private['id']}", "channel:icu"}
        readers = [inside | {f"person:{name}", f"person:{server.user(name).id}"} for name in ("ann", "ben")]
        assert answerer.asked[-1].viewer == Viewer.of(readers)

        await answered(server, server.post("ann", server.direct("ann")["id"], "direct?"))
        (own,) = answerer.asked[-1].viewer.readers or ()
        assert {"person:ann", "team:clinic", "channel:triage", "channel:icu"} <= own
        await answered(server, server.post("zoe", server.direct("zoe")["id"], "direct?"))
        (own,) = answerer.asked[-1].viewer.readers or ()
        assert "person:zoe" in own
        assert "channel:icu" not in own, "zoe is not in that channel"

    play(tmp_path, scene)


# --- commands -----------------------------------------------------------------------------------------------


def a_source(tag: str, heading: str, *, kept: bool) -> Source:
    block = Block("paragraph", f"Text of {heading}.")
    passage = Passage(heading, "d.md", Metadata("Diabetes"), (heading,), 0, (block,), block.text)
    return Source(tag, passage, Scores(0.6, 0.5, 0.4, 0.9, 0.61), kept)


class ThreeSections:
    """A library, and an answerer that finds in it; one of the sections is not for the readers here."""

    generation = "g1"
    sources = (
        a_source("S1", "Low", kept=True),
        a_source("S2", "High", kept=False),
        a_source("S3", "Secret", kept=True),
    )

    def guidelines(self, viewer: Viewer) -> list[Any]:
        return []

    def passage(self, passage_id: str, viewer: Viewer) -> Passage | None:
        found = {source.passage.id: source.passage for source in self.sources}
        return None if passage_id == "Secret" else found.get(passage_id)

    async def answer(self, question: str, *, viewer: Viewer = OPERATOR, **more: Any) -> Result:
        verdict = Verdict(True, 0.61, 0.55, "carried")
        quotes = (Quote("S1", self.sources[0].passage.text, True),)
        return Result(
            question, Reading(question, question), "answered", quotes=quotes, sources=self.sources, verdict=verdict
        )


def test_show_and_why_tell_what_stands_behind_the_answer_of_this_thread(tmp_path: Path) -> None:
    sections = ThreeSections()

    async def scene(server: SandboxServer, presence: Presence, _: FakeAnswerer) -> None:
        question = server.post("ann", triage(server), "@guidebot what is a hypo?")
        await answered(server, question)

        async def command(text: str) -> str:
            post = server.post("ben", triage(server), f"@guidebot {text}", root_id=question["id"])
            return str((await answered(server, post))["message"])

        rejected = await command("show S2")
        assert "Text of High." in rejected, "rejected ones too"
        assert rejected.startswith("**No answer to the question.**"), "and nobody takes one for an answer"
        assert "No answer" not in await command("show S1")
        assert "not in the index any more, or not everyone" in await command("show S3")
        assert "it has S1, S2, S3" in await command("show S7")
        why = await command("why")
        assert "| S1 | yes | 0.61 |" in why
        assert "| S2 | no | 0.61 |" in why
        assert "Secret" not in why

    play(tmp_path, scene, sections, library=sections)


class Operating:
    def __init__(self) -> None:
        self.done: list[str] = []

    async def reindex(self) -> str:
        self.done.append("reindex")
        return "Indexing has begun."

    async def reload(self) -> str:
        self.done.append("reload")
        return "Reloaded."

    def status(self) -> list[str]:
        return ["model: loaded"]


def test_a_greeting_or_an_empty_mention_gets_help_and_no_refusal(tmp_path: Path) -> None:
    async def scene(server: SandboxServer, presence: Presence, answerer: FakeAnswerer) -> None:
        for text in ("@guidebot", "@guidebot hello!", "hi @guidebot"):
            reply = await answered(server, server.post("ann", triage(server), text))
            assert "Ask me what the guidelines say" in reply["message"]
        assert not answerer.asked

    play(tmp_path, scene)


def test_reindexing_is_for_the_people_who_are_named(tmp_path: Path) -> None:
    operations = Operating()

    async def scene(server: SandboxServer, presence: Presence, _: FakeAnswerer) -> None:
        reply = await answered(server, server.post("ben", triage(server), "@guidebot reindex"))
        assert "desk.admins" in reply["message"]
        assert operations.done == []
        reply = await answered(server, server.post("ann", triage(server), "@guidebot reindex"))
        assert reply["message"] == "Indexing has begun."
        reply = await answered(server, server.post("ben", triage(server), "@guidebot status"))
        assert "connected" in reply["message"]
        assert "model: loaded" in reply["message"]

    play(tmp_path, scene, operations=operations, desk={"admins": ("ann",)})


def test_show_and_why_without_an_answer_before_say_so(tmp_path: Path) -> None:
    async def scene(server: SandboxServer, presence: Presence, _: FakeAnswerer) -> None:
        for text in ("@guidebot show S1", "@guidebot why"):
            reply = await answered(server, server.post("ann", triage(server), text))
            assert "no answer of mine" in reply["message"]

    play(tmp_path, scene, library=ThreeSections())


def test_a_filter_that_cannot_be_read_is_asked_about_and_nothing_is_looked_up(tmp_path: Path) -> None:
    async def scene(server: SandboxServer, presence: Presence, answerer: FakeAnswerer) -> None:
        text = '@guidebot --section "low what is a hypo?'
        reply = await answered(server, server.post("ann", triage(server), text))
        assert "both quotation marks" in reply["message"]
        assert not answerer.asked

    play(tmp_path, scene)


def test_mode_and_filters_of_a_mention_reach_the_answerer(tmp_path: Path) -> None:
    async def scene(server: SandboxServer, presence: Presence, answerer: FakeAnswerer) -> None:
        text = '@guidebot quote --guideline diabetes --section "low" what is a hypo?'
        await answered(server, server.post("ann", triage(server), text))
        asked = answerer.asked[-1]
        assert (asked.question, asked.mode, asked.filters) == (
            "what is a hypo?",
            "quoted",
            Filters("diabetes", "low"),
        )

    play(tmp_path, scene)


# --- edits and deletions ------------------------------------------------------------------------------------


def edit(server: SandboxServer, post: dict[str, Any], message: str) -> None:
    posting.edit(server.world, server.world.posts[post["id"]], {"message": message})


def test_an_edited_question_gets_its_reply_updated_and_marked(tmp_path: Path) -> None:
    async def scene(server: SandboxServer, presence: Presence, answerer: FakeAnswerer) -> None:
        question = server.post("ann", triage(server), "@guidebot what is a hyper?")
        reply = await answered(server, question)
        await idle(presence)
        edit(server, question, "@guidebot what is a hypo?")
        await until(lambda: "hypo" in replies_to(server, question)[0]["message"])
        await idle(presence)
        (updated,) = replies_to(server, question)
        assert updated["id"] == reply["id"], "the same post, not a second one"
        assert "edited" in updated["message"]
        assert mark(updated)["question"] == question["id"]

    play(tmp_path, scene)


def test_an_edit_that_adds_the_mention_is_a_question_and_pinning_is_nothing(tmp_path: Path) -> None:
    async def scene(server: SandboxServer, presence: Presence, answerer: FakeAnswerer) -> None:
        question = server.post("ann", triage(server), "what is a hypo?")
        edit(server, question, "@guidebot what is a hypo?")
        await answered(server, question)
        await idle(presence)
        posting.pin(server.world, server.world.posts[question["id"]], True)
        last = server.post("ann", triage(server), "@guidebot another")
        await answered(server, last)
        await idle(presence)
        assert len(answerer.asked) == 2
        assert len(replies_to(server, question)) == 1

    play(tmp_path, scene)


def test_a_question_that_is_edited_while_it_is_answered_is_answered_as_it_is_now(tmp_path: Path) -> None:
    answerer, held = held_answerer()

    async def scene(server: SandboxServer, presence: Presence, _: FakeAnswerer) -> None:
        question = server.post("ann", triage(server), "@guidebot what is a hyper?")
        await until(lambda: held.began)
        edit(server, question, "@guidebot what is a hypo?")
        await until(lambda: presence.desk.jobs[question["id"]].changed)
        held.open.set()
        reply = await answered(server, question)
        assert "hypo" in reply["message"]
        await idle(presence)
        assert len(replies_to(server, question)) == 1

    play(tmp_path, scene, answerer)


def test_an_edit_that_comes_while_the_reply_is_on_its_way_updates_it(tmp_path: Path) -> None:
    async def scene(server: SandboxServer, presence: Presence, answerer: FakeAnswerer) -> None:
        poster = presence.desk.poster
        settle = poster.settle
        edited = asyncio.Event()

        async def settle_late(*args: Any) -> Any:
            await edited.wait()
            return await settle(*args)

        poster.settle = settle_late  # type: ignore[method-assign]
        question = server.post("ann", triage(server), "@guidebot what is a hyper?")
        await answered(server, question)
        edit(server, question, "@guidebot what is a hypo?")
        await until(lambda: presence.desk.jobs[question["id"]].changed)
        edited.set()
        await until(lambda: "hypo" in replies_to(server, question)[0]["message"])
        await idle(presence)
        assert len(replies_to(server, question)) == 1

    play(tmp_path, scene)


def test_an_edit_that_comes_too_late_changes_nothing(tmp_path: Path) -> None:
    async def run() -> None:
        clock = [time.time()]
        server = SandboxServer(clock=lambda: clock[0])
        await server.start()
        async with a_bot(tmp_path, server=server, clock=lambda: clock[0]) as (_, presence, answerer):
            question = server.post("ann", triage(server), "@guidebot what is a hyper?")
            await answered(server, question)
            await idle(presence)
            clock[0] += 601
            edit(server, question, "@guidebot what is a hypo?")
            await answered(server, server.post("ben", triage(server), "@guidebot another one"))
            await idle(presence)
            assert "hyper" in replies_to(server, question)[0]["message"]
            assert len(answerer.asked) == 2
        await server.stop()

    asyncio.run(run())


def test_a_question_whose_post_or_thread_is_deleted_meanwhile_is_dropped(tmp_path: Path) -> None:
    answerer, held = held_answerer()

    async def scene(server: SandboxServer, presence: Presence, _: FakeAnswerer) -> None:
        here = triage(server)
        at_work = server.post("ann", here, "@guidebot first")
        await until(lambda: held.began)
        waiting = server.post("ann", here, "@guidebot second")
        root = server.post("ben", here, "a thread")
        inside = server.post("ben", here, "@guidebot third", root_id=root["id"])
        await until(lambda: len(presence.desk.jobs) == 3)
        for person, post in (("ann", at_work), ("ann", waiting), ("ben", root)):
            posting.delete(server.world, server.user(person), server.world.posts[post["id"]])
        await until(lambda: len(presence.desk.jobs) == 1)
        held.open.set()
        await idle(presence)
        assert not bot_posts(server)
        ledger = presence.desk.ledger.ledger
        for question in (at_work, waiting, inside):
            assert [event.kind for event in ledger.events(question["id"])][-1] == "dropped"

    play(tmp_path, scene, answerer, desk={"workers": 1})


# --- load ---------------------------------------------------------------------------------------------------


def test_who_has_to_wait_is_told_the_place_once_and_the_notice_goes_with_the_answer(tmp_path: Path) -> None:
    answerer, held = held_answerer()

    async def scene(server: SandboxServer, presence: Presence, _: FakeAnswerer) -> None:
        here = triage(server)
        first = server.post("ann", here, "@guidebot first")
        await until(lambda: held.began)
        second = server.post("ben", here, "@guidebot second")
        await until(lambda: second["id"] in presence.desk.jobs)
        third = server.post("zoe", here, "@guidebot third")
        await until(lambda: notices_for(server, third))
        assert "number 1 " in notices_for(server, second)[0]["message"]
        assert "number 2 " in notices_for(server, third)[0]["message"]
        assert not notices_for(server, first)
        held.open.set()
        for question in (first, second, third):
            await answered(server, question)
        await idle(presence)
        assert not notices_for(server, second)
        assert not notices_for(server, third)

    fast = FastTime(50)
    play(tmp_path, scene, answerer, desk={"workers": 1, "lease_s": 60}, sleep=fast.sleep)


def test_a_full_queue_and_a_person_with_too_many_questions_are_told_politely(tmp_path: Path) -> None:
    answerer, held = held_answerer()

    async def scene(server: SandboxServer, presence: Presence, _: FakeAnswerer) -> None:
        here = triage(server)
        server.post("ann", here, "@guidebot at work")
        await until(lambda: held.began)
        mine = [server.post("ann", here, f"@guidebot {number}") for number in range(3)]
        reply = await answered(server, mine[2])
        assert "2 questions waiting" in reply["message"]
        other = server.post("ben", here, "@guidebot b")
        await until(lambda: other["id"] in presence.desk.jobs)
        full = await answered(server, server.post("zoe", here, "@guidebot z"))
        assert "Too many questions" in full["message"]
        held.open.set()
        await idle(presence)
        assert all(len(replies_to(server, question)) == 1 for question in mine)

    play(tmp_path, scene, answerer, desk={"workers": 1, "queue_size": 3, "per_person": 2})


def test_quoting_and_commands_do_not_wait_for_what_the_model_is_writing(tmp_path: Path) -> None:
    answerer = FakeAnswerer()

    async def scene(server: SandboxServer, presence: Presence, _: FakeAnswerer) -> None:
        slow = asyncio.Event()

        async def before(question: str) -> None:
            if "slow" in question:
                await slow.wait()

        answerer.before = before
        here = triage(server)
        for number in range(6):
            server.post("ann", here, f"@guidebot slow {number}")
        await until(lambda: len(presence.desk.jobs) == 6)
        await answered(server, server.post("ben", here, "@guidebot help"))
        await answered(server, server.post("ben", here, "@guidebot quote what is a hypo?"))
        await answered(server, server.post("ben", here, "@guidebot search hypo"))
        slow.set()
        await idle(presence)

    play(tmp_path, scene, answerer, desk={"workers": 2})


def test_a_flood_by_thirty_people_is_answered_once_each_in_a_fair_order_and_leaves_nothing_behind(
    tmp_path: Path,
) -> None:
    """Ten questions each (three in the short form), slowly answered; the long form looks at memory too."""
    each = 10 if LONG else 3
    people = [f"p{number:02}" for number in range(30)]

    async def scene(server: SandboxServer, presence: Presence, answerer: FakeAnswerer) -> None:
        here = triage(server)
        for name in people:
            user = server.world.add_user(name)
            server.world.team_members[server.team["id"]].append(user.id)
            server.world.add_member(here, user.id)
        # The model does not begin before all have asked, so that the order is the queue's alone.
        first = asyncio.Event()

        async def before(question: str) -> None:
            await first.wait()
            await asyncio.sleep(0.001)

        answerer.before = before
        order = [(name, number) for name in people for number in range(each)]
        random.Random(4).shuffle(order)
        questions = [server.post(name, here, f"@guidebot {name} {number}") for name, number in order]
        await until(lambda: len(presence.desk.jobs) == len(order), within_s=60)
        if LONG:
            tracemalloc.start()
        first.set()
        await until(lambda: presence.desk.waiting <= len(order) / 2, within_s=120)
        half_way = tracemalloc.get_traced_memory()[0]
        await idle(presence, within_s=120)
        grown = tracemalloc.get_traced_memory()[0] - half_way
        tracemalloc.stop()
        assert all(len(replies_to(server, question)) == 1 for question in questions)
        assert len(answerer.asked) == len(order)
        assert answerer.most_at_once <= 4
        # The sandbox keeps every post, in this same process; beside that nothing may grow.
        assert grown < 8_000_000
        desk = presence.desk
        assert (len(desk.jobs), len(desk.arriving), desk.waiting, len(desk.signs._told_place)) == (0, 0, 0, 0)
        await until(lambda: not desk.tasks, within_s=20)
        served: Counter[str] = Counter()
        for asked in answerer.asked[4:]:  # the first four had begun before all had asked
            served[asked.question.split()[0]] += 1
            assert max(served.values()) - min(served[name] for name in people) <= 2

    play(tmp_path, scene, desk={"queue_size": 400, "per_person": 20, "lease_s": 60})


# --- what was missed ----------------------------------------------------------------------------------------


def test_what_was_asked_while_the_bot_was_away_is_answered_when_it_is_back(tmp_path: Path) -> None:
    async def run() -> None:
        server = SandboxServer()
        await server.start()
        here = triage(server)
        async with a_bot(tmp_path, server=server) as (_, presence, _a):
            await answered(server, server.post("ann", here, "@guidebot before"))
            await idle(presence)
            old = server.post("ann", here, "what is a hypo?")
            await asyncio.sleep(0.05)
        missed = server.post("ben", here, "@guidebot meanwhile")
        direct = server.post("zoe", server.direct("zoe")["id"], "also meanwhile")
        edit(server, old, "@guidebot what is a hypo?")
        gone = server.post("ben", here, "@guidebot never mind")
        posting.delete(server.world, server.user("ben"), server.world.posts[gone["id"]])
        async with a_bot(tmp_path, server=server) as (_, presence, answerer):
            for question in (missed, direct, old):
                await answered(server, question)
            await idle(presence)
            assert sorted(asked.question for asked in answerer.asked) == [
                "also meanwhile",
                "meanwhile",
                "what is a hypo?",
            ]
        await server.stop()

    asyncio.run(run())


def test_a_question_that_is_too_old_is_not_answered_and_its_asker_is_told(tmp_path: Path) -> None:
    async def run() -> None:
        clock = [time.time()]
        server = SandboxServer(clock=lambda: clock[0])
        await server.start()
        here = triage(server)
        async with a_bot(tmp_path, server=server, clock=lambda: clock[0]) as (_, presence, _a):
            await answered(server, server.post("ann", here, "@guidebot before"))
            await idle(presence)
        late = server.post("ben", here, "@guidebot long ago")
        clock[0] += 25 * 3600
        fresh = server.post("ben", here, "@guidebot just now")
        async with a_bot(tmp_path, server=server, clock=lambda: clock[0]) as (_, presence, answerer):
            await answered(server, fresh)
            await until(lambda: notices_for(server, late))
            await idle(presence)
            assert "24 hours" in notices_for(server, late)[0]["message"]
            assert [asked.question for asked in answerer.asked] == ["just now"]
            assert not replies_to(server, late)
        await server.stop()

    asyncio.run(run())


def test_being_asked_in_a_channel_that_the_bot_just_came_into_is_heard(tmp_path: Path) -> None:
    async def scene(server: SandboxServer, presence: Presence, _: FakeAnswerer) -> None:
        channel = server.world.add_channel("new", "New", team_id=server.team["id"], creator_id=server.bot.id)
        server.world.add_member(channel["id"], server.user("ann").id)
        asked = server.post("ann", channel["id"], "@guidebot are you there?")
        server.world.add_member(channel["id"], server.bot.id)
        await presence.intake._look_everywhere()
        await answered(server, asked)

    play(tmp_path, scene)


def test_an_archived_channel_is_left_alone(tmp_path: Path) -> None:
    answerer, held = held_answerer()

    async def scene(server: SandboxServer, presence: Presence, _: FakeAnswerer) -> None:
        question = server.post("ann", triage(server), "@guidebot what is a hypo?")
        await until(lambda: held.began)
        server.channel("triage")["delete_at"] = 1
        held.open.set()
        await idle(presence)
        assert not bot_posts(server)
        assert presence.desk.ledger.ledger.is_finished(question["id"])

    play(tmp_path, scene, answerer)


# --- feedback -----------------------------------------------------------------------------------------------


def click(server: SandboxServer, person: str, post: dict[str, Any], emoji: str) -> None:
    posting.react(server.world, server.user(person), server.world.posts[post["id"]], emoji)


def test_a_thumb_down_is_asked_once_what_was_wrong_and_the_answer_is_kept(tmp_path: Path) -> None:
    async def scene(server: SandboxServer, presence: Presence, answerer: FakeAnswerer) -> None:
        here, ledger = triage(server), presence.desk.ledger.ledger
        question = server.post("ann", here, "@guidebot what is a hypo?")
        reply = await answered(server, question)
        await idle(presence)
        click(server, "ben", reply, "+1")
        click(server, "ann", reply, "-1")
        click(server, "ben", reply, "-1")
        await until(lambda: len(ledger.events(question["id"], kinds=("feedback",))) == 3)
        await until(lambda: notices_for(server, question) and ledger.events(kinds=("asked",)))
        told = server.post("ann", here, "@guidebot the dose is missing", root_id=question["id"])
        await until(lambda: ledger.events(question["id"], kinds=("comment",)))
        await until(lambda: ledger.is_finished(told["id"]))
        (comment,) = ledger.events(question["id"], kinds=("comment",))
        assert comment.texts == {"comment": "the dose is missing"}
        assert len(notices_for(server, question)) == 1, "asked once"
        assert "Thank you" in notices_for(server, told)[0]["message"]
        assert not replies_to(server, told)
        after = server.post("ann", here, "@guidebot something else then", root_id=question["id"])
        await answered(server, after)

    play(tmp_path, scene)


def test_a_question_after_a_thumb_down_is_answered_all_the_same(tmp_path: Path) -> None:
    async def scene(server: SandboxServer, presence: Presence, answerer: FakeAnswerer) -> None:
        question = server.post("ann", triage(server), "@guidebot what is a hypo?")
        reply = await answered(server, question)
        click(server, "ann", reply, "-1")
        await until(lambda: notices_for(server, question))
        again = server.post("ann", triage(server), "@guidebot and in children?", root_id=question["id"])
        await answered(server, again)

    play(tmp_path, scene)


def test_what_was_wrong_is_not_kept_when_it_names_a_patient(tmp_path: Path) -> None:
    async def scene(server: SandboxServer, presence: Presence, _: FakeAnswerer) -> None:
        ledger = presence.desk.ledger.ledger
        question = server.post("ann", triage(server), "@guidebot what is a hypo?")
        click(server, "ann", await answered(server, question), "-1")
        await until(lambda: notices_for(server, question))
        await until(lambda: ledger.events(kinds=("asked",)))
        told = server.post("ann", triage(server), f"@guidebot wrong for {PATIENT}", root_id=question["id"])
        await until(lambda: ledger.is_finished(told["id"]))
        assert PATIENT not in json.dumps([[event.body, event.texts] for event in ledger.events()])
        assert "delete it" in notices_for(server, told)[0]["message"]

    play(tmp_path, scene)


# --- the end ------------------------------------------------------------------------------------------------


def test_stopping_finishes_what_is_at_work_and_hands_the_rest_back(tmp_path: Path) -> None:
    answerer, held = held_answerer()

    async def run() -> None:
        server = SandboxServer()
        await server.start()
        ledger = Ledger.open(tmp_path / "ledger.sqlite")
        settings = settings_for(server.url, workers=1, lease_s=600)
        presence = make_presence(server, ledger, answerer, settings=settings)
        await presence.start()
        await until(lambda: presence.connection.connected)
        at_work = server.post("ann", triage(server), "@guidebot first")
        await until(lambda: held.began)
        waiting = server.post("ben", triage(server), "@guidebot second")
        await until(lambda: len(presence.desk.jobs) == 2)
        stopping = asyncio.create_task(presence.stop())
        await asyncio.sleep(0)
        held.open.set()
        await stopping
        assert len(replies_to(server, at_work)) == 1
        assert not replies_to(server, waiting)
        assert [claim.question_id for claim in ledger.unfinished()] == [waiting["id"]], "free at once, not in 10 min"
        ledger.close()
        async with a_bot(tmp_path, server=server) as (_, _p, _a):
            await answered(server, waiting)
        await server.stop()

    asyncio.run(run())


def test_an_answer_that_takes_too_long_at_the_end_is_handed_back_unsaid(tmp_path: Path) -> None:
    answerer, held = held_answerer()

    async def run() -> None:
        async with a_bot(tmp_path, answerer, desk={"shutdown_s": 0.05, "lease_s": 600}) as (server, presence, _):
            question = server.post("ann", triage(server), "@guidebot first")
            await until(lambda: held.began)
            ledger = presence.desk.ledger.ledger
            await presence.stop()
            assert not replies_to(server, question)
            assert [claim.question_id for claim in ledger.unfinished()] == [question["id"]]

    asyncio.run(run())


def test_rate_limits_are_waited_for(tmp_path: Path) -> None:
    async def scene(server: SandboxServer, presence: Presence, _: FakeAnswerer) -> None:
        server.limiter = RateLimiter(per_s=20, burst=3)
        questions = [server.post("ann", triage(server), f"@guidebot {number}") for number in range(3)]
        for question in questions:
            await answered(server, question)
        await idle(presence)
        assert all(len(replies_to(server, question)) == 1 for question in questions)

    play(tmp_path, scene)


def test_a_reply_that_the_server_will_not_take_is_given_up_in_plain_words(tmp_path: Path) -> None:
    @web.middleware
    async def fail(request: web.Request, handler: Any) -> web.StreamResponse:
        if request.method == "POST" and request.path.endswith("/posts") and "poison" in await request.text():
            return web.json_response({"id": "app.post.save.app_error", "status_code": 500}, status=500)
        answered: web.StreamResponse = await handler(request)
        return answered

    async def run() -> None:
        server = SandboxServer(middlewares=[fail])
        await server.start()
        fast = FastTime(200)
        answerer = FakeAnswerer(answer_text=lambda question: "poison" if "bad" in question else "good answer")
        async with a_bot(tmp_path, answerer, server=server, sleep=fast.sleep, desk={"lease_s": 60}) as (
            _,
            presence,
            _a,
        ):
            question = server.post("ann", triage(server), "@guidebot a bad one")
            reply = await answered(server, question)
            assert "could not answer" in reply["message"]
            reply = await answered(server, server.post("ann", triage(server), "@guidebot a fine one"))
            assert "good answer" in reply["message"], "one bad reply keeps no place at the desk"
            await idle(presence)
        await server.stop()

    asyncio.run(run())


def test_a_token_that_is_refused_for_a_while_loses_no_question(tmp_path: Path) -> None:
    answerer, held = held_answerer()

    async def scene(server: SandboxServer, presence: Presence, _: FakeAnswerer) -> None:
        question = server.post("ann", triage(server), "@guidebot what is a hypo?")
        await until(lambda: held.began)
        tokens = [token for token in server.world.tokens.values() if token.user_id == server.bot.id]
        for token in tokens:
            token.is_active = False
        held.open.set()
        await asyncio.sleep(0.1)
        assert not replies_to(server, question)
        for token in tokens:
            token.is_active = True
        await answered(server, question)

    fast = FastTime(50)
    play(tmp_path, scene, answerer, desk={"lease_s": 60}, sleep=fast.sleep)


def test_something_that_goes_wrong_is_said_in_plain_words_and_without_the_question(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken:
        async def answer(self, question: str, *, viewer: Viewer = OPERATOR, **more: Any) -> Any:
            raise RuntimeError(f"cannot answer {question}")

    async def scene(server: SandboxServer, presence: Presence, _: FakeAnswerer) -> None:
        question = server.post("ann", triage(server), "@guidebot a secret question")
        reply = await answered(server, question)
        assert "could not answer" in reply["message"]
        await idle(presence)
        assert presence.desk.ledger.ledger.is_finished(question["id"])

    play(tmp_path, scene, Broken())
    assert "secret question" not in caplog.text
