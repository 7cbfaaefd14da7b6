"""Writing with a local Ollama: the only module that imports its client.

The model is loaded once, in a task of its own that no question can abort, and kept loaded. A question is only
sent to a model that is in memory; until then the answer is quoted. What is sent is counted first, so that the
server has nothing to cut, and compared with what it counted afterwards. Streaming is used because a closed
connection frees the model at once, not to show anything: the whole text goes back to be checked.

    the server's ways                                              what becomes of the question (`fallback`)
    down, or lost in mid-answer                                    quoted: connection
    model not there / not approved / of a cloud                    quoted: model_missing / model_refused
    still loading                                                  quoted: loading
    too many requests                                              quoted: busy
    any other error, an HTML page, its model process killed        quoted: model_error
    longer than there is time                                      quoted: timeout
    ended by length / without a done line / empty                  quoted: length / incomplete / empty
    no room for the best source, or the prompt was cut             quoted: prompt_too_long / prompt_cut
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import secrets
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Any, cast

import httpx
import ollama

from bot.answering import ollama_server
from bot.answering.ollama_answers import check_complete, without_thoughts
from bot.answering.ollama_server import (
    ModelEntry,
    Resolve,
    base_url,
    check_address,
    full_name,
    is_approved,
    is_cloud,
    names_only,
)
from bot.answering.prompts import STOP, Prompt, new_mark, prompt_for
from bot.answering.writing import Assignment, Draft, NotWritten, WriterState
from bot.settings import OllamaSettings
from retrieval.errors import ServiceAway, SettingError

log = logging.getLogger(__name__)

RETRY_S = 30.0
"""How long after a failed load it is tried again."""

LOAD_PATIENCE_S = 1.0
"""How long a question waits for a load that may be nearly done."""

STATE_TIMEOUT_S = 5.0


class OllamaWriter:
    """Writes with one model of one Ollama server.

    Args:
        settings: address, model and limits.
        clock: seconds that only go forward.
        sleep: waits between looks at the model.
        resolve: looks host names up.
        load_patience_s: how long a question waits for a load that is under way.

    Raises:
        SettingError: the address is not private, or the model runs elsewhere or is not approved.
    """

    def __init__(
        self,
        settings: OllamaSettings,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        resolve: Resolve = ollama_server.resolve,
        load_patience_s: float = LOAD_PATIENCE_S,
    ) -> None:
        self.model = settings.model
        self._settings = settings
        self._clock = clock
        self._sleep = sleep
        self._resolve = resolve
        self._load_patience_s = load_patience_s
        # A name that cannot be looked up yet is looked up again before anything is sent.
        with contextlib.suppress(ServiceAway):
            check_address(settings.url, resolve)
        if is_cloud(settings.model):
            raise SettingError(
                f"ollama.model: {settings.model} runs on somebody else's machines. Choose a local model, for example: "
                'model = "llama3.1:8b"'
            )
        if names_only(settings.approved_models) and not is_approved(settings.model, "", settings.approved_models):
            raise SettingError(
                f"ollama.model: {settings.model} is not among ollama.approved_models "
                f"({', '.join(settings.approved_models)}). Choose one of them."
            )
        self._keep_alive = _keep_alive(settings.keep_alive)
        self._options: dict[str, Any] = {
            "num_ctx": settings.num_ctx,
            "num_predict": settings.max_tokens,
            "temperature": settings.temperature,
            "stop": list(STOP),
        }
        # trust_env off: no proxy of the environment sees a question. No redirects: they could lead anywhere.
        # OLLAMA_HOST is not read because the address is given; OLLAMA_API_KEY is taken out by the hook.
        self._client = ollama.AsyncClient(
            host=base_url(settings.url),
            follow_redirects=False,
            trust_env=False,
            timeout=httpx.Timeout(None, connect=settings.connect_timeout_s),
            event_hooks={"request": [_without_credentials]},
        )
        self._http = httpx.AsyncClient(
            base_url=base_url(settings.url),
            follow_redirects=False,
            trust_env=False,
            timeout=httpx.Timeout(STATE_TIMEOUT_S, connect=settings.connect_timeout_s),
        )
        self._loading: asyncio.Task[WriterState] | None = None
        self._keeper: asyncio.Task[None] | None = None
        # Ours is the state after the last load that was our own: a model that is only listed may still be loading,
        # or may have been loaded by someone else with another context, and would be loaded anew.
        self._ours: WriterState | None = None
        self._failed_load: tuple[float, WriterState] | None = None
        self._logged = ""
        self._thinks: bool | None = None

    # --- life --------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin to load the model and keep it loaded until `close`; must be called in the event loop.

        With `keep_alive = "0"` nothing is loaded ahead: the model is loaded for a question and dropped after it.
        """
        if self._keeper is None and self._keep_alive != 0:
            self._keeper = asyncio.get_running_loop().create_task(self._keep_warm())

    async def warm_up(self) -> WriterState:
        """Load the model and wait for it, at most `load_timeout_s`; the state says whether it may write."""
        if self._keep_alive == 0:
            return await self.state()
        return await asyncio.shield(self._load())

    async def close(self) -> None:
        """Stop loading and close all connections."""
        for task in (self._keeper, self._loading):
            if task is not None:
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError, Exception):
                    await task
        self._keeper = self._loading = None
        await self._client.close()  # type: ignore[no-untyped-call]
        await self._http.aclose()

    async def state(self) -> WriterState:
        """Look at the server: is it up, has it the model, may the model answer, is it in memory."""
        try:
            await self._check_address()
            listed = await self._models("/api/tags")
            running = await self._models("/api/ps")
        except SettingError as error:
            return self._state(fallback="model_refused", reason=str(error))
        except (httpx.HTTPError, httpx.InvalidURL, ValueError, ServiceAway):
            return self._state(
                fallback="connection",
                reason=f"Ollama does not answer at {self._settings.url}. Start it, or mend ollama.url.",
            )
        name = full_name(self.model)
        entry = next((one for one in listed if one.name == name), None)
        if entry is None:
            reason = f"Ollama has no model {self.model}. Fetch it with: ollama pull {self.model}"
            return self._state(up=True, fallback="model_missing", reason=reason)
        if entry.remote or is_cloud(entry.name):
            reason = f"{self.model} runs on somebody else's machines and is refused. Choose a local model."
            return self._state(up=True, digest=entry.digest, fallback="model_refused", reason=reason)
        memory = next((one for one in running if one.name == name), None)
        digest = (memory and memory.digest) or entry.digest
        if not is_approved(self.model, digest, self._settings.approved_models):
            reason = f"{self.model} ({digest[:12]}) is not among ollama.approved_models and is refused."
            return self._state(up=True, digest=digest, fallback="model_refused", reason=reason)
        return self._state(
            up=True, loaded=memory is not None, digest=digest, context_tokens=memory.context_tokens if memory else 0
        )

    # --- writing -----------------------------------------------------------------------------------------------

    async def write(self, assignment: Assignment, within_s: float) -> Draft:
        """Write from the assignment's sources.

        Args:
            assignment: what is to be written.
            within_s: seconds after which the model is given up.

        Raises:
            NotWritten: for any of the reasons in the table above.
        """
        try:
            async with asyncio.timeout(within_s):
                return await self._write(assignment)
        except TimeoutError:
            raise NotWritten("timeout") from None

    async def _write(self, assignment: Assignment) -> Draft:
        state = await self._ready()
        context = min(self._settings.num_ctx, state.context_tokens or self._settings.num_ctx)
        prompt = prompt_for(
            assignment,
            budget_tokens=context - self._settings.max_tokens,
            mark=new_mark(secrets.token_hex(12)),
        )
        if prompt is None:
            raise NotWritten("prompt_too_long")
        text = await self._text(prompt, context)
        return Draft(text, prompt.tags, prompt.dropped, self.model, state.digest)

    async def _ready(self) -> WriterState:
        """Return the state of a model that can write at once.

        Raises:
            NotWritten: it is not loaded yet; loading goes on (or is begun) without the question.
        """
        state = await self.state()
        if state.fallback:
            raise NotWritten(state.fallback)
        if self._keep_alive == 0 or (state.loaded and self._is_ours(state)):
            return state
        if self._failed_load is not None and self._clock() - self._failed_load[0] < RETRY_S:
            failed = self._failed_load[1]
            raise NotWritten(failed.fallback)
        task = self._load()
        await asyncio.wait({task}, timeout=self._load_patience_s)
        state = task.result() if task.done() and not task.cancelled() else self._state(fallback="loading")
        if not state.ready:
            raise NotWritten(state.fallback or "loading")
        return state

    def _is_ours(self, state: WriterState) -> bool:
        ours = self._ours
        return ours is not None and (ours.context_tokens, ours.digest) == (state.context_tokens, state.digest)

    async def _text(self, prompt: Prompt, context: int) -> str:
        """Stream an answer and return it whole.

        Raises:
            NotWritten: there is no complete answer.
        """
        parts: list[str] = []
        last: ollama.ChatResponse | None = None
        try:
            if self._thinks is None:
                shown = await self._client.show(self.model)
                self._thinks = "thinking" in (shown.capabilities or ())
            stream = await self._client.chat(
                model=self.model,
                messages=[{"role": role, "content": content} for role, content in prompt.messages],
                stream=True,
                options=self._options,
                keep_alive=self._keep_alive,
                think=False if self._thinks else None,
            )
            async with aclosing(cast(AsyncGenerator[ollama.ChatResponse, None], stream)) as chunks:
                async for chunk in chunks:
                    parts.append(chunk.message.content or "")
                    if chunk.done:
                        last = chunk
                        break
        except Exception as error:
            raise _not_written(error) from None
        text = without_thoughts("".join(parts)).strip()
        if last is None:
            raise NotWritten("incomplete")
        check_complete(text, last.done_reason, last.prompt_eval_count, prompt, context)
        return text

    # --- loading -----------------------------------------------------------------------------------------------

    def _load(self) -> asyncio.Task[WriterState]:
        """Begin to load the model, or join the load that is under way."""
        if self._loading is None:
            self._loading = asyncio.get_running_loop().create_task(self._loaded())
        return self._loading

    async def _loaded(self) -> WriterState:
        """Load the model as it will be asked for. No exception leaves but cancellation."""
        state = self._state()
        try:
            state = await self.state()
            if not state.fallback:
                state = await self._asked_for()
                self._failed_load = (self._clock(), state) if state.fallback else None
        except Exception as error:
            state = self._state(fallback=_not_written(error).fallback, reason=f"{self.model} cannot be used now.")
        finally:
            self._loading = None
        self._ours = state if state.ready else None
        if state.fallback != self._logged:
            log.info("the language model is ready") if state.ready else log.warning(
                "no language model: %s", state.reason
            )
        self._logged = state.fallback
        return state

    async def _asked_for(self) -> WriterState:
        try:
            async with asyncio.timeout(self._settings.load_timeout_s):
                await self._client.chat(
                    model=self.model, messages=[], options=self._options, keep_alive=self._keep_alive
                )
        except TimeoutError:
            reason = (
                f"{self.model} was not loaded within {self._settings.load_timeout_s:.0f} s. "
                "Raise ollama.load_timeout_s or choose a smaller model."
            )
            return self._state(up=True, fallback="loading", reason=reason)
        except Exception as error:
            reason = f"{self.model} could not be loaded. Look into Ollama's own log."
            return self._state(up=True, fallback=_not_written(error).fallback, reason=reason)
        return await self.state()

    async def _keep_warm(self) -> None:
        while True:
            state = await asyncio.shield(self._load())
            await self._sleep(_refresh_s(self._keep_alive) if state.ready else RETRY_S)

    async def _models(self, path: str) -> list[ModelEntry]:
        response = await self._http.get(path)
        response.raise_for_status()
        return ollama_server.entries(response.json())

    async def _check_address(self) -> None:
        """Look the name up again: what it stands for may have changed since the start."""
        await asyncio.to_thread(check_address, self._settings.url, self._resolve)

    def _state(
        self,
        *,
        up: bool = False,
        loaded: bool = False,
        digest: str = "",
        context_tokens: int = 0,
        fallback: str = "",
        reason: str = "",
    ) -> WriterState:
        return WriterState(up, loaded, self.model, digest, context_tokens, fallback, reason)


