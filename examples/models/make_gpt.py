# SPDX-License-Identifier: Apache-2.0
"""Writes a small GPT that generates tokens in a Loop, with seeded weights: make_gpt.py out.onnx

Inputs `token` (int64, 1x1: the first token) and `steps` (int64, scalar); outputs `tokens`
(steps x 1 x 1) and `logits` (steps x 1 x 1 x vocabulary). Each iteration runs the network on one
token, appends its keys and values to the cache it carries, and takes the most likely token.
"""

import numpy as np
from builder import Builder, save_from_command_line
from onnx import TensorProto, helper


class Gpt:
    """One step of the network: the body of the loop."""

    def __init__(self, net, layers, width, heads):
        self.net, self.layers, self.width, self.heads = net, layers, width, heads

    def head_split(self, name, x):
        net, size = self.net, self.width // self.heads
        y = net.node("Reshape", name + ".split", [x, net.ints(1, 1, self.heads, size)])
        return net.node("Transpose", name + ".heads", [y], perm=[0, 2, 1, 3])

    def attention(self, name, x, past):
        """past: [keys and values, 1, heads, time, size]; the longer one comes back as well."""
        net = self.net
        q, k, v = (self.head_split(f"{name}.{part}",
                                   net.linear(f"{name}.{part}", x, self.width, self.width))
                   for part in ("query", "key", "value"))
        kept = []
        for index, fresh in ((0, k), (1, v)):
            old = net.node("Gather", f"{name}.past{index}", [past, net.constant(index, np.int64)],
                           axis=0)
            kept.append(net.node("Concat", f"{name}.all{index}", [old, fresh], axis=2))
        turned = net.node("Transpose", name + ".turned", [kept[0]], perm=[0, 1, 3, 2])
        scores = net.node("MatMul", name + ".scores", [q, turned])
        scores = net.node("Mul", name + ".scale",
                          [scores, net.constant((self.width // self.heads) ** -0.5)])
        y = net.node("MatMul", name + ".context",
                     [net.node("Softmax", name + ".softmax", [scores], axis=-1), kept[1]])
        y = net.node("Transpose", name + ".join", [y], perm=[0, 2, 1, 3])
        y = net.node("Reshape", name + ".flat", [y, net.ints(1, 1, self.width)])
        axis = net.ints(0)
        pair = [net.node("Unsqueeze", f"{name}.pair{i}", [part, axis])
                for i, part in enumerate(kept)]
        cache = net.node("Concat", name + ".cache", pair, axis=0)
        return net.linear(name + ".output", y, self.width, self.width), cache

    def layer(self, name, x, past):
        net = self.net
        y, cache = self.attention(name + ".attention",
                                  net.layer_norm(name + ".norm1", x, self.width, 1e-5), past)
        x = net.node("Add", name + ".add1", [x, y])
        y = net.layer_norm(name + ".norm2", x, self.width, 1e-5)
        y = net.gelu(name + ".gelu", net.linear(name + ".up", y, self.width, 4 * self.width))
        y = net.linear(name + ".down", y, 4 * self.width, self.width)
        return net.node("Add", name + ".add2", [x, y]), cache


def body(net, gpt, words, positions):
    x = net.node("Add", "embedding", [
        net.node("Gather", "embedding.words", [words, "token_in"], axis=0),
        net.node("Gather", "embedding.position", [positions, "iteration"], axis=0)])
    caches = []
    for i in range(gpt.layers):
        past = net.node("Gather", f"past{i}", ["past", net.constant(i, np.int64)], axis=0)
        x, cache = gpt.layer(f"layer{i}", x, past)
        caches.append(net.node("Unsqueeze", f"cache{i}", [cache, net.ints(0)]))
    net.node("Concat", "past_out", caches, axis=0)
    x = net.layer_norm("norm", x, gpt.width, 1e-5)
    turned = net.node("Transpose", "words.turned", [words], perm=[1, 0])
    net.node("MatMul", "step_logits", [x, turned])
    net.node("ArgMax", "token_out", ["step_logits"], axis=-1, keepdims=0)
    net.node("Identity", "again", ["continue"])
    net.node("Identity", "step_token", ["token_out"])
    info = helper.make_tensor_value_info
    return helper.make_graph(
        net.nodes, "step",
        [info("iteration", TensorProto.INT64, []), info("continue", TensorProto.BOOL, []),
         info("token_in", TensorProto.INT64, [1, 1]), info("past", TensorProto.FLOAT, None)],
        [info("again", TensorProto.BOOL, []), info("token_out", TensorProto.INT64, [1, 1]),
         info("past_out", TensorProto.FLOAT, None), info("step_token", TensorProto.INT64, [1, 1]),
         info("step_logits", TensorProto.FLOAT, None)])


def make_gpt(batch=1, seed=0, layers=4, width=256, heads=8, vocabulary=5000, longest=256):
    """The model as a ModelProto."""
    if batch != 1:
        raise ValueError("one sequence at a time")
    net = Builder(seed)
    words = net.weight("words.weight", net.normal(vocabulary, width, scale=0.5))
    positions = net.weight("positions.weight", net.normal(longest, width, scale=0.5))
    step = body(net, Gpt(net, layers, width, heads), words, positions)
    empty = net.weight("past.empty", np.zeros((layers, 2, 1, heads, 0, width // heads)))
    net.nodes = [helper.make_node("Loop", ["steps", "", "token", empty],
                                  ["last", "cache", "tokens", "logits"], name="generate",
                                  body=step)]
    return net.model("gpt", {"token": ("int64", [1, 1]), "steps": ("int64", [])},
                     {"tokens": ("int64", ["steps", 1, 1]),
                      "logits": ("float", ["steps", 1, 1, vocabulary])})


if __name__ == "__main__":
    save_from_command_line(make_gpt, __doc__.splitlines()[0])
