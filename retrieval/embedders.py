"""Opening the embedder that the settings name. What it needs is imported and loaded on first use."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeAlias

from retrieval.embedding import Embedder, HashEmbedder
from retrieval.errors import SettingError

Kind: TypeAlias = Literal["sentence-transformers", "ollama", "hash"]


def make_embedder(
    kind: Kind,
    *,
    model: str = "",
    cache: Path,
    ollama_url: str = "",
    ollama_timeout_s: float = 300.0,
    threads: int = 0,
) -> Embedder:
    """Make the embedder that the settings name. What it needs is imported and loaded on first use.

    Args:
        kind: `sentence-transformers`, `ollama`, or `hash` (no model: for tests and the self-test).
        model: a sentence-transformers folder, or an Ollama model; "" for all-MiniLM-L6-v2 as packaged, or
            nomic-embed-text.
        cache: folder for what is made once from a model's weights.
        ollama_url: where Ollama listens; "" for its default.
        ollama_timeout_s: how long one request may take, loading the model included.
        threads: how many texts are encoded at once; 0 for one a processor.

    Raises:
        SettingError: the kind is unknown, or the model is not there or not what it should be.
        ServiceAway: Ollama cannot be asked which weights it would use.
    """
    if kind == "hash":
        return HashEmbedder()
    if kind == "sentence-transformers":
        from retrieval.sentence_embedding import open_sentence_embedder

        return open_sentence_embedder(model, cache, threads)
    if kind == "ollama":
        from retrieval.ollama_embedding import OllamaEmbedder

        return OllamaEmbedder(model or "nomic-embed-text", ollama_url, ollama_timeout_s)
    raise SettingError(f'index.embedder: "{kind}" is not an embedder; use "sentence-transformers", "ollama" or "hash".')
