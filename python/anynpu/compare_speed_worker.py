# SPDX-License-Identifier: Apache-2.0
"""One engine of `anynpu compare-speed`, in a process of its own: prints its times as JSON.

    python -m anynpu.compare_speed_worker ENGINE MODEL THREADS RUNS INPUTS.npz|""

{"times": {operator: [type, microseconds]}, "whole": microseconds of a run without measurement,
 "origins": {operator: [nodes of the model]}} or, for onnxruntime, "nodes": [[name, inputs,
 outputs]].
"""

import json
import os
import statistics
import sys
import tempfile
import threading
import time

import numpy as np

TYPES = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(float16)": np.float16,
         "tensor(int64)": np.int64, "tensor(int32)": np.int32, "tensor(bool)": np.bool_,
         "tensor(uint8)": np.uint8, "tensor(int8)": np.int8}


def draw(shape, kind):
    random = np.random.default_rng(1)
    if np.issubdtype(kind, np.floating):
        return random.standard_normal(shape).astype(kind)
    return np.ones(shape, kind)


def medians(samples):
    return {op: [kind, statistics.median(times)] for op, (kind, times) in samples.items()}


def whole_time(run, runs):
    run()
    times = []
    for _ in range(runs):
        begin = time.perf_counter()
        run()
        times.append((time.perf_counter() - begin) * 1e6)
    return statistics.median(times)


def onnxruntime(path, threads, runs, given):
    import onnx
    import onnxruntime as ort

    def options():
        made = ort.SessionOptions()
        made.intra_op_num_threads = threads
        made.log_severity_level = 3
        return made

    session = ort.InferenceSession(path, options(), providers=["CPUExecutionProvider"])
    feeds = {i.name: given.get(i.name, draw(i.shape, TYPES[i.type])) for i in session.get_inputs()}
    whole = whole_time(lambda: session.run(None, feeds), runs)
    with tempfile.TemporaryDirectory() as folder:
        watched = options()
        watched.enable_profiling = True
        watched.profile_file_prefix = os.path.join(folder, "times")
        watched.optimized_model_filepath = os.path.join(folder, "optimized.onnx")
        session = ort.InferenceSession(path, watched, providers=["CPUExecutionProvider"])
        for _ in range(runs):
            session.run(None, feeds)
        with open(session.end_profiling()) as file:
            events = json.load(file)
        graph = onnx.load(watched.optimized_model_filepath, load_external_data=False).graph
    samples = {}
    for event in events:
        if event.get("cat") != "Node" or not event["name"].endswith("_kernel_time"):
            continue
        name = event["name"][:-len("_kernel_time")]
        samples.setdefault(name, (event["args"]["op_name"], []))[1].append(event["dur"])
    nodes = [[node.name, list(node.input), list(node.output)] for node in graph.node]
    return {"times": medians(samples), "whole": whole, "nodes": nodes}


def openvino(path, threads, runs, given):
    import openvino as ov

    core = ov.Core()
    settings = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": threads,
                "NUM_STREAMS": 1, "PERFORMANCE_HINT": "LATENCY"}

    def compiled(more):
        model = core.compile_model(core.read_model(path), "CPU", settings | more)
        request = model.create_infer_request()
        for port in model.inputs:
            array = given.get(port.any_name)
            if array is None:
                array = draw(port.shape, port.element_type.to_dtype())
            request.set_tensor(port.any_name, ov.Tensor(array))
        return model, request

    whole = whole_time(compiled({})[1].infer, runs)
    model, request = compiled({"PERF_COUNT": True})
    samples = {}
    for _ in range(runs):
        request.infer()
        for info in request.profiling_info:
            took = info.real_time.total_seconds() * 1e6
            samples.setdefault(info.node_name, (info.node_type, []))[1].append(took)
    origins = {}
    for op in model.get_runtime_model().get_ops():
        info = op.get_rt_info()
        names = info["originalLayersNames"] if "originalLayersNames" in info else ""
        names = str(getattr(names, "value", names))
        origins[op.get_friendly_name()] = [name for name in names.split(",") if name]
    used = {op: sample for op, sample in samples.items() if sample[0] not in ("Parameter",
                                                                              "Result")}
    return {"times": medians(used), "whole": whole, "origins": origins}


