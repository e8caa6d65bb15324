# SPDX-License-Identifier: Apache-2.0
"""What Caffe's layers compute, in plain numpy, and the list of cases that tests run."""
import dataclasses
import math

import numpy as np

NOT_IN_OPENCV = {"ArgMax", "BatchReindex", "Bias", "Embed", "Im2col", "Reduction", "SPP",
                 "Threshold", "Upsample", "Yolo", "YoloRegion"}
OTHERWISE_IN_OPENCV = {
    "batch_norm_of_the_batch": "one picture at a time",
    "convolution_of_two_bottoms": "takes the first bottom",
    "inner_product_transpose": "does not know the field",
    "interp_zoom": "does not know the field pad_end",
    "log": "does not know the fields",
    "lrn_across_2": "does not know the field k",
    "lstm": "weights as in other frameworks, no bottom cont",
    "lstm_exposed_state": "see lstm",
    "lstm_static_input": "see lstm",
    "lstm_static_input_and_exposed_state": "see lstm",
    "pooling_drops_windows_behind_the_end_when_one_axis_has_padding": "keeps them",
    "pooling_floor": "does not know the field round_mode",
    "pooling_of_a_kernel_larger_than_the_picture": "refuses it",
    "region": "wants anchors as weights",
    "region_background": "see region",
    "reorg_reverse": "does not know the field",
    "scale_last_axis": "counts no axis from the end",
    "tile": "knows the fields of other frameworks",
}


@dataclasses.dataclass
class Case:
    name: str
    kind: str
    text: str
    inputs: list
    expected: list
    weights: list = ()

    @property
    def opencv(self):
        """Whether OpenCV has the layer and computes it as Caffe does."""
        return self.kind not in NOT_IN_OPENCV and self.name not in OTHERWISE_IN_OPENCV


def channels(values):
    return np.asarray(values).reshape(1, -1, 1, 1)


