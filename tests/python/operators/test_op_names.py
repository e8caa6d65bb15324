# SPDX-License-Identifier: Apache-2.0
"""Every operator under its vendor's name, against numpy."""
import math

import numpy as np
import pytest
import single_op
from single_op import HWCN, NCHW, NHWC

RNG = np.random.default_rng(3)
F, H, I32, L = np.float32, np.float16, np.int32, np.int64
X = RNG.standard_normal((3, 5)).astype(F)
Y = (RNG.standard_normal((3, 5)) + 3).astype(F)
U = RNG.uniform(-0.9, 0.9, (2, 7)).astype(F)
P = RNG.uniform(0.1, 4, (2, 7)).astype(F)
A, B = RNG.integers(-9, 9, (3, 5)).astype(I32), RNG.integers(1, 9, (3, 5)).astype(I32)
T = RNG.standard_normal((2, 3, 4)).astype(F)
IMG = RNG.standard_normal((2, 3, 6, 5)).astype(F)
FLAG = np.array([[True, False, True], [False, False, True]])
erf = np.vectorize(math.erf)

pytestmark = pytest.mark.usefixtures("runtime")


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def like(*arrays):
    return [np.asarray(a) for a in arrays]


class Unary(tuple):
    """A case of one input that keeps its function, for other values (test_op_exactness.py)."""


def unary(function, x=X):
    case = Unary(([x], [function(x)], {}))
    case.function = function
    return case


def i32(*values):
    return np.array(values, I32)


def conv(x, w, pad=0, stride=1, groups=1):
    """Pads add nothing: an infinite weight over them gives no NaN."""
    n, c, h, wid = x.shape
    o, ci, kh, kw = w.shape
    oh, ow = (h + 2 * pad - kh) // stride + 1, (wid + 2 * pad - kw) // stride + 1
    out = np.zeros((n, o, oh, ow), np.float64)
    per = o // groups
    for g in range(groups):
        xs = x[:, g * ci:(g + 1) * ci]
        for i in range(oh):
            for j in range(ow):
                y, z = i * stride - pad, j * stride - pad
                patch = xs[:, :, max(y, 0):y + kh, max(z, 0):z + kw]
                under = w[g * per:(g + 1) * per, :, max(-y, 0):h - y, max(-z, 0):wid - z]
                out[:, g * per:(g + 1) * per, i, j] = np.einsum(
                    "nchw,ochw->no", patch, under, dtype=np.float64)
    return out.astype(x.dtype)


