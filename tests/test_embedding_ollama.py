"""Embedding through Ollama, against a server that answers as a real one was recorded to."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest

from retrieval.embedders import make_embedder
from retrieval.embedding import Embedder
from retrieval.errors import ServiceAway, SettingError
from tests.doubles_ollama import Model, OllamaServer

Result = TypeVar("Result")
NOMIC = Model("nomic-embed-text:latest", ("embedding",), trained_context=2048, digest="ab" * 32)


def asked(
    work: Callable[[Embedder], Result], *models: Model, model: str = "", server: OllamaServer | None = None
) -> tuple[Result, OllamaServer]:
    """Start a server, make an embedder for it, and return what `work` does with it."""
    server = server or OllamaServer(*(models or (NOMIC,)))

    def made_and_used() -> Result:
        return work(make_embedder("ollama", model=model, cache=Path("unused"), ollama_url=server.url))

    async def run() -> Result:
        async with server:
            return await asyncio.to_thread(made_and_used)

    return asyncio.run(run()), server


def inputs(server: OllamaServer) -> list[str]:
    return [text for path, body in server.requests if path == "/api/embed" for text in body["input"]]


def test_nomic_gets_its_prefixes_and_one_text_a_request() -> None:
    def work(embedder: Embedder) -> tuple[np.ndarray, np.ndarray]:
        return embedder.encode_question("a hypo?"), embedder.encode_passages(["Treat it.", ""])

    (question, passages), server = asked(work)
    assert inputs(server)[1:] == ["search_query: a hypo?", "search_document: Treat it.", "search_document: "]
    assert all(len(body["input"]) == 1 for path, body in server.requests if path == "/api/embed")
    assert passages.dtype == question.dtype == np.float32
    assert np.linalg.norm(np.vstack([question, passages]), axis=1) == pytest.approx(1.0)


def test_another_model_gets_none() -> None:
    _, server = asked(
        lambda embedder: embedder.encode_passages(["Treat it."]),
        Model("all-minilm:33m", ("embedding",)),
        model="all-minilm:33m",
    )
    assert inputs(server)[-1] == "Treat it."


def test_the_identity_names_weights_length_and_prefixes_and_not_the_name() -> None:
    first, _ = asked(lambda embedder: (embedder.identity, embedder.dimension, embedder.max_tokens))
    assert first == ("ollama:abababababababab:2048:'search_query: ':'search_document: '", 8, 2048)
    renewed, _ = asked(lambda embedder: embedder.identity, Model(NOMIC.name, ("embedding",), digest="cd" * 32))
    assert renewed != first[0]


def test_passages_are_never_cut_in_silence() -> None:
    """What the count lets through and the server finds too long is refused by the server."""
    short = Model("nomic-embed-text:latest", ("embedding",), trained_context=12)

    def work(embedder: Embedder) -> None:
        with pytest.raises(ValueError, match="text 1 has 36 tokens where 12 fit"):
            embedder.encode_passages(["short", "word " * 30])
        embedder.count_tokens = lambda text: 1  # type: ignore[method-assign]
        with pytest.raises(ValueError, match="longer than nomic-embed-text takes"):
            embedder.encode_passages(["word " * 30])

    _, server = asked(work, short)
    assert all(body["truncate"] is False for path, body in server.requests if path == "/api/embed")


def test_a_question_may_be_cut() -> None:
    short = Model("nomic-embed-text:latest", ("embedding",), trained_context=12)
    vector, _ = asked(lambda embedder: embedder.encode_question("word " * 30), short)
    assert vector.shape == (8,)


@pytest.mark.parametrize(
    ("models", "model", "says"),
    [
        ((Model("llama3.1:8b"),), "", "ollama pull nomic-embed-text"),
        ((Model("llama3.1:8b"),), "llama3.1:8b", "makes no embeddings"),
        ((Model("big-embed:cloud", ("embedding",), remote_host="https://x"),), "big-embed:cloud", "elsewhere"),
        ((Model("big:1b-cloud", ("embedding",)),), "big:1b-cloud", "elsewhere"),
    ],
)
def test_a_model_that_cannot_serve_is_told_with_the_cure(models: tuple[Model, ...], model: str, says: str) -> None:
    with pytest.raises(SettingError, match=says):
        asked(lambda embedder: embedder, *models, model=model)


def test_a_server_that_is_away_may_be_there_later() -> None:
    with pytest.raises(ServiceAway, match=r"Ollama on http://127\.0\.0\.1:9 did not answer"):
        make_embedder("ollama", cache=Path("unused"), ollama_url="http://127.0.0.1:9")


def test_a_server_that_goes_away_in_between_tells_no_text() -> None:
    server = OllamaServer(NOMIC)

    async def run() -> Embedder:
        async with server:
            return await asyncio.to_thread(make_embedder, "ollama", cache=Path("unused"), ollama_url=server.url)

    embedder = asyncio.run(run())
    with pytest.raises(ServiceAway) as refusal:
        embedder.encode_question("Mrs Example's hypo")
    assert "Example" not in str(refusal.value)


def test_a_model_that_was_replaced_by_one_of_another_dimension_is_noticed() -> None:
    def work(embedder: Embedder) -> None:
        embedder.dimension = 768  # type: ignore[misc]
        with pytest.raises(SettingError, match="has the model been replaced"):
            embedder.encode_question("a hypo?")

    asked(work)


def test_tokens_are_counted_with_the_prefix() -> None:
    counted, _ = asked(lambda embedder: (embedder.count_tokens(""), embedder.count_tokens("metformin")))
    assert counted == (6, 9), "search, _, document and : stand in front"
