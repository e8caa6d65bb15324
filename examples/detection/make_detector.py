# SPDX-License-Identifier: Apache-2.0
"""Writes a detector that needs no training, and a picture for it: coloured discs on grey.

    python make_detector.py FOLDER      detector.onnx, aipp.cfg, discs.jpg, discs.json

The network takes RGB of 224 x 224 and gives a map of 56 x 56 for each of red, green and blue: how
much stronger that colour is than the other two. A trained detector has the same shape: a picture
in, maps of scores out.
"""
import json
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from PIL import Image, ImageDraw

SIDE, STRIDE = 224, 4
CLASSES = ["red", "green", "blue"]
# NV12 to RGB in the range 0..1, done by the model's own preprocessing.
AIPP = """aipp_op {
  aipp_mode: static
  related_input_rank: 0
  input_format: YUV420SP_U8
  src_image_size_w: 224
  src_image_size_h: 224
  csc_switch: true
  matrix_r0c0: 256
  matrix_r0c1: 0
  matrix_r0c2: 359
  matrix_r1c0: 256
  matrix_r1c1: -88
  matrix_r1c2: -183
  matrix_r2c0: 256
  matrix_r2c1: 454
  matrix_r2c2: 0
  input_bias_0: 0
  input_bias_1: 128
  input_bias_2: 128
  var_reci_chn_0: 0.00392157
  var_reci_chn_1: 0.00392157
  var_reci_chn_2: 0.00392157
}
"""


def detector():
    weights = np.full((3, 3, 1, 1), -0.5, np.float32)
    weights[[0, 1, 2], [0, 1, 2]] = 1
    nodes = [helper.make_node("Conv", ["image", "weights"], ["strength"], name="strength"),
             helper.make_node("Relu", ["strength"], ["positive"], name="positive"),
             helper.make_node("AveragePool", ["positive"], ["scores"], name="pool",
                              kernel_shape=[STRIDE, STRIDE], strides=[STRIDE, STRIDE])]
    graph = helper.make_graph(
        nodes, "detector",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, SIDE, SIDE])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, 3, 56, 56])],
        [numpy_helper.from_array(weights, "weights")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def picture(width=640, height=480):
    """A picture and what is on it: (class, left, top, right, bottom)."""
    discs = [("red", 60, 80, 200, 220), ("green", 300, 40, 420, 160), ("blue", 240, 250, 430, 440),
             ("red", 500, 300, 600, 400)]
    image = Image.new("RGB", (width, height), (128, 128, 128))
    pen = ImageDraw.Draw(image)
    for name, *box in discs:
        pen.ellipse(box, fill=name if name != "green" else (0, 220, 0))
    return image, discs


def main(folder):
    os.makedirs(folder, exist_ok=True)
    onnx.save(detector(), os.path.join(folder, "detector.onnx"))
    image, discs = picture()
    image.save(os.path.join(folder, "discs.jpg"), quality=95)
    for name, text in (("aipp.cfg", AIPP), ("discs.json", json.dumps(discs))):
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else ".")
