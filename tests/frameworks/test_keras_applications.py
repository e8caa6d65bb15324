# SPDX-License-Identifier: Apache-2.0
"""Every network of keras.applications with seeded weights, frozen, against TensorFlow.

The pictures are small: what differs between networks is their operators and attributes.
"""
import compare
import compiled_graph
import keras
import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

NAMES = sorted(name for name in dir(keras.applications)
               if name[0].isupper() and callable(getattr(keras.applications, name)))
SIDE = {"InceptionV3": 75, "InceptionResNetV2": 75, "Xception": 71}  # the least they take

# These need the statistics of a few pictures and small factors: with others they turn the last
# digit of their input into another result, and TensorFlow does not agree with itself on it.
DEEP = ("EfficientNetV2M", "EfficientNetV2L")


def frozen(name):
    keras.utils.set_random_seed(7)
    side = SIDE.get(name, 64)
    model = getattr(keras.applications, name)(weights=None, input_shape=(side, side, 3), classes=10,
                                              classifier_activation=None)
    rng = np.random.RandomState(3)
    norms = [layer for layer in model.layers if isinstance(layer, keras.layers.BatchNormalization)]
    for layer in norms:  # fresh ones would change nothing
        layer.moving_mean.assign(rng.uniform(-0.1, 0.1, layer.moving_mean.shape))
        layer.moving_variance.assign(rng.uniform(0.8, 1.2, layer.moving_variance.shape))
    if name in DEEP:
        for layer in norms:
            layer.momentum = 0.0
            layer.gamma.assign(rng.uniform(0.05, 0.15, layer.gamma.shape))
        model(rng.uniform(0, 255, (4, side, side, 3)).astype(np.float32), training=True)
    spec = tf.TensorSpec((1, side, side, 3), tf.float32, "input")
    function = tf.function(lambda x: model(x, training=False)).get_concrete_function(spec)
    graph = convert_variables_to_constants_v2(function)
    picture = rng.uniform(0, 255, (1, side, side, 3)).astype(np.float32)
    keras.backend.clear_session()
    return (graph.graph.as_graph_def(), {graph.inputs[0].op.name: picture},
            [tensor.name for tensor in graph.outputs])


@pytest.mark.parametrize("name", NAMES)
def test_a_network_gives_the_results_of_tensorflow(name, errors):
    """And no Transpose stands between its convolutions."""
    found = []

    def look(om):
        found.extend(compiled_graph.transposes_between_convolutions(om))

    errors["keras.applications." + name] = error = compare.distance(*frozen(name), look)
    assert error < 1e-4
    assert found == []


def test_there_are_40_networks():
    assert len(NAMES) >= 40
