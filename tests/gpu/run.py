#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs what needs an NVIDIA GPU and writes docs/gpu_results.json and docs/gpu.md.

    tests/gpu/run.py --build build     all of it (make gpu-test)
    tests/gpu/run.py --docs            the page again, from the results that are there

The conformance suite of tests/device on cuda:0; each network of examples/models with the same inputs
on the CPU and on the GPU, in float32 and float16: how far results are apart, times, operators that fall
back; the figures that the back end has to reach, each beside what was measured; the ONNX cases
(onnx_cases.py). Needs python3 with onnx and numpy; with torch the figures that are relative to it.
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
TOLERANCE = {"fp32": 1e-4, "fp16": 0.02}

# What, network, batch, and the milliseconds that must be reached, and that would be good.
FIGURES = (("ResNet-50 fp16, batch 1", "resnet50", 1, 0.41, 0.30),
           ("ResNet-50 fp16, batch 32", "resnet50", 32, 1.28, 1.0),
           ("ResNet-50 fp16, batch 128", "resnet50", 128, 4.05, 3.0),
           ("MobileNetV2 fp16, batch 1", "mobilenetv2", 1, 0.45, 0.25),
           ("BERT-base fp16, 1x128", "bert", 1, 0.48, 0.35),
           ("BERT-base fp16, 32x128", "bert", 32, 1.6, 1.3),
           ("ViT-B/16 fp16, batch 1", "vit", 1, 0.6, 0.4),
           ("ViT-B/16 fp16, batch 32", "vit", 32, 2.75, 2.2))
REASONS = (
    "What is missed, and why: BERT-base 32x128 spends two thirds of its time in products that run at 500 to 670 "
    "TFLOP/s; three of them a layer could be one, and the exact GELU is a pass of its own, because cuBLASLt fuses only its "
    "approximation by tanh and cuDNN's fused kernel was slower.",
    "BERT-base 1x128 came to 0.45 to 0.49 ms in five runs: several products are nearly equally fast alone, and the "
    "measurement at load picks one of them. The product of 8192 is measured while the card is cool and picks a kernel "
    "that is slower than torch's once the card lowers its clock.",
    "Not measured: YOLOv5s, U-Net and EfficientNet-B0 beside torch; the enqueue of a captured graph, which is replayed "
    "task by task; memory beside torch.")
FIRST_LOAD_MS, LATER_LOAD_MS = 10000, 500  # of ResNet-50, batch 1