class Subscription:
    """Times of operators from a pipe that acl writes while the model runs."""

    def __init__(self, acl, model):
        self.acl, self.model, self.samples = acl, model, {}
        self.read_end, write_end = os.pipe()
        self.config = acl.prof.create_subscribe_config(1, 0xFF, write_end)
        self.thread = threading.Thread(target=self.read)
        self.thread.start()
        acl.prof.model_subscribe(model, self.config)

    def read(self):
        prof = self.acl.prof
        size, _ = prof.get_op_desc_size()
        while data := os.read(self.read_end, 256 * size):
            pointer = self.acl.util.bytes_to_ptr(data)
            for i in range(prof.get_op_num(pointer, len(data))[0]):
                name, _ = prof.get_op_name_v2(pointer, len(data), i)
                kind, _ = prof.get_op_type_v2(pointer, len(data), i)
                took = prof.get_op_end(pointer, len(data), i)
                took -= prof.get_op_start(pointer, len(data), i)
                self.samples.setdefault(name, (kind, []))[1].append(took)  # microseconds

    def close(self):
        self.acl.prof.model_unsubscribe(self.model)
        self.thread.join()
        self.acl.prof.destroy_subscribe_config(self.config)


def anynpu(path, threads, runs, given):
    import acl

    from . import graph

    def check(ret):
        if ret != 0:
            sys.exit(f"{ret}: {acl.get_recent_err_msg()}")

    def dataset(sizes, arrays):
        made = acl.mdl.create_dataset()
        for i, size in enumerate(sizes):
            memory, ret = acl.rt.malloc(max(size, 1), 0)
            check(ret)
            if arrays:
                check(acl.rt.memcpy(memory, size, acl.util.bytes_to_ptr(arrays[i]), size, 1))
            check(acl.mdl.add_dataset_buffer(made, acl.create_data_buffer(memory, size))[1])
        return made

    check(acl.init())
    check(acl.rt.set_device(0))
    model, ret = acl.mdl.load_from_file(path)
    check(ret)
    desc = acl.mdl.create_desc()
    check(acl.mdl.get_desc(desc, model))
    kinds = {0: np.float32, 1: np.float16, 2: np.int8, 3: np.int32, 4: np.uint8, 9: np.int64,
             11: np.float64, 12: np.bool_}
    arrays = []
    for i in range(acl.mdl.get_num_inputs(desc)):
        dims, ret = acl.mdl.get_input_dims(desc, i)
        check(ret)
        name = acl.mdl.get_input_name_by_index(desc, i)
        kind = kinds[acl.mdl.get_input_data_type(desc, i)]
        arrays.append(np.ascontiguousarray(given.get(name, draw(dims["dims"], kind))).tobytes())
    inputs = dataset([len(a) for a in arrays], arrays)
    outputs = dataset([acl.mdl.get_output_size_by_index(desc, i)
                       for i in range(acl.mdl.get_num_outputs(desc))], None)
    whole = whole_time(lambda: check(acl.mdl.execute(model, inputs, outputs)), runs)
    watched = Subscription(acl, model)
    for _ in range(runs):
        check(acl.mdl.execute(model, inputs, outputs))
    watched.close()
    origins = {}
    for op in graph.read_json(path)["graph"][0]["op"]:
        attrs = {item["key"]: item["value"] for item in op.get("attr", [])}
        names = attrs.get("_datadump_original_op_names", {}).get("list", {}).get("s", [])
        origins[op["name"]] = list(names) or [op["name"]]
    return {"times": medians(watched.samples), "whole": whole, "origins": origins}


def main():
    engine, path, threads, runs, inputs = sys.argv[1:]
    given = {}
    if inputs:
        with np.load(inputs) as file:
            given = dict(file)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print must not mix with the answer
    measure = {"anynpu": anynpu, "onnxruntime": onnxruntime, "openvino": openvino}[engine]
    print(json.dumps(measure(path, int(threads), int(runs), given)), file=answers)


if __name__ == "__main__":
    main()
