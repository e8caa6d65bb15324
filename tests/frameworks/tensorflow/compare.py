# SPDX-License-Identifier: Apache-2.0
"""A frozen graph in TensorFlow and in AnyNPU: how far the results are from each other."""
import functools
import os
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
