# SPDX-License-Identifier: Apache-2.0
"""Models timed against other engines: each side a process of its own (model_worker.py), the same
threads, alternating pairs. Models and their .om files are made once, in BUILD/bench_models."""

import contextlib
import importlib
import importlib.util
import json
import os
import signal
import subprocess
import sys
import time

import harness
import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
THREADS = 2
REST = 0.06  # seconds between the sides of a pair: onnxruntime's helpers spin for 25 ms after a run
SAMPLE = 0.05  # seconds at least of a sample: runs one after the other, as a program makes them
PEERS = ("onnxruntime", "openvino")
# TensorFlow has an environment of its own (`make test-frameworks` installs it).
TENSORFLOW_PYTHON = os.path.join(ROOT, ".venv-tensorflow", "bin", "python")


class Died(Exception):
    pass


class Engine:
    """One engine with one model in another process."""

    def __init__(self, kind, model, inputs, build, threads=THREADS):
        env = dict(os.environ, ANYNPU_THREADS=str(threads))
        places = [os.path.join(build, "python"), os.path.join(ROOT, "python")]
        env["PYTHONPATH"] = os.pathsep.join(filter(None, [*places, os.getenv("PYTHONPATH")]))
        self.kind, self.log = kind, os.path.join(build, "bench_models", kind + ".log")
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(
                [TENSORFLOW_PYTHON if kind == "tensorflow" else sys.executable,
                 os.path.join(ROOT, "bench", "model_worker.py"), kind, model, inputs, str(threads)],
                env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)
        self.first_load = self.answer()["load"]
        self.runs = max(1, round(SAMPLE / self.ask("run 1")))

    def answer(self):
        line = self.process.stdout.readline()
        if line:
            return json.loads(line)
        code = self.process.wait()
        if code < 0:
            raise Died(f"{self.kind} was killed by {signal.Signals(-code).name}")
        with open(self.log) as log:
            last = (log.read().strip().splitlines() or ["no output"])[-1]
        raise Died(f"{self.kind} ended with status {code}: {last}")

    def ask(self, line):
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # answer() says why
        return self.answer()

    def run(self, clock="run"):
        """Seconds of one inference, the mean of a sample."""
        time.sleep(REST)
        return self.ask(f"{clock} {self.runs}")

    def load(self):
        return self.ask("load")

    def close(self):
        self.process.stdin.close()
        self.process.wait()


@contextlib.contextmanager
def engine(kind, model, inputs, build, threads=THREADS):
    side = Engine(kind, model, inputs, build, threads)
    try:
        yield side
    finally:
        side.close()


def missing(kind):
    if kind == "tensorflow":
        return not os.path.exists(TENSORFLOW_PYTHON)
    return importlib.util.find_spec(kind) is None


def folder(build):
    path = os.path.join(build, "bench_models")
    os.makedirs(path, exist_ok=True)
    return path


def compile_om(path, build, suffix="", **options):
    """The .om file beside the model, and the seconds that atc took."""
    stem, kind = os.path.splitext(path)
    out = stem + suffix
    command = [os.path.join(build, "bin", "atc"), "--framework=" + {".onnx": "5", ".pb": "3"}[kind],
               "--model=" + path, "--output=" + out, "--soc_version=Ascend310P3"]
    command += [f"--{key}={value}" for key, value in options.items()]
    begin = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True)
    took = time.perf_counter() - begin
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    return out + ".om", took


def make_model(name, build, batch=1):
    """Paths of the .onnx file (made by examples/models/make_<name>.py) and of its inputs."""
    import onnx

    path = os.path.join(folder(build), f"{name}-{batch}.onnx")
    inputs = os.path.join(folder(build), f"{name}-{batch}.npz")
    if not os.path.exists(path) or not os.path.exists(inputs):
        sys.path.insert(0, os.path.join(ROOT, "examples", "models"))
        model = getattr(importlib.import_module("make_" + name), "make_" + name)(batch=batch)
        onnx.save(model, path)
        np.savez(inputs, **inputs_of(model))
    return path, inputs


def make_quantized(name, build, batch=1):
    """The same model with QuantizeLinear and DequantizeLinear around its operators (QDQ), from
    onnxruntime's static quantizer: unsigned activations, signed weights with scales by channel."""
    import onnx
    from onnxruntime import quantization
    from onnxruntime.quantization.shape_inference import quant_pre_process

    path, inputs = make_model(name, build, batch)
    quantized = path[:-len(".onnx")] + "-int8.onnx"
    if not os.path.exists(quantized):
        prepared = quantized + ".prepared"
        quant_pre_process(path, prepared, skip_symbolic_shape=True)

        class Samples(quantization.CalibrationDataReader):
            def __init__(self):
                with np.load(inputs) as file:
                    self.left = [dict(file)]

            def get_next(self):
                return self.left.pop() if self.left else None

        quantization.quantize_static(prepared, quantized, Samples(), per_channel=True,
                                     quant_format=quantization.QuantFormat.QDQ,
                                     activation_type=quantization.QuantType.QUInt8,
                                     weight_type=quantization.QuantType.QInt8)
        os.remove(prepared)
    kept = {i.name for i in onnx.load(quantized, load_external_data=False).graph.input}
    with np.load(inputs) as file:
        np.savez(quantized[:-len(".onnx")] + ".npz",
                 **{key: file[key] for key in file if key in kept})
    return quantized, quantized[:-len(".onnx")] + ".npz"