TEXT = """# NVIDIA GPUs

`ANYNPU_DEVICES=cuda:0` makes GPU 0 of the machine device 0; `cuda:0,cuda:1,cpu:2` gives two GPUs and two
CPU devices. Programs stay unchanged and models are not converted again: a `.om` file runs on every device.

## What it needs

- an NVIDIA driver, version 580 or later (CUDA 13), and a card with compute capability 7.5 or later;
- at run time NVRTC, cuBLASLt and cuDNN 9 of CUDA 13, from the toolkit or from NVIDIA's packages on PyPI
  (`nvidia-cuda-nvrtc`, `nvidia-cublas`, `nvidia-cudnn-cu13`). They are searched on the loader's paths, in the
  folders of `ANYNPU_CUDA_LIBRARIES` and in `/usr/local/cuda/lib64`. Operators whose library is missing fall back to
  the host;
- to build the plug-in `libanynpu_cuda.so`, the headers of CUDA 13 and cuDNN 9. The plug-in links no CUDA library, and
  a machine without the headers builds and runs everything else.

Without a driver, or with one that is too old, the GPU is not in the list of devices and the first error says why.

## How it works

Device memory is the GPU's own: virtual addresses for all of it are reserved up front, physical pages are mapped as
blocks are allocated (`src/cuda/cuda_memory.h`). The host cannot read it, so a program that dereferences a device
pointer crashes, as it does with an NPU. `aclrtMallocHost` gives pinned memory. A stream is a CUDA stream; copies,
fills and models are enqueued while earlier work is still running (`src/device/stream.h`).

Models, single operators and matrix products are planned with the kernels of `src/cuda/kernels`. Matrix products go
through cuBLASLt, with bias, residual and clamp; convolutions of float16 and bfloat16 run with channels last, with
bias, residual and clamp, as one cuDNN graph or one matrix product; layouts are turned only where neighbours differ.
Attention of 16-bit floats is one kernel (`flash_attention.cpp`), as are layer normalisation and depthwise
convolutions. The rest is generated as CUDA C++ for the shapes at hand and compiled by NVRTC. float32 is computed in
float32, not TF32. Where the libraries offer several ways, they are measured when a model is loaded; choices and
compiled kernels are kept in the cache folder (`ASCEND_CACHE_PATH`), so a later load takes a fraction of a second.
A plan that meets the same buffers again is replayed as one CUDA graph, unless some of its operators run on the host;
operators that do not wait for each other run at the same time (`src/exec/step_order.h`).

A kernel that finds an index outside its axis reports it, with the node, the value and the extent, as the host's
kernels do: the execution, or the stream that is waited for, fails with it.

An operator without a GPU kernel runs on the CPU with copies of its operands. You can see it:
`ANYNPU_VERBOSE=dispatch` prints each choice, and in profiles the kernel's name ends in ` (on the host)`.

## What is missing

- The projections of queries, keys and values are three products; as one they would take less time. An exact GELU
  is a kernel of its own behind the product. int8 models run on the host. Weights for 16-bit kernels must be
  constants of the model.
- Captured streams (`aclmdlRI*`) are replayed task by task. Events and callbacks wait for the stream on the host.
- Media (`acldvpp`, himpi), virtual memory, memory shared between processes, HPE, aclnn and HCCL on device memory
  of a GPU; times of kernels in profiles (CUPTI); `npu-smi` shows no data of the card.
"""


def run(command, **variables):
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | variables, check=False)
    return done.returncode, done.stdout, done.stderr


def conformance(build):
    _, out, _ = run([os.path.join(build, "tests/device/device_conformance")], ANYNPU_DEVICES="cuda:0")
    return {word: int(found[1]) if (found := re.search(rf"\[  {word}\s*\] (\d+) test", out)) else 0
            for word in ("PASSED", "SKIPPED", "FAILED")}


def compiled(build, folder, name, batch, precision):
    """The path of a compiled network, without its ending."""
    model = os.path.join(folder, f"{name}_{batch}_{precision}")
    made = os.path.join(folder, f"{name}_{batch}.onnx")
    commands = [[os.path.join(build, "bin/atc"), f"--model={made}", "--framework=5", f"--output={model}",
                 "--soc_version=Ascend310P3", *(["--precision_mode=force_fp16"] if precision == "fp16" else [])]]
    if not os.path.exists(made):
        commands.insert(0, [sys.executable, os.path.join(ROOT, f"examples/models/make_{name}.py"), made,
                            "--batch", str(batch)])
    for command in commands if not os.path.exists(model + ".om") else ():
        code, out, err = run(command)
        if code:
            sys.exit(f"{' '.join(command)} failed: {out}{err}")
    return model


def numbers(text):
    return {key: float(re.search(rf"{key} ([-+\w.]+)", text)[1])
            for key in ("median", "in a row", "execute", "load", "first run", "difference")}