async def _without_credentials(request: httpx.Request) -> None:
    request.headers.pop("authorization", None)


def _keep_alive(setting: str) -> str | int:
    """Return keep_alive as Ollama takes it: -1 and 0 as numbers, anything else with its unit."""
    return int(setting) if setting in ("-1", "0") else setting


def _refresh_s(keep_alive: str | int) -> float:
    """Return how often the model is asked for again so that it stays: twice within keep_alive."""
    if isinstance(keep_alive, int):
        return 600.0
    scale = {"s": 1.0, "m": 60.0, "h": 3600.0}
    return max(1.0, min(float(keep_alive[:-1]) * scale[keep_alive[-1]] / 2, 600.0))


def _not_written(error: Exception) -> NotWritten:
    """Translate what the client raised; its text may hold the question and goes nowhere."""
    if isinstance(error, NotWritten):
        return error
    if isinstance(error, ollama.ResponseError):
        code = {404: "model_missing", 503: "busy"}.get(error.status_code, "model_error")
    elif isinstance(error, ConnectionError | httpx.TransportError):
        code = "connection"
    else:
        # An answer that is none of Ollama's: json.JSONDecodeError, pydantic.ValidationError, AttributeError …
        code = "model_error"
        if not isinstance(error, json.JSONDecodeError):
            log.warning("Ollama answered in an unknown way: %s", type(error).__name__)
    return NotWritten(code)
