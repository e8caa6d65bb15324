# SPDX-License-Identifier: Apache-2.0
"""One engine with one model in a process of its own, driven by lines on standard input.

    python model_worker.py anynpu|onnxruntime|openvino|tensorflow MODEL INPUTS.npz THREADS

Answers each line with a JSON line: `run N` (seconds of one inference, the mean of N), `cpu N` (the
same in processor time of all threads), `load` (the model once more), `save FILE` (outputs as .npz),
`peak` (highest resident memory). See peers.py for the other end.
"""

import json
import os
import sys
import time

import numpy as np


class OnnxRuntime:
    def __init__(self, path, inputs, threads):
        import onnxruntime

        self.options = onnxruntime.SessionOptions()
        self.options.intra_op_num_threads = threads
        self.options.inter_op_num_threads = 1
        self.options.log_severity_level = 3
        self.module, self.path, self.inputs = onnxruntime, path, inputs
        self.session = self.load()

    def load(self):
        return self.module.InferenceSession(self.path, self.options,
                                            providers=["CPUExecutionProvider"])

    def run(self):
        self.result = self.session.run(None, self.inputs)

    def outputs(self):
        return self.result


class OpenVino:
    def __init__(self, path, inputs, threads):
        import openvino

        core = openvino.Core()
        settings = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": threads,
                    "NUM_STREAMS": 1, "PERFORMANCE_HINT": "LATENCY"}
        self.load = lambda: core.compile_model(core.read_model(path), "CPU", settings)
        self.model = self.load()
        self.request = self.model.create_infer_request()
        for name, array in inputs.items():
            self.request.set_tensor(name, openvino.Tensor(array, shared_memory=True))

    def run(self):
        self.request.infer()

    def outputs(self):
        return [self.request.get_tensor(out).data.copy() for out in self.model.outputs]


class TensorFlow:
    """A frozen graph in a session; inputs are placeholders, outputs the nodes called output<n>."""

    def __init__(self, path, inputs, threads):
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
        import tensorflow as tf

        self.v1, self.path, self.inputs = tf.compat.v1, path, inputs
        self.config = tf.compat.v1.ConfigProto(intra_op_parallelism_threads=threads,
                                               inter_op_parallelism_threads=1)
        self.session, self.wanted = self.load()

    def load(self):
        graph_def = self.v1.GraphDef()
        with open(self.path, "rb") as file:
            graph_def.ParseFromString(file.read())
        graph = self.v1.Graph()
        with graph.as_default():
            self.v1.import_graph_def(graph_def, name="")
        names = [node.name for node in graph_def.node if node.name.startswith("output")]
        session = self.v1.Session(graph=graph, config=self.config)
        call = session.make_callable([name + ":0" for name in sorted(names)],
                                     [name + ":0" for name in self.inputs])
        return session, call

    def run(self):
        self.result = self.wanted(*self.inputs.values())

    def outputs(self):
        return self.result


class AnyNpu:
    HOST_TO_DEVICE, DEVICE_TO_HOST = 1, 2
    MOST = 1 << 20

    def __init__(self, path, inputs, threads, start=True):
        import acl

        self.acl, self.path = acl, path
        if start:  # once in a process
            self.check(acl.init())
            self.check(acl.rt.set_device(0))
        self.model = self.load()
        self.desc = acl.mdl.create_desc()
        self.check(acl.mdl.get_desc(self.desc, self.model))
        sizes = [acl.mdl.get_output_size_by_index(self.desc, i) or self.MOST  # a run decides it
                 for i in range(acl.mdl.get_num_outputs(self.desc))]
        self.inputs, self.fed = self.dataset([len(a.tobytes()) for a in inputs.values()],
                                             [a.tobytes() for a in inputs.values()])
        self.results, self.places = self.dataset(sizes)

    def check(self, ret):
        if ret != 0:
            sys.exit(f"{ret}: {self.acl.get_recent_err_msg()}")

    def dataset(self, sizes, contents=None):
        acl, places = self.acl, []
        dataset = acl.mdl.create_dataset()
        for i, size in enumerate(sizes):
            memory, ret = acl.rt.malloc(size, 0)
            self.check(ret)
            if contents:
                self.check(acl.rt.memcpy(memory, size, acl.util.bytes_to_ptr(contents[i]), size,
                                         self.HOST_TO_DEVICE))
            _, ret = acl.mdl.add_dataset_buffer(dataset, acl.create_data_buffer(memory, size))
            self.check(ret)
            places.append((memory, size))
        return dataset, places

    def load(self):
        model, ret = self.acl.mdl.load_from_file(self.path)
        self.check(ret)
        return model

    def unload(self, model):
        self.check(self.acl.mdl.unload(model))

    def run(self):
        self.check(self.acl.mdl.execute(self.model, self.inputs, self.results))

    def close(self):
        self.unload(self.model)
        for memory, _ in self.fed + self.places:
            self.check(self.acl.rt.free(memory))

    def outputs(self):
        arrays = []
        for memory, size in self.places:
            host = bytes(size)
            self.check(self.acl.rt.memcpy(self.acl.util.bytes_to_ptr(host), size, memory, size,
                                          self.DEVICE_TO_HOST))
            arrays.append(np.frombuffer(host, np.float32))
        return arrays


def peak_kib():
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith("VmHWM:"):
                return int(line.split()[1])
    return 0


CLOCKS = {"run": time.perf_counter, "cpu": time.process_time}


def seconds(body):
    begin = time.perf_counter()
    value = body()
    return time.perf_counter() - begin, value


def mean_seconds(body, runs, clock):
    begin = clock()
    for _ in range(runs):
        body()
    return (clock() - begin) / runs


def main():
    kind, path, inputs, threads = sys.argv[1:5]
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what libraries print must not mix with the answers
    engine = {"anynpu": AnyNpu, "onnxruntime": OnnxRuntime, "openvino": OpenVino,
              "tensorflow": TensorFlow}[kind]
    with np.load(inputs) as file:
        arrays = dict(file)
    took, model = seconds(lambda: engine(path, arrays, int(threads)))
    model.run()
    print(json.dumps({"load": took}), file=answers)
    for line in sys.stdin:
        verb, _, rest = line.strip().partition(" ")
        if verb in CLOCKS:
            answer = mean_seconds(model.run, int(rest), CLOCKS[verb])
        elif verb == "load":
            answer, loaded = seconds(model.load)
            if kind == "anynpu":
                model.unload(loaded)
        elif verb == "save":
            np.savez(rest, *model.outputs())
            answer = True
        else:
            answer = peak_kib()
        print(json.dumps(answer), file=answers)


if __name__ == "__main__":
    main()
