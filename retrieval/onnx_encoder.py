"""The sentence encoder in ONNX Runtime: made once from a model's weights, verified, then used without torch.

CACHE/onnx-KEY/
  encoder.onnx, encoder.bin    the graph and its weights, which are mapped into memory rather than read
  made.json                    what from, with what, the checksums of both, the largest difference found
"""

from __future__ import annotations

import hashlib
import json
import logging
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from retrieval.embedding import Vector
from retrieval.sentence_model import SentenceModel, weight_files

MAX_DIFFERENCE = 1e-5
_FORMAT = 1
_log = logging.getLogger(__name__)

SAMPLES = (
    "hypo",
    "What should I do about a hypo (hypoglycaemia, low blood glucose)?",
    "Metformin should not be started if eGFR is below 45. If eGFR falls below 30 during treatment, stop metformin.",
    "Gentamicin 5–7 mg/kg IV o.d.; trough < 1 mg/L – naïve, Müller's β-lactam, 37.5 °C ≥ 38 °C 再検査 👍",
    "0.5 mL of 1:1,000 (500 micrograms), i.m., repeat after 5 min",
    " | ".join(
        ["Weight (kg) | Dose (mg) | Volume (mL)", *(f"{kg} | {15 * kg} | {kg / 2:g}" for kg in range(3, 40, 3))]
    ),
    " ".join(f"Step {step}: measure, record and review the reading before going on." for step in range(1, 18)),
    "pneumonoultramicroscopicsilicovolcanoconiosis " * 40,
    "Give fluids. " * 400,
)
"""Texts from one word to far too long, on which the two backends are compared."""


class OnnxEncoder:
    """Runs the graph on one text's tokens at a time, each on one thread: a result depends on nothing else."""

    def __init__(self, folder: Path) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(
            str(folder / "encoder.onnx"), options, providers=["CPUExecutionProvider"]
        )

    def encode(self, ids: Sequence[int]) -> Vector:
        """Return the unit vector of a text.

        Args:
            ids: its tokens, special tokens included.
        """
        vector: Vector = self._session.run(["vector"], {"ids": np.array([ids], dtype=np.int32)})[0][0]
        return vector


def open_encoder(model: SentenceModel, cache: Path) -> OnnxEncoder | None:
    """Open the encoder made from these weights; None when there is none, or it is damaged."""
    folder = _folder(model, cache)
    try:
        made = json.loads((folder / "made.json").read_text(encoding="utf-8"))
        if made["weights_sha256"] != model.weights_sha256 or made["sha256"] != _checksums(folder):
            raise ValueError("its checksum is not the one noted")
        return OnnxEncoder(folder)
    except FileNotFoundError:
        return None
    except Exception as error:  # onnxruntime raises types of its own
        _log.warning("the ONNX encoder in %s cannot be used and will be made again: %s", folder, error)
        return None


def make_encoder(
    model: SentenceModel, cache: Path, tokens: Callable[[str], Sequence[int]], reference: Callable[[str], Vector]
) -> OnnxEncoder:
    """Make the encoder from a model's weights, compare it with the reference, and store it whole or not at all.

    Args:
        tokens: a text's tokens as the encoder gets them.
        reference: a text's unit vector by sentence-transformers itself.

    Raises:
        ValueError: the model is not of the kind that can be made, or its vectors differ from the reference.
        OSError: it cannot be stored.
    """
    if not (model.plain and model.architecture == "bert" and model.pooling in ("mean", "cls")):
        raise ValueError(f"no graph for {model.architecture} with {model.pooling} pooling")
    if (
        model.config.get("hidden_act") != "gelu"
        or model.config.get("position_embedding_type", "absolute") != "absolute"
    ):
        raise ValueError("no graph for its activation or positions")
    cache.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix="onnx-draft-", dir=cache))
    try:
        _write_graph(model, draft)
        encoder = OnnxEncoder(draft)
        difference = max(float(np.abs(encoder.encode(tokens(text)) - reference(text)).max()) for text in SAMPLES)
        if not difference <= MAX_DIFFERENCE:
            raise ValueError(f"its vectors differ by {difference:.1e} from those of sentence-transformers")
        made = {
            "format": _FORMAT,
            "identity": model.identity,
            "weights_sha256": model.weights_sha256,
            "onnxruntime": onnxruntime.__version__,
            "max_difference": difference,
            "sha256": _checksums(draft),
        }
        (draft / "made.json").write_text(json.dumps(made, indent=1), encoding="utf-8")
        final = _folder(model, cache)
        shutil.rmtree(final, ignore_errors=True)
        draft.rename(final)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    _log.info("made the ONNX encoder of %s (largest difference %.1e)", model.identity, difference)
    return OnnxEncoder(final)


def _write_graph(model: SentenceModel, folder: Path) -> None:
    import onnx  # only who makes an encoder pays for these imports
    from safetensors.numpy import load_file

    from retrieval.onnx_graph import build_graph

    weights: dict[str, NDArray[Any]] = {}
    for path in weight_files(model.folder):
        if path.suffix != ".safetensors":
            raise ValueError("its weights are not stored as safetensors")
        weights.update(load_file(path))
    try:
        graph = build_graph(
            weights,
            heads=int(model.config["num_attention_heads"]),
            epsilon=float(model.config["layer_norm_eps"]),
            pooling="cls" if model.pooling == "cls" else "mean",
        )
    except KeyError as error:
        raise ValueError(f"it lacks {error}") from None
    onnx.save(
        graph,
        folder / "encoder.onnx",
        save_as_external_data=True,
        all_tensors_to_one_file=True,
        location="encoder.bin",
    )


def _folder(model: SentenceModel, cache: Path) -> Path:
    made_with = f"{_FORMAT}:{model.identity}:{model.weights_sha256}:{onnxruntime.__version__}"
    return cache / f"onnx-{hashlib.sha256(made_with.encode()).hexdigest()[:16]}"


def _checksums(folder: Path) -> dict[str, str]:
    sums = {}
    for name in ("encoder.onnx", "encoder.bin"):
        with (folder / name).open("rb") as file:
            sums[name] = hashlib.file_digest(file, "sha256").hexdigest()
    return sums
