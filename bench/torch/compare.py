#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: E402, I001, E501
"""torch_npu on AnyNPU beside torch's own CPU back end, in one process, with the same threads.

    make bench-torch              all rows
    bench/torch/compare.py -k gpt2

Sides alternate; a row shows the median of the ratios with its interval (bench/harness.py).
"""
import argparse
import os
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "bench"))
sys.path.insert(0, os.path.join(ROOT, "tests", "torch", "training"))

import torch
from harness import estimate, ratio_of

import networks


def seconds(body, device):
    begin = time.perf_counter()
    body()
    if device == "npu":
        torch.npu.synchronize()
    return time.perf_counter() - begin


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
    for _ in range(11):
        torch.npu.synchronize()
        begin = time.perf_counter()
        for _ in range(calls):
            torch.add(x, y)
        torch.npu.synchronize()
        values.append((time.perf_counter() - begin) / calls * 1e6)
    return estimate(values)


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


ROWS = [("ResNet-50 forward, 2 pictures", forward_of_resnet, 0.8, 7),
        ("ResNet-50 training step, 2 pictures", step_of_resnet, 1.0, 5),
        ("GPT-2 small training step, 128 tokens", step_of_gpt2, 1.0, 5),
        ("Llama-style decode of one token", decode_of_llama, 1.0, 15)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-k", default="", help="part of a row's name")
    args = parser.parse_args()
    torch.set_num_threads(int(os.environ.get("ANYNPU_THREADS", os.cpu_count() or 1)))
    print("| row | target | measured |\n|---|---|---|")
    if args.k.lower() in "small operator":
        found = small_operator_us()
        print(f"| small operator, end to end | 12 us over torch_npu's own part (8 to 15) | {found.median:.1f} us ({found.low:.1f} to {found.high:.1f}) |")
    for name, make, target, pairs in ROWS:
        if args.k.lower() not in name.lower():
            continue
        found = ratio_of(*sides(make), pairs=pairs)
        print(f"| {name}, x of torch's CPU | {target} | {found.median:.2f} "
              f"({found.low:.2f} to {found.high:.2f}) |", flush=True)
    name = "ResNet-50 forward in bfloat16"
    if args.k.lower() in name.lower():
        found = ratio_of(*halves_of_resnet(), pairs=7)
        print(f"| {name}, x of float32 (AMX) | 0.5 | {found.median:.2f} ({found.low:.2f} to {found.high:.2f}) |")


if __name__ == "__main__":
    main()
