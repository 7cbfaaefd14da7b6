"""A BERT sentence encoder as an ONNX graph of fused operators, built straight from its weights.

One text at a time, so that there is no padding, no mask, and no other text that could move a result.
Input `ids`: int32 [1, tokens], special tokens included. Output `vector`: float32 [1, hidden], length 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

Weights = Mapping[str, NDArray[Any]]
_CONTRIB = "com.microsoft"


def build_graph(weights: Weights, *, heads: int, epsilon: float, pooling: Literal["mean", "cls"]) -> onnx.ModelProto:
    """Build the graph of embeddings, transformer layers, pooling and normalisation.

    Args:
        weights: by their names in a BERT checkpoint, with or without the prefix `bert.`.
        heads: attention heads of a layer.
        epsilon: of the layer norms.

    Raises:
        KeyError: a weight is missing: not a BERT encoder.
    """
    return _Builder(weights, heads, epsilon).build(pooling)


class _Builder:
    def __init__(self, weights: Weights, heads: int, epsilon: float) -> None:
        self._weights = {name.removeprefix("bert."): np.asarray(value, np.float32) for name, value in weights.items()}
        self._heads = heads
        self._epsilon = epsilon
        self._nodes: list[onnx.NodeProto] = []
        self._constants: list[onnx.TensorProto] = []

    def build(self, pooling: Literal["mean", "cls"]) -> onnx.ModelProto:
        hidden = self._embeddings()
        layer = 0
        while f"encoder.layer.{layer}.attention.self.query.weight" in self._weights:
            hidden = self._layer(f"encoder.layer.{layer}.", hidden)
            layer += 1
        if pooling == "mean":
            pooled = self._node("ReduceMean", [hidden, self._constant("token_axis", np.array([1]))], keepdims=0)
        else:
            pooled = self._node("Gather", [hidden, self._constant("first_token", np.array(0))], axis=1)
        length = self._node("ReduceL2", [pooled, self._constant("hidden_axis", np.array([1]))], keepdims=1)
        self._nodes.append(helper.make_node("Div", [pooled, length], ["vector"]))
        width = self._weights["embeddings.word_embeddings.weight"].shape[1]
        graph = helper.make_graph(
            self._nodes,
            "sentence-encoder",
            [helper.make_tensor_value_info("ids", TensorProto.INT32, [1, "tokens"])],
            [helper.make_tensor_value_info("vector", TensorProto.FLOAT, [1, width])],
            self._constants,
        )
        opsets = [helper.make_opsetid("", 18), helper.make_opsetid(_CONTRIB, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=9)

    def _embeddings(self) -> str:
        words = self._node("Gather", [self._weight("embeddings.word_embeddings.weight"), "ids"])
        # Every token is of type 0, so that its vector can be added to the positions once and for all.
        places = self._weights["embeddings.position_embeddings.weight"]
        places = places + self._weights["embeddings.token_type_embeddings.weight"][0]
        shape = self._node("Shape", ["ids"], start=1)
        zero = self._constant("zero", np.array([0]))
        used = self._node("Slice", [self._constant("places", places), zero, shape, zero])
        return self._norm(words, used, "embeddings.LayerNorm.", None)

    def _layer(self, prefix: str, hidden: str) -> str:
        attention = f"{prefix}attention."
        parts = [f"{attention}self.{part}" for part in ("query", "key", "value")]
        joined = np.concatenate([self._weights[f"{part}.weight"].T for part in parts], axis=1)
        biases = np.concatenate([self._weights[f"{part}.bias"] for part in parts])
        inputs = [hidden, self._constant(f"{attention}weight", joined), self._constant(f"{attention}bias", biases)]
        attended = self._node("Attention", inputs, domain=_CONTRIB, num_heads=self._heads)
        mixed = self._product(attended, f"{attention}output.dense.weight")
        hidden = self._norm(mixed, hidden, f"{attention}output.LayerNorm.", f"{attention}output.dense.bias")
        wide = self._product(hidden, f"{prefix}intermediate.dense.weight")
        wide = self._node("BiasGelu", [wide, self._weight(f"{prefix}intermediate.dense.bias")], domain=_CONTRIB)
        narrow = self._product(wide, f"{prefix}output.dense.weight")
        return self._norm(narrow, hidden, f"{prefix}output.LayerNorm.", f"{prefix}output.dense.bias")

    def _product(self, hidden: str, weight: str) -> str:
        return self._node("MatMul", [hidden, self._constant(weight, self._weights[weight].T)])

    def _norm(self, hidden: str, beside: str, norm: str, bias: str | None) -> str:
        """Add `beside` and the bias to `hidden`, then normalise each token."""
        inputs = [hidden, beside, self._weight(f"{norm}weight"), self._weight(f"{norm}bias")]
        if bias is not None:
            inputs.append(self._weight(bias))
        return self._node("SkipLayerNormalization", inputs, domain=_CONTRIB, epsilon=self._epsilon)

    def _weight(self, name: str) -> str:
        return self._constant(name, self._weights[name])

    def _constant(self, name: str, value: NDArray[Any]) -> str:
        if all(constant.name != name for constant in self._constants):
            self._constants.append(numpy_helper.from_array(np.array(value, order="C"), name))
        return name

    def _node(self, kind: str, inputs: list[str], domain: str = "", **attributes: Any) -> str:
        output = f"{kind}_{len(self._nodes)}"
        self._nodes.append(helper.make_node(kind, inputs, [output], domain=domain, **attributes))
        return output
