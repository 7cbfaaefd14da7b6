"""A server on loopback that answers as a real Ollama 0.24 was recorded to, quirks and errors included.

Nothing in it takes time by itself: loading waits for an event, an answer can wait for another, and what happened
is kept in `events`. Answers are scripted, or come from a backend (see `tests/doubles_small_model.py`).
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import re
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

CREATED = "2026-03-01T08:00:00.000000Z"
NUMBERS = {"num_ctx": int, "num_predict": int, "num_thread": int, "seed": int, "temperature": float, "top_p": float}
Messages = list[dict[str, Any]]
BODY = web.RequestKey("body", dict)
Backend = Callable[[Messages, Mapping[str, Any]], AsyncIterator[str]]


@dataclass
class Model:
    """A model that the server has.

    Attributes:
        trained_context: a larger num_ctx is cut to it when the model is loaded.
        remote_host, remote_model: set for a cloud model.
    """

    name: str
    capabilities: tuple[str, ...] = ("completion",)
    trained_context: int = 131_072
    remote_host: str = ""
    remote_model: str = ""
    digest: str = ""

    def __post_init__(self) -> None:
        self.digest = self.digest or hashlib.sha256(self.name.encode()).hexdigest()


@dataclass
class Reply:
    """One scripted answer to /api/chat.

    Attributes:
        tokens: content of each chunk.
        thinking: comes first, in chunks with empty content.
        done: False: the answer ends without a done line, as the repetition guard does.
        done_reason: "stop" unless num_predict was reached.
        status, body, content_type, location: an error, a page or a redirect instead of an answer.
        hold: waited for before the first token.
        hold_after: waited for after so many tokens.
        cut_after: the connection is closed after so many tokens.
        killed_after: the model's process dies after so many tokens: an error line in the stream.
        counted: reported as prompt_eval_count instead of what the server counted; None leaves it out.
    """

    tokens: Sequence[str] = ()
    thinking: Sequence[str] = ()
    done: bool = True
    done_reason: str = "stop"
    status: int = 200
    body: str = ""
    content_type: str = "application/json; charset=utf-8"
    location: str = ""
    hold: asyncio.Event | None = None
    hold_after: tuple[int, asyncio.Event] | None = None
    cut_after: int | None = None
    killed_after: int | None = None
    counted: int | None = -1


def saying(text: str, **more: Any) -> Reply:
    return Reply(tokens=re.findall(r"\s*\S+|\s+$", text), **more)


def refusing(status: int, error: str) -> Reply:
    return Reply(status=status, body=json.dumps({"error": error}))


@dataclass
class _Loaded:
    model: Model
    options: dict[str, Any]
    expires_at: str
    context_length: int
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class _Fault(Exception):
    def __init__(self, status: int, error: str) -> None:
        self.status = status
        self.error = error


class OllamaServer:
    """A scripted Ollama. `async with OllamaServer() as server:` and then `server.url`.

    Attributes:
        models: what /api/tags lists.
        loaded: what /api/ps lists.
        script: answers, first come first served; when it is empty, `backend` or "ok" answers.
        load_gate: loading waits until it is set.
        load_error: loading fails with this text and status 500.
        default_context: num_ctx when none is asked for.
        max_pending: more requests than this wait no longer but get a 503.
        newer: cut an over-long prompt to about half of num_ctx, as releases after 0.24 do.
        requests: (path, body) of every request.
        prompts: the messages that the model really saw, after cutting.
        events: what happened: "loading m", "loaded m", "load aborted m", "unloaded m", "slot freed m".
    """

    def __init__(self, *models: Model | str, backend: Backend | None = None) -> None:
        self.models = [Model(one) if isinstance(one, str) else one for one in models or ("llama3.1:8b",)]
        self.loaded: dict[str, _Loaded] = {}
        self.script: deque[Reply] = deque()
        self.backend = backend
        self.load_gate = asyncio.Event()
        self.load_gate.set()
        self.load_error = ""
        self.default_context = 4096
        self.max_pending = 512
        self.newer = False
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self.headers: list[Mapping[str, str]] = []
        self.prompts: list[Messages] = []
        self.events: list[str] = []
        self.happened = asyncio.Event()
        self.url = ""
        self._pending = 0
        self._loading = asyncio.Lock()
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> OllamaServer:
        await self.start()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.stop()

    async def start(self, port: int = 0) -> str:
        app = web.Application(middlewares=[self._told])
        app.router.add_get("/", self._root)
        app.router.add_get("/api/version", self._version)
        app.router.add_get("/api/tags", self._tags)
        app.router.add_get("/api/ps", self._ps)
        app.router.add_post("/api/show", self._show)
        app.router.add_post("/api/chat", self._chat)
        app.router.add_post("/api/embed", self._embed)
        self._runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.01)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", port)
        await site.start()
        self.url = site.name
        return self.url

    async def stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    def unload(self, name: str) -> None:
        """What happens when keep_alive runs out."""
        if self.loaded.pop(name, None):
            self.tell(f"unloaded {name}")

    def tell(self, event: str) -> None:
        self.events.append(event)
        self.happened.set()

    async def until(self, event: str) -> None:
        """Wait until an event has happened."""
        while event not in self.events:
            self.happened.clear()
            await self.happened.wait()

    async def until_asked(self, path: str, times: int = 1) -> None:
        """Wait until so many requests for a path have arrived."""
        while sum(one == path for one, _ in self.requests) < times:
            self.happened.clear()
            await self.happened.wait()

    def chats(self) -> list[dict[str, Any]]:
        """The requests that asked for an answer (loading is none)."""
        return [body for path, body in self.requests if path == "/api/chat" and body.get("messages")]

    # --- the endpoints ---------------------------------------------------------------------------------------

    @web.middleware
    async def _told(self, request: web.Request, handler: Any) -> web.StreamResponse:
        body: dict[str, Any] = {}
        self.headers.append(dict(request.headers))
        try:
            if request.method == "POST":
                try:
                    body = json.loads(await request.text() or "{}")
                except json.JSONDecodeError:
                    raise _Fault(400, "invalid character in request body") from None
            self.requests.append((request.path, body))
            self.happened.set()
            request[BODY] = body
            response: web.StreamResponse = await handler(request)
            return response
        except _Fault as fault:
            return web.json_response({"error": fault.error}, status=fault.status)

    async def _root(self, request: web.Request) -> web.Response:
        return web.Response(text="Ollama is running")

    async def _version(self, request: web.Request) -> web.Response:
        return web.json_response({"version": "0.24.0"})

    async def _tags(self, request: web.Request) -> web.Response:
        return web.json_response({"models": [_listed(model) for model in self.models]})

    async def _ps(self, request: web.Request) -> web.Response:
        entries = [
            {
                **_listed(one.model),
                "expires_at": one.expires_at,
                "size_vram": 0,
                "context_length": one.context_length,
            }
            for one in self.loaded.values()
        ]
        for entry in entries:
            entry.pop("modified_at")
        return web.json_response({"models": entries})

    async def _show(self, request: web.Request) -> web.Response:
        model = self._model(request[BODY])
        return web.json_response(
            {
                "modelfile": f"FROM {model.name}",
                "template": "{{ .Prompt }}",
                "details": _details(),
                "model_info": {"general.architecture": "llama", "llama.context_length": model.trained_context},
                "capabilities": list(model.capabilities),
                "modified_at": CREATED,
            }
        )

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        body = request[BODY]
        model = self._model(body)
        options = _options(body)
        keep_alive = _duration(body.get("keep_alive", "5m"))
        if body.get("think") and "thinking" not in model.capabilities:
            raise _Fault(400, f'"{model.name}" does not support thinking')
        if "completion" not in model.capabilities:
            raise _Fault(400, f'"{model.name}" does not support chat')
        if (form := body.get("format")) not in (None, "", "json") and not isinstance(form, dict):
            raise _Fault(500, "invalid JSON schema in format")
        if not body.get("messages"):
            return await self._load_only(model, options, keep_alive)
        if self._pending >= self.max_pending:
            raise _Fault(503, "server busy, please try again.  maximum pending requests exceeded")
        self._pending += 1
        try:
            loaded = await self._load(model, options, keep_alive)
            async with loaded.lock:
                return await self._answered(request, body, loaded)
        finally:
            self._pending -= 1
            self.tell(f"slot freed {model.name}")

    async def _load_only(self, model: Model, options: dict[str, Any], keep_alive: float) -> web.Response:
        if keep_alive == 0:
            self.unload(model.name)
            return web.json_response(_line(model, "", done=True, done_reason="unload"))
        await self._load(model, options, keep_alive)
        return web.json_response(_line(model, "", done=True, done_reason="load"))

    async def _answered(self, request: web.Request, body: dict[str, Any], loaded: _Loaded) -> web.StreamResponse:
        model = loaded.model
        reply = self.script.popleft() if self.script else None
        if reply is not None and reply.status != 200:
            headers = {"Content-Type": reply.content_type}
            if reply.location:
                headers["Location"] = reply.location
            return web.Response(status=reply.status, body=reply.body.encode(), headers=headers)
        if reply is not None and reply.body:
            return web.Response(body=reply.body.encode(), headers={"Content-Type": reply.content_type})
        messages, counted = self._cut(body["messages"], loaded.context_length)
        self.prompts.append(messages)
        limit = body.get("options", {}).get("num_predict", -1)
        limit = limit if limit > 0 else math.inf
        if reply is not None and reply.hold is not None:
            await reply.hold.wait()
        tokens: AsyncIterator[str]
        if reply is None and self.backend is not None:
            tokens, reply = self.backend(messages, body.get("options", {})), Reply()
        else:
            reply = reply or saying("ok")
            tokens = _each(reply.tokens)
        if reply.counted != -1:
            counted = reply.counted  # type: ignore[assignment]
        stats: dict[str, Any] = {"total_duration": 5_000_000, "load_duration": 1_000_000, "eval_duration": 3_000_000}
        if counted:
            stats |= {"prompt_eval_count": counted, "prompt_eval_duration": 1_000_000}
        if body.get("stream") is False:
            text, count, reason = "", 0, reply.done_reason
            async for token in tokens:
                text, count = text + token, count + 1
                if count >= limit:
                    reason = "length"
                    break
            whole = _line(model, text, done=reply.done)
            if reply.done:
                whole |= {"done_reason": reason, "eval_count": count, **stats}
            return web.json_response(whole)
        response = web.StreamResponse(headers={"Content-Type": "application/x-ndjson"})
        await response.prepare(request)
        count = 0
        reason = reply.done_reason
        thoughts: AsyncIterator[tuple[str, str]] = _marked(_each(reply.thinking), "thinking")
        for stream in (thoughts, _marked(tokens, "content")):
            async for kind, token in stream:
                if reply.hold_after is not None and count == reply.hold_after[0]:
                    await reply.hold_after[1].wait()
                if reply.cut_after == count:
                    assert request.transport is not None
                    request.transport.close()
                    return response
                if reply.killed_after == count:
                    await response.write(b'{"error":"an error was encountered while running the model: EOF"}\n')
                    return response
                line = _line(model, token if kind == "content" else "")
                if kind == "thinking":
                    line["message"]["thinking"] = token
                await response.write(json.dumps(line).encode() + b"\n")
                count += 1
                if count >= limit:
                    reason = "length"
                    break
            if count >= limit:
                break
        if reply.done:
            last = _line(model, "", done=True, done_reason=reason) | stats
            if count:
                last["eval_count"] = count
            await response.write(json.dumps(last).encode() + b"\n")
        return response

    async def _embed(self, request: web.Request) -> web.Response:
        body = request[BODY]
        if not body.get("model"):
            raise _Fault(400, "model is required")
        name = _full(body["model"])
        model = next((one for one in self.models if one.name == name), None)
        if model is None:
            raise _Fault(404, f'model "{body["model"]}" not found, try pulling it first')
        if "embedding" not in model.capabilities:
            raise _Fault(501, "this model does not support embeddings")
        given = body.get("input")
        texts = [given] if isinstance(given, str) else list(given or ())
        if not texts or texts == [""]:
            return web.json_response({"model": name, "embeddings": []})
        if "" in texts:
            raise _Fault(500, "failed to generate embeddings: input must not be empty")
        counts = [count_tokens(text) for text in texts]
        if body.get("truncate") is False and max(counts) > model.trained_context:
            raise _Fault(400, "the input length exceeds the context length")
        vectors = [_unit_vector(_first_tokens(text, model.trained_context)) for text in texts]
        return web.json_response(
            {"model": name, "embeddings": vectors, "total_duration": 1_000_000, "prompt_eval_count": sum(counts)}
        )

    # --- models and prompts ----------------------------------------------------------------------------------

    def _model(self, body: dict[str, Any]) -> Model:
        name = body.get("model")
        if not name:
            raise _Fault(400, "model is required")
        model = next((one for one in self.models if one.name == _full(name)), None)
        if model is None:
            raise _Fault(404, f"model '{name}' not found")
        return model

    async def _load(self, model: Model, options: dict[str, Any], keep_alive: float) -> _Loaded:
        wanted = {key: options[key] for key in ("num_ctx", "num_thread") if key in options}
        async with self._loading:
            there = self.loaded.get(model.name)
            if there is None or any(there.options.get(key) != value for key, value in wanted.items()):
                if there is not None:
                    self.unload(model.name)
                self.tell(f"loading {model.name}")
                try:
                    await self.load_gate.wait()
                except asyncio.CancelledError:
                    self.tell(f"load aborted {model.name}")
                    raise
                if self.load_error:
                    raise _Fault(500, self.load_error)
                context = min(options.get("num_ctx", self.default_context), model.trained_context)
                there = _Loaded(model, options, "", context)
                self.loaded[model.name] = there
                self.tell(f"loaded {model.name}")
            there.expires_at = "2318-01-01T00:00:00Z" if keep_alive < 0 else CREATED
        return there

    def _cut(self, messages: Messages, num_ctx: int) -> tuple[Messages, int]:
        kept = [dict(message) for message in messages]
        was = count_prompt(kept)
        if was <= num_ctx:
            return kept, was
        room = num_ctx // 2 if self.newer else num_ctx
        while count_prompt(kept) > room and sum(message["role"] != "system" for message in kept) > 1:
            kept.remove(next(message for message in kept if message["role"] != "system"))
        if count_prompt(kept) > room:
            kept = [kept[-1] | {"content": _last_tokens(str(kept[-1]["content"]), room)}]
        return kept, room


def count_tokens(text: str) -> int:
    """Count as the double's tokenizer does: a token a word or sign."""
    return len(re.findall(r"\w+|[^\w\s]", text))


