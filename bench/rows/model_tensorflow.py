# SPDX-License-Identifier: Apache-2.0
"""Networks of TensorFlow against our ONNX version of the same network and tensorflow-cpu."""

import os
import subprocess
import sys

from harness import Estimate, value_of
from peers import (
    ROOT,
    TENSORFLOW_PYTHON,
    THREADS,
    Died,
    compile_om,
    engine,
    folder,
    missing,
    race,
    relative_error,
)

NETWORKS = {"ResNet-50": ("resnet50", 21), "MobileNetV2": ("mobilenetv2", 31),
            "BERT-base": ("bert", 11)}


def make(name, build):
    """The path of the model without its suffix."""
    stem = os.path.join(folder(build), "tensorflow-" + name)
    if not os.path.exists(stem + ".onnx"):
        subprocess.run([TENSORFLOW_PYTHON, os.path.join(ROOT, "bench", "make_tensorflow_models.py"),
                        name, folder(build)], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
    return stem


def peak_of_atc(path, build):
    """The highest resident memory of atc, over the size of the file."""
    command = [os.path.join(build, "bin", "atc"), "--framework=3", "--model=" + path,
               "--output=" + path.removesuffix(".pb") + "-memory", "--soc_version=Ascend310P3"]
    # Started by a small process: a child counts what its parent held when it was forked.
    program = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, "
               "stdout=subprocess.DEVNULL); "
               "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
    done = subprocess.run([sys.executable, "-S", "-c", program, *command], capture_output=True,
                          text=True, check=True)
    return int(done.stdout) * 1024 / os.path.getsize(path)


def rows(report):
    build = os.path.abspath(report.build)
    if missing("tensorflow"):
        report.skip("networks of TensorFlow",
                    "tensorflow-cpu is not installed (make test-frameworks)")
        return
    for label, (name, pairs) in NETWORKS.items():
        stem = make(name, build)
        om, _ = compile_om(stem + ".pb", build, "-pb")
        other_om, _ = compile_om(stem + ".onnx", build, "-onnx")
        sides = [("the same from ONNX", "anynpu", other_om, 1.05),
                 ("tensorflow-cpu", "tensorflow", stem + ".pb", 0.8)]
        # On one thread in processor time too, which other work on the machine disturbs least.
        for threads, clock, count, kind in ((THREADS, "run", pairs, "time"),
                                            (1, "cpu", 5, "processor time on one thread")):
            try:
                with engine("anynpu", om, stem + ".npz", build, threads) as ours:
                    for peer, engine_kind, model, limit in sides:
                        with engine(engine_kind, model, stem + ".npz", build, threads) as other:
                            ratio, ms = race(ours, other, count, clock)
                            note = f"{ms[0]} ms, {peer} {ms[1]} ms"
                            if clock == "run" and engine_kind == "anynpu":
                                error = relative_error(ours, other, build)
                                note += f"; results differ by {error:.0e}"
                            report.add(f"{label} of TensorFlow: {kind} against {peer}",
                                       limit if clock == "run" else None, "x", ratio, note)
            except Died as reason:
                report.skip(f"{label} of TensorFlow: {kind}", str(reason))
    path = make("resnet50", build) + ".pb"
    size = f"{os.path.getsize(path) / 1e6:.0f} MB"
    took = value_of(lambda: compile_om(path, build, "-time")[1], 3)
    report.add(f"atc on a .pb of {size}", 2, "s", took)
    peak = peak_of_atc(path, build)
    report.add(f"atc on a .pb of {size}: memory over the file's size", 1.5, "x",
               Estimate(peak, peak, peak))
