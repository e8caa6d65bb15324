# SPDX-License-Identifier: Apache-2.0
"""What the tests of profiling share: a small model, sessions, and reading their files."""
import contextlib
import csv
import glob
import json
import os
import subprocess

import numpy as np
from model_datasets import Model, convert
from onnx import TensorProto, helper, numpy_helper

import acl

API, TASK, METRICS, TX, RUNTIME, MEMORY = 0x1, 0x2, 0x4, 0x80, 0x100, 0x1000


def make_model(folder):
    """Two convolutions and a Softmax between them: operators of two types, none of which is
    fused."""
    random = np.random.RandomState(3)
    weights = [numpy_helper.from_array(random.randn(8, 3, 3, 3).astype(np.float32), "w1"),
               numpy_helper.from_array(random.randn(4, 8, 3, 3).astype(np.float32), "w2")]
    nodes = [helper.make_node("Conv", ["x", "w1"], ["a"], name="first", pads=[1] * 4),
             helper.make_node("Softmax", ["a"], ["b"], name="middle", axis=1),
             helper.make_node("Conv", ["b", "w2"], ["y"], name="last", pads=[1] * 4)]
    graph = helper.make_graph(
        nodes, "small", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 32, 32])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 4, 32, 32])], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    return convert(folder, "small", model)


@contextlib.contextmanager
def session(folder, bits=API | TASK, devices=(0,), metrics=0):
    """init, start .. stop, finalize."""
    assert acl.prof.init(str(folder)) == 0, acl.get_recent_err_msg()
    config = acl.prof.create_config(list(devices), metrics, 0, bits)
    assert config != 0, acl.get_recent_err_msg()
    assert acl.prof.start(config) == 0, acl.get_recent_err_msg()
    yield
    assert acl.prof.stop(config) == 0, acl.get_recent_err_msg()
    assert acl.prof.destroy_config(config) == 0
    assert acl.prof.finalize() == 0


def directory(folder):
    """The only PROF_* directory."""
    found = sorted(glob.glob(os.path.join(str(folder), "PROF_*")))
    assert len(found) == 1, found
    return found[0]


def exported(folder, **options):
    from anynpu.msprof.export import export
    path = directory(folder)
    export(path, **options)
    return path


def one(path, pattern):
    found = glob.glob(os.path.join(path, "mindstudio_profiler_output", pattern))
    assert len(found) == 1, (pattern, found)
    return found[0]


def table(path, name):
    """Rows of a CSV as dicts."""
    with open(one(path, f"{name}_[0-9]*.csv"), newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def timeline(path, name="msprof"):
    with open(one(path, f"{name}_[0-9]*.json"), encoding="utf-8") as file:
        return json.load(file)


def run_model(path, times=3):
    model = Model(path)
    model.feed(np.ones([1, 3, 32, 32], np.float32))
    for _ in range(times):
        assert model.execute() == 0, acl.get_recent_err_msg()
    model.close()


def queue_model(path, mark, times=1):
    """Executions on a stream of their own, and a mark behind them."""
    stream, _ = acl.rt.create_stream()
    model = Model(path)
    model.feed(np.ones([1, 3, 32, 32], np.float32))
    for _ in range(times):
        assert acl.mdl.execute_async(model.id, model.inputs, model.outputs, stream) == 0
    assert acl.prof.mark_ex(mark, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    model.close()
    assert acl.rt.destroy_stream(stream) == 0


def report(*arguments):
    return subprocess.run(["anynpu", "report", *map(str, arguments)], capture_output=True,
                          text=True, timeout=300)