def inputs_of(model):
    """Seeded inputs: numbers for floats, tokens that all count for integers."""
    random, arrays = np.random.default_rng(1), {}
    for info in model.graph.input:
        shape = [d.dim_value for d in info.type.tensor_type.shape.dim]
        if info.type.tensor_type.elem_type == 1:
            arrays[info.name] = random.standard_normal(shape, dtype=np.float32)
        elif info.name == "attention_mask":
            arrays[info.name] = np.ones(shape, np.int64)
        else:
            most = 2 if info.name == "token_type_ids" else 1000
            arrays[info.name] = random.integers(0, most, shape, np.int64)
    return arrays


def relative_error(a, b, build):
    """Of the outputs of two engines: the norm of the difference over the norm."""
    worst = 0.0
    files = []
    for side, name in ((a, "a.npz"), (b, "b.npz")):
        files.append(os.path.join(folder(build), name))
        side.ask("save " + files[-1])
    with np.load(files[0]) as x, np.load(files[1]) as y:
        for key in x:
            mine, other = (v[key].astype(np.float64).ravel() for v in (x, y))
            worst = max(worst, float(np.linalg.norm(mine - other) / np.linalg.norm(other)))
    return worst


def race(ours, other, pairs, clock="run"):
    """Our time over the other's, with the median milliseconds of both."""
    times = ([], [])

    def timed(side, taken):
        def run():
            taken.append(side.run(clock))
            return taken[-1]

        return run

    ratio = harness.ratio_of(timed(ours, times[0]), timed(other, times[1]), pairs)
    return ratio, [harness.number(harness.estimate(taken).median * 1e3) for taken in times]


def compare(report, label, name, batch, limits, pairs=21, make=make_model):
    """Rows `our time / the peer's time` of one model; limits: {peer: most, or None: reported}.

    Then the same on one thread in processor time, which other work on the machine disturbs least.
    """
    build = os.path.abspath(report.build)
    onnx_path, inputs = make(name, build, batch)
    om, _ = compile_om(onnx_path, build)
    for threads, clock, count, kind in ((THREADS, "run", pairs, "time"),
                                        (1, "cpu", 5, "processor time on one thread")):
        with engine("anynpu", om, inputs, build, threads) as ours:
            for peer, limit in limits.items():
                what = f"{label}, batch {batch}: {kind} against {peer}"
                if missing(peer):
                    report.skip(what, f"{peer} is not installed (requirements-bench.txt)")
                    continue
                try:
                    with engine(peer, onnx_path, inputs, build, threads) as other:
                        ratio, ms = race(ours, other, count, clock)
                        note = f"{ms[0]} ms, {peer} {ms[1]} ms"
                        if clock == "run":
                            error = relative_error(ours, other, build)
                            note += f"; results differ by {error:.0e}"
                        report.add(what, limit if clock == "run" else None, "x", ratio, note,
                                   model=f"{label}, batch {batch}", peer=peer, clock=clock)
                except Died as reason:
                    report.skip(what, str(reason))


def compare_precision(report, label, name, batch, mode, limit, pairs=21):
    """Rows `time in a short type / time in fp32` of one model, both ours."""
    build = os.path.abspath(report.build)
    onnx_path, inputs = make_model(name, build, batch)
    wide, _ = compile_om(onnx_path, build)
    short, _ = compile_om(onnx_path, build, "-" + mode, precision_mode_v2=mode)
    for threads, clock, count, kind in ((THREADS, "run", pairs, "time"),
                                        (1, "cpu", 5, "processor time on one thread")):
        with engine("anynpu", short, inputs, build, threads) as ours, \
             engine("anynpu", wide, inputs, build, threads) as other:
            ratio, ms = race(ours, other, count, clock)
            error = relative_error(ours, other, build)
            why = "" if harness.has_amx() else "; no AMX here: AVX512-BF16 has twice fp32's rate"
            report.add(f"{label}, batch {batch}, {mode}: {kind} against our fp32",
                       limit if clock == "run" else None, "x", ratio,
                       f"{ms[0]} ms, fp32 {ms[1]} ms; results differ by {error:.0e}{why}")