def network(build, name, precision, folder):
    model = compiled(build, folder, name, 1, precision)
    runner = os.path.join(build, "tests/gpu/model_run")
    _, cpu, err = run([runner, model + ".om", "--runs", "5", "--save", model + ".out"], ANYNPU_DEVICES="cpu")
    print(cpu.strip() or err, flush=True)
    code, gpu, err = run([runner, model + ".om", "--runs", "60", "--compare", model + ".out",
                          "--tolerance", str(TOLERANCE[precision])], ANYNPU_DEVICES="cuda:0",
                         ANYNPU_VERBOSE="dispatch")
    print(gpu.strip() or err, flush=True)
    fallbacks = collections.Counter(re.findall(r"^anynpu,dispatch,(\w+) .*falls back", err, re.M))
    number = numbers(gpu)
    return {"name": f"{name} {precision}", "ok": code == 0, "gpu_us": number["median"],
            "first_ms": number["first run"], "difference": number["difference"],
            "cpu_us": numbers(cpu)["median"], "fallbacks": dict(fallbacks)}


def figure(build, what, folder):
    """What a row of FIGURES came to: twice, with an empty cache of choices and with that of the first."""
    name, network_name, batch, must, aim = what
    model = compiled(build, folder, network_name, batch, "fp16")
    runner = os.path.join(build, "tests/gpu/model_run")
    cache = os.path.join(folder, f"cache_{network_name}_{batch}")
    loads = []
    for _ in range(2):
        code, out, err = run([runner, model + ".om", "--runs", "60", "--row", "10"], ANYNPU_DEVICES="cuda:0",
                             ASCEND_CACHE_PATH=cache)
        print(out.strip() or err, flush=True)
        if code:
            return {"name": name, "must": must, "aim": aim, "ms": None}
        number = numbers(out)
        loads.append(number["load"])
    return {"name": name, "must": must, "aim": aim, "ms": min(number["in a row"], number["median"]) / 1e3,
            "row_ms": number["in a row"] / 1e3, "waited_ms": number["median"] / 1e3, "load_ms": loads}


