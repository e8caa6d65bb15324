# SPDX-License-Identifier: Apache-2.0
"""Writes a detector in the style of YOLOv5s as ONNX, seeded random weights: make_yolov5.py out.onnx

Input `images`, 1x3x640x640; output `output`, 1x25200x85: boxes, scores and classes of three scales,
decoded with grids and anchors. SiLU, bottlenecks with partial connections, SPPF, Resize, Concat.
"""

import numpy as np
from builder import Builder, save_from_command_line
from onnx import helper

ANCHORS = [[(10, 13), (16, 30), (33, 23)], [(30, 61), (62, 45), (59, 119)],
           [(116, 90), (156, 198), (373, 326)]]


class Detector:
    """The layers of the detector on a Builder."""

    def __init__(self, net, batch, size, classes):
        self.net, self.batch, self.size, self.classes = net, batch, size, classes

    def conv(self, name, x, c_in, c_out, kernel=1, stride=1):
        net = self.net
        y = net.conv(name + ".conv", x, c_in, c_out, kernel, stride)
        y = net.batch_norm(name + ".bn", y, c_out)
        return net.node("Mul", name, [y, net.node("Sigmoid", name + ".sigmoid", [y])])

    def partial(self, name, x, c_in, c_out, depth, shortcut=True):
        net, half = self.net, c_out // 2
        y = self.conv(name + ".cv1", x, c_in, half)
        for i in range(depth):
            z = self.conv(f"{name}.m{i}.cv1", y, half, half)
            z = self.conv(f"{name}.m{i}.cv2", z, half, half, 3)
            y = net.node("Add", f"{name}.m{i}", [y, z]) if shortcut else z
        other = self.conv(name + ".cv2", x, c_in, half)
        y = net.node("Concat", name + ".concat", [y, other], axis=1)
        return self.conv(name + ".cv3", y, c_out, c_out)

    def pyramid_pool(self, name, x, channels):
        net = self.net
        y = self.conv(name + ".cv1", x, channels, channels // 2)
        parts = [y]
        for i in range(3):
            parts.append(net.node("MaxPool", f"{name}.pool{i}", [parts[-1]], kernel_shape=[5, 5],
                                  strides=[1, 1], pads=[2, 2, 2, 2]))
        y = net.node("Concat", name + ".concat", parts, axis=1)
        return self.conv(name + ".cv2", y, channels * 2, channels)

    def up(self, name, x):
        net = self.net
        return net.node("Resize", name, [x, "", net.constant([1, 1, 2, 2], np.float32)],
                        mode="nearest", nearest_mode="floor",
                        coordinate_transformation_mode="asymmetric")

    def head(self, name, x, channels, stride, anchors):
        """(x, y) = (2 s - 1/2 + grid) * stride, (w, h) = (2 s)^2 * anchor, the rest as it is."""
        net, cells, values = self.net, self.size // stride, self.classes + 5
        y = net.conv(name + ".conv", x, channels, 3 * values, 1, bias=True)
        y = net.node("Reshape", name + ".reshape",
                     [y, net.ints(self.batch, 3, values, cells, cells)])
        y = net.node("Transpose", name + ".transpose", [y], perm=[0, 1, 3, 4, 2])
        y = net.node("Sigmoid", name + ".sigmoid", [y])
        net.nodes.append(self.split(name, y, values))
        rows, columns = np.mgrid[:cells, :cells].astype(np.float32)
        grid = np.stack([columns, rows], -1)[None, None] - np.float32(0.5)
        xy = net.node("Mul", name + ".xy2", [name + ".xy", net.constant(2.0)])
        xy = net.node("Add", name + ".xy3", [xy, net.weight(name + ".grid", grid)])
        xy = net.node("Mul", name + ".xy4", [xy, net.constant(float(stride))])
        wh = net.node("Mul", name + ".wh2", [name + ".wh", net.constant(2.0)])
        wh = net.node("Pow", name + ".wh3", [wh, net.constant(2.0)])
        sizes = np.asarray(anchors, np.float32).reshape(1, 3, 1, 1, 2)
        wh = net.node("Mul", name + ".wh4", [wh, net.weight(name + ".anchors", sizes)])
        y = net.node("Concat", name + ".concat", [xy, wh, name + ".rest"], axis=4)
        return net.node("Reshape", name, [y, net.ints(self.batch, 3 * cells * cells, values)])

    def split(self, name, x, values):
        return helper.make_node("Split", [x, self.net.ints(2, 2, values - 4)],
                                [name + ".xy", name + ".wh", name + ".rest"], name=name + ".split",
                                axis=4)


def make_yolov5(batch=1, seed=0, size=640, width=32, classes=80):
    """The model as a ModelProto."""
    net = Builder(seed)
    d, w = Detector(net, batch, size, classes), width
    x = d.conv("b0", "images", 3, w, 3, 2)
    x = d.conv("b1", x, w, 2 * w, 3, 2)
    x = d.partial("b2", x, 2 * w, 2 * w, 1)
    x = d.conv("b3", x, 2 * w, 4 * w, 3, 2)
    small = d.partial("b4", x, 4 * w, 4 * w, 2)
    x = d.conv("b5", small, 4 * w, 8 * w, 3, 2)
    middle = d.partial("b6", x, 8 * w, 8 * w, 3)
    x = d.conv("b7", middle, 8 * w, 16 * w, 3, 2)
    x = d.partial("b8", x, 16 * w, 16 * w, 1)
    x = d.pyramid_pool("b9", x, 16 * w)
    top = d.conv("h10", x, 16 * w, 8 * w)
    x = net.node("Concat", "h12", [d.up("h11", top), middle], axis=1)
    x = d.partial("h13", x, 16 * w, 8 * w, 1, shortcut=False)
    lower = d.conv("h14", x, 8 * w, 4 * w)
    x = net.node("Concat", "h16", [d.up("h15", lower), small], axis=1)
    fine = d.partial("h17", x, 8 * w, 4 * w, 1, shortcut=False)
    x = net.node("Concat", "h19", [d.conv("h18", fine, 4 * w, 4 * w, 3, 2), lower], axis=1)
    medium = d.partial("h20", x, 8 * w, 8 * w, 1, shortcut=False)
    x = net.node("Concat", "h22", [d.conv("h21", medium, 8 * w, 8 * w, 3, 2), top], axis=1)
    coarse = d.partial("h23", x, 16 * w, 16 * w, 1, shortcut=False)
    parts = [d.head(f"detect{i}", feature, channels, 8 << i, ANCHORS[i])
             for i, (feature, channels) in enumerate(((fine, 4 * w), (medium, 8 * w),
                                                      (coarse, 16 * w)))]
    net.node("Concat", "output", parts, axis=1)
    cells = sum((size // stride) ** 2 for stride in (8, 16, 32))
    return net.model("yolov5s", {"images": ("float", [batch, 3, size, size])},
                     {"output": ("float", [batch, 3 * cells, classes + 5])})


if __name__ == "__main__":
    save_from_command_line(make_yolov5, __doc__.splitlines()[0])
