# SPDX-License-Identifier: Apache-2.0
"""Writes ResNet-50 as a Caffe model: python make_caffe_resnet50.py caffe_model

The folder gets resnet50.prototxt and resnet50.caffemodel, with the layers and names of the
published net (input data, 1x3x224x224; output prob, 1000 classes). The weights are drawn with a
seed, so its answers mean nothing. Then:

    atc --model=caffe_model/resnet50.prototxt --weight=caffe_model/resnet50.caffemodel \\
        --framework=0 --output=resnet50 --soc_version=Ascend310P3
"""
import argparse
import os

import numpy as np
from caffe_file import caffemodel, input_layer, layer

STAGES = [(2, 64, 3), (3, 128, 4), (4, 256, 6), (5, 512, 3)]  # number in the names, width, blocks


class Builder:
    """Collects the text and the weights; every method returns the name of its top."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.text = []
        self.weights = {}

    def add(self, kind, name, bottoms, top, text=""):
        self.text.append(layer(kind, name, bottoms, [top], text))
        return top

    def conv(self, name, x, c_in, c_out, kernel, stride, bias=False):
        std = np.sqrt(2.0 / (c_in * kernel * kernel))
        self.weights[name] = [self.random.standard_normal((c_out, c_in, kernel, kernel)) * std]
        if bias:
            self.weights[name].append(np.zeros(c_out))
        return self.add("Convolution", name, [x], name,
                        f"convolution_param {{ num_output: {c_out} kernel_size: {kernel} "
                        f"pad: {kernel // 2} stride: {stride} bias_term: {str(bias).lower()} }}")

    def norm(self, suffix, x, channels, spread=1.0):
        """BatchNorm and Scale in place, for values of that spread. The third blob is the factor of
        the sums in the others."""
        draw = self.random.uniform
        factor = 999.98236
        self.weights["bn" + suffix] = [draw(-0.1, 0.1, channels) * spread * factor,
                                       draw(0.5, 1.5, channels) * spread**2 * factor, [factor]]
        self.weights["scale" + suffix] = [draw(0.5, 1.0, channels), draw(-0.1, 0.1, channels)]
        self.add("BatchNorm", "bn" + suffix, [x], x, "batch_norm_param { use_global_stats: true }")
        return self.add("Scale", "scale" + suffix, [x], x, "scale_param { bias_term: true }")

    def branch(self, suffix, x, c_in, c_out, kernel, stride, relu=True):
        x = self.norm(suffix, self.conv("res" + suffix, x, c_in, c_out, kernel, stride), c_out)
        return self.add("ReLU", f"res{suffix}_relu", [x], x) if relu else x

    def block(self, name, x, c_in, width, stride):
        short = x
        if c_in != 4 * width:
            short = self.branch(name + "_branch1", x, c_in, 4 * width, 1, stride, relu=False)
        y = self.branch(name + "_branch2a", x, c_in, width, 1, stride)
        y = self.branch(name + "_branch2b", y, width, width, 3, 1)
        y = self.branch(name + "_branch2c", y, width, 4 * width, 1, 1, relu=False)
        y = self.add("Eltwise", "res" + name, [short, y], "res" + name)
        return self.add("ReLU", f"res{name}_relu", [y], y)


def make_caffe_resnet50(batch=1, seed=0, classes=1000):
    """(prototxt text, caffemodel bytes)."""
    net = Builder(seed)
    x = net.conv("conv1", "data", 3, 64, 7, 2, bias=True)
    x = net.norm("_conv1", x, 64, spread=100.0)  # of pixels from 0 to 255 less their mean
    x = net.add("ReLU", "conv1_relu", [x], x)
    x = net.add("Pooling", "pool1", [x], "pool1",
                "pooling_param { pool: MAX kernel_size: 3 stride: 2 }")
    channels = 64
    for stage, width, blocks in STAGES:
        for block in range(blocks):
            stride = 2 if block == 0 and stage > 2 else 1
            x = net.block(f"{stage}{chr(ord('a') + block)}", x, channels, width, stride)
            channels = 4 * width
    x = net.add("Pooling", "pool5", [x], "pool5",
                "pooling_param { pool: AVE kernel_size: 7 stride: 1 }")
    net.weights["fc1000"] = [net.random.standard_normal((classes, channels)) * 0.02,
                             np.zeros(classes)]
    x = net.add("InnerProduct", "fc1000", [x], "fc1000",
                f"inner_product_param {{ num_output: {classes} }}")
    net.add("Softmax", "prob", [x], "prob")
    text = 'name: "ResNet-50"\n' + input_layer("data", (batch, 3, 224, 224)) + "".join(net.text)
    return text, caffemodel(net.weights, "ResNet-50")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", help="where the two files go; made when it is not there")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    text, weights = make_caffe_resnet50(args.batch, args.seed)
    os.makedirs(args.folder, exist_ok=True)
    with open(os.path.join(args.folder, "resnet50.prototxt"), "w") as file:
        file.write(text)
    with open(os.path.join(args.folder, "resnet50.caffemodel"), "wb") as file:
        file.write(weights)


if __name__ == "__main__":
    main()