def pool(x, size, function):
    n, c, h, w = x.shape
    x = x[:, :, : h // size * size, : w // size * size]
    return function(x.reshape(n, c, h // size, size, w // size, size), axis=(3, 5))


W33 = RNG.standard_normal((4, 3, 3, 3)).astype(F)
DW = RNG.standard_normal((3, 1, 3, 3)).astype(F)
SCALE, OFFSET = RNG.standard_normal(3).astype(F), RNG.standard_normal(3).astype(F)
MEAN, VARIANCE = RNG.standard_normal(3).astype(F), RNG.uniform(0.5, 2, 3).astype(F)


def chan(v):
    return v.reshape(1, -1, 1, 1)


BN = (IMG - chan(MEAN)) / np.sqrt(chan(VARIANCE) + 1e-3) * chan(SCALE) + chan(OFFSET)
GAMMA, BETA = RNG.standard_normal(4).astype(F), RNG.standard_normal(4).astype(F)
LN_MEAN, LN_VAR = T.mean(-1, keepdims=True), T.var(-1, keepdims=True)
LN = (T - LN_MEAN) / np.sqrt(LN_VAR + 1e-5) * GAMMA + BETA
IDX = np.array([[2, 0], [1, 1]], I32)
# NaN is the largest.
ORDER = np.argsort(np.where(np.isnan(X), -np.inf, -X), axis=-1, kind="stable")[:, :2].astype(I32)
TOP = np.take_along_axis(X, ORDER, -1), ORDER
NZ = np.argwhere(A[0] != 0)

# name -> (inputs, outputs, attributes[, constant inputs[, input formats, output formats]])
CASES = {
    "Abs": unary(np.abs), "Acos": unary(np.arccos, U), "Acosh": unary(np.arccosh, P + 1),
    "Asin": unary(np.arcsin, U), "Asinh": unary(np.arcsinh), "Atan": unary(np.arctan),
    "Atanh": unary(np.arctanh, U), "Ceil": unary(np.ceil), "Cos": unary(np.cos),
    "Cosh": unary(np.cosh), "Erf": unary(lambda x: erf(x).astype(F)), "Floor": unary(np.floor),
    "HardSwish": unary(lambda x: x * np.clip(x + 3, 0, 6) / 6), "Identity": unary(lambda x: x),
    "Inv": unary(lambda x: 1 / x), "Invert": unary(np.invert, A),
    "IsInf": unary(np.isinf, np.array([1, np.inf, -np.inf, np.nan], F)),
    "IsNan": unary(np.isnan, np.array([1, np.inf, np.nan], F)),
    "LogicalNot": unary(np.logical_not, FLAG),
    "Mish": unary(lambda x: x * np.tanh(np.log1p(np.exp(x)))), "Neg": unary(np.negative),
    "Reciprocal": unary(lambda x: 1 / x), "Relu": unary(lambda x: np.maximum(x, 0)),
    "ReluV2": unary(lambda x: np.maximum(x, 0)), "Rint": unary(np.rint), "Round": unary(np.rint),
    "Selu": unary(lambda x: np.where(x > 0, 1.0507009873554805 * x, 1.0507009873554805
                                     * 1.6732632423543772 * (np.exp(x) - 1)).astype(F)),
    "Sigmoid": unary(sigmoid), "Sign": unary(np.sign), "Sin": unary(np.sin),
    "Sinh": unary(np.sinh), "Softplus": unary(lambda x: np.logaddexp(x, 0)),
    "SoftplusV2": unary(lambda x: np.logaddexp(x, 0)),
    "Softsign": unary(lambda x: x / (1 + np.abs(x))), "Sqrt": unary(np.sqrt, P),
    "Tan": unary(np.tan), "Tanh": unary(np.tanh),
    "Cast": ([X], [X.astype(H)], {"dst_type": 1}),
    "Celu": ([X], [np.maximum(X, 0) + np.minimum(0, 2 * (np.exp(X / 2) - 1))], {"alpha1": 2.0}),
    "CeluV2": ([X], [np.maximum(X, 0) + np.minimum(0, 2 * (np.exp(X / 2) - 1))], {"alpha": 2.0}),
    "ClipByValue": ([X, F(-0.5), F(0.5)], [np.clip(X, -0.5, 0.5)], {}),
    "ClipByValueV2": ([X, F(-0.5), F(0.5)], [np.clip(X, -0.5, 0.5)], {}),
    "Elu": ([X], [np.where(X > 0, X, 0.5 * (np.exp(X) - 1)).astype(F)], {"alpha": 0.5}),
    "Erfc": unary(lambda x: (1 - erf(x)).astype(F)),
    "Exp": ([X], [np.exp2(X * 0.5 + 1).astype(F)], {"base": 2.0, "scale": 0.5, "shift": 1.0}),
    "Expm1": unary(np.expm1), "FastGelu": unary(lambda x: x * sigmoid(F(1.702) * x)),
    "FastGeluV2": unary(lambda x: x * sigmoid(F(1.702) * x)),
    "Gelu": unary(lambda x: (0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (
        x + 0.044715 * x**3)))).astype(F)),
    "GeluV2": unary(lambda x: (0.5 * x * (1 + erf(x / math.sqrt(2)))).astype(F)),
    "HardShrink": unary(lambda x: np.where(np.abs(x) > 0.5, x, 0).astype(F)),
    "HardSigmoid": ([X], [np.clip(0.2 * X + 0.5, 0, 1)], {"alpha": 0.2, "beta": 0.5}),
    "HardtanhV2": ([X], [np.clip(X, -1, 1)], {"min": -1.0, "max": 1.0}),
    "IsFinite": unary(np.isfinite, np.array([1, np.inf, np.nan], F)),
    "LeakyRelu": ([X], [np.where(X > 0, X, F(0.1) * X)], {"negative_slope": 0.1}),
    "Log": ([P], [np.log2(P)], {"base": 2.0}), "Log1p": unary(np.log1p, P),
    "OnesLike": unary(np.ones_like), "ZerosLike": unary(np.zeros_like),
    "Power": ([P], [(P * 2 + 1) ** 3], {"power": 3.0, "scale": 2.0, "shift": 1.0}),
    "PRelu": ([IMG, SCALE], [np.where(IMG > 0, IMG, chan(SCALE) * IMG)], {}),
    "Relu6": unary(lambda x: np.clip(x * 1, 0, 6), X * 5),
    "Rsqrt": unary(lambda x: 1 / np.sqrt(x), P),
    "Shrink": ([X], [np.where(X > 0.5, X - 0.1, np.where(X < -0.5, X + 0.1, 0)).astype(F)],
               {"lambd": 0.5, "bias": 0.1}),
    "SoftShrink": unary(lambda x: (np.sign(x) * np.maximum(np.abs(x) - 0.5, 0)).astype(F)),
    "Square": unary(np.square), "Swish": ([X], [X * sigmoid(2 * X)], {"scale": 2.0}),
    "Threshold": ([X], [(X > 0.3).astype(F)], {"threshold": 0.3}),
    "ThresholdV2": ([X, F(0.3), F(7)], [np.where(X > F(0.3), X, F(7))], {}),
    "AscendQuant": ([X], [np.clip(np.rint(X * 10 + 3), -128, 127).astype(np.int8)],
                    {"scale": 10.0, "offset": 3.0}),
    "Add": ([X, Y[0]], [X + Y[0]], {}), "AddV2": ([A, B], [A + B], {}),
    "BitwiseAnd": ([A, B], [A & B], {}), "BitwiseOr": ([A, B], [A | B], {}),
    "BitwiseXor": ([A, B], [A ^ B], {}),
    "Div": ([X, Y], [X / Y], {}), "Equal": ([A, B], [A == B], {}),
    "Greater": ([X, Y], [X > Y], {}), "GreaterEqual": ([A, B], [A >= B], {}),
    "Less": ([X, Y], [X < Y], {}), "LessEqual": ([A, B], [A <= B], {}),
    "LogicalAnd": ([FLAG, FLAG[:1]], [FLAG & FLAG[:1]], {}),
    "LogicalOr": ([FLAG, FLAG[:1]], [FLAG | FLAG[:1]], {}),
    "LogicalXor": ([FLAG, FLAG[:1]], [FLAG ^ FLAG[:1]], {}),
    "Maximum": ([X, Y], [np.maximum(X, Y)], {}), "Minimum": ([X, Y], [np.minimum(X, Y)], {}),
    "Mul": ([X, Y], [X * Y], {}), "Pow": ([P, P], [P**P], {}), "RealDiv": ([X, Y], [X / Y], {}),
    "Sub": ([X, Y], [X - Y], {}), "AddN": ([X, Y, X], [X + Y + X], {"N": 3}),
    "AccumulateNV2": ([X, Y], [X + Y], {"N": 2}),
    "Addcdiv": ([X, X, Y, F(2)], [X + 2 * (X / Y)], {}),
    "Addcmul": ([X, X, Y, F(2)], [X + 2 * (X * Y)], {}),
    "Adds": ([X], [X + F(1.5)], {"value": 1.5}), "Muls": ([X], [X * F(1.5)], {"value": 1.5}),
    "Axpy": ([X, Y], [X + 2 * Y], {"alpha": 2.0}), "AxpyV2": ([X, Y, F(2)], [X + 2 * Y], {}),
    "Bias": ([IMG, SCALE], [IMG + chan(SCALE)], {"axis": 1}),
    "BiasAdd": ([IMG, SCALE], [IMG + chan(SCALE)], {"data_format": "NCHW"}, (), [NCHW, 2], [NCHW]),
    "DivNoNan": ([X, np.where(X > 0, X, 0)], [(X > 0).astype(F)], {}),
    "FloorDiv": ([A, B], [A // B], {}), "FloorMod": ([A, B], [np.mod(A, B)], {}),
    "Lerp": ([X, Y, F(0.25)], [X + F(0.25) * (Y - X)], {}), "Mod": ([A, B], [np.fmod(A, B)], {}),
    "NotEqual": ([A, B], [A != B], {}),
    "Scale": ([IMG, SCALE, OFFSET], [IMG * chan(SCALE) + chan(OFFSET)], {"axis": 1}),
    "SquaredDifference": ([X, Y], [(X - Y) ** 2], {}),
    "TruncateDiv": ([A, B], [np.trunc(A / B).astype(I32)], {}),
    "TruncateMod": ([A, B], [np.fmod(A, B)], {}),
    "ReduceL1": ([T, i32(1)], [np.abs(T).sum(1)], {}, (1,)),
    "ReduceL2": ([T, i32(1)], [np.sqrt((T * T).sum(1))], {}, (1,)),
    "ReduceLogSum": ([np.abs(T), i32(2)], [np.log(np.abs(T).sum(2))], {}, (1,)),
    "ReduceLogSumExp": ([T, i32(2)], [np.log(np.exp(T).sum(2))], {}, (1,)),
    "ReduceMax": ([T, i32(0, 2)], [T.max((0, 2))], {}, (1,)),
    "ReduceMaxD": ([T], [T.max((0, 2), keepdims=True)], {"axes": [0, 2], "keep_dims": True}),
    "ReduceMean": ([T, i32(-1)], [T.mean(-1)], {}, (1,)),
    "ReduceMeanD": ([T], [T.mean(1)], {"axes": [1], "keep_dims": False}),
    "ReduceMin": ([T, i32(1)], [T.min(1)], {}, (1,)),
    "ReduceMinD": ([T], [T.min(1)], {"axes": [1]}),
    "ReduceProd": ([T, i32(1)], [T.prod(1)], {}, (1,)),
    "ReduceProdD": ([T], [T.prod(1)], {"axes": [1]}),
    "ReduceSum": ([T, i32(1)], [T.sum(1)], {}, (1,)),
    "ReduceSumD": ([T], [T.sum((1, 2))], {"axes": [1, 2]}),
    "ReduceAll": ([FLAG, i32(1)], [FLAG.all(1)], {}, (1,)),
    "ReduceAllD": ([FLAG], [FLAG.all(0)], {"axes": [0]}),
    "ReduceAny": ([FLAG, i32(1)], [FLAG.any(1)], {}, (1,)),
    "ReduceAnyD": ([FLAG], [FLAG.any(0)], {"axes": [0]}),
    "Reduction": ([T], [(T * T).sum((1, 2)) * 2], {"operation": "SUMSQ", "axis": 1, "coeff": 2.0}),
    "Cumsum": ([T, np.array(1, I32)], [T.cumsum(1)], {}, (1,)),
    "CumsumD": ([T], [T[:, ::-1].cumsum(1)[:, ::-1]], {"axis": 1, "reverse": True}),
    "ArgMax": ([T, np.array(1, I32)], [T.argmax(1).astype(I32)], {}, (1,)),
    "ArgMaxD": ([T], [T.argmax(2).astype(I32)], {"dimension": 2}),
    "ArgMaxV2": ([T, np.array(0, I32)], [T.argmax(0).astype(L)], {}, (1,)),
    "ArgMaxWithValue": ([T], [T.argmax(1).astype(I32), T.max(1)], {"dimension": 1}),
    "ArgMin": ([T, np.array(1, I32)], [T.argmin(1).astype(I32)], {}, (1,)),
    "ArgMinD": ([T], [T.argmin(1).astype(I32)], {"dimension": 1}),
    "ArgMinWithValue": ([T], [T.argmin(1).astype(I32), T.min(1)], {"dimension": 1}),
    "TopK": ([X, i32(2)], list(TOP), {}, (1,)), "TopKV2": ([X, i32(2)], list(TOP), {}, (1,)),
    "TopKD": ([X, np.zeros(8, H)], list(TOP), {"k": 2}),
    "L2Loss": ([X], [np.array((X * X).sum() / 2, F)], {}),
    "LpNormReduceV2": ([X], [(np.abs(X) ** 3).sum(-1)], {"p": 3.0, "axes": [-1], "keepdim": False}),
    "LpNormUpdateV2": ([np.abs(X)], [np.abs(X) ** (1 / 3)], {"p": 3.0}),
    "L2Normalize": ([X], [X / np.sqrt((X * X).sum(1, keepdims=True))], {"axis": [1], "eps": 1e-9}),
    "BatchMatMul": ([T, T], [T @ T.transpose(0, 2, 1)], {"adj_x2": True}),
    "BatchMatMulV2": ([T, T], [T.transpose(0, 2, 1) @ T], {"adj_x1": True}),
    "Einsum": ([T, T], [np.einsum("bij,bkj->bik", T, T)], {"equation": "bij,bkj->bik", "N": 2}),
    "FullyConnection": ([T, RNG.standard_normal((6, 12)).astype(F)], None,
                        {"num_output": 6, "axis": 1}),
    "GEMM": ([X, Y.T, np.ones((3, 3), F), F(2), F(3)], [2 * (X @ Y.T) + 3], {}),
    "MatMul": ([X, Y], [X.T @ Y], {"transpose_x1": True, "transpose_x2": False}),
    "MatMulV2": ([X, Y, SCALE], [X @ Y.T + SCALE], {"transpose_x2": True}),
    "MatMulV3": ([X, Y.T], [X @ Y.T], {}),
    "AvgPool": ([IMG], [pool(IMG, 2, np.mean)],
                {"ksize": [1, 1, 2, 2], "strides": [1, 1, 2, 2], "padding": "VALID",
                 "data_format": "NCHW"}, (), [NCHW], [NCHW]),
    "AvgPoolV2": ([IMG], [pool(IMG, 2, np.mean)],
                  {"ksize": [1, 1, 2, 2], "strides": [1, 1, 2, 2], "padding_mode": "VALID"}, (),
                  [NCHW], [NCHW]),
    "Conv2D": ([IMG, W33], [conv(IMG, W33, 1, 2)],
               {"strides": [1, 1, 2, 2], "pads": [1, 1, 1, 1], "dilations": [1, 1, 1, 1],
                "data_format": "NCHW"}, (), [NCHW, NCHW], [NCHW]),
    "Conv3D": ([IMG[:, :, None], W33[:, :, None]], [conv(IMG, W33)[:, :, None]],
               {"strides": [1, 1, 1, 1, 1], "pads": [0] * 6}, (), [30, 30], [30]),
    "DepthToSpace": ([RNG.standard_normal((1, 8, 2, 3)).astype(F)], None, {"block_size": 2}, (),
                     [NCHW], [NCHW]),
    "SpaceToDepth": ([RNG.standard_normal((1, 2, 4, 6)).astype(F)], None, {"block_size": 2}, (),
                     [NCHW], [NCHW]),
    "DepthwiseConv2D": ([IMG, DW], [conv(IMG, DW, 0, 1, 3)],
                        {"strides": [1, 1, 1, 1], "pads": [0, 0, 0, 0], "data_format": "NCHW"}, (),
                        [NCHW, NCHW], [NCHW]),
    "Deconvolution": ([IMG[:, :, :2, :2], np.ones((3, 2, 2, 2), F)], None,
                      {"strides": [1, 1, 2, 2], "pads": [0, 0, 0, 0]}, (), [NCHW, NCHW], [NCHW]),
    "GlobalAveragePool": ([IMG], [IMG.mean((2, 3), keepdims=True)], {}, (), [NCHW], [NCHW]),
    "GlobalMaxPool": ([IMG], [IMG.max((2, 3), keepdims=True)], {}, (), [NCHW], [NCHW]),
    "MaxPool": ([IMG.transpose(0, 2, 3, 1)], [pool(IMG, 2, np.max).transpose(0, 2, 3, 1)],
                {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}, (), [NHWC],
                [NHWC]),
    "MaxPoolV2": ([IMG], [pool(IMG, 2, np.max)],
                  {"ksize": [1, 1, 2, 2], "strides": [1, 1, 2, 2], "padding": "VALID",
                   "data_format": "NCHW"}, (), [NCHW], [NCHW]),
    "MaxPoolV3": ([IMG], [pool(IMG, 2, np.max)],
                  {"ksize": [1, 1, 2, 2], "strides": [1, 1, 2, 2], "padding_mode": "VALID"}, (),
                  [NCHW], [NCHW]),
    "Pooling": ([IMG], [pool(IMG, 2, np.mean)],
                {"mode": 1, "window": [2, 2], "stride": [2, 2], "ceil_mode": 1}, (), [NCHW],
                [NCHW]),
    "ResizeNearestNeighborV2": ([IMG, i32(12, 10)], [IMG.repeat(2, 2).repeat(2, 3)], {}, (1,),
                                [NCHW, 2], [NCHW]),
    "ResizeNearestNeighborV2D": ([IMG], [IMG.repeat(2, 2).repeat(2, 3)], {"size": [12, 10]}, (),
                                 [NCHW], [NCHW]),
    "ResizeBilinearV2": ([IMG, i32(6, 5)], [IMG], {}, (1,), [NCHW, 2], [NCHW]),
    "ResizeBilinearV2D": ([IMG], [IMG], {"size": [6, 5]}, (), [NCHW], [NCHW]),
    "BatchNorm": ([IMG, SCALE, OFFSET, MEAN, VARIANCE], [BN, MEAN, VARIANCE, MEAN, VARIANCE],
                  {"epsilon": 1e-3, "is_training": False}, (), [NCHW, 2, 2, 2, 2],
                  [NCHW, 2, 2, 2, 2]),
    "BNInfer": ([IMG, MEAN, VARIANCE, np.ones(1, F), SCALE, OFFSET], [BN], {"epsilon": 1e-3}, (),
                [NCHW, 2, 2, 2, 2, 2], [NCHW]),
    "BNInference": ([IMG, MEAN * 2, VARIANCE * 2, np.full(1, 2, F), SCALE, OFFSET], [BN],
                    {"epsilon": 1e-3}, (), [NCHW, 2, 2, 2, 2, 2], [NCHW]),
    "BNInferenceD": ([IMG, MEAN, VARIANCE, SCALE, OFFSET], [BN], {"epsilon": 1e-3}, (),
                     [NCHW, 2, 2, 2, 2], [NCHW]),
    "GroupNorm": ([IMG, SCALE, OFFSET], None, {"num_groups": 1}, (), [NCHW, 2, 2], [NCHW]),
    "InstanceNorm": ([IMG, SCALE, OFFSET], [
        (IMG - IMG.mean((2, 3), keepdims=True)) / np.sqrt(IMG.var((2, 3), keepdims=True) + 1e-6)
        * chan(SCALE) + chan(OFFSET)], {}, (), [NCHW, 2, 2], [NCHW]),
    "LayerNorm": ([T, GAMMA, BETA], [LN, LN_MEAN, LN_VAR],
                  {"begin_norm_axis": -1, "begin_params_axis": -1, "epsilon": 1e-5}),
    "LayerNormV3": ([T, GAMMA, BETA], [LN, LN_MEAN, 1 / np.sqrt(LN_VAR + 1e-5)],
                    {"begin_norm_axis": -1, "epsilon": 1e-5}),
    "LogSoftmaxV2": ([T], [np.log(softmax(T, 1))], {"axes": [1]}),
    "LRN": ([IMG], None, {"depth_radius": 1, "bias": 1.0, "alpha": 0.1, "beta": 0.75}, (), [NCHW],
            [NCHW]),
    "RmsNorm": ([T, GAMMA], [T / np.sqrt((T * T).mean(-1, keepdims=True) + 1e-6) * GAMMA,
                             1 / np.sqrt((T * T).mean(-1, keepdims=True) + 1e-6)],
                {"epsilon": 1e-6}),
    "Softmax": ([T], [softmax(T, 1)], {"axis": 1}),
    "SoftmaxV2": ([T], [softmax(T, (1, 2))], {"axes": [1, 2]}),
    "BroadcastTo": ([X[:1], i32(3, 5)], [np.broadcast_to(X[:1], (3, 5))], {}, (1,)),
    "BroadcastToD": ([X[:1]], [np.broadcast_to(X[:1], (3, 5))], {"shape": [3, 5]}),
    "Expand": ([X[:1], i32(3, 5)], [np.broadcast_to(X[:1], (3, 5))], {}, (1,)),
    "ExpandD": ([X[:1]], [np.broadcast_to(X[:1], (3, 5))], {"shape": [3, 5]}),
    "Concat": ([np.array(0, I32), X, Y], [np.concatenate([X, Y])], {"N": 2}, (0,)),
    "ConcatD": ([X, Y], [np.concatenate([X, Y], 1)], {"concat_dim": 1, "N": 2}),
    "ConcatV2": ([X, Y, np.array(1, I32)], [np.concatenate([X, Y], 1)], {"N": 2}, (2,)),
    "ConcatV2D": ([X, Y], [np.concatenate([X, Y], 0)], {"concat_dim": 0}),
    "ExpandDims": ([X, np.array(1, I32)], [X[:, None]], {}, (1,)),
    "Fill": ([i32(2, 3), F(7)], [np.full((2, 3), 7, F)], {}, (0,)),
    "FillD": ([F(7)], [np.full((2, 3), 7, F)], {"dims": [2, 3]}),
    "Flatten": ([T], [T.reshape(2, 12)], {"axis": 1}),
    "FlattenV2": ([T], [T.reshape(6, 4)], {"axis": 0, "end_axis": 1}),
    "MirrorPad": ([X, np.array([[1, 1], [2, 0]], I32)], [np.pad(X, ((1, 1), (2, 0)), "reflect")],
                  {"mode": "REFLECT"}, (1,)),
    "Pack": ([X, Y], [np.stack([X, Y], 1)], {"axis": 1, "N": 2}),
    "Pad": ([X, np.array([[1, 0], [0, 2]], I32)], [np.pad(X, ((1, 0), (0, 2)))], {}, (1,)),
    "PadD": ([X], [np.pad(X, ((1, 0), (0, 2)))], {"paddings": [[1, 0], [0, 2]]}),
    "PadV2": ([X, np.array([[1, 0], [0, 2]], I32), F(5)],
              [np.pad(X, ((1, 0), (0, 2)), constant_values=5)], {}, (1,)),
    "PadV3": ([X, i32(1, 0, 0, 2), F(5)], [np.pad(X, ((1, 0), (0, 2)), constant_values=5)], {},
              (1,)),
    "PadV3D": ([X], [np.pad(X, ((1, 0), (0, 2)), "edge")],
               {"paddings": [[1, 0], [0, 2]], "mode": "edge"}),
    "Range": ([np.array(2, I32), np.array(11, I32), np.array(3, I32)], [i32(2, 5, 8)],
              {}),
    "Reshape": ([T, i32(4, -1)], [T.reshape(4, 6)], {}, (1,)),
    "ReverseV2": ([T, i32(1)], [T[:, ::-1]], {}, (1,)),
    "ReverseV2D": ([T], [T[::-1, :, ::-1]], {"axis": [0, 2]}),
    "Shape": ([T], [i32(2, 3, 4)], {}), "Size": ([T], [np.array(24, I32)], {}),
    "Slice": ([T, i32(0, 1, 2), i32(2, 2, 2)], [T[:, 1:, 2:]], {}, (1, 2)),
    "SliceD": ([T], [T[1:2, :2, 1:]], {"offsets": [1, 0, 1], "size": [1, 2, -1]}),
    "Split": ([np.array(1, I32), IMG], list(np.split(IMG, 3, 1)), {"num_split": 3}, (0,)),
    "SplitD": ([T], list(np.split(T, 2, 2)), {"split_dim": 2, "num_split": 2}),
    "SplitV": ([T, i32(1, -1), np.array(2, I32)], [T[:, :, :1], T[:, :, 1:]], {"num_split": 2},
               (1, 2)),
    "SplitVD": ([T], [T[:, :, :1], T[:, :, 1:]],
                {"size_splits": [1, 3], "split_dim": 2, "num_split": 2}),
    "Squeeze": ([T[:1]], [T[0]], {"axis": [0]}), "SqueezeV2": ([T[:1]], [T[0]], {"axis": [0]}),
    "SqueezeV3": ([T[:1]], [T[0]], {"axes": [0]}),
    "StridedSlice": ([T, i32(0, 2, -1), i32(2, 0, 0), i32(1, -1, 1)], [T[0:2, 2:0:-1, -1]],
                     {"shrink_axis_mask": 4}, (1, 2, 3)),
    "StridedSliceD": ([T], [T[:, None, 1:, ::2]],
                      {"begin": [0, 0, 1, 0], "end": [0, 0, 0, 0], "strides": [1, 1, 1, 2],
                       "begin_mask": 9, "end_mask": 13, "new_axis_mask": 2}),
    "StridedSliceV2": ([T, i32(1), i32(3), i32(2), i32(1)], [T[:, :, 1:3]], {}, (1, 2, 3, 4)),
    "Tile": ([X, i32(2, 1)], [np.tile(X, (2, 1))], {}, (1,)),
    "TileD": ([X], [np.tile(X, (1, 3))], {"multiples": [1, 3]}),
    "TransData": ([IMG], [IMG.transpose(0, 2, 3, 1)],
                  {"src_format": "NCHW", "dst_format": "NHWC"}, (), [NCHW], [NHWC]),
    "Transpose": ([T, i32(2, 0, 1)], [T.transpose(2, 0, 1)], {}, (1,)),
    "TransposeD": ([T], [T.transpose(1, 2, 0)], {"perm": [1, 2, 0]}),
    "Tril": ([X], [np.tril(X, -1)], {"diagonal": -1}), "Triu": ([X], [np.triu(X)], {}),
    "Unpack": ([T], [T[:, 0], T[:, 1], T[:, 2]], {"num": 3, "axis": 1}),
    "Unsqueeze": ([X], [X[None, :, None]], {"axes": [0, 2]}),
    "UnsqueezeV2": ([X], [X[:, None]], {"axis": [1]}),
    "Gather": ([T, i32(1, 0, 1)], [T[[1, 0, 1]]], {}),
    "GatherD": ([X, np.array(1, I32), IDX], [np.take_along_axis(X[:2], IDX, 1)], {"dim": 1}, (1,)),
    "GatherElements": ([X[:2], IDX], [np.take_along_axis(X[:2], IDX, 1)], {"dim": 1}),
    "GatherNd": ([T, np.array([[1, 2], [0, 0]], I32)], [T[[1, 0], [2, 0]]], {}),
    "GatherV2": ([T, i32(2, 0), np.array(1, I32)], [T[:, [2, 0]]], {}, (2,)),
    "GatherV2D": ([T, i32(2, 0)], [T[:, :, [2, 0]]], {"axis": 2}),
    "NonZero": ([A[0]], [NZ], {}), "Where": ([A[0]], [NZ], {}),
    "OneHot": ([i32(2, 0), np.array(3, I32), F(5), F(1)], [np.where(np.eye(3)[[2, 0]] > 0, 5, 1)
                                                         .astype(F)], {"axis": -1}, (1,)),
    "OneHotD": ([i32(2, 0), F(5), F(1)], [np.where(np.eye(3)[[2, 0]] > 0, 5, 1).astype(F)],
                {"depth": 3, "axis": -1}),
    "ScatterElements": ([X, i32([1, 2]), np.full((1, 2), 9, F)], None, {"axis": 1}),
    "ScatterNd": ([np.array([[1], [3], [1]], I32), np.array([1, 2, 3], F), i32(5)],
                  [np.array([0, 4, 0, 2, 0], F)], {}, (2,)),
    "ScatterNdD": ([np.array([[1], [3], [1]], I32), np.array([1, 2, 3], F)],
                   [np.array([0, 4, 0, 2, 0], F)], {"shape": [5]}),
    "ScatterNdAdd": ([np.ones(4, F), np.array([[1], [1]], I32), np.array([2, 3], F)],
                     [np.array([1, 6, 1, 1], F)], {}),
    "ScatterNdUpdate": ([np.ones(4, F), np.array([[1], [2]], I32), np.array([2, 3], F)],
                        [np.array([1, 2, 3, 1], F)], {}),
    "TensorScatterAdd": ([np.ones(4, F), np.array([[1], [1]], I32), np.array([2, 3], F)],
                         [np.array([1, 6, 1, 1], F)], {}),
    "TensorScatterUpdate": ([np.ones(4, F), np.array([[1], [2]], I32), np.array([2, 3], F)],
                            [np.array([1, 2, 3, 1], F)], {}),
    "Select": ([X > 0, X, Y], [np.where(X > 0, X, Y)], {}),
    "SelectV2": ([X[:1] > 0, X, Y], [np.where(X[:1] > 0, X, Y)], {}),
    "Unique": ([i32(3, 1, 3, 2)], [i32(3, 1, 2), i32(0, 1, 0, 2)], {}),
    "UniqueWithCounts": ([i32(3, 1, 3, 2)], [i32(3, 1, 2), i32(0, 1, 0, 2), i32(2, 1, 1)], {}),
}  # fmt: skip


def depth_to_space(x, inverse):
    n, c, h, w = x.shape
    if inverse:
        x = x.reshape(n, c, h // 2, 2, w // 2, 2).transpose(0, 3, 5, 1, 2, 4)
        return x.reshape(n, c * 4, h // 2, w // 2)
    x = x.reshape(n, 2, 2, c // 4, h, w).transpose(0, 3, 4, 1, 5, 2)
    return x.reshape(n, c // 4, h * 2, w * 2)


def expected(name):
    """The outputs of the cases that the table leaves to a formula of their own."""
    inputs = CASES[name][0]
    if name == "FullyConnection":
        return [inputs[0].reshape(2, 12) @ inputs[1].T]
    if name in ("DepthToSpace", "SpaceToDepth"):
        return [depth_to_space(inputs[0], name == "SpaceToDepth")]
    if name == "Deconvolution":
        return [np.repeat(np.repeat(inputs[0].sum(1, keepdims=True), 2, 2), 2, 3)
                .repeat(2, 1).astype(F)]
    if name == "GroupNorm":
        x = inputs[0]
        mean, var = x.mean((1, 2, 3), keepdims=True), x.var((1, 2, 3), keepdims=True)
        return [(x - mean) / np.sqrt(var + 1e-5) * chan(SCALE) + chan(OFFSET)]
    if name == "LRN":
        x = inputs[0]
        square = np.pad(x * x, ((0, 0), (1, 1), (0, 0), (0, 0)))
        total = square[:, :-2] + square[:, 1:-1] + square[:, 2:]
        return [x / (1 + 0.1 * total) ** 0.75]
    x = inputs[0].copy()
    x[0, 1], x[0, 2] = 9, 9
    return [x]


CASES["ScatterElements"] = ([X, np.array([[1, 2]], I32), np.full((1, 2), 9, F)], None, {"axis": 1})


def case_of(name):
    """Inputs, outputs, attributes, constant inputs, formats of the inputs and of the outputs."""
    inputs, outputs, attrs, *rest = CASES[name]
    const, in_formats, out_formats = (*rest, *((), None, None)[len(rest):])
    return (inputs, outputs if outputs is not None else expected(name), attrs, const, in_formats,
            out_formats)


@pytest.mark.parametrize("name", sorted(CASES))
def test_operator_agrees_with_numpy(name):
    single_op.agree(name, *case_of(name))


def test_filters_may_be_described_as_hwcn():
    x, w = IMG.transpose(0, 2, 3, 1), W33.transpose(2, 3, 1, 0)
    want = conv(IMG, W33).transpose(0, 2, 3, 1)
    got, = single_op.run("Conv2D", [x, w], [np.zeros_like(want)],
                         {"strides": [1, 1, 1, 1], "pads": [0, 0, 0, 0]}, (), [NHWC, HWCN], [NHWC])
    np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-5)


def test_products_of_int8_are_exact():
    a, b = (RNG.integers(-128, 128, (33, 65), dtype=np.int8) for _ in range(2))
    got, = single_op.run("MatMulV2", [a, b], [np.zeros((33, 33), I32)], {"transpose_x2": True})
    np.testing.assert_array_equal(got, a.astype(I32) @ b.astype(I32).T)