def count_prompt(messages: Messages) -> int:
    return sum(count_tokens(str(message.get("content", ""))) + 5 for message in messages)


def _full(name: str) -> str:
    return name if ":" in name.rsplit("/", 1)[-1] else f"{name}:latest"


def _details() -> dict[str, Any]:
    return {
        "parent_model": "",
        "format": "gguf",
        "family": "llama",
        "families": ["llama"],
        "parameter_size": "8.0B",
        "quantization_level": "Q4_K_M",
    }


def _listed(model: Model) -> dict[str, Any]:
    entry = {
        "name": model.name,
        "model": model.name,
        "modified_at": CREATED,
        "size": 4_920_753_328,
        "digest": model.digest,
        "details": _details(),
    }
    if model.remote_host:
        entry |= {"remote_host": model.remote_host, "remote_model": model.remote_model}
    return entry


def _line(model: Model, content: str, **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": content}
    return {"model": model.name, "created_at": CREATED, "message": message, "done": False, **more}


def _options(body: dict[str, Any]) -> dict[str, Any]:
    options = body.get("options") or {}
    for name, kind in NUMBERS.items():
        value = options.get(name, 0)
        right = isinstance(value, int | float) and not isinstance(value, bool)
        if not right or (kind is int and value != int(value)):
            raise _Fault(500, f'option "{name}" must be of type {"integer" if kind is int else "float32"}')
    return dict(options)


def _duration(value: Any) -> float:
    """Read keep_alive as Go does: a number of seconds, or a text with units; "-1" has none."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if value == "0":
        return 0.0
    if isinstance(value, str) and re.fullmatch(r"-?(\d+(\.\d+)?(ms|s|m|h))+", value):
        scale = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
        seconds = sum(float(n) * scale[unit] for n, _, unit in re.findall(r"(\d+(\.\d+)?)(ms|s|m|h)", value))
        return -seconds if value.startswith("-") else seconds
    if isinstance(value, str) and re.fullmatch(r"-?\d+(\.\d+)?", value):
        raise _Fault(400, f'time: missing unit in duration "{value}"')
    raise _Fault(400, f'time: invalid duration "{value}"')


def _first_tokens(text: str, count: int) -> str:
    return " ".join(re.findall(r"\w+|[^\w\s]", text)[:count])


def _last_tokens(text: str, count: int) -> str:
    return " ".join(re.findall(r"\w+|[^\w\s]", text)[-count:])


def _unit_vector(text: str) -> list[float]:
    raw = [byte - 127.5 for byte in hashlib.sha256(text.encode()).digest()[:8]]
    length = math.sqrt(sum(one * one for one in raw))
    return [one / length for one in raw]


async def _each(tokens: Sequence[str]) -> AsyncIterator[str]:
    for token in tokens:
        yield token


async def _marked(tokens: AsyncIterator[str], kind: str) -> AsyncIterator[tuple[str, str]]:
    async for token in tokens:
        yield kind, token
