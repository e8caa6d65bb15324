# SPDX-License-Identifier: Apache-2.0
"""Networks and optimizers in float64 on MindSpore's CPU back end, which has no float64 kernels for
some layers: those are composed of products and sums here. What float32 and float16 are measured
against."""
import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops


def margins(pad_mode, padding, sizes, kernel, stride):
    """Zeros before and after each of the two axes."""
    if pad_mode == "valid":
        return (0, 0), (0, 0)
    if pad_mode == "pad":
        top, bottom, left, right = padding if isinstance(padding, tuple) else (padding,) * 4
        return (top, bottom), (left, right)
    whole = [max(0, (-(-n // s) - 1) * s + k - n) for n, k, s in zip(sizes, kernel, stride,
                                                                     strict=True)]
    return tuple((n // 2, n - n // 2) for n in whole)


class Convolution(nn.Cell):
    """Taps beside each other, then one product; of single channels, a sum of products."""

    def __init__(self, layer):
        super().__init__()
        self.weight, self.bias = layer.weight, layer.bias if layer.has_bias else None
        self.kernel, self.stride = tuple(layer.kernel_size), tuple(layer.stride)
        self.pad_mode, self.padding, self.group = layer.pad_mode, layer.padding, layer.group

    def taps(self, x):
        (top, bottom), (left, right) = margins(self.pad_mode, self.padding, x.shape[2:],
                                               self.kernel, self.stride)
        if top + bottom + left + right:
            n, c, h, w = x.shape
            x = ops.concat((ops.zeros((n, c, top, w), x.dtype), x,
                            ops.zeros((n, c, bottom, w), x.dtype)), 2)
            h += top + bottom
            x = ops.concat((ops.zeros((n, c, h, left), x.dtype), x,
                            ops.zeros((n, c, h, right), x.dtype)), 3)
        (a, b), (s, t) = self.kernel, self.stride
        high, wide = (x.shape[2] - a) // s + 1, (x.shape[3] - b) // t + 1
        return [x[:, :, i:i + s * (high - 1) + 1:s, j:j + t * (wide - 1) + 1:t]
                for i in range(a) for j in range(b)]

    def construct(self, x):
        taps, out = self.taps(x), self.weight.shape[0]
        n, c, high, wide = taps[0].shape
        weight = self.weight.reshape(out, -1, len(taps))
        if self.group == 1:
            columns = ops.stack(taps, 2).reshape(n, c * len(taps), high * wide)
            y = ops.matmul(weight.reshape(out, -1), columns).reshape(n, out, high, wide)
        else:
            y = sum(tap * weight[:, 0, k].reshape(1, out, 1, 1) for k, tap in enumerate(taps))
        return y if self.bias is None else y + self.bias.reshape(1, -1, 1, 1)


class Doubling(nn.Cell):
    """A transposed convolution whose taps do not overlap."""

    def __init__(self, layer):
        super().__init__()
        self.weight, self.bias = layer.weight, layer.bias if layer.has_bias else None

    def construct(self, x):
        n, c, h, w = x.shape
        _, out, a, b = self.weight.shape
        y = ops.matmul(self.weight.reshape(c, -1).swapaxes(0, 1), x.reshape(n, c, h * w))
        y = y.reshape(n, out, a, b, h, w).transpose(0, 1, 4, 2, 5, 3).reshape(n, out, h * a, w * b)
        return y if self.bias is None else y + self.bias.reshape(1, -1, 1, 1)


class BatchNorm(nn.Cell):
    def __init__(self, layer):
        super().__init__()
        self.gamma, self.beta, self.eps = layer.gamma, layer.beta, layer.eps
        self.mean, self.variance = layer.moving_mean, layer.moving_variance

    def construct(self, x):
        mean, variance = (t.reshape(1, -1, 1, 1) for t in (self.mean, self.variance))
        if self.training:
            mean = x.mean((0, 2, 3), True)
            variance = ((x - mean) * (x - mean)).mean((0, 2, 3), True)
        scale = self.gamma.reshape(1, -1, 1, 1) / ops.sqrt(variance + self.eps)
        return (x - mean) * scale + self.beta.reshape(1, -1, 1, 1)


class Clip6(nn.Cell):
    def construct(self, x):
        return ops.minimum(ops.maximum(x, Tensor(0.0, x.dtype)), Tensor(6.0, x.dtype))


class Recurrent(nn.Cell):
    """nn.LSTM of one layer, batch first."""

    def __init__(self, layer):
        super().__init__()
        parameters = {p.name.rpartition(".")[2]: p for p in layer.get_parameters()}
        self.of_x, self.of_h, self.bias_x, self.bias_h = (
            next(p for name, p in parameters.items() if name.startswith(start))
            for start in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))

    def construct(self, x, state):
        h, c = state[0][0], state[1][0]
        made = []
        for step in range(x.shape[1]):
            gates = (ops.matmul(x[:, step], self.of_x.swapaxes(0, 1)) + self.bias_x
                     + ops.matmul(h, self.of_h.swapaxes(0, 1)) + self.bias_h)
            i, f, g, o = ops.split(gates, h.shape[-1], -1)
            c = ops.sigmoid(f) * c + ops.sigmoid(i) * ops.tanh(g)
            h = ops.sigmoid(o) * ops.tanh(c)
            made.append(h)
        return ops.stack(made, 1), None


LAYERS = {nn.Conv2d: Convolution, nn.Conv2dTranspose: Doubling, nn.BatchNorm2d: BatchNorm,
          nn.ReLU6: Clip6, nn.LSTM: Recurrent}


def exchange(cell):
    for name, child in list(cell.name_cells().items()):
        made = LAYERS.get(type(child))
        if made is None:
            exchange(child)
        elif isinstance(cell, nn.SequentialCell):
            cell[list(cell.name_cells()).index(name)] = made(child)
        else:
            setattr(cell, name, made(child))


def of(net, inputs):
    """The network and its inputs in float64."""
    for parameter in net.get_parameters():
        parameter.set_dtype(ms.float64)
    exchange(net)
    return net, [x.astype(ms.float64) if x.dtype == ms.float32 else x for x in inputs]


def cross_entropy(x, target):
    x = x - x.max(-1, keepdims=True)
    picked = ops.one_hot(target, x.shape[-1]).astype(x.dtype)
    return (ops.log(ops.exp(x).sum(-1)) - (x * picked).sum(-1)).mean()


class Sgd:
    def __init__(self, parameters, rate):
        self.parameters, self.rate, self.speeds = parameters, rate, {}

    def __call__(self, gradients):
        for k, (parameter, slope) in enumerate(zip(self.parameters, gradients, strict=True)):
            value = parameter.asnumpy()
            slope = slope.asnumpy() + 1e-4 * value
            self.speeds[k] = 0.9 * self.speeds[k] + slope if k in self.speeds else slope
            parameter.set_data(Tensor(value - self.rate * self.speeds[k]))


class Adam:
    def __init__(self, parameters, rate):
        self.parameters, self.rate, self.steps = parameters, rate, 0
        self.first = [np.zeros(p.shape) for p in parameters]
        self.second = [np.zeros(p.shape) for p in parameters]

    def __call__(self, gradients):
        self.steps += 1
        rate = self.rate * np.sqrt(1 - 0.999 ** self.steps) / (1 - 0.9 ** self.steps)
        for k, (parameter, slope) in enumerate(zip(self.parameters, gradients, strict=True)):
            slope = slope.asnumpy()
            self.first[k] = 0.9 * self.first[k] + 0.1 * slope
            self.second[k] = 0.999 * self.second[k] + 0.001 * slope * slope
            parameter.set_data(Tensor(parameter.asnumpy() - rate * self.first[k]
                                      / (np.sqrt(self.second[k]) + 1e-8)))


OPTIMIZERS = {"sgd": Sgd, "adam": Adam}
