"""The double answers as a real Ollama was recorded to: through raw HTTP and through the Python client."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import ollama
import pytest

from tests.doubles_ollama import Model, OllamaServer, Reply, refusing, saying

HELLO = [{"role": "user", "content": "hello"}]


def run(main: Awaitable[None]) -> None:
    """Run to the end, or fail: an event that never comes must not hold up the other tests."""

    async def in_time() -> None:
        await asyncio.wait_for(main, 30)

    asyncio.run(in_time())


def with_server(check: Callable[[OllamaServer, httpx.AsyncClient], Awaitable[None]], *models: Any) -> None:
    async def main() -> None:
        async with (
            OllamaServer(*models) as server,
            httpx.AsyncClient(base_url=server.url, trust_env=False, timeout=5) as http,
        ):
            await check(server, http)

    run(main())


def lines(response: httpx.Response) -> list[dict[str, Any]]:
    return [json.loads(line) for line in response.text.splitlines()]


def test_version_tags_and_ps_have_the_recorded_shapes():
    async def check(server, http):
        assert (await http.get("/api/version")).json() == {"version": "0.24.0"}
        assert (await http.get("/api/ps")).json() == {"models": []}
        listed = (await http.get("/api/tags")).json()["models"][0]
        assert set(listed) == {"name", "model", "modified_at", "size", "digest", "details"}
        await http.post("/api/chat", json={"model": "llama3.1:8b", "messages": []})
        running = (await http.get("/api/ps")).json()["models"][0]
        assert running["context_length"] == 4096
        assert running["expires_at"]
        assert (await http.post("/api/show", json={"model": "llama3.1:8b"})).json()["capabilities"] == ["completion"]

    with_server(check)


def test_a_cloud_model_is_listed_with_its_remote_host():
    async def check(server, http):
        listed = (await http.get("/api/tags")).json()["models"][0]
        assert (listed["remote_host"], listed["remote_model"]) == ("https://ollama.com:443", "big:1t")

    with_server(check, Model("big:cloud", remote_host="https://ollama.com:443", remote_model="big:1t"))


def test_chat_streams_by_default_and_ends_with_a_done_line():
    async def check(server, http):
        server.script.append(saying("It is so. [S1]"))
        response = await http.post("/api/chat", json={"model": "llama3.1:8b", "messages": HELLO})
        assert response.headers["content-type"] == "application/x-ndjson"
        *parts, last = lines(response)
        assert "".join(part["message"]["content"] for part in parts) == "It is so. [S1]"
        assert all(part["done"] is False for part in parts)
        assert (last["message"]["content"], last["done"], last["done_reason"]) == ("", True, "stop")
        assert last["prompt_eval_count"] > 0
        assert last["eval_count"] == len(parts)

    with_server(check)


def test_not_streamed_the_same_object_holds_the_whole_text():
    async def check(server, http):
        server.script.append(saying("It is so."))
        body = {"model": "llama3.1:8b", "messages": HELLO, "stream": False}
        answer = (await http.post("/api/chat", json=body)).json()
        assert (answer["message"]["content"], answer["done"]) == ("It is so.", True)

    with_server(check)


def test_no_messages_load_and_keep_alive_0_unloads():
    async def check(server, http):
        load = {"model": "llama3.1:8b", "messages": []}
        assert (await http.post("/api/chat", json=load)).json()["done_reason"] == "load"
        assert list(server.loaded) == ["llama3.1:8b"]
        await http.post("/api/chat", json=load | {"keep_alive": 0})
        assert server.loaded == {}

    with_server(check)


def test_the_repetition_guard_ends_without_a_done_line():
    async def check(server, http):
        server.script += [saying("la la la", done=False), saying("la la la", done=False)]
        streamed = await http.post("/api/chat", json={"model": "llama3.1:8b", "messages": HELLO})
        assert not any(line["done"] for line in lines(streamed))
        whole = await http.post("/api/chat", json={"model": "llama3.1:8b", "messages": HELLO, "stream": False})
        assert (whole.status_code, whole.json()["done"]) == (200, False)

    with_server(check)


@pytest.mark.parametrize(
    ("path", "body", "status", "error"),
    [
        ("/api/chat", {"model": "x", "messages": HELLO}, 404, "model 'x' not found"),
        ("/api/embed", {"model": "x", "input": "a"}, 404, 'model "x" not found, try pulling it first'),
        ("/api/chat", {"messages": HELLO}, 400, "model is required"),
        ("/api/chat", {"model": "llama3.1:8b", "messages": HELLO, "keep_alive": "-1"}, 400, 'duration "-1"'),
        ("/api/chat", {"model": "llama3.1:8b", "messages": HELLO, "keep_alive": "soon"}, 400, "invalid duration"),
        ("/api/chat", {"model": "llama3.1:8b", "messages": HELLO, "think": True}, 400, "does not support thinking"),
        ("/api/chat", {"model": "llama3.1:8b", "messages": HELLO, "options": {"num_ctx": "8k"}}, 500, "num_ctx"),
        ("/api/chat", {"model": "llama3.1:8b", "messages": HELLO, "format": "nonsense"}, 500, "schema"),
        ("/api/embed", {"model": "llama3.1:8b", "input": "a"}, 501, "does not support embeddings"),
    ],
)
def test_errors_have_the_recorded_status_and_wording(path, body, status, error):
    async def check(server, http):
        response = await http.post(path, json=body)
        assert response.status_code == status
        assert error in response.json()["error"]

    with_server(check)


@pytest.mark.parametrize("keep_alive", ["10m", -1, 0, "0", "1h30m"])
def test_keep_alive_takes_texts_with_a_unit_and_numbers(keep_alive):
    async def check(server, http):
        body = {"model": "llama3.1:8b", "messages": [], "keep_alive": keep_alive}
        assert (await http.post("/api/chat", json=body)).status_code == 200

    with_server(check)


def test_unknown_options_are_ignored():
    async def check(server, http):
        body = {"model": "llama3.1:8b", "messages": HELLO, "options": {"num_cats": 9}}
        assert (await http.post("/api/chat", json=body)).status_code == 200

    with_server(check)


def test_one_long_message_loses_the_system_text_in_silence():
    async def check(server, http):
        messages = [{"role": "system", "content": "Be careful."}, {"role": "user", "content": "word " * 3000}]
        body = {"model": "llama3.1:8b", "messages": messages, "options": {"num_ctx": 2048}}
        response = await http.post("/api/chat", json=body)
        assert response.status_code == 200
        assert lines(response)[-1]["prompt_eval_count"] == 2048
        assert [message["role"] for message in server.prompts[0]] == ["user"]

    with_server(check)


def test_of_several_long_messages_the_oldest_go():
    async def check(server, http):
        messages = [
            {"role": "system", "content": "Be careful."},
            {"role": "user", "content": "old " * 1500},
            {"role": "user", "content": "new " * 1500},
        ]
        body = {"model": "llama3.1:8b", "messages": messages, "options": {"num_ctx": 2048}}
        assert lines(await http.post("/api/chat", json=body))[-1]["prompt_eval_count"] == 2048
        assert [message["content"][:3] for message in server.prompts[0]] == ["Be ", "new"]

    with_server(check)


def test_newer_servers_cut_to_half_of_the_context():
    async def check(server, http):
        server.newer = True
        body = {"model": "llama3.1:8b", "messages": [{"role": "user", "content": "word " * 5000}]}
        assert lines(await http.post("/api/chat", json=body))[-1]["prompt_eval_count"] == 2048

    with_server(check)


def test_num_predict_stops_with_length_and_0_means_no_limit():
    async def check(server, http):
        server.script += [saying("one two three four"), saying("one two three four")]
        body = {"model": "llama3.1:8b", "messages": HELLO, "options": {"num_predict": 2}}
        assert lines(await http.post("/api/chat", json=body))[-1]["done_reason"] == "length"
        body["options"] = {"num_predict": 0}
        assert lines(await http.post("/api/chat", json=body))[-1]["done_reason"] == "stop"

    with_server(check)


def test_another_num_ctx_or_num_thread_reloads_the_model():
    async def check(server, http):
        for options in ({"num_ctx": 2048}, {"num_ctx": 2048}, {"num_ctx": 8192}, {"num_ctx": 8192, "num_thread": 1}):
            await http.post("/api/chat", json={"model": "llama3.1:8b", "messages": [], "options": options})
        assert server.events.count("loaded llama3.1:8b") == 3

    with_server(check)


def test_a_client_that_gives_up_while_loading_aborts_the_load():
    async def check(server, http):
        server.load_gate.clear()
        request = asyncio.create_task(http.post("/api/chat", json={"model": "llama3.1:8b", "messages": HELLO}))
        await server.until("loading llama3.1:8b")
        request.cancel()
        await server.until("load aborted llama3.1:8b")
        assert server.loaded == {}

    with_server(check)


def test_requests_to_one_model_run_one_after_another_and_closing_one_frees_the_slot():
    async def check(server, http):
        server.script += [saying("first", hold=asyncio.Event()), saying("second")]
        body = {"model": "llama3.1:8b", "messages": HELLO}
        first = asyncio.create_task(http.post("/api/chat", json=body))
        await server.until_asked("/api/chat")
        second = asyncio.create_task(http.post("/api/chat", json=body))
        await server.until_asked("/api/chat", 2)
        assert not second.done()
        first.cancel()
        assert "second" in (await second).text

    with_server(check)


def test_too_many_waiting_requests_are_turned_away():
    async def check(server, http):
        server.max_pending = 0
        response = await http.post("/api/chat", json={"model": "llama3.1:8b", "messages": HELLO})
        assert response.status_code == 503
        assert response.json()["error"] == "server busy, please try again.  maximum pending requests exceeded"

    with_server(check)


def test_a_thinking_model_can_spend_all_its_tokens_on_thoughts():
    async def check(server, http):
        server.script.append(Reply(tokens=["answer"], thinking=["hm"] * 5))
        body = {"model": "qwen3:8b", "messages": HELLO, "think": True, "options": {"num_predict": 4}}
        answer = lines(await http.post("/api/chat", json=body))
        assert "".join(part["message"]["content"] for part in answer) == ""
        assert answer[-1]["done_reason"] == "length"

    with_server(check, Model("qwen3:8b", capabilities=("completion", "thinking")))


def test_embeddings_are_unit_vectors_and_have_their_quirks():
    async def check(server, http):
        async def embed(given, **more):
            return await http.post("/api/embed", json={"model": "nomic-embed-text", "input": given, **more})

        vectors = (await embed(["a", "b"])).json()["embeddings"]
        assert [math.isclose(sum(x * x for x in v), 1.0) for v in vectors] == [True, True]
        assert (await embed([])).json()["embeddings"] == []
        assert (await embed(["a", ""])).status_code == 500
        assert (await embed("word " * 9)).status_code == 200
        assert (await embed("word " * 9, truncate=False)).status_code == 400

    with_server(check, Model("nomic-embed-text:latest", capabilities=("embedding",), trained_context=8))


# --- as the Python client sees it ------------------------------------------------------------------------------


def client(server: OllamaServer) -> ollama.AsyncClient:
    return ollama.AsyncClient(host=server.url, trust_env=False)


async def stream(server: OllamaServer) -> str:
    text = ""
    async for part in await client(server).chat(model="llama3.1:8b", messages=HELLO, stream=True):
        text += part.message.content or ""
    return text


def test_an_error_of_a_stream_comes_at_the_first_part():
    async def check(server, http):
        server.script.append(refusing(500, "boom"))
        parts = await client(server).chat(model="llama3.1:8b", messages=HELLO, stream=True)
        with pytest.raises(ollama.ResponseError) as error:
            await anext(parts)
        assert (error.value.error, error.value.status_code) == ("boom", 500)

    with_server(check)


def test_a_killed_server_is_a_remote_protocol_error_and_a_killed_model_has_status_minus_1():
    async def check(server, http):
        server.script += [saying("one two three", cut_after=1), saying("one two three", killed_after=1)]
        with pytest.raises(httpx.RemoteProtocolError):
            await stream(server)
        with pytest.raises(ollama.ResponseError) as error:
            await stream(server)
        assert error.value.status_code == -1

    with_server(check)


def test_a_server_that_is_down_raises_one_error_when_streaming_and_another_when_not():
    async def main() -> None:
        server = OllamaServer()
        await server.start()
        await server.stop()
        with pytest.raises(httpx.ConnectError):
            await stream(server)
        with pytest.raises(ConnectionError):
            await client(server).chat(model="llama3.1:8b", messages=HELLO)

    run(main())
