# SPDX-License-Identifier: Apache-2.0
"""A frozen graph in TensorFlow and in AnyNPU: how far the results are from each other."""
import functools
import json
import os
import subprocess
import tempfile

import live
import numpy as np
import tf_archive
from model_in_process import TENSORFLOW, ModelRunner

import acl


@functools.cache
def runner():
    folder = tempfile.mkdtemp(prefix="anynpu-tensorflow-")
    return ModelRunner(folder)


CONVOLUTIONS = {"Conv", "ConvTranspose", "FusedConv", "FusedBottleneck"}
# What works along the last axis: in the model's order there, so a Transpose stands before and behind.
LAST_AXIS = {"LayerNormalization", "MatMul", "FusedMatMul", "Gemm", "FusedGemm"}


def transposes_between_convolutions(om):
    """The Transpose nodes of a compiled model on a way from one convolution to another on which
    nothing works along the last axis."""
    shown = om.removesuffix(".om") + ".json"
    subprocess.run(["atc", "--mode=1", "--om=" + om, "--json=" + shown], check=True,
                   capture_output=True)
    with open(shown) as file:
        nodes = {op["name"]: op for op in json.load(file)["graph"][0]["op"]}
    os.remove(shown)
    sources = {name: {link.rpartition(":")[0] for link in op.get("input", [])} & set(nodes)
               for name, op in nodes.items()}
    readers = {name: set() for name in nodes}
    for name, froms in sources.items():
        for source in froms:
            readers[source].add(name)

    def reached(links):
        """What lies behind a convolution."""
        waiting = [next_one for name, op in nodes.items() if op["type"] in CONVOLUTIONS
                   for next_one in links[name]]
        seen = set()
        while waiting:
            name = waiting.pop()
            if name not in seen and nodes[name]["type"] not in LAST_AXIS:
                seen.add(name)
                waiting += links[name]
        return seen

    assert any(op["type"] in CONVOLUTIONS for op in nodes.values()), "no convolution"
    return sorted(name for name in reached(readers) & reached(sources)
                  if nodes[name]["type"] == "Transpose")


def outputs_of(graph_def, inputs, names, look=None):
    """Arrays of our outputs; `look` is shown the compiled model."""
    work = runner()
    path = work.om.removesuffix(".om") + ".pb"
    with open(path, "wb") as file:
        file.write(graph_def.SerializeToString())
    try:
        work.compile(path, TENSORFLOW, out_nodes=";".join(names))
    finally:
        os.remove(path)
    if look:
        look(work.om)
    model_id = work.load()
    try:
        results = work.execute(
            model_id, lambda wanted: [inputs[name.removesuffix(":0")].tobytes() for name in wanted])
    finally:
        acl.mdl.unload(model_id)
        os.remove(work.om)
    return [np.frombuffer(raw, tf_archive.dtype_of(tf_archive.ACL_TYPES[kind])).reshape(shape)
            for raw, kind, shape in results]


def distance(graph_def, inputs, names, look=None):
    """The largest relative distance of an output; integers must be equal."""
    worst = 0.0
    wanted = live.run_graph(graph_def, inputs, names)
    for got, (name, want) in zip(outputs_of(graph_def, inputs, names, look), wanted.items(),
                                 strict=True):
        assert got.dtype == want.dtype and got.shape == want.shape, (name, got.dtype, got.shape)
        if want.dtype.kind != "f":
            np.testing.assert_array_equal(got, want)
            continue
        assert np.isfinite(want).all(), name
        worst = max(worst, float(np.linalg.norm(got - want) / max(np.linalg.norm(want), 1e-30)))
    return worst
