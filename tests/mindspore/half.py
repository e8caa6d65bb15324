# SPDX-License-Identifier: Apache-2.0
"""Operators of networks in float16, forward and gradients: half.py DEVICE OUT.npz. On the CPU in
float32 too, which is what float16 is measured against: OUT has OPERATOR/RESULT/BITS."""
import sys

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

RANDOM = np.random.RandomState(1)


def some(*shape, scale=1.0):
    """Numbers that float16 holds."""
    return (RANDOM.randn(*shape) * scale).astype(np.float16).astype(np.float32)


def positive(*shape):
    return np.maximum(np.abs(some(*shape)), np.float32(0.25))


def conv(channels, kernel, **more):
    return ops.Conv2D(channels, kernel, **{"pad_mode": "pad", "pad": kernel // 2, **more})


LABELS = (np.arange(64) * 7 % 48).astype(np.int32)
IDS = RANDOM.permutation(64).astype(np.int32)
WIDE = [some(64, 48, scale=2)]
TWO, SQUARE = [some(64, 48), positive(64, 48)], [some(64, 64)]
CASES = {
    "MatMul": (ops.matmul, [some(64, 256), some(256, 48, scale=0.1)]),
    "BatchMatMul": (ops.matmul, [some(4, 4, 16, 64), some(4, 4, 64, 16)]),
    "Conv 1x1": (conv(32, 1), [some(2, 64, 14, 14), some(32, 64, 1, 1, scale=0.1)]),
    "Conv 3x3": (conv(32, 3), [some(2, 32, 14, 14), some(32, 32, 3, 3, scale=0.1)]),
    "Conv stride 2": (conv(32, 3, stride=2), [some(2, 32, 14, 14), some(32, 32, 3, 3, scale=0.1)]),
    "Conv 7x7": (conv(16, 7, stride=2), [some(2, 3, 32, 32), some(16, 3, 7, 7, scale=0.1)]),
    "Depthwise": (conv(32, 3, group=32), [some(2, 32, 14, 14), some(32, 1, 3, 3, scale=0.3)]),
    "BiasAdd": (ops.BiasAdd(), [some(64, 48), some(48)]),
    "ReLU": (ops.relu, WIDE), "ReLU6": (ops.relu6, WIDE), "Sigmoid": (ops.sigmoid, WIDE),
    "Tanh": (ops.tanh, WIDE), "GeLU": (ops.gelu, WIDE), "SiLU": (ops.silu, WIDE),
    "Exp": (ops.exp, WIDE), "Rsqrt": (ops.rsqrt, [positive(64, 48)]),
    "Softmax": (lambda x: ops.softmax(x, -1), WIDE),
    "LogSoftmax": (lambda x: ops.log_softmax(x, -1), WIDE),
    "LayerNorm": (lambda x, g, b: ops.LayerNorm(-1, -1, 1e-5)(x, g, b)[0],
                  [some(64, 64), positive(64), some(64)]),
    "Add": (ops.add, TWO), "Mul": (ops.mul, TWO), "Sub": (ops.sub, TWO), "Div": (ops.div, TWO),
    "Mul by a number": (lambda x: x * 0.1, WIDE),
    "Mean": (lambda x: ops.mean(x, -1, keep_dims=True), SQUARE),
    "Sum": (lambda x: ops.ReduceSum()(x, 0), SQUARE),
    "MaxPool": (nn.MaxPool2d(2, 2), [some(4, 6, 28, 28)]),
    "MaxPool that overlaps": (nn.MaxPool2d(3, 2, "same"), [some(2, 6, 15, 15)]),
    "AvgPool": (nn.AdaptiveAvgPool2d(1), [some(4, 16, 8, 8)]),
    "Gather": (lambda table: ops.Gather()(table, Tensor(IDS), 0), [some(64, 64)]),
    "CrossEntropy": (lambda x: nn.CrossEntropyLoss()(x.astype(ms.float32), Tensor(LABELS)), WIDE),
}


def results(name, dtype):
    made, arrays = CASES[name]

    def call(*given):
        return made(*given)

    given = [Tensor(array).astype(dtype) for array in arrays]
    y = call(*given)
    slope = np.asarray(np.random.RandomState(7).randn(*y.shape)).astype(np.float16)
    slopes = ops.GradOperation(get_all=True, sens_param=True)(call)(
        *given, Tensor(slope).astype(y.dtype))
    return [y, *slopes]


def main(device, path):
    ms.set_device(device)
    found = {}
    for bits, dtype in (16, ms.float16), (32, ms.float32):
        for name in CASES if bits == 16 or device == "CPU" else ():
            for at, tensor in enumerate(results(name, dtype)):
                found[f"{name}/{at}/{bits}"] = tensor.asnumpy()
    np.savez(path, **found)


main(*sys.argv[1:])
