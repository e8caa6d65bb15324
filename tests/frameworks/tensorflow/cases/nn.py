# SPDX-License-Identifier: Apache-2.0
"""Convolutions, pools, normalisation, activations with parameters, recurrent blocks."""
import numpy as np
from specs import FLOATS, REAL, F, H, K, T, V, constant

PADDINGS = ("SAME", "VALID")


def strides(y, x=None):
    return [1, y, y if x is None else x, 1]


def max_pool_grad(window, side):
    """The gradient needs the result of MaxPool on the same picture."""
    def build(make):
        import tensorflow as tf
        x = make("x", F(2, 7, 7, 3))
        y = tf.raw_ops.MaxPool(input=x, **window)
        return [tf.raw_ops.MaxPoolGrad(orig_input=x, orig_output=y, grad=make("grad", F(2, side, side, 3)),
                                       **window)]
    return build


def convolutions(add):
    add.types("Conv2D", (*FLOATS, "i32"), input=T(1, 5, 6, 2), filter=T(3, 3, 2, 4), strides=strides(1),
              padding="SAME")
    for padding in PADDINGS:
        for stride, dilation, kernel in ((1, 1, 3), (2, 1, 3), (1, 2, 3), (2, 1, 1), (3, 1, 2), (2, 1, 4)):
            add("Conv2D", f"{padding}_s{stride}_d{dilation}_k{kernel}", input=F(2, 7, 8, 3),
                filter=constant(F(kernel, kernel, 3, 4)), strides=strides(stride), padding=padding,
                dilations=strides(dilation))
            if dilation == 1:
                add("DepthwiseConv2dNative", f"{padding}_s{stride}_k{kernel}", input=F(2, 7, 8, 3),
                    filter=constant(F(kernel, kernel, 3, 2)), strides=strides(stride), padding=padding)
    explicit = [0, 0, 1, 2, 0, 1, 0, 0]
    for op, shape in (("Conv2D", (3, 3, 2, 4)), ("DepthwiseConv2dNative", (3, 3, 2, 1))):
        add(op, "explicit", input=F(1, 5, 6, 2), filter=constant(F(*shape)), strides=strides(2),
            padding="EXPLICIT", explicit_paddings=explicit)
        add(op, "run_time_filter", input=F(1, 5, 6, 2), filter=F(*shape), strides=strides(1), padding="SAME")
        add(op, "open", input=F(1, 5, 6, 2, left_open="dims"), filter=constant(F(*shape)), strides=strides(1),
            padding="SAME")
        add(op, "rank", input=F(2, 5, 6, 2, left_open="rank"), filter=constant(F(*shape)), strides=strides(2),
            padding="SAME")
    add("Conv2D", "groups", input=F(1, 5, 5, 4), filter=constant(F(3, 3, 2, 6)), strides=strides(1),
        padding="SAME")
    add("Conv2D", "uneven_dilation", input=F(1, 9, 9, 2), filter=constant(F(3, 2, 2, 3)), strides=strides(1),
        padding="SAME", dilations=[1, 3, 2, 1])
    add("Conv2D", "empty", input=F(0, 5, 6, 2), filter=constant(F(3, 3, 2, 4)), strides=strides(1),
        padding="SAME")
    add.types("DepthwiseConv2dNative", FLOATS, input=T(1, 5, 6, 2), filter=T(3, 3, 2, 1), strides=strides(1),
              padding="SAME")
    for padding in PADDINGS:
        for stride in (1, 2):
            add("Conv3D", f"{padding}_{stride}", input=F(1, 4, 5, 6, 2), filter=constant(F(3, 2, 3, 2, 3)),
                strides=[1, stride, stride, stride, 1], padding=padding)
            size = [1, 7, 8, 2]
            out = [-(-n // stride) if padding == "SAME" else (n - 3) // stride + 1 for n in size[1:3]]
            add("Conv2DBackpropInput", f"{padding}_{stride}", input_sizes=K(size),
                filter=constant(F(3, 3, 2, 4)), out_backprop=F(1, *out, 4), strides=strides(stride),
                padding=padding)
            add("Conv2DBackpropFilter", f"{padding}_{stride}", input=F(1, 7, 8, 2), filter_sizes=K([3, 3, 2, 4]),
                out_backprop=F(1, *out, 4), strides=strides(stride), padding=padding)
            add("DepthwiseConv2dNativeBackpropInput", f"{padding}_{stride}", input_sizes=K(size),
                filter=constant(F(3, 3, 2, 2)), out_backprop=F(1, *out, 4), strides=strides(stride),
                padding=padding)
            add("DepthwiseConv2dNativeBackpropFilter", f"{padding}_{stride}", input=F(1, 7, 8, 2),
                filter_sizes=K([3, 3, 2, 2]), out_backprop=F(1, *out, 4), strides=strides(stride),
                padding=padding)
            size = [1, 4, 5, 6, 2]
            out = [-(-n // stride) if padding == "SAME" else (n - 3) // stride + 1 for n in size[1:4]]
            add("Conv3DBackpropInputV2", f"{padding}_{stride}", input_sizes=K(size),
                filter=constant(F(3, 3, 3, 2, 3)), out_backprop=F(1, *out, 3),
                strides=[1, stride, stride, stride, 1], padding=padding)
            add("Dilation2D", f"{padding}_{stride}", input=F(1, 6, 7, 2), filter=F(3, 2, 2),
                strides=strides(stride), rates=strides(1), padding=padding)
    add("Conv2DBackpropInput", "sizes_at_run_time", input_sizes=V([1, 4, 4, 2]), filter=F(3, 3, 2, 3),
        out_backprop=F(1, 4, 4, 3), strides=strides(1), padding="SAME")
    add("Conv3D", "dilated", input=F(1, 5, 5, 5, 1), filter=F(2, 2, 2, 1, 2), strides=[1] * 5, padding="VALID",
        dilations=[1, 1, 1, 1, 1])
    add("Dilation2D", "rates", input=F(1, 7, 7, 1), filter=F(3, 3, 1), strides=strides(1), rates=strides(2),
        padding="SAME")
    add("Conv", "plain", input=F(1, 5, 6, 2), filter=F(3, 3, 2, 4), strides=strides(1), padding="SAME",
        dilations=strides(1))


def pools(add):
    for padding in PADDINGS:
        for size, stride in ((2, 2), (3, 1), (3, 2), (2, 3)):
            label = f"{padding}_{size}_{stride}"
            window = {"ksize": strides(size), "strides": strides(stride), "padding": padding}
            add("MaxPool", label, input=F(2, 5, 7, 3), **window)
            add("AvgPool", label, value=F(2, 5, 7, 3), **window)
            add("MaxPoolWithArgmax", label, input=F(2, 5, 7, 3), **window)
            add("MaxPoolV2", label, input=F(2, 5, 7, 3), ksize=K(strides(size)), strides=K(strides(stride)),
                padding=padding)
            cube = {"ksize": [1, size, size, size, 1], "strides": [1, stride, stride, stride, 1]}
            add("MaxPool3D", label, input=F(1, 5, 6, 5, 2), padding=padding, **cube)
            add("AvgPool3D", label, input=F(1, 5, 6, 5, 2), padding=padding, **cube)
    window = {"ksize": strides(2), "strides": strides(2), "padding": "VALID"}
    add.types("MaxPool", REAL, input=T(1, 4, 4, 2), **window)
    add.types("AvgPool", FLOATS, value=T(1, 4, 4, 2), **window)
    add.types("MaxPoolWithArgmax", REAL, input=T(1, 4, 4, 2), **window)
    add("MaxPoolWithArgmax", "batch", input=F(2, 4, 4, 2), include_batch_in_index=True, **window)
    add("MaxPoolWithArgmax", "int32", input=F(2, 4, 4, 2), Targmax="int32", **window)
    add("MaxPool", "explicit", input=F(1, 5, 5, 2), ksize=strides(3), strides=strides(2), padding="EXPLICIT",
        explicit_paddings=[0, 0, 1, 1, 1, 0, 0, 0])
    add("MaxPool", "depth", input=F(1, 2, 2, 6), ksize=[1, 1, 1, 2], strides=[1, 1, 1, 2], padding="VALID")
    add("MaxPool", "open", input=F(1, 4, 6, 2, left_open="dims"), **window)
    add("AvgPool", "rank", value=F(1, 4, 6, 2, left_open="rank"), **window)
    add("AvgPool", "whole", value=F(2, 4, 4, 3), ksize=strides(4), strides=strides(1), padding="VALID")
    add("AvgPoolGrad", orig_input_shape=K([1, 4, 4, 2]), grad=F(1, 2, 2, 2), **window)
    for padding in ("SAME", "VALID"):
        for label, size, step in (("overlap", 3, 2), ("gaps", 2, 3)):
            side = -(-7 // step) if padding == "SAME" else (7 - size) // step + 1
            shape = {"ksize": strides(size), "strides": strides(step), "padding": padding}
            add("AvgPoolGrad", f"{label}.{padding}", orig_input_shape=K([2, 7, 7, 3]),
                grad=F(2, side, side, 3), **shape)
            add.graph(f"MaxPoolGrad.{label}.{padding}", ["MaxPoolGrad"], max_pool_grad(shape, side))
    add("AvgPoolGrad", "f64", "f64", orig_input_shape=K([1, 4, 4, 2]), grad=T(1, 2, 2, 2), **window)
    add("AvgPool3DGrad", orig_input_shape=K([1, 4, 5, 3, 2]), grad=F(1, 2, 3, 2, 2),
        ksize=[1, 2, 3, 2, 1], strides=[1, 2, 2, 2, 1], padding="SAME")
    add("MaxPoolGrad", orig_input=V([[[[1.0], [2.0]], [[3.0], [4.0]]]]), orig_output=V([[[[4.0]]]]),
        grad=F(1, 1, 1, 1), **window)


def normal(add):
    for op in ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"):
        count = 6 if op.endswith("3") else 5
        parts = {"scale": constant(F(3, low=0.5)), "offset": constant(F(3))}
        known = {"mean": constant(F(3)), "variance": constant(F(3, low=0.5))}
        add(op, "inference", x=F(2, 3, 4, 3), **parts, **known, is_training=False, epsilon=1e-3, outputs=[0])
        add(op, "training", x=F(2, 3, 4, 3), **parts, mean=K([], "f32"), variance=K([], "f32"),
            is_training=True, outputs=[0, 1, 2])
        add(op, "run_time", x=F(2, 3, 4, 3), scale=F(3), offset=F(3), mean=F(3), variance=F(3, low=0.5),
            is_training=False, outputs=[0])
        add(op, "nchw", x=F(2, 3, 4, 5), **parts, **known, is_training=False, data_format="NCHW", outputs=[0])
        add(op, "training_nchw", x=F(2, 3, 4, 5), **parts, mean=K([], "f32"), variance=K([], "f32"),
            is_training=True, data_format="NCHW", outputs=[0, 1, 2])
        add(op, "open", x=F(2, 3, 4, 3, left_open="dims"), **parts, **known, is_training=False, outputs=[0])
        if count == 6:
            add(op, "half", x=H(2, 3, 4, 3), **parts, **known, is_training=False, outputs=[0])
            add(op, "average", x=F(2, 3, 4, 3), **parts, **known, exponential_avg_factor=0.1,
                outputs=[0, 1, 2])
    add.types("LRN", FLOATS, input=T(1, 3, 3, 6))
    add("LRN", "radius", input=F(1, 2, 3, 8), depth_radius=2, bias=2.0, alpha=0.3, beta=0.75)
    add.types("Softmax", FLOATS, logits=T(3, 5))
    add.types("LogSoftmax", FLOATS, logits=T(3, 5))
    for op in ("Softmax", "LogSoftmax"):
        add(op, "cube", logits=F(2, 3, 4))
        add(op, "large", logits=V([[1000.0, 999.0, -1000.0]]))
        add(op, "open", logits=F(2, 3, left_open="dims"))
    add.types("SoftmaxCrossEntropyWithLogits", FLOATS, features=T(3, 4), labels=T(3, 4, low=0, high=1))
    add("SoftmaxCrossEntropyWithLogits", "broadcast", features=F(3, 4), labels=F(1, 4, low=0, high=1))
    add.types("SparseSoftmaxCrossEntropyWithLogits", FLOATS, features=T(3, 4), labels=V([1, 0, 3]))
    add("SparseSoftmaxCrossEntropyWithLogits", "int64", features=F(3, 4), labels=V([1, 0, 3], "i64"))
    add.types("BiasAdd", REAL, value=T(2, 3, 4), bias=T(4))
    add("BiasAdd", "nchw", value=F(2, 3, 4, 2), bias=F(3), data_format="NCHW")
    add("BiasAdd", "nchw3", value=F(2, 3, 4), bias=F(3), data_format="NCHW")
    add("BiasAdd", "open", value=F(2, 3, left_open="dims"), bias=constant(F(3)))
    add.types("BiasAddV1", REAL, value=T(2, 3), bias=T(3))
    add.types("BiasAddGrad", FLOATS, out_backprop=T(2, 3, 4))
    add("BiasAddGrad", "nchw", out_backprop=F(2, 3, 4, 2), data_format="NCHW")


def recurrent(add):
    cell = {"w": constant(F(5, 12, low=-0.5, high=0.5)), "wci": constant(F(3)), "wcf": constant(F(3)),
            "wco": constant(F(3)), "b": constant(F(12))}
    state = {"cs_prev": F(2, 3), "h_prev": F(2, 3)}
    for peephole in (False, True):
        for clip in (3.0, -1.0):
            label = f"{'peephole' if peephole else 'plain'}_{clip:.0f}"
            add("LSTMBlockCell", label, x=F(2, 2), **state, **cell, cell_clip=clip, use_peephole=peephole)
            add("BlockLSTM", label, seq_len_max=K(4, "i64"), x=F(4, 2, 2), **state, **cell, cell_clip=clip,
                use_peephole=peephole)
            add("BlockLSTMV2", label, seq_len_max=K(4, "i64"), x=F(4, 2, 2), **state, **cell,
                cell_clip=clip, use_peephole=peephole)
    add("LSTMBlockCell", "forget", x=F(2, 2), **state, **cell, forget_bias=0.0)
    add("BlockLSTM", "shorter", seq_len_max=K(2, "i64"), x=F(4, 2, 2), **state, **cell, outputs=[1, 6])
    add("GRUBlockCell", x=F(2, 2), h_prev=F(2, 3), w_ru=constant(F(5, 6)), w_c=constant(F(5, 3)),
        b_ru=constant(F(6)), b_c=constant(F(3)))
    cudnn(add)
    add("CTCGreedyDecoder", inputs=F(6, 2, 4), sequence_length=V([6, 4]), merge_repeated=True)
    add("CTCGreedyDecoder", "keep", inputs=F(6, 2, 4), sequence_length=V([5, 6]), merge_repeated=False)
    add("CTCGreedyDecoder", "blank", inputs=F(6, 1, 4), sequence_length=V([6]), merge_repeated=True,
        blank_index=0)
    add("CTCLoss", "batch", inputs=F(6, 3, 5), labels_indices=K([[0, 0], [0, 1], [0, 2], [1, 0], [2, 0]], "i64"),
        labels_values=K([1, 1, 3, 2, 0]), sequence_length=V([6, 2, 4]), outputs=[0])
    add("CTCLoss", inputs=F(5, 1, 4), labels_indices=K([[0, 0], [0, 1]], "i64"), labels_values=K([1, 2]),
        sequence_length=V([5]), outputs=[0])


class Cudnn:
    """Layers of cuDNN, which TensorFlow runs on GPUs alone: `plain` writes out what they compute."""

    def __init__(self, mode, layers, both, plain, version=""):
        self.mode, self.layers, self.both, self.plain, self.version = mode, layers, both, plain, version

    def __call__(self, make):
        import tensorflow as tf
        steps, batch, features, units = 4, 2, 3, 2
        gates, sides = {"lstm": 4, "gru": 3}.get(self.mode, 1), 1 + self.both
        shapes = [(gates, units, width) for layer in range(self.layers) for _ in range(sides)
                  for width in (sides * units if layer else features, units)]
        shapes += [(gates, units)] * (2 * sides * self.layers)
        count = sum(int(np.prod(shape)) for shape in shapes)
        x = make("x", F(steps, batch, features))
        states = [make(name, F(self.layers * sides, batch, units)) for name in "hc"]
        row = make("params", constant(F(count, low=-0.7, high=0.7)))
        if not self.plain:
            extra = {"sequence_lengths": [steps] * batch} if self.version == "V3" else {}
            made = getattr(tf.raw_ops, "CudnnRNN" + self.version)(
                input=x, input_h=states[0], input_c=states[1], params=row, is_training=False,
                rnn_mode=self.mode, direction="bidirectional" if self.both else "unidirectional", **extra)
            return [made.output, made.output_h] + ([made.output_c] if self.mode == "lstm" else [])
        parts = [tf.reshape(part, shape) for part, shape in
                 zip(tf.split(row, [int(np.prod(shape)) for shape in shapes]), shapes)]
        matrices, biases = parts[:len(parts) // 2], parts[len(parts) // 2:]
        ends_h, ends_c = [], []
        for layer in range(self.layers):
            sequences = []
            for side in range(sides):
                at = layer * sides + side
                wx, wh, bx, bh = *matrices[2 * at:2 * at + 2], *biases[2 * at:2 * at + 2]
                h, c, made = states[0][at], states[1][at], []
                for t in (range(steps) if side == 0 else reversed(range(steps))):
                    own = [tf.matmul(x[t], wx[g], transpose_b=True) + bx[g] for g in range(gates)]
                    old = [tf.matmul(h, wh[g], transpose_b=True) + bh[g] for g in range(gates)]
                    h, c = self.step(own, old, h, c)
                    made.append(h)
                sequences.append(tf.stack(made if side == 0 else made[::-1]))
                ends_h.append(h)
                ends_c.append(c)
            x = tf.concat(sequences, 2)
        return [x, tf.stack(ends_h)] + ([tf.stack(ends_c)] if self.mode == "lstm" else [])

    def step(self, own, old, h, c):
        import tensorflow as tf
        if self.mode == "lstm":  # input, forget, candidate, output
            i, f, g, o = (a + b for a, b in zip(own, old))
            c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
            return tf.sigmoid(o) * tf.tanh(c), c
        if self.mode == "gru":  # reset, update, candidate
            r, z = (tf.sigmoid(a + b) for a, b in zip(own[:2], old[:2]))
            return (1 - z) * tf.tanh(own[2] + r * old[2]) + z * h, c
        return (tf.nn.relu if self.mode == "rnn_relu" else tf.tanh)(own[0] + old[0]), c


def cudnn(add):
    for version, mode, layers, both in (("", "lstm", 1, False), ("", "gru", 2, False), ("", "rnn_tanh", 1, True),
                                        ("V2", "lstm", 2, True), ("V3", "gru", 2, True),
                                        ("V3", "rnn_relu", 1, False)):
        add.referenced(f"CudnnRNN{version}.{mode}", ["CudnnRNN" + version],
                       Cudnn(mode, layers, both, False, version), Cudnn(mode, layers, both, True))


def quantised(add):
    for bits in (8, 4, 2):
        for narrow in (False, True):
            label = f"{bits}_{'narrow' if narrow else 'full'}"
            add("FakeQuantWithMinMaxArgs", label, inputs=F(3, 5, low=-8, high=8), num_bits=bits,
                narrow_range=narrow)
            add("FakeQuantWithMinMaxVars", label, inputs=F(3, 5, low=-3, high=3), min=K(-1.3), max=K(2.1),
                num_bits=bits, narrow_range=narrow)
            add("FakeQuantWithMinMaxVarsPerChannel", label, inputs=F(3, 4, low=-3, high=3),
                min=K([-1.0, -2.0, -0.5, -3.0]), max=K([1.0, 1.5, 2.0, 0.7]), num_bits=bits, narrow_range=narrow)
    add("FakeQuantWithMinMaxArgs", "range", inputs=F(3, 5), min=0.1, max=1.9)
    add("FakeQuantWithMinMaxVars", "run_time", inputs=F(3, 5), min=V(-1.0), max=V(1.0))
    add("FakeQuantWithMinMaxVars", "positive", inputs=F(3, 5), min=K(0.5), max=K(1.5))
    add("FakeQuantWithMinMaxVars", "zero", inputs=F(3, 5), min=K(0.0), max=K(0.0))
    add("FakeQuantWithMinMaxArgsGradient", gradients=F(3, 5), inputs=F(3, 5, low=-8, high=8))
    for mode in ("HALF_TO_EVEN", "HALF_UP"):
        for signed in (True, False):
            add("QuantizeAndDequantizeV2", f"{mode}_{signed}", input=F(3, 4), input_min=K(-1.0 if signed else 0.0),
                input_max=K(1.5), signed_input=signed, range_given=True, round_mode=mode)
            add("QuantizeAndDequantizeV4", f"{mode}_{signed}", input=F(3, 4), input_min=K(-1.0 if signed else 0.0),
                input_max=K(1.5), signed_input=signed, range_given=True, round_mode=mode)
    add("QuantizeAndDequantizeV2", "measured", input=F(3, 4), input_min=K(0.0), input_max=K(0.0))
    add("QuantizeAndDequantizeV2", "narrow", input=F(2, 4), input_min=K(-1.0), input_max=K(1.0), range_given=True,
        narrow_range=True)
    add("QuantizeAndDequantizeV3", input=F(2, 4), input_min=K(-1.0), input_max=K(1.0), num_bits=K(4))


def channels_first(add):
    """The CPU has no kernels for most of these: the reference is the other layout, transposed."""
    for padding in PADDINGS:
        for stride in (1, 2):
            label = f"nchw_{padding}_{stride}"
            window = {"strides": [1, 1, stride, stride], "padding": padding}
            add.channels_first("Conv2D", label, "input", input=F(2, 3, 7, 8), filter=constant(F(3, 3, 3, 4)),
                               **window)
            add.channels_first("DepthwiseConv2dNative", label, "input", input=F(2, 3, 7, 8),
                               filter=constant(F(3, 3, 3, 2)), **window)
            for op, key in (("MaxPool", "input"), ("AvgPool", "value")):
                add.channels_first(op, label, key, **{key: F(2, 3, 7, 8)}, ksize=[1, 1, 3, 2], **window)
            cube = {"strides": [1, 1, stride, stride, stride], "padding": padding}
            add.channels_first("Conv3D", label, "input", input=F(1, 2, 4, 5, 6),
                               filter=constant(F(2, 3, 2, 2, 3)), **cube)
            for op in ("MaxPool3D", "AvgPool3D"):
                add.channels_first(op, label, "input", input=F(1, 2, 4, 5, 6), ksize=[1, 1, 2, 2, 2], **cube)
    add.channels_first("Conv2D", "nchw_explicit", "input", input=F(1, 2, 5, 6), filter=constant(F(3, 3, 2, 4)),
                       strides=[1, 1, 2, 1], padding="EXPLICIT", explicit_paddings=[0, 0, 0, 0, 1, 2, 0, 1])
    add.channels_first("Conv2D", "nchw_dilated", "input", input=F(1, 2, 9, 9), filter=constant(F(3, 3, 2, 4)),
                       strides=[1, 1, 1, 1], padding="SAME", dilations=[1, 1, 2, 3])
    add.channels_first("SpaceToDepth", "nchw", "input", input=F(2, 3, 4, 6), block_size=2)
    add.channels_first("DepthToSpace", "nchw", "input", input=F(2, 12, 2, 3), block_size=2)


def cases(add):
    channels_first(add)
    convolutions(add)
    pools(add)
    normal(add)
    recurrent(add)
    quantised(add)
