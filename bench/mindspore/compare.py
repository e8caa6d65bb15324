#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""MindSpore on AnyNPU beside MindSpore's own CPU back end, each in a process of its own, on the
same processors. Sides alternate; a row shows the median of the ratios with its interval
(bench/harness.py).

    make bench-mindspore
    bench/mindspore/compare.py -k forward --pairs 21
    bench/mindspore/compare.py --processor-time      on a machine that does other work
"""
import argparse
import os
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "bench"))
ROWS = ("resnet50_forward/pynative", "resnet50_forward/o0", "resnet50_step/pynative",
        "resnet50_step/o0")


def body_of(row):
    """One call of a row; it returns when its result is there."""
    import mindspore as ms
    import numpy as np
    from mindspore import nn
    sys.path.insert(0, os.path.join(ROOT, "tests", "mindspore"))
    import networks
    what, _, mode = row.partition("/")
    ms.set_context(mode=ms.GRAPH_MODE if mode == "o0" else ms.PYNATIVE_MODE,
                   jit_config={"jit_level": "O0"})
    net = networks.nets.seeded(networks.nets.ResNet((3, 4, 6, 3), 64, 1000))
    pictures = networks.nets.noise(2, 3, 224, 224)
    if what == "resnet50_forward":
        return lambda: net(pictures).asnumpy()
    net.set_train(True)
    classes = ms.Tensor(np.array([1, 2], np.int32))
    loss_of = nn.CrossEntropyLoss()
    update = nn.SGD(net.trainable_params(), 1e-3)

    def forward(x):
        return loss_of(net(x), classes)
    slopes = ms.value_and_grad(forward, None, update.parameters)

    def step(x):
        loss, gradients = slopes(x)
        update(gradients)
        return loss
    if mode == "o0":
        step = ms.jit(step, jit_level="O0")

    def run():
        step(pictures).asnumpy()
        ms.runtime.synchronize()
    return run


def serve(device, row, clock):
    """Answers each line of the input with the seconds of one call."""
    import mindspore as ms
    ms.set_device(device)
    body = body_of(row)
    for _ in range(3):
        body()
    print("ready", flush=True)
    for _ in sys.stdin:
        begin = clock()
        body()
        print(clock() - begin, flush=True)


class Side:
    def __init__(self, device, row, processor_time):
        self.process = subprocess.Popen(
            [sys.executable, os.path.abspath(__file__), "--serve", device, row,
             *["--processor-time"] * processor_time], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        for line in self.process.stdout:
            if line == "ready\n":
                return
        raise SystemExit(f"{device} does not run {row}")

    def __call__(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-k", default="", help="part of a row's name")
    parser.add_argument("--pairs", type=int, default=21)
    parser.add_argument("--processor-time", action="store_true",
                        help="of all threads of the process instead of the time that passes")
    parser.add_argument("--serve", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        return serve(*args.serve, time.process_time if args.processor_time else time.perf_counter)
    from harness import ratio_of, value_of
    print("| row | AnyNPU, ms | CPU back end, ms | ratio (95 %) |\n|---|---|---|---|")
    for row in (r for r in ROWS if args.k in r):
        sides = [Side(device, row, args.processor_time) for device in ("Ascend", "CPU")]
        ratio = ratio_of(*sides, args.pairs)
        times = [value_of(side, 3).median * 1e3 for side in sides]
        print(f"| {row} | {times[0]:.1f} | {times[1]:.1f} | {ratio.median:.3f} "
              f"({ratio.low:.3f}-{ratio.high:.3f}) |", flush=True)
        for side in sides:
            side.end()


main()
