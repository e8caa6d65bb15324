# SPDX-License-Identifier: Apache-2.0
"""A small residual convolutional network in numpy: forward, backward and Adam.

Pictures are NHWC so that a 3x3 convolution is one matrix product over gathered rows. Layers are
the ones of convolutional classifiers (Conv, BatchNormalization, Relu, MaxPool, Add,
GlobalAveragePool, Gemm). Each layer keeps what its backward pass needs; parameters and their
gradients live in dictionaries by name, so that the optimiser and the ONNX export walk them alike.
"""
import numpy as np


class Conv:
    """3x3, stride 1, one pixel of zeros around, no bias (the BatchNorm after it has one)."""

    def __init__(self, rng, cin, cout):
        scale = np.sqrt(2.0 / (9 * cin))
        self.params = {"w": (rng.standard_normal((9 * cin, cout)) * scale).astype(np.float32)}
        self.grads = {}

    def forward(self, x, training):
        n, h, w, c = x.shape
        padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
        rows = np.empty((n, h, w, 9, c), np.float32)
        for k in range(9):
            rows[:, :, :, k] = padded[:, k // 3:k // 3 + h, k % 3:k % 3 + w]
        self.rows = rows.reshape(-1, 9 * c)
        self.shape = x.shape
        return (self.rows @ self.params["w"]).reshape(n, h, w, -1)

    def backward(self, grad):
        n, h, w, c = self.shape
        flat = grad.reshape(-1, grad.shape[-1])
        self.grads["w"] = self.rows.T @ flat
        rows = (flat @ self.params["w"].T).reshape(n, h, w, 9, c)
        padded = np.zeros((n, h + 2, w + 2, c), np.float32)
        for k in range(9):
            padded[:, k // 3:k // 3 + h, k % 3:k % 3 + w] += rows[:, :, :, k]
        return padded[:, 1:-1, 1:-1]


class BatchNorm:
    def __init__(self, channels, momentum=0.9, epsilon=1e-5):
        self.params = {"scale": np.ones(channels, np.float32),
                       "bias": np.zeros(channels, np.float32)}
        self.grads = {}
        self.mean = np.zeros(channels, np.float32)
        self.var = np.ones(channels, np.float32)
        self.momentum, self.epsilon = momentum, epsilon

    def forward(self, x, training):
        if training:
            mean, var = x.mean((0, 1, 2)), x.var((0, 1, 2))
            self.mean += (1 - self.momentum) * (mean - self.mean)
            self.var += (1 - self.momentum) * (var - self.var)
        else:
            mean, var = self.mean, self.var
        self.inv = 1 / np.sqrt(var + self.epsilon)
        self.norm = (x - mean) * self.inv
        return self.norm * self.params["scale"] + self.params["bias"]

    def backward(self, grad):
        axes = (0, 1, 2)
        count = grad.size // grad.shape[-1]
        self.grads = {"scale": (grad * self.norm).sum(axes), "bias": grad.sum(axes)}
        inner = grad - self.grads["bias"] / count - self.norm * (self.grads["scale"] / count)
        return inner * (self.params["scale"] * self.inv)


class Relu:
    params = grads = {}

    def forward(self, x, training):
        self.on = x > 0
        return x * self.on

    def backward(self, grad):
        return grad * self.on


class MaxPool:
    """2x2, stride 2."""
    params = grads = {}

    def forward(self, x, training):
        n, h, w, c = x.shape
        cells = x.reshape(n, h // 2, 2, w // 2, 2, c)
        out = cells.max((2, 4), keepdims=True)
        self.hit = cells == out
        return out.reshape(n, h // 2, w // 2, c)

    def backward(self, grad):
        n, h, w, c = grad.shape
        return (self.hit * grad[:, :, None, :, None]).reshape(n, h * 2, w * 2, c)


class Residual:
    """relu(x + body(x))"""

    def __init__(self, layers):
        self.layers, self.relu = layers, Relu()

    params = grads = {}

    def forward(self, x, training):
        y = x
        for layer in self.layers:
            y = layer.forward(y, training)
        return self.relu.forward(x + y, training)

    def backward(self, grad):
        grad = inner = self.relu.backward(grad)
        for layer in reversed(self.layers):
            inner = layer.backward(inner)
        return grad + inner


class Head:
    """Mean over the picture, then one fully connected layer."""

    def __init__(self, rng, cin, classes):
        self.params = {"w": (rng.standard_normal((cin, classes)) / np.sqrt(cin)).astype(np.float32),
                       "b": np.zeros(classes, np.float32)}
        self.grads = {}

    def forward(self, x, training):
        self.shape = x.shape
        self.mean = x.mean((1, 2))
        return self.mean @ self.params["w"] + self.params["b"]

    def backward(self, grad):
        n, h, w, c = self.shape
        self.grads = {"w": self.mean.T @ grad, "b": grad.sum(0)}
        back = grad @ self.params["w"].T / (h * w)
        return np.broadcast_to(back[:, None, None, :], self.shape)


class Network:
    """Input: NHWC, 56 x 56 x 3 (a 224 x 224 picture after a 4x4 mean)."""

    def __init__(self, rng, classes):
        def block(cin, cout):
            return [Conv(rng, cin, cout), BatchNorm(cout), Relu()]
        body = [Conv(rng, 64, 64), BatchNorm(64)]
        self.layers = [*block(3, 16), MaxPool(), *block(16, 32), MaxPool(), *block(32, 64),
                       Residual(body), MaxPool(), *block(64, 96), Head(rng, 96, classes)]
        self.leaves = [leaf for layer in self.layers
                       for leaf in (layer.layers if isinstance(layer, Residual) else [layer])
                       if leaf.params]

    def forward(self, x, training=False):
        for layer in self.layers:
            x = layer.forward(x, training)
        return x

    def step(self, x, labels):
        """One pass forward and back; the mean loss and the share of right answers."""
        logits = self.forward(x, training=True)
        logits -= logits.max(1, keepdims=True)
        probs = np.exp(logits)
        probs /= probs.sum(1, keepdims=True)
        rows = np.arange(len(labels))
        loss = -np.log(probs[rows, labels] + 1e-9).mean()
        right = (probs.argmax(1) == labels).mean()
        probs[rows, labels] -= 1
        grad = probs / len(labels)
        for layer in reversed(self.layers):
            grad = layer.backward(grad)
        return loss, right


class Adam:
    def __init__(self, network, decay=1e-4):
        self.network, self.decay, self.count = network, decay, 0
        self.state = [{k: (np.zeros_like(v), np.zeros_like(v)) for k, v in leaf.params.items()}
                      for leaf in network.leaves]

    def update(self, rate):
        self.count += 1
        rate *= np.sqrt(1 - 0.999 ** self.count) / (1 - 0.9 ** self.count)
        for leaf, state in zip(self.network.leaves, self.state):
            for key, value in leaf.params.items():
                first, second = state[key]
                grad = leaf.grads[key]
                first += 0.1 * (grad - first)
                second += 0.001 * (grad * grad - second)
                value -= rate * first / (np.sqrt(second) + 1e-8) + rate * self.decay * value
