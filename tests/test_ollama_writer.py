"""Writing with Ollama: whatever the server does, there is a whole draft or a reason, in time."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from bot.answering.ollama_writer import RETRY_S, OllamaWriter
from bot.answering.prompts import NOT_COVERED, new_mark, prompt_for
from bot.answering.writing import Assignment, Draft, NotWritten
from bot.settings import OllamaSettings
from retrieval.errors import SettingError
from tests.doubles_answering import HYPO, METFORMIN, Clock, a_source
from tests.doubles_ollama import Model, OllamaServer, Reply, refusing, saying

ASSIGNMENT = Assignment("What to do about low blood glucose?", (a_source("S1"), a_source("S2", METFORMIN)))
ANSWER = "A glucose below 70 mg/dL is low. [S1]"


def run(main: Awaitable[None]) -> None:
    """Run to the end, or fail: an event that never comes must not hold up the other tests."""

    async def in_time() -> None:
        await asyncio.wait_for(main, 30)

    asyncio.run(in_time())


async def never(_: float) -> None:
    await asyncio.Event().wait()


def writer_for(server: OllamaServer, *, clock: Any = None, sleep: Any = never, **settings: Any) -> OllamaWriter:
    return OllamaWriter(
        OllamaSettings(url=server.url, **settings), clock=clock or Clock(), sleep=sleep, load_patience_s=0.0
    )


def with_writer(check: Callable[[OllamaServer, OllamaWriter], Awaitable[None]], *models: Any, **settings: Any) -> None:
    """Run `check` with a server and a writer whose model is loaded."""

    async def main() -> None:
        async with OllamaServer(*models) as server:
            writer = writer_for(server, **settings)
            await writer.warm_up()
            try:
                await check(server, writer)
            finally:
                await writer.close()

    run(main())


async def given_up(writer: OllamaWriter, within_s: float = 5.0) -> str:
    with pytest.raises(NotWritten) as error:
        await writer.write(ASSIGNMENT, within_s)
    assert error.value.reason.endswith(".")
    return error.value.fallback


def time_passes(seconds: float) -> None:
    """Let the event loop's own clock jump."""
    loop = asyncio.get_running_loop()
    now = loop.time
    loop.time = lambda: now() + seconds  # type: ignore[method-assign]


# --- a whole answer ------------------------------------------------------------------------------------------


def test_a_whole_answer_comes_back_with_the_model_and_its_digest():
    async def check(server, writer):
        server.script.append(saying(ANSWER))
        draft = await writer.write(ASSIGNMENT, 5)
        assert draft == Draft(ANSWER, ("S1", "S2"), (), "llama3.1:8b", server.models[0].digest)

    with_writer(check)


def test_settings_reach_the_server_in_the_form_it_takes():
    async def check(server, writer):
        server.script.append(saying(ANSWER))
        await writer.write(ASSIGNMENT, 5)
        body = server.chats()[0]
        assert body["keep_alive"] == -1
        options = body["options"]
        assert (options["num_ctx"], options["num_predict"], options["temperature"]) == (4096, 300, 0.5)
        assert "think" not in body

    with_writer(check, num_ctx=4096, max_tokens=300, temperature=0.5, keep_alive="-1")


def test_the_model_is_loaded_with_the_same_options_so_that_no_question_reloads_it():
    async def check(server, writer):
        server.script.append(saying(ANSWER))
        await writer.write(ASSIGNMENT, 5)
        assert server.events.count("loaded llama3.1:8b") == 1

    with_writer(check)


def test_the_system_text_and_every_source_reach_the_model_fenced():
    async def check(server, writer):
        server.script.append(saying(ANSWER))
        await writer.write(ASSIGNMENT, 5)
        system, user = server.prompts[0]
        assert NOT_COVERED in system["content"]
        assert HYPO in user["content"]
        assert METFORMIN in user["content"]

    with_writer(check)


