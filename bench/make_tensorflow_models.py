# SPDX-License-Identifier: Apache-2.0
"""Writes a network three times: NAME.pb (frozen), NAME.onnx (by tf2onnx) and NAME.npz (its inputs).

    .venv-tensorflow/bin/python bench/make_tensorflow_models.py resnet50|mobilenetv2|bert FOLDER
"""

import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests", "frameworks", "tensorflow"))

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

LENGTH = 128


def keras_network(name):
    import keras
    from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

    keras.utils.set_random_seed(1)
    model = getattr(keras.applications, name)(weights=None)
    spec = tf.TensorSpec((1, 224, 224, 3), tf.float32, "input")
    function = tf.function(lambda x: tf.identity(model(x, training=False), name="output0"))
    frozen = convert_variables_to_constants_v2(function.get_concrete_function(spec))
    picture = np.random.RandomState(1).uniform(0, 1, (1, 224, 224, 3)).astype(np.float32)
    graph_def = frozen.graph.as_graph_def()
    return graph_def, {"input": picture}, ["output0:0"]


def bert_base():
    from networks import kit, sequences

    rng = np.random.RandomState(1)
    feeds = {"input_ids": rng.randint(0, 30522, (1, LENGTH)).astype(np.int32),
             "input_mask": np.ones((1, LENGTH), np.int32),
             "segment_ids": rng.randint(0, 2, (1, LENGTH)).astype(np.int32)}
    return kit.freeze(lambda layers, inputs: sequences.bert(layers, inputs, 768, 12, 12, 30522),
                      feeds)


MAKERS = {"resnet50": lambda: keras_network("ResNet50"),
          "mobilenetv2": lambda: keras_network("MobileNetV2"), "bert": bert_base}


def main():
    import tf2onnx

    name, folder = sys.argv[1:3]
    graph_def, feeds, outputs = MAKERS[name]()
    stem = os.path.join(folder, "tensorflow-" + name)
    with open(stem + ".pb", "wb") as file:
        file.write(graph_def.SerializeToString())
    np.savez(stem + ".npz", **feeds)
    tf2onnx.convert.from_graph_def(graph_def, input_names=[key + ":0" for key in feeds],
                                   output_names=outputs, opset=18, output_path=stem + ".onnx")


if __name__ == "__main__":
    main()