def conv(x, w, b=None, stride=1, pad=0, dilation=1, group=1):
    w = np.asarray(w)
    pads = (pad, pad) if np.isscalar(pad) else pad
    x = np.pad(x, ((0, 0), (0, 0), (pads[0],) * 2, (pads[1],) * 2))
    n, _, h, wd = x.shape
    o, ci, kh, kw = w.shape
    oh, ow = ((d - (k - 1) * dilation - 1) // stride + 1 for d, k in ((h, kh), (wd, kw)))
    y = np.zeros((n, o, oh, ow))
    for g in range(group):
        rows = slice(g * o // group, (g + 1) * o // group)
        part = x[:, g * ci:(g + 1) * ci]
        for i in range(kh):
            for j in range(kw):
                top, left = i * dilation, j * dilation
                window = part[:, :, top:top + (oh - 1) * stride + 1:stride,
                              left:left + (ow - 1) * stride + 1:stride]
                y[:, rows] += np.einsum("nchw,oc->nohw", window, w[rows, :, i, j])
    return y if b is None else y + channels(b)


def deconv(x, w, b, stride, pad):
    n, c, h, wd = x.shape
    _, o, k, _ = w.shape
    y = np.zeros((n, o, (h - 1) * stride + k, (wd - 1) * stride + k))
    for i in range(h):
        for j in range(wd):
            y[:, :, i * stride:i * stride + k, j * stride:j * stride + k] += np.einsum(
                "nc,cohw->nohw", x[:, :, i, j], w)
    return y[:, :, pad:y.shape[2] - pad, pad:y.shape[3] - pad] + channels(b)


def pool(x, kernel, stride, pad, kind, ceil=True):
    n, c, h, w = x.shape
    around = math.ceil if ceil else math.floor

    def count(extent):
        windows = around((extent + 2 * pad - kernel) / stride) + 1
        return windows - (pad > 0 and (windows - 1) * stride >= extent + pad)

    y = np.zeros((n, c, count(h), count(w)))
    for i in range(y.shape[2]):
        for j in range(y.shape[3]):
            top, left = i * stride - pad, j * stride - pad
            bottom, right = min(top + kernel, h + pad), min(left + kernel, w + pad)
            area = (bottom - top) * (right - left)
            part = x[:, :, max(top, 0):min(bottom, h), max(left, 0):min(right, w)]
            y[:, :, i, j] = part.max((2, 3)) if kind == "MAX" else part.sum((2, 3)) / area
    return y


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def lrn(x, size, alpha, beta, k):
    y = np.zeros_like(x)
    for c in range(x.shape[1]):
        near = x[:, max(0, c - size // 2):c + size // 2 + 1]
        y[:, c] = x[:, c] / (k + alpha / size * (near ** 2).sum(1)) ** beta
    return y


def bilinear(x, height, width):
    def line(old, new):
        at = np.arange(new) * ((old - 1) / (new - 1) if new > 1 else 0)
        low = np.minimum(at.astype(int), old - 1)
        return low, np.minimum(low + 1, old - 1), at - low
    t, b, fy = line(x.shape[2], height)
    left, r, fx = line(x.shape[3], width)
    fy = fy[:, None]
    top = x[:, :, t][..., left] * (1 - fx) + x[:, :, t][..., r] * fx
    low = x[:, :, b][..., left] * (1 - fx) + x[:, :, b][..., r] * fx
    return top * (1 - fy) + low * fy


def reorg(x, s):
    n, c, h, w = x.shape
    out = np.zeros(n * c * h * w, np.float32)
    flat = x.reshape(n, -1)
    few = c // (s * s)
    for b in range(n):
        for k in range(c):
            for j in range(h):
                for i in range(w):
                    c2, offset = k % few, k // few
                    w2, h2 = i * s + offset % s, j * s + offset // s
                    out[((b * c + k) * h + j) * w + i] = flat[b, w2 + w * s * (h2 + h * s * c2)]
    return out.reshape(n, c * s * s, h // s, w // s)


def cases():
    rng = np.random.default_rng(7)

    def draw(*shape):
        return rng.standard_normal(shape).astype(np.float32)

    x = draw(2, 4, 7, 6)
    made = []

    def add(name, kind, text, inputs, expected, weights=()):
        expected = expected if isinstance(expected, list) else [expected]
        made.append(Case(name, kind, text, inputs, expected, list(weights)))

    # Windows
    w, b = draw(6, 4, 3, 3), draw(6)
    add("convolution", "Convolution", "convolution_param { num_output: 6 kernel_size: 3 }", [x],
        conv(x, w, b), [w, b])
    add("convolution_pad_stride", "Convolution",
        "convolution_param { num_output: 6 kernel_size: 3 pad: 1 stride: 2 bias_term: false }", [x],
        conv(x, w, None, 2, 1), [w])
    add("convolution_dilation", "Convolution",
        "convolution_param { num_output: 6 kernel_size: 3 pad: 2 dilation: 2 }", [x],
        conv(x, w, b, 1, 2, 2), [w, b])
    g = draw(6, 2, 3, 3)
    add("convolution_group", "Convolution",
        "convolution_param { num_output: 6 kernel_size: 3 group: 2 }", [x],
        conv(x, g, b, group=2), [g, b])
    u = draw(6, 4, 3, 1)
    add("convolution_kernel_h_w", "Convolution",
        "convolution_param { num_output: 6 kernel_h: 3 kernel_w: 1 pad_h: 1 pad_w: 0 }", [x],
        conv(x, u, b, 1, (1, 0)), [u, b])
    d = draw(4, 3, 4, 4)
    add("deconvolution", "Deconvolution",
        "convolution_param { num_output: 3 kernel_size: 4 stride: 2 pad: 1 }", [x],
        deconv(x, d, b[:3], 2, 1), [d, b[:3]])
    add("convolution_of_two_bottoms", "Convolution",
        "convolution_param { num_output: 6 kernel_size: 3 }", [x, x + 1],
        [conv(x, w, b), conv(x + 1, w, b)], [w, b])
    add("pooling_drops_windows_behind_the_end_when_one_axis_has_padding", "Pooling",
        "pooling_param { kernel_h: 3 kernel_w: 2 stride_h: 2 stride_w: 3 pad_h: 1 }", [x],
        np.stack([np.stack([x[:, :, max(i, 0):i + 3, j:j + 2].max((2, 3)) for j in (0, 3)], -1)
                  for i in (-1, 1, 3, 5)], -2))
    corner = x[:, :, :2, :2]
    add("pooling_of_a_kernel_larger_than_the_picture", "Pooling",
        "pooling_param { pool: AVE kernel_size: 3 stride: 2 }", [corner],
        corner.mean((2, 3), keepdims=True))
    for kind in ("MAX", "AVE"):
        for kernel, stride, pad in ((2, 2, 0), (3, 2, 0), (3, 2, 1), (3, 1, 1)):
            text = f"pool: {kind} kernel_size: {kernel} stride: {stride} pad: {pad}"
            add(f"pooling_{kind}_{kernel}_{stride}_{pad}", "Pooling",
                f"pooling_param {{ {text} }}", [x], pool(x, kernel, stride, pad, kind))
        add(f"pooling_{kind}_global", "Pooling",
            f"pooling_param {{ pool: {kind} global_pooling: true }}", [x],
            x.max((2, 3), keepdims=True) if kind == "MAX" else x.mean((2, 3), keepdims=True))
    add("pooling_floor", "Pooling",
        "pooling_param { pool: MAX kernel_size: 2 stride: 2 round_mode: FLOOR }", [x],
        pool(x, 2, 2, 0, "MAX", ceil=False))
    f, fb = draw(5, 4 * 7 * 6), draw(5)
    flat = x.reshape(2, -1)
    add("inner_product", "InnerProduct", "inner_product_param { num_output: 5 }", [x],
        flat @ f.T + fb, [f, fb])
    add("inner_product_transpose", "InnerProduct",
        "inner_product_param { num_output: 5 transpose: true bias_term: false }", [x], flat @ f.T,
        [f.T])
    a = draw(5, 6)
    add("inner_product_axis", "InnerProduct", "inner_product_param { num_output: 5 axis: -1 }", [x],
        x @ a.T + fb, [a, fb])
    columns = np.stack([np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))[:, :, i:i + 7, j:j + 6]
                        for i in range(3) for j in range(3)], 2).reshape(2, 36, 7, 6)
    add("im2col", "Im2col", "convolution_param { kernel_size: 3 pad: 1 }", [x], columns)
    s = draw(1, 2, 8, 8)
    add("spp", "SPP", "spp_param { pyramid_height: 2 pool: MAX }", [s],
        np.concatenate([s.max((2, 3)).reshape(1, -1), pool(s, 4, 4, 0, "MAX").reshape(1, -1)], 1))

    # One element in, one out
    positive = np.abs(x) + 0.5
    add("relu", "ReLU", "", [x], np.maximum(x, 0))
    add("relu_slope", "ReLU", "relu_param { negative_slope: 0.1 }", [
        x], np.where(x > 0, x, 0.1 * x))
    add("relu6", "ReLU6", "", [4 * x], np.clip(4 * x, 0, 6))
    p = np.abs(draw(4))
    add("prelu", "PReLU", "", [x], np.where(x > 0, x, x * channels(p)), [p])
    add("prelu_shared", "PReLU", "prelu_param { channel_shared: true }", [x],
        np.where(x > 0, x, x * p[0]), [p[:1]])
    add("elu", "ELU", "elu_param { alpha: 1 }", [x],
        np.where(x > 0, x, np.exp(x) - 1))
    add("sigmoid", "Sigmoid", "", [x], 1 / (1 + np.exp(-x)))
    add("tanh", "TanH", "", [x], np.tanh(x))
    add("absval", "AbsVal", "", [x], np.abs(x))
    add("bnll", "BNLL", "", [x], np.log1p(np.exp(x)))
    add("exp", "Exp", "", [x], np.exp(x))
    add("exp_base", "Exp", "exp_param { base: 2 scale: 0.5 shift: 1 }", [x], 2 ** (0.5 * x + 1))
    add("log", "Log", "log_param { base: 10 scale: 2 shift: 1 }", [positive],
        np.log10(2 * positive + 1))
    add("power", "Power", "power_param { power: 2 scale: 0.5 shift: 1 }", [x], (0.5 * x + 1) ** 2)
    add("power_shift", "Power", "power_param { shift: 1 }", [x], x + 1)
    add("power_nothing", "Power", "", [x], x)
    add("power_fraction", "Power", "power_param { power: 0.3 }", [positive], positive ** 0.3)
    add("threshold", "Threshold", "threshold_param { threshold: 0.2 }", [x],
        (x > 0.2).astype(np.float32))
    add("dropout", "Dropout", "dropout_param { dropout_ratio: 0.5 }", [x], x)
    add("split", "Split", "", [x], [x, x])

    # Normalisation and arithmetic
    mean, var = draw(4), np.abs(draw(4)) + 0.5
    add("batch_norm", "BatchNorm", "batch_norm_param { eps: 0.001 }", [x],
        (x - channels(mean / 4)) / np.sqrt(channels(var / 4) + 0.001), [mean, var, [4.0]])
    centred = x - x.mean((0, 2, 3), keepdims=True)
    add("batch_norm_of_the_batch", "BatchNorm", "batch_norm_param { use_global_stats: false }", [x],
        centred / np.sqrt((centred ** 2).mean((0, 2, 3), keepdims=True) + 1e-5),
        [mean, var, [4.0]])
    k, kb = draw(4), draw(4)
    add("scale", "Scale", "", [x], x * channels(k), [k])
    add("scale_bias", "Scale", "scale_param { bias_term: true }", [
        x], x * channels(k) + channels(kb), [k, kb])
    last = draw(6)
    add("scale_last_axis", "Scale", "scale_param { axis: -1 }", [x], x * last, [last])
    both = draw(4, 7)
    add("scale_two_axes", "Scale", "scale_param { axis: 1 num_axes: 2 }", [
        x], x * both[None, :, :, None], [both])
    per = draw(2, 4)
    add("scale_bottom", "Scale", "scale_param { axis: 0 }", [x, per], x * per[:, :, None, None])
    add("bias", "Bias", "", [x], x + channels(kb), [kb])
    z, v = draw(*x.shape), draw(*x.shape)
    add("eltwise_sum", "Eltwise", "", [x, z, v], x + z + v)
    add("eltwise_coeff", "Eltwise", "eltwise_param { operation: SUM coeff: 1 coeff: -0.5 }", [x, z],
        x - 0.5 * z)
    add("eltwise_prod", "Eltwise", "eltwise_param { operation: PROD }", [x, z, v], x * z * v)
    add("eltwise_max", "Eltwise", "eltwise_param { operation: MAX }", [x, z],
        np.maximum(x, z))
    add("softmax", "Softmax", "", [x], softmax(x, 1))
    add("softmax_axis", "Softmax", "softmax_param { axis: 2 }", [x], softmax(x, 2))
    for offset in (1, 2):
        add(f"lrn_across_{offset}", "LRN",
            f"lrn_param {{ local_size: 3 alpha: 0.1 beta: 0.75 k: {offset} }}", [x],
            lrn(x, 3, 0.1, 0.75, offset))
    square = np.stack([np.pad(x * x, ((0, 0), (0, 0), (1, 1), (1, 1)))[:, :, i:i + 7, j:j + 6]
                       for i in range(3) for j in range(3)]).mean(0)
    add("lrn_within", "LRN",
        "lrn_param { local_size: 3 alpha: 0.1 beta: 0.75 norm_region: WITHIN_CHANNEL }", [x],
        x / (1 + 0.1 * square) ** 0.75)
    add("normalize", "Normalize", "norm_param { across_spatial: false channel_shared: false }", [x],
        x / np.sqrt((x * x).sum(1, keepdims=True) + 1e-10) * channels(k), [k])
    add("normalize_all", "Normalize", "", [x],
        x / np.sqrt((x * x).sum((1, 2, 3), keepdims=True) + 1e-10) * k[0], [k[:1]])
    for across in (False, True):
        axes = (1, 2, 3) if across else (2, 3)
        centred = x - x.mean(axes, keepdims=True)
        add(f"mvn_{across}", "MVN", f"mvn_param {{ across_channels: {str(across).lower()} }}", [x],
            centred / (np.sqrt((centred ** 2).mean(axes, keepdims=True)) + 1e-9))
    for operation, function in (("SUM", np.sum), ("MEAN", np.mean)):
        add(f"reduction_{operation}", "Reduction",
            f"reduction_param {{ operation: {operation} axis: 1 coeff: 0.5 }}", [x],
            0.5 * function(x, (1, 2, 3)))
    add("reduction_ASUM", "Reduction", "reduction_param { operation: ASUM axis: 2 }", [x],
        np.abs(x).sum((2, 3)))
    add("reduction_SUMSQ", "Reduction", "reduction_param { operation: SUMSQ axis: 2 }", [x],
        (x * x).sum((2, 3)))
    add("argmax", "ArgMax", "", [x], flat.argmax(1).reshape(
        2, 1, 1, 1).astype(np.float32))
    add("argmax_rows", "ArgMax", "", [flat], flat.argmax(1).reshape(
        2, 1, 1).astype(np.float32))
    add("argmax_axis", "ArgMax", "argmax_param { axis: 1 }", [x],
        x.argmax(1)[:, None].astype(np.float32))
    best = np.argsort(-flat, 1)[:, :3]
    add("argmax_values", "ArgMax", "argmax_param { top_k: 3 out_max_val: true }", [x],
        np.stack([best, np.take_along_axis(flat, best, 1)], 1)[..., None].astype(np.float32))
    equal = np.array([[3, 7, 7, 1, 7]], np.float32)
    add("argmax_takes_the_last_of_equals", "ArgMax", "argmax_param { top_k: 4 }", [equal],
        np.array([[[4, 2, 1, 0]]], np.float32))
    add_moves(add, draw, x, z)
    return made


def add_moves(add, draw, x, z):
    """Layers that move elements, and those of detectors."""
    add("concat", "Concat", "", [x, z], np.concatenate([x, z], 1))
    add("concat_axis", "Concat", "concat_param { axis: 2 }", [x, z], np.concatenate([x, z], 2))
    add("slice", "Slice", "", [x], [x[:, :2], x[:, 2:]])
    add("slice_points", "Slice", "slice_param { axis: 2 slice_point: 1 slice_point: 4 }", [x],
        [x[:, :, :1], x[:, :, 1:4], x[:, :, 4:]])
    add("flatten", "Flatten", "", [x], x.reshape(2, -1))
    add("flatten_axes", "Flatten",
        "flatten_param { axis: 2 end_axis: 3 }", [x], x.reshape(2, 4, 42))
    add("reshape", "Reshape", "reshape_param { shape { dim: 0 dim: 2 dim: -1 } }", [x],
        x.reshape(2, 2, -1))
    add("reshape_axes", "Reshape", "reshape_param { shape { dim: 2 dim: -1 } axis: 1 num_axes: 1 }",
        [x], x.reshape(2, 2, 2, 7, 6))
    add("permute", "Permute", "permute_param { order: 0 order: 2 order: 3 order: 1 }", [x],
        x.transpose(0, 2, 3, 1))
    add("crop", "Crop", "crop_param { axis: 2 offset: 1 offset: 2 }", [x, draw(2, 4, 3, 4)],
        x[:, :, 1:4, 2:6])
    add("tile", "Tile", "tile_param { axis: 1 tiles: 3 }", [x], np.tile(x, (1, 3, 1, 1)))
    table, extra = draw(9, 5), draw(5)
    rows = np.array([[3, 0, 8]], np.float32)
    add("embed", "Embed", "embed_param { num_output: 5 input_dim: 9 }", [rows],
        table[rows.astype(int)] + extra, [table, extra])
    add("batch_reindex", "BatchReindex", "", [x, np.array([1, 1, 0], np.float32)], x[[1, 1, 0]])
    add("shuffle_channel", "ShuffleChannel", "shuffle_channel_param { group: 2 }", [x],
        x.reshape(2, 2, 2, 7, 6).transpose(0, 2, 1, 3, 4).reshape(x.shape))
    deep = draw(1, 8, 4, 6)
    add("reorg", "Reorg", "reorg_param { stride: 2 }", [deep], reorg(deep, 2))
    blocks = deep.reshape(1, 2, 2, 2, 4, 6).transpose(0, 3, 4, 1, 5, 2)
    add("reorg_reverse", "Reorg", "reorg_param { stride: 2 reverse: true }", [deep],
        blocks.reshape(1, 2, 8, 12))
    add("interp", "Interp", "interp_param { height: 13 width: 9 }", [x], bilinear(x, 13, 9))
    add("interp_zoom", "Interp", "interp_param { zoom_factor: 2 pad_end: -1 }", [x],
        bilinear(x[:, :, :-1, :-1], 11, 9))
    add("upsample", "Upsample", "upsample_param { scale: 2 }", [x], x.repeat(2, 2).repeat(2, 3))
    add("upsample_darknet", "Upsample", "upsample_param { stride: 3 scale: 0.5 }", [x],
        x.repeat(3, 2).repeat(3, 3) * 0.5)
    add("upsample_segnet", "Upsample", "upsample_param { scale: 2 pad_out_h: true }", [x],
        x.repeat(2, 2).repeat(2, 3)[:, :, :-1])
    feature, image = draw(1, 2, 2, 3), draw(1, 3, 20, 30)
    add("prior_box", "PriorBox",
        "prior_box_param { min_size: 5 max_size: 8 aspect_ratio: 2 flip: true clip: true "
        "variance: 0.1 variance: 0.1 variance: 0.2 variance: 0.2 }", [feature, image],
        prior_boxes(2, 3, 20, 30, 5, 8, [2, 0.5], [0.1, 0.1, 0.2, 0.2]))
    rois = np.array([[0, 0, 0, 11, 13], [1, 4, 2, 9, 6], [1, 3, 3, 3, 3]], np.float32)
    add("roi_pooling", "ROIPooling",
        "roi_pooling_param { pooled_h: 2 pooled_w: 3 spatial_scale: 0.5 }", [x, rois],
        roi_pool(x, rois, 2, 3, 0.5))
    wide = draw(2, 8, 7, 6)
    add("psroi_pooling", "PSROIPooling",
        "psroi_pooling_param { output_dim: 2 group_size: 2 spatial_scale: 0.5 }", [wide, rois],
        ps_roi_pool(wide, rois, 2, 2, 0.5))
    add_yolo(add, draw)
    steps, cont = draw(5, 2, 3), np.array([[0, 1], [1, 1], [1, 0], [0, 1], [1, 1]], np.float32)
    weights = [draw(16, 3), draw(16), draw(16, 4)]
    add("lstm", "LSTM", "recurrent_param { num_output: 4 }", [steps, cont],
        lstm(steps, cont, *weights)[0], weights)
    same, more = draw(2, 6), draw(16, 6)
    with_same = [*weights[:2], more, weights[2]]
    add("lstm_static_input", "LSTM", "recurrent_param { num_output: 4 }", [steps, cont, same],
        lstm(steps, cont, *weights, same @ more.T)[0], with_same)
    state = [draw(1, 2, 4), draw(1, 2, 4)]
    exposed = "recurrent_param { num_output: 4 expose_hidden: true }"
    add("lstm_exposed_state", "LSTM", exposed, [steps, cont, *state],
        lstm(steps, cont, *weights, 0, *state), weights)
    add("lstm_static_input_and_exposed_state", "LSTM", exposed, [steps, cont, same, *state],
        lstm(steps, cont, *weights, same @ more.T, *state), with_same)


def add_yolo(add, draw):
    """The last layer of YOLO networks: 2 boxes of 4 coordinates, objectness and 3 classes."""
    x = draw(2, 16, 3, 5)

    def sigmoid(v):
        return 1 / (1 + np.exp(-v))

    def softmax(v):
        e = np.exp(v - v.max(2, keepdims=True))
        return e / e.sum(2, keepdims=True)

    def parts(classes, background=False):
        rows = x.reshape(2, 2, 8, 15)
        coords = np.concatenate([sigmoid(rows[:, :, :2]), rows[:, :, 2:4]], 2)
        if background:
            shares = softmax(rows[:, :, 4:])
            return coords, shares[:, :, :1], shares[:, :, 1:]
        return coords, sigmoid(rows[:, :, 4:5]), classes(rows[:, :, 5:])

    def one(*made):
        return np.concatenate(made, 2).reshape(x.shape)

    def three(coords, objects, classes):
        return [coords.reshape(2, 8, 15), objects.reshape(2, 30),
                classes.transpose(0, 2, 1, 3).reshape(2, 3, 30)]

    size = "boxes: 2 classes: 3"
    add("region", "Region", f"region_param {{ {size} }}", [x], one(*parts(softmax)))
    add("yolo_region", "YoloRegion", "yolo_region_param { num: 2 classes: 3 softmax: false }",
        [x], one(*parts(sigmoid)))
    add("yolo", "Yolo", f"yolo_param {{ {size} }}", [x], one(*parts(sigmoid)))
    add("yolo_tops", "Yolo", f"yolo_param {{ {size} }}", [x], three(*parts(sigmoid)))
    add("yolo_v2_tops", "Yolo", f"yolo_param {{ {size} yolo_version: 'V2' }}", [x],
        three(*parts(softmax)))
    add("region_background", "Region", f"region_param {{ {size} background: true }}", [x],
        one(*parts(softmax, background=True)))


def roi_pool(x, rois, bins_h, bins_w, scale):
    y = np.zeros((len(rois), x.shape[1], bins_h, bins_w), np.float32)

    def bins(start, stop, count, extent):
        start, stop = math.floor(start * scale + 0.5), math.floor(stop * scale + 0.5)
        size = max(stop - start + 1, 1) / count
        for i in range(count):
            ends = math.floor(i * size) + start, math.ceil((i + 1) * size) + start
            yield [min(max(end, 0), extent) for end in ends]

    for r, (image, x1, y1, x2, y2) in enumerate(rois):
        for i, (top, bottom) in enumerate(bins(y1, y2, bins_h, x.shape[2])):
            for j, (left, right) in enumerate(bins(x1, x2, bins_w, x.shape[3])):
                part = x[int(image), :, top:bottom, left:right]
                if part.size:
                    y[r, :, i, j] = part.max((1, 2))
    return y


def ps_roi_pool(x, rois, outputs, group, scale):
    y = np.zeros((len(rois), outputs, group, group), np.float32)

    def bins(start, stop, extent):
        start, stop = math.floor(start + 0.5) * scale, (math.floor(stop + 0.5) + 1) * scale
        size = max(stop - start, 0.1) / group
        for i in range(group):
            ends = math.floor(i * size + start), math.ceil((i + 1) * size + start)
            yield [min(max(end, 0), extent) for end in ends]

    for r, (image, x1, y1, x2, y2) in enumerate(rois):
        for i, (top, bottom) in enumerate(bins(y1, y2, x.shape[2])):
            for j, (left, right) in enumerate(bins(x1, x2, x.shape[3])):
                for c in range(outputs):
                    part = x[int(image), (c * group + i) * group + j, top:bottom, left:right]
                    y[r, c, i, j] = part.mean() if part.size else 0
    return y


def lstm(x, cont, w, b, u, same=0, hidden=0, memory=0):
    """All hidden states, and the last state."""
    hidden, memory = (np.zeros((x.shape[1], u.shape[1])) + v for v in (hidden, memory))
    hidden, memory = (v.reshape(-1, u.shape[1]) for v in (hidden, memory))
    out = []
    for t, row in enumerate(cont):
        gates = x[t] @ w.T + b + same + (row[:, None] * hidden) @ u.T
        i, f, o, g = np.split(gates, 4, 1)
        i, f, o = (1 / (1 + np.exp(-v)) for v in (i, f, o))
        memory = row[:, None] * f * memory + i * np.tanh(g)
        hidden = o * np.tanh(memory)
        out.append(hidden)
    return [np.stack(out), hidden[None], memory[None]]


def prior_boxes(height, width, image_h, image_w, least, most, ratios, variance):
    boxes = []
    for i in range(height):
        for j in range(width):
            y, x = (i + 0.5) * image_h / height, (j + 0.5) * image_w / width
            sizes = [(least, least), (math.sqrt(least * most),) * 2]
            sizes += [(least * math.sqrt(r), least / math.sqrt(r)) for r in ratios]
            boxes += [[(x - w / 2) / image_w, (y - h / 2) / image_h, (x + w / 2) / image_w,
                       (y + h / 2) / image_h] for w, h in sizes]
    boxes = np.clip(np.array(boxes), 0, 1)
    return np.stack([boxes.ravel(), np.tile(variance, len(boxes))])[None].astype(np.float32)
