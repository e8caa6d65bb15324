# SPDX-License-Identifier: Apache-2.0
"""Trains the demo's classifier with numpy alone and writes shapes.onnx and labels.txt.

    python examples/shapes/train_shapes.py        about ten minutes on two cores

The committed shapes.onnx came from this script with its default arguments. The network takes what
the quick start of the guide makes of a picture: float32, 1 x 3 x 224 x 224, minus ImageNet's mean,
over its deviation, blue first.
"""
import argparse
import os
import time

import numpy as np
from draw_shapes import LABELS, draw
from export_onnx import export
from net import Adam, Network

MEAN = np.array([123.675, 116.28, 103.53], np.float32)
DEVIATION = np.array([58.395, 57.12, 57.375], np.float32)


def preprocess(image):
    """As the quick start does it, then the 4x4 mean that the model begins with; HWC."""
    pixels = (np.asarray(image.resize((224, 224)), np.float32) - MEAN) / DEVIATION
    return pixels[:, :, ::-1].reshape(56, 4, 56, 4, 3).mean((1, 3))


def pictures(count, rng):
    x = np.empty((count, 56, 56, 3), np.float32)
    y = rng.integers(0, len(LABELS), count)
    for i in range(count):
        width, height = int(rng.integers(220, 380)), int(rng.integers(200, 260))
        x[i] = preprocess(draw(LABELS[y[i]], width, height, rng))
    return x, y


def accuracy(network, x, y):
    right = 0
    for i in range(0, len(x), 100):
        right += (network.forward(x[i:i + 100]).argmax(1) == y[i:i + 100]).sum()
    return right / len(x)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pictures", type=int, default=12000)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--batch", type=int, default=48)
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", default=os.path.dirname(os.path.abspath(__file__)))
    args = parser.parse_args()

    rng = np.random.default_rng(args.seed)
    start = time.time()
    x, y = pictures(args.pictures, rng)
    test_x, test_y = pictures(1000, rng)
    print(f"{args.pictures} pictures drawn in {time.time() - start:.0f} s", flush=True)
    network = Network(rng, len(LABELS))
    adam = Adam(network)
    total, done = args.epochs * (len(x) // args.batch), 0
    for epoch in range(args.epochs):
        order = rng.permutation(len(x))
        losses, rights = [], []
        for i in range(0, len(x) - args.batch + 1, args.batch):
            pick = order[i:i + args.batch]
            loss, right = network.step(x[pick], y[pick])
            adam.update(args.rate * 0.5 * (1 + np.cos(np.pi * done / total)))
            done += 1
            losses.append(loss)
            rights.append(right)
        print(f"epoch {epoch + 1}: loss {np.mean(losses):.3f}, training {np.mean(rights):.3f}, "
              f"test {accuracy(network, test_x, test_y):.3f}, {time.time() - start:.0f} s",
              flush=True)

    export(network, os.path.join(args.output, "shapes.onnx"))
    with open(os.path.join(args.output, "labels.txt"), "w", encoding="utf-8") as file:
        file.write("\n".join(LABELS) + "\n")


if __name__ == "__main__":
    main()
