"""Vectors depend on their own text and the embedder's identity, and on nothing else."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval import onnx_encoder, sentence_embedding
from retrieval.embedders import make_embedder
from retrieval.embedding import HashEmbedder, Matrix, Progress
from retrieval.embedding_cache import EmbeddingCache
from retrieval.errors import ServiceAway, SettingError
from retrieval.sentence_model import PACKAGED_SHA256, packaged_folder, read_model, weights_digest

LOW_GLUCOSE = (
    "4. Low blood glucose. A glucose below 70 mg/dL is low. Treat with 15 g of fast-acting carbohydrate and recheck "
    "after 15 minutes. Repeat if glucose is still below 70 mg/dL. "
    "Review any medicine that may have caused the low glucose."
)
HYPO = "What should I do about a hypo (hypoglycaemia, low blood glucose)?"


class TestHashEmbedder:
    @given(st.lists(st.text(max_size=60), max_size=5))
    def test_vectors_have_length_one_and_are_the_same_in_any_company(self, texts: list[str]) -> None:
        embedder = HashEmbedder()
        together = embedder.encode_passages(texts)
        assert together.shape == (len(texts), embedder.dimension)
        assert together.dtype == np.float32
        for text, vector in zip(texts, together, strict=True):
            assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-6)
            assert np.array_equal(vector, embedder.encode_question(text))

    def test_a_text_is_nearer_to_a_question_that_shares_its_words(self) -> None:
        embedder = HashEmbedder()
        near, far = embedder.encode_passages(["Managing panic episodes: slow breathing.", "Parking at the east gate."])
        question = embedder.encode_question("How do I manage a panic episode?")
        assert float(near @ question) > embedder.min_score > float(far @ question)

    def test_it_is_the_same_on_every_run(self) -> None:
        program = (
            "from retrieval.embedding import HashEmbedder; "
            "print(HashEmbedder().encode_question('Stop metformin if eGFR falls below 30').tobytes().hex())"
        )
        runs = {
            subprocess.run(
                [sys.executable, "-c", program],
                capture_output=True,
                check=True,
                env={**os.environ, "PYTHONHASHSEED": seed},
            ).stdout
            for seed in ("1", "2")
        }
        assert len(runs) == 1

    def test_a_text_that_would_be_cut_is_refused(self) -> None:
        with pytest.raises(ValueError, match="text 1 has 9002 tokens where 8192 fit"):
            HashEmbedder().encode_passages(["short", "word " * 9000])

    def test_progress_is_told_of_every_text(self) -> None:
        told: list[int] = []
        HashEmbedder().encode_passages(["a", "b", "c"], told.append)
        assert sum(told) == 3


class TestChoosing:
    def test_an_unknown_embedder_is_named_with_those_there_are(self, tmp_path: Path) -> None:
        with pytest.raises(SettingError, match='"word2vec" is not an embedder; use "sentence-transformers"'):
            make_embedder("word2vec", cache=tmp_path)  # type: ignore[arg-type]

    @pytest.mark.parametrize("model", ["BAAI/bge-small-en", "/no/such/folder"])
    def test_a_model_that_is_no_folder_here_is_never_fetched(self, tmp_path: Path, model: str) -> None:
        with pytest.raises(SettingError, match="never fetched"):
            make_embedder("sentence-transformers", model=model, cache=tmp_path)

    def test_a_folder_without_weights_is_told(self, tmp_path: Path) -> None:
        model = without_weights(tmp_path)
        with pytest.raises(SettingError, match="holds no weights"):
            make_embedder("sentence-transformers", model=str(model), cache=tmp_path)

    def test_opening_an_embedder_imports_neither_torch_nor_a_runtime(self, tmp_path: Path) -> None:
        program = (
            "import sys, pathlib; from retrieval.embedders import make_embedder; "
            f"make_embedder('sentence-transformers', cache=pathlib.Path({str(tmp_path)!r})); "
            "print([name for name in ('torch', 'transformers', 'onnxruntime', 'chromadb') if name in sys.modules])"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "[]"


class TestIdentity:
    """An identity names weights, pooling, prefixes and length."""

    def test_of_the_packaged_model(self, tmp_path: Path) -> None:
        embedder = make_embedder("sentence-transformers", cache=tmp_path)
        assert (embedder.dimension, embedder.max_tokens) == (384, 256)
        assert embedder.identity.startswith("bert:")
        assert embedder.identity.endswith(":mean:256")

    @pytest.mark.parametrize(
        ("file", "change"),
        [
            ("1_Pooling/config.json", {"pooling_mode_mean_tokens": False, "pooling_mode_cls_token": True}),
            ("sentence_bert_config.json", {"max_seq_length": 128}),
            ("config_sentence_transformers.json", {"prompts": {"query": "query: ", "document": "passage: "}}),
        ],
    )
    def test_changes_with_each_of_them(self, tmp_path: Path, file: str, change: dict[str, object]) -> None:
        model = without_weights(tmp_path)
        before = read_model(model, PACKAGED_SHA256).identity
        path = model / file
        path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
        assert read_model(model, PACKAGED_SHA256).identity != before
        assert read_model(model, "other weights").identity != read_model(model, PACKAGED_SHA256).identity

    def test_does_not_change_with_the_folder(self, tmp_path: Path) -> None:
        moved = read_model(without_weights(tmp_path), PACKAGED_SHA256)
        assert moved.identity == read_model(packaged_folder(), PACKAGED_SHA256).identity


class TestChecksum:
    def test_the_packaged_weights_are_those_that_are_expected(self) -> None:
        assert weights_digest(packaged_folder()) == PACKAGED_SHA256

    def test_other_weights_in_their_place_are_refused(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        model = without_weights(tmp_path)
        (model / "model.safetensors").write_bytes(b"not the weights")
        monkeypatch.setattr(sentence_embedding, "packaged_folder", lambda: model)
        embedder = make_embedder("sentence-transformers", cache=tmp_path / "cache")
        with pytest.raises(SettingError, match=r"53aa51172d142c89… is expected\); install"):
            embedder.encode_question("anything")


class TestCounting:
    def test_counts_are_those_of_the_model_special_tokens_included(self, tmp_path: Path) -> None:
        embedder = make_embedder("sentence-transformers", cache=tmp_path)
        assert embedder.count_tokens("") == 2
        assert embedder.count_tokens("Treat with 15 g of fast-acting carbohydrate.") == 16
        assert embedder.count_tokens("word " * 1000) == 1002, "neither cut nor padded"

    def test_a_passage_that_would_be_cut_is_refused_before_anything_is_loaded(self, tmp_path: Path) -> None:
        embedder = make_embedder("sentence-transformers", cache=tmp_path)
        with pytest.raises(ValueError, match="text 1 has 402 tokens where 256 fit"):
            embedder.encode_passages(["short", "word " * 400])
        assert not list(tmp_path.iterdir())


def without_weights(tmp_path: Path) -> Path:
    return Path(
        shutil.copytree(packaged_folder(), tmp_path / "model", ignore=shutil.ignore_patterns("*.safetensors", "data_*"))
    )


class Counting(HashEmbedder):
    """The hash embedder, keeping what it was asked to encode."""

    def __init__(self, identity: str = "counting") -> None:
        self.identity = identity
        self.encoded: list[str] = []

    def encode_passages(self, texts: Sequence[str], progress: Progress | None = None) -> Matrix:
        self.encoded += texts
        return super().encode_passages(texts, progress)


class TestCache:
    def test_only_new_text_is_encoded_and_each_text_once(self, tmp_path: Path) -> None:
        embedder = Counting()
        cache = EmbeddingCache(tmp_path / "cache" / "embeddings.sqlite")
        told: list[int] = []
        first = cache.encode(embedder, ["one", "two", "one"], told.append)
        cache.close()
        cache = EmbeddingCache(tmp_path / "cache" / "embeddings.sqlite")
        second = cache.encode(embedder, ["two", "three", "one"], told.append)
        assert embedder.encoded == ["one", "two", "three"]
        assert np.array_equal(first, HashEmbedder().encode_passages(["one", "two", "one"]))
        assert np.array_equal(second, HashEmbedder().encode_passages(["two", "three", "one"]))
        assert sum(told) == 6
        assert cache.encode(embedder, []).shape == (0, embedder.dimension)

    def test_another_embedder_gets_its_own_vectors(self, tmp_path: Path) -> None:
        cache = EmbeddingCache(tmp_path / "embeddings.sqlite")
        other = Counting("other")
        cache.encode(Counting(), ["one"])
        cache.encode(other, ["one"])
        assert other.encoded == ["one"]

    def test_pruning_removes_what_was_not_asked_for_from_the_disk(self, tmp_path: Path) -> None:
        path = tmp_path / "embeddings.sqlite"
        cache = EmbeddingCache(path)
        cache.encode(Counting(), [f"text {number}" for number in range(300)])
        gone = hashlib.sha256(b"counting\0text 7").digest()
        assert gone in path.read_bytes()
        cache.close()
        cache = EmbeddingCache(path)
        cache.encode(Counting(), ["text 1"])
        cache.keep(Counting(), ["text 2"])
        assert cache.prune() == 298
        cache.close()
        assert gone not in path.read_bytes()
        assert not [other for other in tmp_path.iterdir() if other != path]
        embedder = Counting()
        EmbeddingCache(path).encode(embedder, ["text 1", "text 2"])
        assert embedder.encoded == []

    def test_no_text_is_kept(self, tmp_path: Path) -> None:
        path = tmp_path / "embeddings.sqlite"
        EmbeddingCache(path).encode(Counting(), ["Mrs Example of 12 Sample Street"])
        assert b"Example" not in path.read_bytes()

    def test_a_run_that_is_killed_keeps_what_it_has(self, tmp_path: Path) -> None:
        class Dying(Counting):
            def encode_passages(self, texts: Sequence[str], progress: Progress | None = None) -> Matrix:
                if len(self.encoded) >= 256:
                    raise KeyboardInterrupt
                return super().encode_passages(texts, progress)

        texts = [f"text {number}" for number in range(600)]
        with pytest.raises(KeyboardInterrupt):
            EmbeddingCache(tmp_path / "embeddings.sqlite").encode(Dying(), texts)
        embedder = Counting()
        EmbeddingCache(tmp_path / "embeddings.sqlite").encode(embedder, texts)
        assert len(embedder.encoded) == 344

    def test_a_damaged_file_is_begun_again(self, tmp_path: Path) -> None:
        path = tmp_path / "embeddings.sqlite"
        path.write_bytes(b"\xa5" * 10_000)
        assert EmbeddingCache(path).encode(Counting(), ["one"]).shape == (1, 512)

    def test_a_place_that_cannot_be_written_is_told(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        with pytest.raises(ServiceAway, match="cannot be opened"):
            EmbeddingCache(tmp_path / "file" / "embeddings.sqlite")


@pytest.fixture(scope="session")
def model_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("model-cache")


@pytest.mark.model
class TestMiniLm:
    def test_the_lesson(self, model_cache: Path) -> None:
        """The published similarity of the low glucose section to the question as it is read: 0.63."""
        embedder = make_embedder("sentence-transformers", cache=model_cache)
        cosine = float(embedder.encode_passages([LOW_GLUCOSE])[0] @ embedder.encode_question(HYPO))
        assert cosine == pytest.approx(0.63, abs=0.01)

    def test_the_fast_backend_gives_the_vectors_of_sentence_transformers(self, model_cache: Path) -> None:
        from sentence_transformers import SentenceTransformer

        embedder = sentence_embedding.open_sentence_embedder("", model_cache)
        texts = [LOW_GLUCOSE, HYPO, "", "β-lactam ≥ 38 °C", "one " * 250]
        reference = SentenceTransformer(str(packaged_folder()), device="cpu").encode(texts, normalize_embeddings=True)
        assert embedder.backend == "onnx"
        assert np.abs(embedder.encode_passages(texts) - reference).max() <= 1e-5
        long_question = HYPO * 30
        reference = SentenceTransformer(str(packaged_folder()), device="cpu").encode(long_question)
        assert np.abs(embedder.encode_question(long_question) - reference).max() <= 1e-5

    def test_a_vector_is_the_same_in_any_company_and_on_any_number_of_threads(self, model_cache: Path) -> None:
        texts = [LOW_GLUCOSE, HYPO, "Stop metformin.", *(f"{LOW_GLUCOSE} {number}" for number in range(9))]
        alone = sentence_embedding.open_sentence_embedder("", model_cache, threads=1)
        beside = sentence_embedding.open_sentence_embedder("", model_cache, threads=3)
        expected = np.stack([alone.encode_question(text) for text in texts])
        assert np.array_equal(beside.encode_passages(texts), expected)
        assert np.array_equal(beside.encode_passages(texts[::-1])[::-1], expected)

    def test_once_it_is_made_a_question_needs_no_torch(self, model_cache: Path) -> None:
        make_embedder("sentence-transformers", cache=model_cache).encode_question("made")
        program = (
            "import sys, pathlib; from retrieval.embedders import make_embedder; "
            f"make_embedder('sentence-transformers', cache=pathlib.Path({str(model_cache)!r})).encode_question('x'); "
            "print([name for name in ('torch', 'transformers', 'onnx', 'chromadb') if name in sys.modules])"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "[]"

    def test_a_model_of_the_site_is_run_with_its_own_pooling_prefixes_and_length(self, tmp_path: Path) -> None:
        from sentence_transformers import SentenceTransformer

        model = Path(shutil.copytree(packaged_folder(), tmp_path / "model"))
        prompts = {"prompts": {"query": "query: ", "document": "passage: "}}
        pooling = {"word_embedding_dimension": 384, "pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}
        (model / "config_sentence_transformers.json").write_text(json.dumps(prompts))
        (model / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
        (model / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 64}))
        embedder = sentence_embedding.open_sentence_embedder(str(model), tmp_path / "cache")
        plain = SentenceTransformer(str(model), device="cpu")
        long_question = HYPO * 9
        assert embedder.backend == "onnx"
        assert (embedder.max_tokens, embedder.count_tokens("")) == (64, 4)
        assert np.abs(embedder.encode_question(long_question) - plain.encode_query(long_question)).max() <= 1e-5
        passages = ["Treat with 15 g of carbohydrate.", "Stop metformin."]
        assert np.abs(embedder.encode_passages(passages) - plain.encode_document(passages)).max() <= 1e-5

    def test_a_damaged_encoder_is_made_again(self, model_cache: Path, tmp_path: Path) -> None:
        make_embedder("sentence-transformers", cache=model_cache).encode_question("made")
        shutil.copytree(model_cache, tmp_path / "cache")
        weights = next((tmp_path / "cache").glob("onnx-*/encoder.bin"))
        with weights.open("r+b") as file:
            file.seek(1_000_000)
            file.write(b"\xff" * 64)
        embedder = sentence_embedding.open_sentence_embedder("", tmp_path / "cache")
        cosine = float(embedder.encode_passages([LOW_GLUCOSE])[0] @ embedder.encode_question(HYPO))
        assert cosine == pytest.approx(0.63, abs=0.01)
        assert embedder.backend == "onnx"

    def test_torch_serves_where_no_encoder_can_be_made_and_the_log_says_why(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, model_cache: Path
    ) -> None:
        monkeypatch.setattr(onnx_encoder, "MAX_DIFFERENCE", -1.0)
        slow = sentence_embedding.open_sentence_embedder("", tmp_path)
        fast = sentence_embedding.open_sentence_embedder("", model_cache)
        assert slow.backend == "torch"
        assert "its vectors differ by" in caplog.text
        assert slow.identity == fast.identity
        assert (
            np.abs(slow.encode_passages([LOW_GLUCOSE, HYPO]) - fast.encode_passages([LOW_GLUCOSE, HYPO])).max() <= 1e-5
        )
        assert not list(tmp_path.iterdir()), "nothing half-made is left"