def test_a_thinking_model_is_told_not_to_and_its_thoughts_are_not_the_answer():
    async def check(server, writer):
        server.script.append(saying("<think>70 or 62?</think>" + ANSWER))
        assert (await writer.write(ASSIGNMENT, 5)).text == ANSWER
        assert server.chats()[0]["think"] is False

    with_writer(check, Model("qwen3:8b", capabilities=("completion", "thinking")), model="qwen3:8b")


def test_the_model_may_be_named_without_its_tag():
    async def check(server, writer):
        server.script.append(saying(ANSWER))
        assert (await writer.write(ASSIGNMENT, 5)).digest == server.models[0].digest

    with_writer(check, "tiny:latest", model="tiny")


# --- no whole answer -----------------------------------------------------------------------------------------

BROKEN = {
    "no done line": (saying(ANSWER, done=False), "incomplete"),
    "length": (saying(ANSWER, done_reason="length"), "length"),
    "a reason that is none of an answer's": (saying(ANSWER, done_reason="load"), "incomplete"),
    "empty": (Reply(), "empty"),
    "blank": (saying(" \n "), "empty"),
    "only thoughts": (Reply(thinking=["hm"] * 3), "empty"),
    "a thought without an end": (saying("<think>70 or"), "empty"),
    "cut in mid-stream": (saying(ANSWER, cut_after=2), "connection"),
    "cut before the first token": (saying(ANSWER, cut_after=0), "connection"),
    "its model process killed": (saying(ANSWER, killed_after=2), "model_error"),
    "400": (refusing(400, "invalid duration"), "model_error"),
    "404": (refusing(404, "model 'x' not found"), "model_missing"),
    "500": (refusing(500, "boom"), "model_error"),
    "503": (refusing(503, "server busy, please try again.  maximum pending requests exceeded"), "busy"),
    "an HTML error": (Reply(status=502, body="<html>Bad Gateway</html>", content_type="text/html"), "model_error"),
    "an HTML page": (Reply(body="<html>Login</html>", content_type="text/html"), "model_error"),
    "JSON of another kind": (Reply(body="[1, 2]\n"), "model_error"),
    "an error that is a list": (Reply(status=500, body="[]"), "model_error"),
    "a line without a message": (Reply(body='{"done": true}\n'), "model_error"),
    "the prompt cut": (saying(ANSWER, counted=8192), "prompt_cut"),
    "the prompt cut to half": (saying(ANSWER, counted=20), "prompt_cut"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_not_a_whole_answer_is_none(name):
    reply, fallback = BROKEN[name]

    async def check(server, writer):
        server.script.append(reply)
        assert await given_up(writer) == fallback
        server.script.append(saying(ANSWER))
        assert (await writer.write(ASSIGNMENT, 5)).text == ANSWER

    with_writer(check)


def test_a_server_that_does_not_count_the_prompt_is_believed():
    async def check(server, writer):
        server.script.append(saying(ANSWER, counted=None))
        assert (await writer.write(ASSIGNMENT, 5)).text == ANSWER

    with_writer(check)


def test_a_redirect_is_not_followed():
    async def check(server, writer):
        server.script.append(Reply(status=307, body="{}", location=f"{server.url}/api/chat"))
        assert await given_up(writer) == "model_error"
        assert len(server.chats()) == 1

    with_writer(check)


def test_a_server_that_is_down_is_a_lost_connection_and_not_an_error():
    async def check(server, writer):
        await server.stop()
        assert await given_up(writer) == "connection"

    with_writer(check)


def test_time_that_is_up_frees_the_model_for_the_next_question():
    async def check(server, writer):
        server.script += [saying("never", hold=asyncio.Event()), saying(ANSWER)]
        task = asyncio.create_task(given_up(writer, within_s=5))
        await server.until_asked("/api/chat", 2)
        time_passes(6)
        assert await task == "timeout"
        await server.until("slot freed llama3.1:8b")
        assert (await writer.write(ASSIGNMENT, 5)).text == ANSWER

    with_writer(check)


def test_a_stream_that_trickles_does_not_outlive_its_time():
    async def check(server, writer):
        server.script.append(saying(ANSWER, hold_after=(3, asyncio.Event())))
        task = asyncio.create_task(given_up(writer, within_s=5))
        await server.until_asked("/api/chat", 2)
        time_passes(6)
        assert await task == "timeout"
        await server.until("slot freed llama3.1:8b")

    with_writer(check)


def test_a_cancelled_question_frees_the_model():
    async def check(server, writer):
        server.script.append(saying("never", hold=asyncio.Event()))
        task = asyncio.create_task(writer.write(ASSIGNMENT, 5))
        await server.until_asked("/api/chat", 2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await server.until("slot freed llama3.1:8b")

    with_writer(check)


# --- the prompt has room, or says what it left out -------------------------------------------------------------


def test_the_least_source_is_left_out_first_and_named():
    long = a_source("S2", "Read this line with care. " * 300)
    assignment = Assignment("What to do?", (a_source("S1"), long))

    async def check(server, writer):
        server.script.append(saying(ANSWER))
        draft = await writer.write(assignment, 5)
        assert (draft.tags, draft.dropped) == (("S1",), ("S2",))
        assert "[S2]" not in json.dumps(server.prompts[0])

    with_writer(check, num_ctx=2048)


def test_without_room_for_the_best_source_nothing_is_sent():
    assignment = Assignment("What to do?", (a_source("S1", "Read this line with care. " * 900),))

    async def check(server, writer):
        with pytest.raises(NotWritten) as error:
            await writer.write(assignment, 5)
        assert error.value.fallback == "prompt_too_long"
        assert server.chats() == []

    with_writer(check, num_ctx=2048)


def test_room_is_kept_for_the_answer():
    assignment = Assignment("What to do?", (a_source("S1", "Read this line with care. " * 150),))
    whole = prompt_for(assignment, budget_tokens=100_000, mark=new_mark("f" * 24))
    assert whole is not None

    async def check(server, writer):
        with pytest.raises(NotWritten) as error:
            await writer.write(assignment, 5)
        assert error.value.fallback == "prompt_too_long"

    with_writer(check, num_ctx=whole.tokens + 150, max_tokens=200)


def test_a_model_with_a_smaller_context_than_set_gets_no_more_than_it_takes():
    async def check(server, writer):
        with pytest.raises(NotWritten) as error:
            await writer.write(Assignment("What to do?", (a_source("S1", "Read this with care. " * 700),)), 5)
        assert error.value.fallback == "prompt_too_long"

    with_writer(check, Model("llama3.1:8b", trained_context=2048))


# --- loading -------------------------------------------------------------------------------------------------


def test_a_question_during_the_load_is_quoted_and_does_not_abort_it():
    async def main() -> None:
        async with OllamaServer() as server:
            server.load_gate.clear()
            writer = writer_for(server)
            writer.start()
            await server.until("loading llama3.1:8b")
            assert await given_up(writer) == "loading"
            assert server.chats() == []
            server.load_gate.set()
            assert (await writer.warm_up()).ready
            server.script.append(saying(ANSWER))
            assert (await writer.write(ASSIGNMENT, 5)).text == ANSWER
            assert server.events.count("loading llama3.1:8b") == 1
            assert "load aborted llama3.1:8b" not in server.events
            await writer.close()

    run(main())


def test_giving_up_on_warming_up_does_not_abort_the_load():
    async def main() -> None:
        async with OllamaServer() as server:
            server.load_gate.clear()
            writer = writer_for(server)
            waiting = asyncio.create_task(writer.warm_up())
            await server.until("loading llama3.1:8b")
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            server.load_gate.set()
            assert (await writer.warm_up()).ready
            assert "load aborted llama3.1:8b" not in server.events
            await writer.close()

    run(main())


def test_a_model_that_was_unloaded_is_loaded_again_without_a_question_waiting_for_it():
    async def check(server, writer):
        server.unload("llama3.1:8b")
        server.load_gate.clear()
        assert await given_up(writer) == "loading"
        assert server.chats() == []
        server.load_gate.set()
        assert (await writer.warm_up()).ready
        server.script.append(saying(ANSWER))
        assert (await writer.write(ASSIGNMENT, 5)).text == ANSWER

    with_writer(check)


def test_a_model_that_someone_else_loaded_with_another_context_is_not_asked_until_it_is_ours():
    async def check(server, writer):
        server.unload("llama3.1:8b")
        await server._load(server.models[0], {"num_ctx": 2048}, 300)
        server.load_gate.clear()
        assert await given_up(writer) == "loading"
        assert server.chats() == []
        server.load_gate.set()
        await writer.warm_up()
        assert server.loaded["llama3.1:8b"].context_length == 8192

    with_writer(check)


def test_the_model_is_asked_for_again_before_it_would_be_dropped():
    async def main() -> None:
        naps: list[float] = []
        rounds = asyncio.Event()

        async def sleep(seconds: float) -> None:
            naps.append(seconds)
            if len(naps) == 3:
                rounds.set()
                await never(0)

        async with OllamaServer() as server:
            writer = writer_for(server, sleep=sleep, keep_alive="4m")
            writer.start()
            await rounds.wait()
            assert naps == [120.0, 120.0, 120.0]
            loads = [body for path, body in server.requests if path == "/api/chat"]
            assert [(body["messages"], body["keep_alive"]) for body in loads] == [([], "4m")] * 3
            await writer.close()

    run(main())


def test_a_server_that_comes_up_later_is_found_without_a_question():
    async def main() -> None:
        naps: list[float] = []
        server = OllamaServer()
        url = await server.start()
        await server.stop()
        ready = asyncio.Event()

        async def sleep(seconds: float) -> None:
            naps.append(seconds)
            if len(naps) == 1:
                await server.start(int(url.rsplit(":", 1)[1]))
            else:
                ready.set()
                await never(0)

        server.url = url
        writer = writer_for(server, sleep=sleep)
        writer.start()
        await ready.wait()
        assert naps[0] == RETRY_S
        assert (await writer.state()).ready
        await writer.close()
        await server.stop()

    run(main())


def test_a_load_that_fails_is_not_begun_again_by_every_question():
    clock = Clock()

    async def main() -> None:
        async with OllamaServer() as server:
            server.load_error = "unable to allocate memory"
            writer = writer_for(server, clock=clock)
            await writer.warm_up()
            assert await given_up(writer) == "model_error"
            assert await given_up(writer) == "model_error"
            assert server.events.count("loading llama3.1:8b") == 1
            clock.now += RETRY_S
            server.load_error = ""
            assert await given_up(writer) == "loading"
            await writer.warm_up()
            server.script.append(saying(ANSWER))
            assert (await writer.write(ASSIGNMENT, 5)).text == ANSWER
            await writer.close()

    run(main())


def test_a_load_that_takes_longer_than_its_limit_is_told_with_the_setting_to_raise():
    async def main() -> None:
        async with OllamaServer() as server:
            server.load_gate.clear()
            writer = writer_for(server, load_timeout_s=5)
            waiting = asyncio.create_task(writer.warm_up())
            await server.until("loading llama3.1:8b")
            time_passes(6)
            state = await waiting
            assert (state.fallback, "ollama.load_timeout_s" in state.reason) == ("loading", True)
            await writer.close()

    run(main())


def test_keep_alive_0_loads_for_the_question_and_nothing_ahead():
    async def check(server, writer):
        writer.start()
        assert server.events == []
        server.script.append(saying(ANSWER))
        assert (await writer.write(ASSIGNMENT, 5)).text == ANSWER
        assert server.chats()[0]["keep_alive"] == 0

    with_writer(check, keep_alive="0")


# --- which model may answer ------------------------------------------------------------------------------------


def test_a_model_that_is_not_there_is_told_with_the_command_that_fetches_it():
    async def check(server, writer):
        assert await given_up(writer) == "model_missing"
        state = await writer.state()
        assert (state.up, state.loaded, state.ready) == (True, False, False)
        assert "ollama pull nowhere:1b" in state.reason

    with_writer(check, model="nowhere:1b")


def test_a_cloud_model_under_a_harmless_name_is_refused():
    async def check(server, writer):
        assert await given_up(writer) == "model_refused"
        assert server.chats() == []

    with_writer(check, Model("local:8b", remote_host="https://ollama.com:443", remote_model="big"), model="local:8b")


@pytest.mark.parametrize("name", ["gpt-oss:120b-cloud", "big-cloud", "kimi:cloud", "Big-Cloud:latest", "x/y-cloud:1"])
def test_a_cloud_model_is_refused_by_its_name_at_the_start(name):
    with pytest.raises(SettingError, match=r"ollama\.model"):
        OllamaWriter(OllamaSettings(url="http://127.0.0.1:11434", model=name))


def test_a_model_that_is_not_on_the_list_of_names_is_refused_at_the_start():
    with pytest.raises(SettingError, match="approved_models"):
        OllamaWriter(OllamaSettings(url="http://127.0.0.1:11434", approved_models=("mistral:7b",)))


def test_an_approved_digest_lets_a_model_answer_and_another_digest_does_not():
    digest = Model("llama3.1:8b").digest

    async def answers(server, writer):
        server.script.append(saying(ANSWER))
        assert (await writer.write(ASSIGNMENT, 5)).text == ANSWER

    async def refuses(server, writer):
        assert await given_up(writer) == "model_refused"
        assert server.chats() == []

    with_writer(answers, approved_models=(f"sha256:{digest[:12]}",))
    with_writer(answers, approved_models=(digest,))
    with_writer(refuses, approved_models=("sha256:0123456789ab",))


def test_weights_that_were_exchanged_under_an_approved_name_are_not_loaded_twice_but_noticed():
    digest = Model("llama3.1:8b").digest

    async def check(server, writer):
        server.models[0].digest = "f" * 64
        assert await given_up(writer) == "model_refused"

    with_writer(check, approved_models=(digest[:16],))


# --- where it may be -----------------------------------------------------------------------------------------


def test_the_environment_changes_nothing(monkeypatch):
    monkeypatch.setenv("OLLAMA_HOST", "http://198.51.100.7:1")
    monkeypatch.setenv("OLLAMA_API_KEY", "sk-secret")
    monkeypatch.setenv("HTTP_PROXY", "http://198.51.100.7:1")
    monkeypatch.setenv("ALL_PROXY", "http://198.51.100.7:1")

    async def check(server, writer):
        server.script.append(saying(ANSWER))
        assert (await writer.write(ASSIGNMENT, 5)).text == ANSWER
        assert not any("sk-secret" in str(headers) for headers in server.headers)

    with_writer(check)


def test_a_name_that_comes_to_stand_for_a_public_address_gets_no_question():
    addresses = ["127.0.0.1"]

    async def main() -> None:
        async with OllamaServer() as server:
            url = server.url.replace("127.0.0.1", "localhost")
            writer = OllamaWriter(OllamaSettings(url=url), resolve=lambda _: addresses)
            await writer.warm_up()
            addresses[:] = ["203.0.113.5"]
            before = len(server.requests)
            assert await given_up(writer) == "model_refused"
            assert len(server.requests) == before
            await writer.close()

    run(main())


def test_no_question_or_guideline_text_reaches_the_log(caplog):
    async def check(server, writer):
        for reply, _ in BROKEN.values():
            server.script.append(reply)
            await given_up(writer)

    with caplog.at_level(logging.DEBUG, logger="bot"):
        with_writer(check)
    assert "glucose" not in caplog.text


def test_a_server_that_answers_nonsense_leaves_the_bot_quoting_and_looking_again():
    async def main() -> None:
        naps: list[float] = []
        twice = asyncio.Event()

        async def sleep(seconds: float) -> None:
            naps.append(seconds)
            if len(naps) == 2:
                twice.set()
                await never(0)

        async with OllamaServer() as server:
            server.models[0].capabilities = ()
            writer = writer_for(server, sleep=sleep)
            writer.start()
            await twice.wait()
            assert naps == [RETRY_S, RETRY_S]
            assert await given_up(writer) == "model_error"
            await writer.close()

    run(main())
