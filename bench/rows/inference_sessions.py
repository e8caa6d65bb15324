# SPDX-License-Identifier: Apache-2.0
"""ais_bench: what infer costs over the C call, and what pipelines, iterations without copies and a
second device save. One thread for each device."""

import os

os.environ["ANYNPU_THREADS"] = "1"  # read when the library is loaded

import subprocess  # noqa: E402
import tempfile  # noqa: E402
import time  # noqa: E402

import numpy as np  # noqa: E402
import onnx  # noqa: E402
from harness import difference_of, ns_per_call, ratio_of  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

import acl  # noqa: E402
from ais_bench.infer.interface import InferSession, MemorySummary, MultiDeviceSession  # noqa: E402

MEGABYTE = 1 << 20


class Models:
    def __init__(self, build, folder):
        self.atc, self.folder = os.path.join(build, "bin", "atc"), folder

    def make(self, name, nodes, inputs, outputs, **weights):
        value = helper.make_tensor_value_info
        graph = helper.make_graph(
            [helper.make_node(kind, take, give, name=f"n{i}")
             for i, (kind, take, give) in enumerate(nodes)], name,
            [value(key, TensorProto.FLOAT, shape) for key, shape in inputs.items()],
            [value(key, TensorProto.FLOAT, shape) for key, shape in outputs.items()],
            [numpy_helper.from_array(array, key) for key, array in weights.items()])
        stem = os.path.join(self.folder, name)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)]),
                  stem + ".onnx")
        subprocess.run([self.atc, f"--model={stem}.onnx", "--framework=5", f"--output={stem}",
                        "--soc_version=Ascend310P3"], check=True, stdout=subprocess.DEVNULL)
        return stem + ".om"

    def product(self, columns):
        """A 4 MB input times a matrix of `columns`."""
        weight = np.random.default_rng(1).standard_normal((1024, columns)).astype(np.float32)
        return self.make(f"product{columns}", [("MatMul", ["x", "w"], ["y"])], {"x": [1024, 1024]},
                         {"y": [1024, columns]}, w=weight)


def seconds(body, *args):
    begin = time.perf_counter()
    body(*args)
    return time.perf_counter() - begin


def small_infer(report, models):
    path = models.make("small", [("Add", ["a", "b"], ["y"])], {"a": [256], "b": [256]},
                       {"y": [256]})
    session = InferSession(0, path)
    feeds = [np.ones(256, np.float32)] * 2
    session.infer(feeds)
    model, ret = acl.mdl.load_from_file(path)
    assert ret == 0
    datasets = []
    for count in (2, 1):
        datasets.append(acl.mdl.create_dataset())
        for _ in range(count):
            memory, ret = acl.rt.malloc(1024, 0)
            assert ret == 0
            buffer = acl.create_data_buffer(memory, 1024)
            assert acl.mdl.add_dataset_buffer(datasets[-1], buffer)[1] == 0

    def c_call():
        return ns_per_call(2000, acl.mdl.execute, model, *datasets) / 1e3

    measured = difference_of(lambda: ns_per_call(2000, session.infer, feeds) / 1e3, c_call)
    report.add("ais_bench: infer of a 1 KB model over the C call", 30, "us", measured,
               f"acl.mdl.execute: {c_call():.1f} us")
    session.free_resource()


def chain(models, links):
    """A 4 MB input, a quarter of whose rows go through a product and `links` small ones that stay
    in a core's cache: bound by computation. The result is small: a thousand results of 4 MB are
    memory that is new to the process, and the row would be about page faults (2.5 ms for 4 MB,
    where a copy takes 0.25)."""
    rng = np.random.default_rng(1)

    def weight(rows, columns):
        return (rng.standard_normal((rows, columns)) / rows ** 0.5).astype(np.float32)

    nodes = [("Slice", ["x", "first", "last"], ["rows"]), ("MatMul", ["rows", "w"], ["y0"])]
    nodes += [("MatMul", [f"y{i}", f"w{i}"], [f"y{i + 1}"]) for i in range(links)]
    nodes.append(("MatMul", [f"y{links}", "end"], ["y"]))
    return models.make(f"chain{links}", nodes, {"x": [1024, 1024]}, {"y": [256, 1]},
                       first=np.array([0]), last=np.array([256]), w=weight(1024, 64),
                       end=weight(64, 1), **{f"w{i}": weight(64, 64) for i in range(links)})


def balanced(models, feeds):
    """A session whose copies of 4 MB take half of its computation, as near as it gets; both in
    milliseconds."""
    found = []
    for links in range(0, 33, 4):
        session = InferSession(0, chain(models, links))
        for one in feeds[:8]:
            session.infer(one)
        MemorySummary.reset()
        session.reset_summaryinfo()
        for one in feeds[:64]:
            session.infer(one)
        copies = np.median(MemorySummary.get_h2d_time_list()) + \
            np.median(MemorySummary.get_d2h_time_list())
        compute = np.median(session.summary())
        found.append((abs(copies / compute - 0.5), session, copies, compute))
    found.sort(key=lambda row: row[0])
    for _, session, _, _ in found[1:]:
        session.free_resource()
    return found[0][1:]


def pipeline(report, models, count=1000):
    arrays = [np.full((1024, 1024), i + 1, np.float32) for i in range(8)]
    feeds = [[arrays[i % 8]] for i in range(count)]
    session, copies, compute = balanced(models, feeds)

    def plain():
        return [session.infer(one) for one in feeds]

    for (one,), (other,) in zip(plain(), session.infer_pipeline(feeds)):
        assert one.tobytes() == other.tobytes()
    measured = ratio_of(lambda: seconds(session.infer_pipeline, feeds), lambda: seconds(plain),
                        pairs=41)
    report.add(f"ais_bench: pipeline of {count:,} feeds of 4 MB, time against plain infer", 1 / 1.3,
               "x", measured, f"copies {copies:.2f} ms, computation {compute:.2f} ms")
    session.free_resource()


def iteration(report, models):
    shape = [4 * MEGABYTE]
    path = models.make("bound", [("Add", ["a", "b"], ["y"])], {"a": shape, "b": shape},
                       {"y": shape})
    session = InferSession(0, path)
    feeds = [np.ones(shape, np.float32)] * 2

    def run(mem_copy):
        return seconds(session.infer_iteration, feeds, [0, -1], 20, "static", 100000, mem_copy)

    measured = ratio_of(lambda: run(False), lambda: run(True), pairs=21)
    report.add("ais_bench: 20 iterations of a 16 MB sum, mem_copy False against True", 1 / 1.2, "x",
               measured)
    session.free_resource()


def two_devices(report, models):
    """The same 24 runs, one after the other: all on one device, or half of them on each of two."""
    session = MultiDeviceSession(models.product(1024))
    feeds = [np.ones((1024, 1024), np.float32)]

    def one():
        return seconds(session.infer_iteration, {0: [feeds]}, None, 24)

    def two():
        return seconds(session.infer_iteration, {0: [feeds], 1: [feeds]}, None, 12)

    measured = ratio_of(two, one, pairs=21)
    report.add("ais_bench: two devices against one, a compute-bound model", 1 / 1.7, "x", measured)
    session.close()


def rows(report):
    with tempfile.TemporaryDirectory() as folder:
        models = Models(os.path.abspath(report.build), folder)
        for row in (small_infer, pipeline, iteration, two_devices):
            row(report, models)
