"""Embedding with a model that Ollama serves."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrieval.embedding import MIN_SCORES, Matrix, Progress, Vector, too_long
from retrieval.errors import ProductError, ServiceAway, SettingError
from retrieval.sentence_model import packaged_folder

_RETRIEVAL_PROMPT = "Represent this sentence for searching relevant passages: "
_PREFIXES = {
    "nomic-embed-text": ("search_query: ", "search_document: "),
    "mxbai-embed-large": (_RETRIEVAL_PROMPT, ""),
    "snowflake-arctic-embed": (_RETRIEVAL_PROMPT, ""),
    "bge-large": (_RETRIEVAL_PROMPT, ""),
}
"""(question, passage) prefixes that models were trained with, by name without tag."""
_CONTEXT = 2048
_PROBE = "length"


class OllamaEmbedder:
    """A model of an Ollama server. One text a request, so that a vector depends on its own text only.

    Args:
        model: its name, with or without a tag.
        url: of the server; "" for the client's default.
        timeout_s: for one request, loading the model included.
        client: an `ollama.Client`, in place of one made here.

    Raises:
        SettingError: the server has no such model, or only one that runs elsewhere.
        ServiceAway: it does not answer.
    """

    def __init__(self, model: str, url: str = "", timeout_s: float = 300.0, client: Any = None) -> None:
        import httpx
        import ollama

        self._errors = (ollama.ResponseError, ConnectionError, httpx.HTTPError)
        self._url = url
        self._model = model
        self._client = client or ollama.Client(host=url or None, timeout=timeout_s)
        self._question_prefix, self._passage_prefix = _PREFIXES.get(
            model.partition(":")[0].rpartition("/")[2], ("", "")
        )
        digest = self._digest()
        self.max_tokens = self._context()
        self.min_score = MIN_SCORES["ollama"]
        prefixes = f":{self._question_prefix!r}:{self._passage_prefix!r}" if self._question_prefix else ""
        self.identity = f"ollama:{digest[:16]}:{self.max_tokens}{prefixes}"
        self.dimension = len(self._embed(self._passage_prefix + _PROBE))

    def encode_question(self, text: str) -> Vector:
        return _unit(self._embed(self._question_prefix + text, truncate=True))

    def encode_passages(self, texts: Sequence[str], progress: Progress | None = None) -> Matrix:
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            if (tokens := self.count_tokens(text)) > self.max_tokens:
                raise too_long(row, tokens, self.max_tokens)
            vectors[row] = _unit(self._embed(self._passage_prefix + text))
            if progress:
                progress(1)
        return vectors

    def count_tokens(self, text: str) -> int:
        """Count tokens with the vocabulary of BERT, which these models share; others are counted about right.

        Ollama has no way to count. What is longer all the same is refused by it, never cut.
        """
        return len(self._tokenizer.encode(self._passage_prefix + text).ids)

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(packaged_folder() / "tokenizer.json"))
        tokenizer.no_padding()
        tokenizer.no_truncation()
        return tokenizer

    def _digest(self) -> str:
        """Return the digest of the model's files: its identity, whatever its name."""
        wanted = self._model if ":" in self._model.rpartition("/")[2] else f"{self._model}:latest"
        try:
            # The client's own list() drops remote_host, by which a cloud model is known.
            answer = self._client._client.get("/api/tags")
            answer.raise_for_status()
            models = answer.json()["models"]
        except (*self._errors, ValueError, KeyError) as error:
            raise self._away(error) from None
        for model in models:
            if model.get("model") == wanted and model.get("digest"):
                if model.get("remote_host") or wanted.endswith("-cloud"):
                    raise SettingError(
                        f"index.model: {self._model} runs on a server elsewhere, and guidelines would be sent to it; "
                        'use a local model, for example "nomic-embed-text".'
                    )
                return str(model["digest"]).removeprefix("sha256:")
        raise self._missing()

    def _context(self) -> int:
        try:
            about = self._client.show(self._model).modelinfo or {}
        except self._errors as error:
            raise self._problem(error) from None
        lengths = [value for name, value in about.items() if name.endswith(".context_length")]
        return min(int(lengths[0]), _CONTEXT) if lengths and lengths[0] else _CONTEXT

    def _embed(self, text: str, *, truncate: bool = False) -> NDArray[np.float64]:
        if not text.strip():
            raise ValueError("a text without words has no embedding")
        try:
            found = self._client.embed(model=self._model, input=[text], truncate=truncate).embeddings
        except self._errors as error:
            raise self._problem(error) from None
        vector = np.array(found[0] if found else (), dtype=np.float64)
        expected = getattr(self, "dimension", len(vector))
        if not len(vector) or len(vector) != expected or not np.linalg.norm(vector) > 0:
            raise SettingError(
                f"index.model: {self._model} on {self._place} gives vectors of {len(vector)} numbers, not of "
                f"{expected or 'some'}; has the model been replaced? Restart the bot and index again."
            )
        return vector

    def _problem(self, error: Exception) -> ProductError | ValueError:
        """Return our error for Ollama's; its own text may hold the guideline's and is left out."""
        status = getattr(error, "status_code", None)
        if status == 404:
            return self._missing()
        if status == 400:
            return ValueError(f"a text is longer than {self._model} takes: divide it into shorter windows")
        if status == 501:
            return SettingError(
                f'index.model: {self._model} makes no embeddings; use one that does, for example "nomic-embed-text".'
            )
        return self._away(error)

    def _away(self, error: Exception) -> ServiceAway:
        status = getattr(error, "status_code", None)
        reason = f"status {status}" if status is not None else type(error).__name__
        return ServiceAway(
            f"Ollama on {self._place} did not answer ({reason}); "
            "see that it runs (`ollama ps`) and that ollama.url is right."
        )

    def _missing(self) -> SettingError:
        return SettingError(
            f"index.model: Ollama on {self._place} has no model {self._model}; run `ollama pull {self._model}` there."
        )

    @property
    def _place(self) -> str:
        return self._url or "its default address"


def _unit(vector: NDArray[np.float64]) -> Vector:
    return (vector / np.linalg.norm(vector)).astype(np.float32)
