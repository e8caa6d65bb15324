#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the onnx package's backend test suite on a GPU and counts the cases that run entirely on it.

    tests/gpu/onnx_cases.py --build build [--devices cuda:0] [--only name ...]

Each case is compiled by atc and run by case_run on the device. A case runs entirely on the GPU if
none of its operators falls back to a CPU kernel (ANYNPU_VERBOSE=dispatch). Prints a line for each
failed case, the operators that fell back, and the counts.
"""

import argparse
import collections
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "python", "onnx_backend"))

import cases  # noqa: E402

PROCESSES = min(8, os.cpu_count())
# A file for what the programs say, among it which kernels refuse a node and why.
LOG = os.environ.get("GPU_CASES_LOG")
BF16 = 27
FALLBACK = re.compile(r"^anynpu,dispatch,(\w+) '.*falls back", re.M)  # "Graph": the whole model


def open_shapes(model, tensors):
    """--input_shape with the shapes of the test data, for models with dynamic input shapes."""
    values = cases.graph_inputs(model.graph)
    if all(v.type.tensor_type.HasField("shape") and
           all(d.HasField("dim_value") for d in v.type.tensor_type.shape.dim) for v in values):
        return []
    return ["--input_shape=" + ";".join(f"{v.name}:{','.join(str(d) for d in t.dims)}"
                                        for v, t in zip(values, tensors))]


def prepare(build, folder, case):
    """Compiles a case and writes its inputs to files. Returns None, or the error of atc."""
    inputs, _ = next(cases.data_sets(case))
    prefix = os.path.join(folder, case.name)
    for i, tensor in enumerate(inputs):
        with open(f"{prefix}.in{i}", "wb") as file:
            file.write(cases.to_bytes(tensor))
    done = subprocess.run([os.path.join(build, "bin/atc"), f"--model={case.model}", "--framework=5",
                           f"--output={prefix}", "--soc_version=Ascend310P3",
                           *open_shapes(cases.load(case), inputs)],
                          capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return None
    return "atc: " + (done.stdout + done.stderr)[-300:].replace("\n", " ")


def run_some(build, folder, devices, names):
    """Runs cases in one process. Returns outcomes and the operators that fell back, by name of the
    case."""
    left, outcomes, fallbacks = list(names), {}, {}
    while left:
        given = "".join(f"{n} {folder}/{n}.om {folder}/{n}\n" for n in left)
        done = subprocess.run([os.path.join(build, "tests/gpu/case_run")], input=given, text=True,
                              capture_output=True, check=False, errors="replace",
                              env=os.environ | {"ANYNPU_DEVICES": devices,
                                                "ANYNPU_VERBOSE": "dispatch"})
        if LOG:
            with open(LOG, "a", encoding="utf-8") as file:
                file.write(done.stderr)
        for line in done.stdout.splitlines():
            name, _, outcome = line.partition(" ")
            outcomes[name] = outcome
        for part in re.split(r"^case ", done.stderr, flags=re.M)[1:]:
            name, _, text = part.partition("\n")
            fallbacks[name] = FALLBACK.findall(text)
        begun = [n for n in left if n in outcomes]
        left = left[len(begun):]
        if done.returncode != 0 and left:  # a crash: a new process continues with the next case
            outcomes[left[0]] = f"the process ended with {done.returncode}: {done.stderr[-200:]}"
            left = left[1:]
        elif not begun:
            break
    return outcomes, fallbacks


def compare(folder, case):
    """None, or how the outputs differ from the expected ones."""
    _, expected = next(cases.data_sets(case))
    with open(os.path.join(folder, case.name + ".txt"), encoding="utf-8") as file:
        outputs = [[int(word) for word in line.split()] for line in file]
    if len(outputs) != len(expected):
        return f"{len(outputs)} outputs, expected {len(expected)}"
    for i, ((acl_type, *shape), tensor) in enumerate(zip(outputs, expected)):
        if acl_type == BF16 and tensor.data_type == cases.TensorProto.UINT16:
            tensor.data_type = cases.TensorProto.BFLOAT16
        if tuple(shape) != tuple(tensor.dims):
            return f"output {i} is {shape}, expected {list(tensor.dims)}"
        with open(os.path.join(folder, f"{case.name}.out{i}"), "rb") as file:
            raw = file.read()[:len(cases.to_bytes(tensor))]
        try:
            np.testing.assert_allclose(cases.from_bytes(raw, tensor.data_type, tuple(shape)),
                                       cases.expected_array(tensor),
                                       **cases.tolerances(case, tensor.data_type))
        except AssertionError as error:
            return f"output {i}: " + " ".join(str(error).split())[:200]
    return None


def run(build, devices, only=()):
    """Runs the cases and returns the counts, the operators that fell back and the failures."""
    chosen = [case for case in cases.all_cases()
              if (not only or case.name in only) and not cases.why_out_of_scope(cases.load(case))]
    with tempfile.TemporaryDirectory(prefix="anynpu-gpu-cases-") as folder:
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            refused = dict(zip((c.name for c in chosen),
                               pool.map(lambda c: prepare(build, folder, c), chosen)))
        ready = [case for case in chosen if not refused[case.name]]
        shares = [[case.name for case in ready[k::PROCESSES]] for k in range(PROCESSES)]
        outcomes, fallbacks = {}, {}
        with ThreadPoolExecutor(PROCESSES) as pool:
            for some, fell in pool.map(lambda names: run_some(build, folder, devices, names),
                                       shares):
                outcomes |= some
                fallbacks |= fell
        failures = {name: why for name, why in refused.items() if why}
        for case in ready:
            outcome = outcomes.get(case.name, "was not run")
            why = compare(folder, case) if outcome == "ok" else outcome
            if why:
                failures[case.name] = why
    on_gpu = sum(not fallbacks.get(case.name, ["?"]) and case.name not in failures
                 for case in ready)
    operators = collections.Counter(op for ops in fallbacks.values() for op in set(ops))
    return {"cases": len(chosen), "passed": len(chosen) - len(failures), "on_gpu": on_gpu,
            "operators_on_host": dict(operators.most_common()), "failures": failures}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--devices", default="cuda:0")
    parser.add_argument("--only", nargs="*", default=())
    parser.add_argument("--json", help="file to write the result to")
    options = parser.parse_args()
    result = run(os.path.abspath(options.build), options.devices, options.only)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(result, file, indent=1)
    for name, why in result["failures"].items():
        print(f"{name}: {why}")
    print("on the host:", ", ".join(f"{count} {op}" for op,
                                    count in result["operators_on_host"].items()))
    print(f"{result['passed']} of {result['cases']} passed, {result['on_gpu']} on the GPU itself")
    return 0


if __name__ == "__main__":
    sys.exit(main())
