# SPDX-License-Identifier: Apache-2.0
"""One case of each ONNX operator that networks spend time in, for rows/onnx_operators.py."""
from dataclasses import dataclass, field

import numpy as np

RANDOM = np.random.default_rng(0)


@dataclass
class Case:
    label: str
    op: str
    inputs: list
    constants: tuple = ()  # which inputs are weights of the model
    outputs: int = 1
    opset: int = 21
    attributes: dict = field(default_factory=dict)


def floats(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def whole(low, high, shape, kind=np.int64):
    return RANDOM.integers(low, high, shape).astype(kind)


def ints(*values):
    return np.array(values, np.int64)


def cases():
    made = []

    def add(label, inputs, constants=(), outputs=1, opset=21, **attributes):
        made.append(Case(label, label.split()[0], inputs, constants, outputs, opset, attributes))

    image = floats(1, 64, 56, 56)
    add_windows(add, image)
    add_elements(add, image)
    add_moves(add, image)
    add_products(add)
    add_quantised(add, image)
    return made


def add_windows(add, image):
    add("Conv 1x1", [image, floats(64, 64, 1, 1)], (1,))
    add("Conv 3x3, weights of the run", [image, floats(64, 64, 3, 3)])
    add("Conv 5x5, 4 groups", [image, floats(64, 16, 5, 5)], (1,), group=4, pads=[2] * 4)
    add("Conv 3x3, dilation 2", [image, floats(64, 64, 3, 3)], (1,), dilations=[2, 2],
        pads=[2] * 4)
    add("Conv of one axis", [floats(1, 64, 1024), floats(64, 64, 3)], (1,), pads=[1, 1])
    add("Conv of three axes", [floats(1, 16, 16, 32, 32), floats(16, 16, 3, 3, 3)], (1,),
        pads=[1] * 6)
    add("ConvTranspose 2x2, stride 2", [floats(1, 64, 64, 64), floats(64, 32, 2, 2)], (1,),
        strides=[2, 2])
    add("ConvTranspose 4x4, stride 2", [floats(1, 64, 32, 32), floats(64, 32, 4, 4)], (1,),
        strides=[2, 2], pads=[1] * 4)
    add("DeformConv 3x3", [floats(1, 16, 32, 32), floats(16, 16, 3, 3), floats(1, 18, 32, 32)],
        (1,), opset=19, pads=[1] * 4)
    big = floats(1, 64, 112, 112)
    add("MaxPool 3x3, stride 2", [big], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    add("MaxPool 5x5, stride 1", [floats(1, 256, 20, 20)], kernel_shape=[5, 5], pads=[2] * 4)
    add("MaxPool of three axes", [floats(1, 16, 16, 32, 32)], kernel_shape=[2] * 3, strides=[2] * 3)
    add("AveragePool 3x3, stride 2", [big], kernel_shape=[3, 3], strides=[2, 2])
    add("GlobalAveragePool", [floats(1, 512, 14, 14)])
    none, twice = np.array([], np.float32), np.array([1, 1, 2, 2], np.float32)
    small = floats(1, 64, 64, 64)
    add("Resize linear", [small, none, twice], (1, 2), mode="linear")
    add("Resize cubic", [floats(1, 16, 64, 64), none, twice], (1, 2), mode="cubic")
    add("Resize nearest", [small, none, twice], (1, 2), mode="nearest", nearest_mode="floor",
        coordinate_transformation_mode="asymmetric")
    places = (RANDOM.random((1, 64, 64, 2)) * 2 - 1).astype(np.float32)
    add("GridSample", [floats(1, 32, 64, 64), places])
    regions = (RANDOM.random((50, 4)) * 20 + [0, 0, 20, 20]).astype(np.float32)
    add("RoiAlign", [floats(1, 64, 50, 50), regions, np.zeros(50, np.int64)], output_height=7,
        output_width=7, sampling_ratio=2)


def add_elements(add, image):
    size = np.abs(image)
    for name in ("Relu", "LeakyRelu", "Elu", "Selu", "Sigmoid", "HardSigmoid", "HardSwish", "Tanh",
                 "Softplus", "Softsign", "Mish", "Gelu", "Exp", "Log", "Sqrt", "Erf", "Sin",
                 "Abs", "Floor", "Round", "Reciprocal", "IsNaN"):
        add(name, [size])
    for name in ("Add", "Sub", "Mul", "Div", "Pow", "Min", "Max", "Greater"):
        add(name, [size, size[:, ::-1].copy()])
    add("Mul by channel", [image, floats(1, 64, 1, 1)])
    add("Add of int64", [whole(0, 9, image.shape), whole(0, 9, image.shape)])
    add("PRelu", [image, floats(64, 1, 1)], (1,))
    add("Clip", [image, np.float32(0), np.float32(6)], (1, 2))
    add("Where", [image > 0, image, size])
    add("And", [image > 0, size > 1])
    add("Not", [image > 0])
    add("Cast to int64", [image], to=7)
    add("Cast from int64", [whole(0, 9, image.shape)], to=1)
    ones = [floats(64) for _ in range(2)]
    add("BatchNormalization", [image, *ones, floats(64), np.abs(floats(64))], (1, 2, 3, 4))
    add("InstanceNormalization", [image, *ones], (1, 2))
    add("GroupNormalization", [image, *ones], (1, 2), num_groups=8)
    add("LayerNormalization", [floats(1, 128, 768), floats(768), floats(768)], (1, 2))
    add("LRN", [image], size=5)
    add("Softmax", [floats(8, 12, 128, 128)], axis=-1)
    add("Softmax of channels", [floats(1, 21, 128, 128)], axis=1)
    add("LogSoftmax", [floats(1, 128, 5000)], axis=-1)


def add_moves(add, image):
    add("Transpose to NHWC", [image], perm=[0, 2, 3, 1])
    add("Transpose of heads", [floats(1, 128, 12, 64)], perm=[0, 2, 1, 3])
    add("Concat of channels", [image, image], axis=1)
    add("Concat of columns", [image, image], axis=3)
    add("Split", [image], outputs=2, axis=1, num_outputs=2)
    add("Slice", [image, ints(1, 1), ints(50, 50), ints(2, 3), ints(2, 2)], (1, 2, 3, 4))
    add("Pad", [image, ints(0, 0, 1, 1, 0, 0, 1, 1)], (1,))
    add("Expand", [floats(1, 64, 1, 1), ints(1, 64, 56, 56)], (1,))
    add("Tile", [floats(1, 64, 28, 28), ints(1, 1, 2, 2)], (1,))
    add("DepthToSpace", [image], blocksize=2)
    add("Gather of rows", [floats(30522, 768), whole(0, 30000, (1, 128))], (0,))
    add("GatherElements", [floats(64, 1000), whole(0, 64, (64, 1000))])
    add("ScatterElements", [floats(64, 1000), whole(0, 64, (64, 1000)), floats(64, 1000)])
    add("ScatterND", [floats(1000, 64), RANDOM.permutation(1000)[:500, None], floats(500, 64)])
    add("Trilu", [floats(1, 12, 128, 128)])
    add("OneHot", [whole(0, 100, 1000), np.int64(100), np.array([0, 1], np.float32)], (1, 2))
    add("ReduceSum of rows", [floats(64, 64, 256), ints(2)], (1,))
    add("ReduceMean of pictures", [image, ints(2, 3)], (1,))
    add("ReduceMax of channels", [image, ints(1)], (1,))
    add("ArgMax of channels", [floats(1, 21, 128, 128)], axis=1)
    add("ArgMax of rows", [floats(128, 5000)], axis=1)
    add("TopK 10 of 5000", [floats(64, 5000), ints(10)], (1,), outputs=2)
    add("CumSum", [floats(64, 4096), np.int64(1)], (1,))


def add_products(add):
    add("MatMul", [floats(128, 768), floats(768, 768)], (1,))
    add("MatMul of heads", [floats(12, 128, 64), floats(12, 64, 128)])
    add("Gemm", [floats(64, 512), floats(512, 512), floats(512)], (1, 2))
    add("Einsum", [floats(8, 128, 64), floats(8, 64, 128)], equation="bij,bjk->bik")
    heads = [floats(1, 12, 128, 64) for _ in range(3)]
    add("Attention", heads, opset=23)
    for name, gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1)):
        add(name, [floats(32, 1, 128), *(floats(1, gates * 128, 128) for _ in range(2))], (1, 2),
            hidden_size=128)
    add("DFT", [floats(8, 1024, 1)], opset=17)
    add("STFT", [floats(1, 16000, 1), np.int64(160), floats(400)], (1, 2), opset=17)


def add_quantised(add, image):
    scale, zero = np.float32(0.1), np.uint8(128)
    bytes_of_image = whole(0, 255, image.shape, np.uint8)
    weights = whole(-127, 127, (64, 64, 3, 3), np.int8)
    add("QuantizeLinear", [image, scale, zero], (1, 2))
    add("DequantizeLinear", [bytes_of_image, scale, zero], (1, 2))
    add("DynamicQuantizeLinear", [image], outputs=3)
    add("QLinearConv 3x3", [bytes_of_image, scale, zero, weights, scale, np.int8(0),
                            np.float32(5), zero], (1, 2, 3, 4, 5, 6, 7), pads=[1] * 4)
    add("ConvInteger 3x3", [bytes_of_image, weights], (1,), pads=[1] * 4)
    add("MatMulInteger", [whole(0, 255, (128, 512), np.uint8), whole(-127, 127, (512, 512),
                                                                      np.int8)], (1,))
