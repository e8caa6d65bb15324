#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Joined element-wise operators: one function as an aclnn operator (both phases) and in a compiled
model. Processor time on one thread, in turns. Decision 22 has the figures.

    . build/ascend/set_env.sh && .venv/bin/python bench/element_programs.py
"""
import os
import subprocess
import sys
import tempfile
import time

os.environ["ANYNPU_THREADS"] = "1"
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(ROOT, *p) for p in (("tests", "support"), ("tests",), ("bench",))]

import numpy as np  # noqa: E402
import onnx  # noqa: E402
from harness import ratio_of  # noqa: E402
from onnx import TensorProto, helper  # noqa: E402

import acl  # noqa: E402
from aclnn import Session  # noqa: E402


def silu_backward(count):
    """dx = g * s * (1 + x * (1 - s)), s = sigmoid(x)."""
    tensor = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [count]) for n in ("g", "x", "y")]
    one = helper.make_tensor("one", TensorProto.FLOAT, [], [1.0])
    nodes = [helper.make_node(op, ins, [out]) for op, ins, out in (
        ("Sigmoid", ["x"], "s"), ("Sub", ["one", "s"], "r"), ("Mul", ["x", "r"], "m"),
        ("Add", ["m", "one"], "p"),
        ("Mul", ["g", "s"], "q"), ("Mul", ["q", "p"], "y"))]
    graph = helper.make_graph(nodes, "silu_backward", tensor[:2], tensor[2:], [one])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)


def compiled(folder, count):
    path = os.path.join(folder, str(count))
    onnx.save(silu_backward(count), path + ".onnx")
    subprocess.run(["atc", f"--model={path}.onnx", "--framework=5", f"--output={path}",
                    "--soc_version=Ascend310P3"],
                   check=True, stdout=subprocess.DEVNULL)
    return acl.mdl.load_from_file(path + ".om")[0]


def dataset(tensors):
    made = acl.mdl.create_dataset()
    for tensor in tensors:
        acl.mdl.add_dataset_buffer(made, acl.create_data_buffer(tensor.memory, tensor.array.nbytes))
    return made


def main():
    with tempfile.TemporaryDirectory() as folder, Session() as nn:
        print(f"{'elements':>10}  aclnn / model (95 % interval)   largest difference")
        for count in (1 << 14, 1 << 18, 1 << 22):
            rng = np.random.default_rng(1)
            g, x = (nn.tensor(rng.standard_normal(count).astype(np.float32)) for _ in range(2))
            y, program = nn.empty(np.float32, (count,)), nn.empty(np.float32, (count,))
            model, given, made = compiled(folder, count), dataset([g, x]), dataset([program])
            times = max(1, (1 << 22) // count)

            def run_aclnn(n=times, g=g, x=x, y=y):
                begin = time.process_time()
                for _ in range(n):
                    nn.run("aclnnSiluBackward", g, x, y)
                nn.synchronize()
                return time.process_time() - begin

            def run_program(n=times, model=model, given=given, made=made):
                begin = time.process_time()
                for _ in range(n):
                    acl.mdl.execute(model, given, made)
                return time.process_time() - begin
            run_aclnn(), run_program()
            ratio = ratio_of(run_aclnn, run_program, pairs=21)
            apart = np.abs(y.read() - program.read()).max()
            print(f"{count:>10}  {ratio.median:.2f} ({ratio.low:.2f} to {ratio.high:.2f})   "
                  f"{apart:.1e}", flush=True)
            acl.mdl.unload(model)


if __name__ == "__main__":
    main()
