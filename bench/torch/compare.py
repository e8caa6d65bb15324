#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: E402, I001, E501
"""torch_npu on AnyNPU beside torch's own CPU back end, in one process, with the same threads; what a
small operator costs; HCCL beside gloo.

    make bench-torch              all rows; writes docs/torch_performance.md
    bench/torch/compare.py -k gpt2
    bench/torch/compare.py --cpu-time    networks on one thread, by processor time: for a busy machine

Sides alternate; a row shows the median of the ratios with its interval (bench/harness.py). Rows are
kept in build/bench_torch.json, so that they can be measured one after the other.
"""
import argparse
import importlib.util
import json
import os
import platform
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "bench"))
sys.path.insert(0, os.path.join(ROOT, "tests", "torch", "training"))

import torch
import harness
from harness import Report, estimate, has_amx, ratio_of

import networks


CLOCK = time.perf_counter  # of the process with --cpu-time


def seconds(body, device):
    begin = CLOCK()
    body()
    if device == "npu":
        torch.npu.synchronize()
    return CLOCK() - begin


def sides(make):
    """The time of one call on each device, of what make(device) returns."""
    bodies = {device: make(device) for device in ("npu", "cpu")}
    for device, body in bodies.items():
        for _ in range(2):
            seconds(body, device)
    return [lambda device=device: seconds(bodies[device], device) for device in ("npu", "cpu")]


def resnet(device):
    torch.manual_seed(0)
    model, data = networks.resnet50(size=224, batch=2)
    batch = [t.to(device) for t in data(torch.Generator().manual_seed(0))]
    return model.to(device), batch


def forward_of_resnet(device):
    model, batch = resnet(device)
    model.eval()

    def run():
        with torch.no_grad():
            model(*batch)
    return run


def step(model, batch):
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)

    def run():
        optimizer.zero_grad()
        model(*batch).backward()
        optimizer.step()
    return run


def step_of_resnet(device):
    return step(*resnet(device))


def step_of_gpt2(device):
    torch.manual_seed(0)
    width, length, words = 768, 128, 50257
    blocks = [networks.Block(width, networks.Attention(width, 12, causal=True)) for _ in range(12)]
    model = networks.Language(words, width, length, blocks).to(device)
    tokens = torch.randint(0, words, (1, length + 1), generator=torch.Generator().manual_seed(0))
    return step(model, [tokens[:, :-1].to(device), tokens[:, 1:].to(device)])


def decode_of_llama(device, dtype=torch.float32):
    import transformers
    torch.manual_seed(0)
    config = transformers.LlamaConfig(hidden_size=1024, intermediate_size=2816, num_hidden_layers=8,
                                      num_attention_heads=16, num_key_value_heads=4,
                                      vocab_size=32000)
    model = transformers.LlamaForCausalLM(config).eval().to(device=device, dtype=dtype)
    prompt = torch.arange(64, device=device)[None]
    with torch.no_grad():
        cache = model(prompt, use_cache=True).past_key_values
    token = torch.zeros(1, 1, dtype=torch.int64, device=device)

    def run():
        with torch.no_grad():
            model(token, past_key_values=cache, use_cache=True)
        cache.crop(-1)
    return run


def small_operator_us(calls=2000):
    """Microseconds of an addition of 16 numbers, end to end."""
    x, y = (torch.ones(16, device="npu") for _ in range(2))
    values = []
    for _ in range(21):
        torch.npu.synchronize()
        begin = time.perf_counter()
        for _ in range(calls):
            torch.add(x, y)
        torch.npu.synchronize()
        values.append((time.perf_counter() - begin) / calls * 1e6)
    return estimate(values)


def own_part_us(build, calls=20000):
    """The same addition from C: what AnyNPU adds to torch_npu's own work on the host."""
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "small_operator")
        subprocess.run(["gcc", "-std=gnu11", "-O2", os.path.join(ROOT, "bench", "torch", "small_operator.c"),
                        "-o", program, f"-I{build}/include", f"-L{build}/lib", "-lopapi", "-lnnopbase",
                        "-lascendcl", f"-Wl,-rpath,{os.path.abspath(build)}/lib"], check=True)
        with subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as run:
            def side():
                run.stdin.write(f"{calls}\n")
                run.stdin.flush()
                return float(run.stdout.readline())
            found = harness.value_of(side, 21)
            run.stdin.close()
    return found


def halves_of_resnet():
    """ResNet-50 on the device in bfloat16 and in float32."""
    def side(dtype):
        model, (pictures, classes) = resnet("npu")
        model, pictures = model.eval().to(dtype), pictures.to(dtype)

        def run():
            with torch.no_grad():
                model(pictures, classes)
        for _ in range(2):
            seconds(run, "npu")
        return lambda: seconds(run, "npu")
    return side(torch.bfloat16), side(torch.float32)