def one_node(path, op, kind, shapes):
    """A model of one operator."""
    import onnx
    from onnx import helper
    names = [f"x{i}" for i in range(len(shapes))]
    graph = helper.make_graph([helper.make_node(op, names, ["y"])], "one",
                              [helper.make_tensor_value_info(n, kind, s) for n, s in zip(names, shapes)],
                              [helper.make_tensor_value_info("y", kind, shapes[0])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)


def other_figures(build, folder):
    """Rows of name, measured, what must be reached, whether it is."""
    from onnx import TensorProto
    runner = os.path.join(build, "tests/gpu/model_run")
    code, out, err = run([sys.executable, os.path.join(ROOT, "tests/gpu/torch_peers.py")])
    torch = json.loads(out.strip().splitlines()[-1]) if code == 0 else {}
    print(torch or err[-300:], flush=True)
    rows = []
    for name, op, kind, shapes in (("product", "MatMul", TensorProto.BFLOAT16, [[8192, 8192]] * 2),
                                   ("empty", "Identity", TensorProto.FLOAT, [[1]])):
        path = os.path.join(folder, name)
        one_node(path + ".onnx", op, kind, shapes)
        run([os.path.join(build, "bin/atc"), f"--model={path}.onnx", "--framework=5", f"--output={path}",
             "--soc_version=Ascend310P3"])
        _, out, err = run([runner, path + ".om", "--runs", "60", "--row", "10"], ANYNPU_DEVICES="cuda:0")
        print(out.strip() or err, flush=True)
        number = numbers(out)
        if name == "product" and torch:
            share = torch["product_ms"] / (number["in a row"] / 1e3)
            rows.append(("Matrix product 8192 cubed bf16, of torch's rate", f"{share:.1%}", "95%", share >= 0.95))
        if name == "empty":
            rows.append(("aclmdlExecute of a model with one copy, us", f"{number['execute']:.1f}", "10",
                         number["execute"] <= 10))
    _, out, _ = run([os.path.join(build, "tests/gpu/copy_run")], ANYNPU_DEVICES="cuda:0")
    if torch and (found := re.search(r"median ([\d.]+)", out)):
        share = float(found[1]) / torch["copy_gbs"]
        rows.append(("Copy of 1 GiB host to device, of torch's rate", f"{share:.1%}", "97%", share >= 0.97))
    return {"rows": rows, "torch": torch}


def verdict(row):
    if row["ms"] is None:
        return "failed"
    return "aim reached" if row["ms"] <= row["aim"] else "met" if row["ms"] <= row["must"] else "missed"


def figures_text(results):
    lines = ["### Figures\n",
             "Milliseconds of one execution: among ten that are enqueued together, and of one that is waited for on "
             "the host; medians of 60. The smaller counts: both hold more than the time between two events of the GPU "
             "around a replay. The first load measures kernels and writes the cache, the second reads it.\n",
             "| work | in a row | waited for | must reach | aim | | first load, ms | later, ms |",
             "|---|---|---|---|---|---|---|---|"]
    for row in results["figures"]:
        if row["ms"] is None:
            lines.append(f"| {row['name']} | failed | | {row['must']} | {row['aim']} | failed | | |")
            continue
        lines.append(f"| {row['name']} | {row['row_ms']:.3f} | {row['waited_ms']:.3f} | {row['must']} | {row['aim']} | "
                     f"{verdict(row)} | {row['load_ms'][0]:.0f} | {row['load_ms'][1]:.0f} |")
    first = results["figures"][0]
    if first["ms"] is not None:
        for text, took, most in (("first", first["load_ms"][0], FIRST_LOAD_MS),
                                 ("later", first["load_ms"][1], LATER_LOAD_MS)):
            lines.append(f"| ResNet-50, {text} load, ms | {took:.0f} | | {most} | | "
                         f"{'met' if took <= most else 'missed'} | | |")
    other = results.get("other", {})
    for name, measured, most, met in other.get("rows", ()):
        lines.append(f"| {name} | {measured} | | {most} | | {'met' if met else 'missed'} | | |")
    for batch in (1, 32, 128):
        if f"resnet50_b{batch}_ms" in other.get("torch", {}):
            lines.append(f"| torch in the same run, folded and fused cuDNN in a CUDA graph, batch {batch} | "
                         f"{other['torch'][f'resnet50_b{batch}_ms']:.3f} | | | | | | |")
    return lines + ["", *REASONS, ""]


def cases_text(results):
    found = results.get("onnx")
    if not found:
        return []
    host = ", ".join(f"{op} ({count})" for op, count in list(found["operators_on_host"].items())[:40])
    return ["### ONNX cases\n",
            f"{found['passed']} of {found['cases']} cases of the onnx package's backend suite pass; "
            f"{found['on_gpu']} of them run on the GPU itself, with no operator on the host. Operators that fell back, "
            f"with the number of cases: {host}.\n"]


def page(results):
    found = results["conformance"]
    lines = [TEXT, "## Last run\n",
             f"{results['date']}, {results['card']}, the CPU beside it with {results['cores']} cores. "
             "Written by `make gpu-test`.\n",
             f"Conformance suite: {found['PASSED']} passed, {found['FAILED']} failed, {found['SKIPPED']} skipped "
             "for capabilities that the back end lacks.\n",
             *figures_text(results), *cases_text(results),
             "### Networks, batch 1\n",
             "Medians of executions in a stream, waited for on the host; the largest difference from the CPU's results "
             "over the largest value.\n",
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
            results["figures"] = [figure(options.build, what, folder) for what in FIGURES]
            results["other"] = other_figures(options.build, folder)
            results["networks"] = [network(options.build, name, precision, folder)
                                   for precision in ("fp32", "fp16") for name in NETWORKS]
        import onnx_cases  # needs the cases, which the page alone does not
        results["onnx"] = onnx_cases.run(os.path.abspath(options.build), "cuda:0")
        for name, why in results["onnx"]["failures"].items():
            print(f"{name}: {why}", flush=True)
        results["onnx"]["failures"] = sorted(results["onnx"]["failures"])  # reasons hold paths of the machine
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
