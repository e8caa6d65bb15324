#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Freezes a small network of Keras: python3 make_frozen.py frozen.pb (needs tensorflow)."""
import sys

import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2


def main(path):
    tf.keras.utils.set_random_seed(1)
    layers = tf.keras.layers
    model = tf.keras.Sequential([
        layers.Input((32, 32, 3), name="picture"), layers.Conv2D(16, 3, padding="same"),
        layers.BatchNormalization(), layers.ReLU(), layers.MaxPooling2D(), layers.Flatten(),
        layers.Dense(10, activation="softmax")])
    call = tf.function(lambda picture: model(picture, training=False))
    frozen = convert_variables_to_constants_v2(
        call.get_concrete_function(picture=tf.TensorSpec((None, 32, 32, 3), tf.float32)))
    with open(path, "wb") as file:
        file.write(frozen.graph.as_graph_def().SerializeToString())


if __name__ == "__main__":
    main(sys.argv[1])