NETWORKS = [("ResNet-50 forward, 2 pictures of 224 x 224", forward_of_resnet, 0.8),
            ("ResNet-50 training step, 2 pictures of 224 x 224", step_of_resnet, 1.0),
            ("GPT-2 small (124M) training step, 128 tokens", step_of_gpt2, 1.0),
            ("Llama-style decoding of one token (8 layers of 1024)", decode_of_llama, 1.0)]


def operator_rows(report):
    end_to_end = small_operator_us()
    report.add("small operator: AnyNPU's part, both phases, from C", 12, "us", own_part_us(report.build),
               f"through torch_npu, end to end: {end_to_end.median:.1f} us")


def network_rows(make, name, limit):
    def rows(report):
        ours, cpu = sides(make)
        measured = ratio_of(ours, cpu, pairs=21)
        report.add(name, limit, "x torch CPU", measured, f"{estimate([ours() for _ in range(3)]).median * 1e3:.1f} ms")
    return rows


def half_rows(report):
    amx = has_amx()
    report.add("ResNet-50 forward in bfloat16", 0.5 if amx else None, "x float32", ratio_of(*halves_of_resnet(), pairs=21),
               "AMX" if amx else "AVX512-BF16: this processor has no AMX, for which the target of 0.5 is")


def hccl_rows(report):
    spec = importlib.util.spec_from_file_location("hccl_rows", os.path.join(ROOT, "bench", "rows", "hccl.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.rows(report)


ROWS = [("small operator", operator_rows),
        *[(name, network_rows(make, name, limit)) for name, make, limit in NETWORKS],
        ("bfloat16", half_rows), ("hccl", hccl_rows)]

PAGE = """# Speed of torch_npu on AnyNPU

Written by `make bench-torch`; do not edit. Measured on {machine}; torch {torch}, the same threads
on both sides. Load of the machine while it ran: {load}. Rows *by processor time* hold on a busy machine; the
others need an idle one.

Sides alternate: a row is the median of at least 20 ratios with its 95 % interval. *met*: the whole
interval is inside the target; *near*: the target lies inside the interval; *MISSED*: the whole interval
is outside. 1.0 x torch CPU is the time of PyTorch's own CPU back end in the same process.

| what | target | measured | 95 % interval | verdict | how | measured with it |
|---|---|---|---|---|---|---|
{rows}
"""


def write_page(rows, machine):
    number, target = harness.number, harness.target
    order = [name for name, _ in ROWS]
    lines = []
    for row in sorted(rows, key=lambda row: order.index(row["group"])):
        lines.append(f"| {row['what']} | {target(row)} | {number(row['measured'])} {row['unit']} | "
                     f"{number(row['low'])} to {number(row['high'])} | {row['verdict']} | {row['way']} | {row['note']} |")
    loads = sorted({row["load"] for row in rows})
    text = PAGE.format(rows="\n".join(lines), machine=machine, torch=torch.__version__.split("+")[0],
                       load=f"{loads[0]:.1f} to {loads[-1]:.1f}")
    with open(os.path.join(ROOT, "docs", "torch_performance.md"), "w") as file:
        file.write(text)


def processor():
    with open("/proc/cpuinfo") as file:
        names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    return f"{time.strftime('%Y-%m-%d')}: {names[0] if names else platform.machine()}, {os.cpu_count()} cores"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-k", default="", help="part of a row's name")
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--cpu-time", action="store_true", help="one thread, processor time")
    parser.add_argument("--no-docs", action="store_true", help="print the rows alone")
    args = parser.parse_args()
    threads = int(os.environ.get("ANYNPU_THREADS", os.cpu_count() or 1))
    if args.cpu_time:
        global CLOCK
        CLOCK, threads = time.process_time, 1
        os.environ["ANYNPU_THREADS"] = "1"  # read when the device is first used
    torch.set_num_threads(threads)
    kept_at = os.path.join(args.build, "bench_torch.json")
    kept = []
    if os.path.exists(kept_at):
        with open(kept_at) as file:
            kept = json.load(file)
    for name, rows in ROWS:
        if args.k.lower() not in name.lower():
            continue
        report = Report(build=args.build)
        rows(report)
        way = "one thread, processor time" if args.cpu_time else f"{threads} threads"
        fresh = [row | {"group": name, "load": os.getloadavg()[0], "way": way} for row in report.rows]
        kept = [row for row in kept if row["group"] != name] + fresh
        print(harness.table(report.rows, report.skipped), flush=True)
        with open(kept_at, "w") as file:
            json.dump(kept, file, indent=1)
    if not args.no_docs:
        write_page(kept, processor())


if __name__ == "__main__":
    main()
