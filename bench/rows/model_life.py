# SPDX-License-Identifier: Apache-2.0
"""Around the inference: conversion, loading, memory, and the cost of a call itself."""

import os

import numpy as np
from harness import Estimate, ratio_of, value_of
from peers import Died, compile_om, engine, folder, make_model, missing


def load_and_memory(report, build):
    path, inputs = make_model("resnet50", build)
    om, took = compile_om(path, build)
    report.add("atc on ResNet-50", 10, "s", value_of(lambda: compile_om(path, build)[1], 3))
    size = f"{os.path.getsize(om) / 1e6:.0f} MB model"
    if missing("onnxruntime"):
        report.skip(f"load of a {size}", "onnxruntime is not installed (requirements-bench.txt)")
        return
    try:
        with engine("anynpu", om, inputs, build) as ours, \
             engine("onnxruntime", path, inputs, build) as other:
            # Before anything is loaded a second time: the peak of one model and one run.
            peaks = [side.ask("peak") for side in (ours, other)]
            report.add("ResNet-50, batch 1: peak memory against onnxruntime", 1, "x",
                       peaks[0] / peaks[1],
                       f"{peaks[0] >> 10} MiB, onnxruntime {peaks[1] >> 10} MiB, both with Python")
            mine = value_of(ours.load, 5).median
            report.add(f"load of a {size}: time against onnxruntime's session", 0.5, "x",
                       ratio_of(ours.load, other.load, 21), f"{mine * 1e3:.0f} ms")
    except Died as reason:
        report.skip(f"load of a {size}", str(reason))


def empty_graph(report, build):
    """What acl.mdl.execute adds around the kernels: a graph of no work."""
    import onnx
    from onnx import TensorProto, helper

    import acl

    path = os.path.join(folder(build), "empty.onnx")
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in ("x", "y")]
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "empty", infos[:1],
                              infos[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), path)
    om, _ = compile_om(path, build)
    from model_worker import AnyNpu, seconds

    model = AnyNpu(om, {"x": np.zeros(1, np.float32)}, 2)

    def calls():
        for _ in range(2000):
            acl.mdl.execute(model.model, model.inputs, model.results)

    took = value_of(lambda: seconds(calls)[0] / 2000 * 1e6)
    report.add("acl.mdl.execute on an empty graph, from Python", 5, "us",
               Estimate(took.median, took.low, took.high))


def rows(report):
    build = os.path.abspath(report.build)
    empty_graph(report, build)
    load_and_memory(report, build)
