# SPDX-License-Identifier: Apache-2.0
"""Writes BERT-base (uncased) as ONNX with seeded random weights: make_bert.py out.onnx

Inputs input_ids, attention_mask, token_type_ids (int64, 1x128); outputs last_hidden_state and
pooler_output. Written in the operators that PyTorch's exporter uses at opset 13.
"""

import numpy as np
from builder import Builder, save_from_command_line


class Bert:
    """Sizes of the network and its layers on a Builder."""

    def __init__(self, net, batch, length, width, heads):
        self.net, self.batch, self.length = net, batch, length
        self.width, self.heads = width, heads

    def split_heads(self, name, x):
        net, head = self.net, self.width // self.heads
        y = net.node("Reshape", name + ".split",
                     [x, net.ints(self.batch, self.length, self.heads, head)])
        return y

    def attention(self, name, x, mask):
        net = self.net
        parts = {}
        for part, perm in (("query", [0, 2, 1, 3]), ("key", [0, 2, 3, 1]), ("value", [0, 2, 1, 3])):
            y = net.linear(f"{name}.{part}", x, self.width, self.width)
            parts[part] = net.node("Transpose", f"{name}.{part}.transpose",
                                   [self.split_heads(f"{name}.{part}", y)], perm=perm)
        scores = net.node("MatMul", name + ".scores", [parts["query"], parts["key"]])
        root = np.sqrt(self.width // self.heads)
        scores = net.node("Div", name + ".scale", [scores, net.constant(root)])
        scores = net.node("Add", name + ".mask", [scores, mask])
        weights = net.node("Softmax", name + ".softmax", [scores], axis=-1)
        y = net.node("MatMul", name + ".context", [weights, parts["value"]])
        y = net.node("Transpose", name + ".context.transpose", [y], perm=[0, 2, 1, 3])
        y = net.node("Reshape", name + ".join", [y, net.ints(self.batch, self.length, self.width)])
        return net.linear(name + ".output", y, self.width, self.width)

    def layer(self, name, x, mask):
        net = self.net
        y = self.attention(name + ".attention", x, mask)
        x = net.layer_norm(name + ".norm1", net.node("Add", name + ".add1", [y, x]), self.width)
        y = net.linear(name + ".up", x, self.width, 4 * self.width)
        y = net.gelu(name + ".gelu", y)
        y = net.linear(name + ".down", y, 4 * self.width, self.width)
        return net.layer_norm(name + ".norm2", net.node("Add", name + ".add2", [y, x]), self.width)

    def embeddings(self, vocabulary):
        net = self.net
        tables = (("words", vocabulary, "input_ids"), ("types", 2, "token_type_ids"),
                  ("positions", 512, net.constant([range(self.length)], np.int64)))
        parts = []
        for name, rows, ids in tables:
            table = net.weight(f"embeddings.{name}.weight", net.normal(rows, self.width, scale=0.5))
            parts.append(net.node("Gather", "embeddings." + name, [table, ids], axis=0))
        y = net.node("Add", "embeddings.add1", parts[:2])
        y = net.node("Add", "embeddings.add2", [y, parts[2]])
        return net.layer_norm("embeddings.norm", y, self.width)

    def mask(self):
        """0 where a token counts, the lowest float elsewhere, for every head and row."""
        net = self.net
        y = net.node("Unsqueeze", "mask.unsqueeze", ["attention_mask", net.ints(1, 2)])
        y = net.node("Cast", "mask.cast", [y], to=1)
        y = net.node("Sub", "mask.sub", [net.constant(1.0), y])
        return net.node("Mul", "mask", [y, net.constant(np.finfo(np.float32).min)])


def make_bert(batch=1, seed=0, length=128, layers=12, width=768, heads=12, vocabulary=30522):
    """The model as a ModelProto."""
    net = Builder(seed)
    bert = Bert(net, batch, length, width, heads)
    mask, x = bert.mask(), bert.embeddings(vocabulary)
    for i in range(layers):
        x = bert.layer(f"layer{i}", x, mask)
    net.node("Identity", "last_hidden_state", [x])
    first = net.node("Gather", "pooler.first", [x, net.constant(0, np.int64)], axis=1)
    weight = net.weight("pooler.weight", net.normal(width, width, scale=width**-0.5))
    bias = net.weight("pooler.bias", net.random.uniform(-0.1, 0.1, width))
    pooled = net.node("Gemm", "pooler.gemm", [first, weight, bias], transB=1)
    net.node("Tanh", "pooler_output", [pooled])
    tokens = ("int64", [batch, length])
    return net.model("bert",
                     {"input_ids": tokens, "attention_mask": tokens, "token_type_ids": tokens},
                     {"last_hidden_state": ("float", [batch, length, width]),
                      "pooler_output": ("float", [batch, width])})


if __name__ == "__main__":
    save_from_command_line(make_bert, __doc__.splitlines()[0])
