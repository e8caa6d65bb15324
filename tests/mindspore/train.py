# SPDX-License-Identifier: Apache-2.0
"""Runs networks forward and trains them: train.py DEVICE OUT.npz STEPS
[NETWORK/OPTIMIZER/MODE/PRECISION ...], where PRECISION is float32, mixed (with float16) or, on the
CPU in PyNative mode, float64. OUT gets the output of each run before training and the loss of each
step; what fails, its message."""
import sys
import time
import traceback

import exact
import mindspore as ms
import networks
import numpy as np
from mindspore import amp, nn

MODES = {"pynative": ms.PYNATIVE_MODE, "o0": ms.GRAPH_MODE}


def optimizer_of(name, net, rate):
    if name == "sgd":
        return nn.SGD(net.trainable_params(), rate, momentum=0.9, weight_decay=1e-4)
    return nn.Adam(net.trainable_params(), rate)


def run(case, steps):
    network, optimizer, mode, precision = case.split("/")
    ms.set_context(mode=MODES[mode], jit_config={"jit_level": "O0"})
    net, inputs, target = networks.seeded(network)
    if precision == "mixed":
        net = amp.auto_mixed_precision(net, "O2", networks.HALF)
    doubles = precision == "float64"
    if doubles:
        net, inputs = exact.of(net, inputs)
    first = net(*inputs).asnumpy().astype(np.float64)
    net.set_train(True)
    loss_of = exact.cross_entropy if doubles else nn.CrossEntropyLoss()
    held = ms.float64 if doubles else ms.float32

    def forward(*given):
        return loss_of(net(*given).astype(held), target)

    rate = networks.rate(network, optimizer)
    if doubles:
        update = exact.OPTIMIZERS[optimizer](net.trainable_params(), rate)
    else:
        update = optimizer_of(optimizer, net, rate)
    slopes = ms.value_and_grad(forward, None, update.parameters)

    def step(*given):
        loss, gradients = slopes(*given)
        update(gradients)
        return loss

    if mode == "o0":
        step = ms.jit(step, jit_level="O0")
    return first, np.array([float(step(*inputs).asnumpy()) for _ in range(steps)])


def main(device, path, steps, *cases):
    ms.set_device(device)
    ms.set_context(runtime_num_threads=1)  # more wait for each other: the kernels are short
    found = {}
    for case in cases:
        begin = time.perf_counter()
        try:
            found[case + "/output"], found[case + "/loss"] = run(case, int(steps))
        except Exception:  # noqa: BLE001 the test reports it
            found[case + "/failed"] = np.array(traceback.format_exc())
        np.savez(path, **found)
        print(f"{device} {case} {time.perf_counter() - begin:.1f} s", flush=True)


main(*sys.argv[1:])
