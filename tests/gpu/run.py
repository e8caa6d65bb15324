#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs what needs an NVIDIA GPU and writes docs/gpu_results.json and docs/gpu.md.

    tests/gpu/run.py --build build     all of it (make gpu-test)
    tests/gpu/run.py --docs            the page again, from the results that are there

The conformance suite of tests/device on cuda:0, then each network of examples/models with the same
inputs on the CPU and on the GPU: how far results are apart, times, operators that fall back.
Needs python3 with onnx and numpy, for the networks.
"""

import argparse
import collections
import datetime
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RESULTS = os.path.join(ROOT, "docs", "gpu_results.json")
PAGE = os.path.join(ROOT, "docs", "gpu.md")
NETWORKS = ("resnet50", "mobilenetv2", "efficientnet", "yolov5", "unet", "bert", "vit")
TOLERANCE = 1e-4

TEXT = """# NVIDIA GPUs

`ANYNPU_DEVICES=cuda:0` makes the GPU 0 of the machine device 0; `cuda:0,cuda:1,cpu:2` gives two GPUs and two
CPU devices. No program is edited and no model is converted again: a `.om` file is the same for every device.

## What it needs

- an NVIDIA driver of version 580 or later (CUDA 13) and a card of compute capability 7.5 or later;
- at run time NVRTC, cuBLASLt and cuDNN 9 of CUDA 13, from the toolkit or from NVIDIA's packages on PyPI
  (`nvidia-cuda-nvrtc`, `nvidia-cublas`, `nvidia-cudnn-cu13`). They are looked for on the loader's paths, in the
  folders of `ANYNPU_CUDA_LIBRARIES` and in `/usr/local/cuda/lib64`. Operators whose library is missing run on the
  host;
- to build the plug-in `libanynpu_cuda.so`, the headers of CUDA 13 and cuDNN 9. Nothing is linked to CUDA, and a
  machine without them builds and runs everything else.

Without a driver, or with one that is too old, the device is left out of the list and the first error says why.

## How it works

Memory is the card's own: addresses for all of it are reserved at once, pages follow as blocks are taken
(`src/cuda/cuda_memory.h`). The host cannot read it, so a program that dereferences a device pointer crashes
there as it does on a card. `aclrtMallocHost` gives pinned memory. A stream is a CUDA stream; copies, fills and
models are enqueued while earlier work still runs (`src/device/stream.h`).

Models, single operators and matrix products are planned with the kernels of `src/cuda/kernels`: products
through cuBLASLt, convolutions through cuDNN, the others generated as CUDA C++ for the shapes at hand and compiled
by NVRTC, once, into the cache folder. float32 is computed in float32, not TF32. A plan that meets the same buffers
again is replayed as one CUDA graph, unless some of its operators run on the host.

An operator without a kernel runs with the CPU's on copies of its operands. That is visible:
`ANYNPU_VERBOSE=dispatch` prints each choice, and the kernel's name ends in ` (on the host)` in profiles.

## What is missing

- Convolutions keep the layout of the model (NCHW) and end in a kernel of their own for bias, residual and
  activation: the times below are not what the card can do. Next are channels-last fp16 and bf16, and convolutions
  with their epilogues in one cuDNN graph.
- Captured streams (`aclmdlRI*`) are replayed task by task. Events and callbacks wait for the stream on the host.
- Media (`acldvpp`, himpi), virtual memory, memory shared between processes, HPE, aclnn and HCCL on device memory
  of a GPU; times of kernels in profiles (CUPTI); `npu-smi` shows no data of the card.
- `Gather` with an index outside its axis gives zeros; the CPU refuses it.
"""


def run(command, **variables):
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | variables, check=False)
    return done.returncode, done.stdout, done.stderr


def conformance(build):
    _, out, _ = run([os.path.join(build, "tests/device/device_conformance")], ANYNPU_DEVICES="cuda:0")
    return {word: int(found[1]) if (found := re.search(rf"\[  {word}\s*\] (\d+) test", out)) else 0
            for word in ("PASSED", "SKIPPED", "FAILED")}


def network(build, name, folder):
    model = os.path.join(folder, name)
    for command in ([sys.executable, os.path.join(ROOT, f"examples/models/make_{name}.py"), model + ".onnx"],
                    [os.path.join(build, "bin/atc"), f"--model={model}.onnx", "--framework=5",
                     f"--output={model}", "--soc_version=Ascend310P3"]):
        code, out, err = run(command)
        if code:
            sys.exit(f"{' '.join(command)} failed: {out}{err}")
    runner = os.path.join(build, "tests/gpu/model_run")
    _, cpu, err = run([runner, model + ".om", "--runs", "5", "--save", model + ".out"], ANYNPU_DEVICES="cpu")
    print(cpu.strip() or err, flush=True)
    code, gpu, err = run([runner, model + ".om", "--runs", "60", "--compare", model + ".out",
                          "--tolerance", str(TOLERANCE)], ANYNPU_DEVICES="cuda:0", ANYNPU_VERBOSE="dispatch")
    print(gpu.strip() or err, flush=True)
    fallbacks = collections.Counter(re.findall(r"^anynpu,dispatch,(\w+) .*falls back", err, re.M))
    number = {key: float(re.search(rf"{key} ([-+\w.]+)", gpu)[1]) for key in ("median", "first run", "difference")}
    return {"name": name, "ok": code == 0, "gpu_us": number["median"], "first_ms": number["first run"],
            "difference": number["difference"], "cpu_us": float(re.search(r"median ([\d.]+)", cpu)[1]),
            "fallbacks": dict(fallbacks)}


def page(results):
    found = results["conformance"]
    lines = [TEXT, "## Last run\n",
             f"{results['date']}, {results['card']}, float32, batch 1, the CPU beside it with {results['cores']} cores. "
             "Times are medians of executions in a stream, waited for on the host. Written by `make gpu-test`.\n",
             f"Conformance suite: {found['PASSED']} passed, {found['FAILED']} failed, {found['SKIPPED']} skipped "
             "for capabilities that the back end lacks.\n",
             "| network | GPU, ms | CPU, ms | load and first run, ms | largest difference | operators on the host |",
             "|---|---|---|---|---|---|"]
    for net in results["networks"]:
        host = ", ".join(f"{count} {op}" for op, count in net["fallbacks"].items()) or "none"
        lines.append(f"| {net['name']} | {net['gpu_us'] / 1e3:.2f} | {net['cpu_us'] / 1e3:.2f} | "
                     f"{net['first_ms']:.0f} | {net['difference']:.1e} | {host} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--docs", action="store_true", help="write docs/gpu.md from docs/gpu_results.json alone")
    options = parser.parse_args()
    if options.docs:
        with open(RESULTS, encoding="utf-8") as file:
            results = json.load(file)
    else:
        code, card, _ = run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"])
        if code:
            sys.exit("nvidia-smi finds no GPU; make gpu-test needs a machine with one")
        results = {"date": datetime.date.today().isoformat(), "card": card.strip().replace(", ", ", driver "),
                   "cores": os.cpu_count(), "conformance": conformance(options.build)}
        print(results, flush=True)
        with tempfile.TemporaryDirectory() as folder:
            results["networks"] = [network(options.build, name, folder) for name in NETWORKS]
        with open(RESULTS, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
            file.write("\n")
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(page(results))
    failed = results["conformance"]["FAILED"] + sum(not net["ok"] for net in results["networks"])
    print(f"{results['conformance']['PASSED'] + sum(net['ok'] for net in results['networks'])} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
