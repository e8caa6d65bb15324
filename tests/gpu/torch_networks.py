# SPDX-License-Identifier: Apache-2.0
"""Times ONNX networks in torch on the same GPU, in float16: the baseline of networks without a
torch original.

    tests/gpu/torch_networks.py network.onnx ...

Each network is run node by node with torch's functions, batch norm folded and convolutions channels
last: replayed as a CUDA graph, compiled by torch.compile, and compiled with frozen weights and CUDA
graphs. Prints a line of JSON for each file: milliseconds by way, and the most memory that torch
held, in MiB.
"""

import json
import os
import sys

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch._inductor import config as inductor
from torch.nn import functional
from torch_peers import median_ms


def attributes(node):
    return {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}


def pads(at):
    """Of both sides of the two axes; they are equal in these networks."""
    begin_end = at.get("pads", [0, 0, 0, 0])
    assert begin_end[:2] == begin_end[2:], "pads differ between the sides"
    return begin_end[:2]


def conv(at, x, w, b=None):
    return functional.conv2d(x, w, b, at.get("strides", [1, 1]), pads(at), 1, at.get("group", 1))


def resize(at, x, *sizes):
    scale = sizes[1] if len(sizes) > 1 and sizes[1] is not None else None
    return functional.interpolate(x, scale_factor=tuple(float(s) for s in scale[2:]),
                                  mode="nearest")


OPERATORS = {
    "Conv": conv,
    "ConvTranspose": lambda at, x, w, b=None: functional.conv_transpose2d(x, w, b,
        at.get("strides", [1, 1]), pads(at)),
    "Relu": lambda at, x: torch.relu(x),
    "Sigmoid": lambda at, x: torch.sigmoid(x),
    "Add": lambda at, a, b: a + b,
    "Mul": lambda at, a, b: a * b,
    "Pow": lambda at, a, b: a ** b,
    "MaxPool": lambda at, x: functional.max_pool2d(x, at["kernel_shape"], at.get("strides", [1, 1]),
                                                   pads(at)),
    "GlobalAveragePool": lambda at, x: x.mean((2, 3), keepdim=True),
    "Flatten": lambda at, x: x.flatten(at.get("axis", 1)),
    "Gemm": lambda at, x, w, b: functional.linear(x, w if at.get("transB") else w.t(), b),
    "Concat": lambda at, *x: torch.cat(x, at["axis"]),
    "Reshape": lambda at, x, shape: x.reshape([int(d) for d in shape]),
    "Transpose": lambda at, x: x.permute(at["perm"]),
    "Split": lambda at, x, parts: x.split([int(p) for p in parts], at.get("axis", 0)),
    "Softmax": lambda at, x: torch.softmax(x, at.get("axis", -1)),
    "Resize": resize,
}
HOST = {("Reshape", 1), ("Split", 1), ("Resize", 1), ("Resize", 2),
        ("Resize", 3)}  # operands that decide shapes


class Network(torch.nn.Module):
    def __init__(self, path):
        super().__init__()
        graph = onnx.load(path).graph
        values = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
        self.host = {n.input[i] for n in graph.node for i in range(len(n.input)) if (n.op_type,
                                                                                     i) in HOST}
        self.steps, renamed = [], {}
        made = {}
        for node in graph.node:
            inputs = [renamed.get(i, i) for i in node.input]
            if node.op_type == "BatchNormalization" and inputs[0] in made:
                self.fold(made[inputs[0]], [values[i] for i in inputs[1:]], attributes(node),
                          values)
                renamed[node.output[0]] = inputs[0]
                continue
            step = [node.op_type, attributes(node), inputs, list(node.output)]
            if node.op_type == "Conv":
                made[node.output[0]] = step
            self.steps.append(step)
        self.output = [renamed.get(o.name, o.name) for o in graph.output]
        self.input = next(i.name for i in graph.input if i.name not in values)
        self.shape = [d.dim_value for d in next(i for i in graph.input if i.name == self.input)
                      .type.tensor_type.shape.dim]
        used = {i for _, _, inputs, _ in self.steps for i in inputs}
        self.names = {}
        for name in used & set(values):
            if name in self.host:
                continue
            tensor = torch.from_numpy(np.array(values[name]))
            if tensor.is_floating_point():
                tensor = tensor.half()
            if tensor.dim() == 4:
                tensor = tensor.contiguous(memory_format=torch.channels_last)
            self.names[name] = f"value{len(self.names)}"
            self.register_buffer(self.names[name], tensor.cuda())
        self.constants = {name: values[name].tolist() for name in self.host if name in values}

    @staticmethod
    def fold(step, norm, at, values):
        scale, bias, mean, variance = norm
        factor = scale / np.sqrt(variance + at.get("epsilon", 1e-5))
        weight = step[2][1]
        values[weight + ".folded"] = values[weight] * factor[:, None, None, None]
        before = values[step[2][2]] if len(step[2]) > 2 else 0
        values[weight + ".bias"] = (bias + (before - mean) * factor).astype(np.float32)
        step[2] = [step[2][0], weight + ".folded", weight + ".bias"]

    def forward(self, x):
        found = dict(self.constants)
        found[self.input] = x
        for name, buffer in self.names.items():
            found[name] = getattr(self, buffer)
        for op, at, inputs, outputs in self.steps:
            y = OPERATORS[op](at, *(found[i] if i else None for i in inputs))
            for name, value in zip(outputs, y if isinstance(y, tuple) else (y,)):
                found[name] = value
        return [found[name] for name in self.output]


def graph_ms(run):
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(5):
            run()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    return median_ms(graph.replay)


def measure(path):
    network = Network(path).eval()
    x = torch.randn(network.shape, device="cuda",
                    dtype=torch.half).contiguous(memory_format=torch.channels_last)
    torch.cuda.reset_peak_memory_stats()
    found = {"eager, CUDA graph": graph_ms(lambda: network(x))}
    found["MiB"] = torch.cuda.max_memory_reserved() / 2 ** 20
    try:
        compiled = torch.compile(network)
        found["compiled, CUDA graph"] = graph_ms(lambda: compiled(x))
        torch._dynamo.reset()
        inductor.freezing = True
        frozen = torch.compile(network, mode="reduce-overhead")
        found["compiled, frozen, CUDA graph"] = median_ms(lambda: frozen(x))
    except Exception as error:  # noqa: BLE001: a way that torch cannot go is reported, not fatal
        found["failed"] = str(error)[:300]
    return found


def main():
    torch.backends.cudnn.benchmark = True
    with torch.inference_mode():
        for path in sys.argv[1:]:
            inductor.freezing = False
            print(json.dumps({os.path.basename(path): measure(path)}), flush=True)


if __name__ == "__main__":
    main()
