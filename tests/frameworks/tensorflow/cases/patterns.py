# SPDX-License-Identifier: Apache-2.0
"""Normalisation, activations and attention as published programs write them, in small operators.

tests/python/tensorflow_cases/test_tensorflow_patterns.py says what each becomes.
"""
import math

import numpy as np


def numbers(rng, shape, low=-1.0, high=1.0):
    """Multiples of 1/256, so that recorded graphs pack well."""
    return np.round(rng.uniform(low, high, shape) * 256) / 256


class Keras:
    """Layers of Keras with seeded weights, frozen as TensorFlow 2 does it. `call(inputs)` gets a
    dictionary; variables are given numbers after the first call."""
    outside_graph = True

    def __init__(self, make, **shapes):
        self.make, self.shapes = make, shapes

    def __call__(self, rng):
        import tensorflow as tf
        from tensorflow.python.framework.convert_to_constants import (
            convert_variables_to_constants_v2,
        )
        layers, call = self.make()
        arrays = {name: numbers(rng, shape, -2, 2).astype(np.float32)
                  for name, shape in self.shapes.items()}
        call({name: tf.constant(array) for name, array in arrays.items()})
        for layer in layers:
            for variable in layer.variables:
                if variable.dtype != "float32":
                    continue
                low, high = (0.5, 1.5) if "variance" in variable.path else (-0.5, 0.5)
                variable.assign(numbers(rng, variable.shape, low, high))

        @tf.function
        def run(inputs):
            return call(inputs)
        specs = {name: tf.TensorSpec(array.shape, tf.float32, name)
                 for name, array in arrays.items()}
        frozen = convert_variables_to_constants_v2(run.get_concrete_function(specs))
        names = [tensor.op.name for tensor in frozen.inputs]  # as the keys of a dictionary: sorted
        return (frozen.graph.as_graph_def(), dict(zip(names, (arrays[k] for k in sorted(arrays)))),
                [tensor.name for tensor in frozen.outputs])


class Session:
    """`build(kit, {name: placeholder})` in a graph of TensorFlow 1, frozen."""
    outside_graph = True

    def __init__(self, build, **shapes):
        self.build, self.shapes = build, shapes

    def __call__(self, rng):
        from networks import kit
        feeds = {name: numbers(rng, shape, -2, 2).astype(np.float32)
                 for name, shape in self.shapes.items()}
        return kit.freeze(lambda k, inputs: [self.build(k, inputs)], feeds)


# --- batch normalisation

def moments_of(kit, width):
    """gamma, beta, moving_mean, moving_variance"""
    return [kit.weight([width], 0.25, mean) for mean in (1.0, 0.0, 0.0, 1.0)]


def conv(kit, x, width=4):
    import tensorflow as tf
    return tf.nn.conv2d(x, kit.weight([3, 3, int(x.shape[-1]), width]), 1, "SAME")


def written_out(kit, inputs):
    """tf.layers.batch_normalization(fused=False): gamma goes to the rate first."""
    import tensorflow as tf
    y = conv(kit, inputs["x"])
    gamma, beta, mean, variance = moments_of(kit, 4)
    return tf.nn.relu(tf.nn.batch_normalization(y, mean, variance, beta, gamma, 1e-3))


def without_scale(kit, inputs):
    """slim.batch_norm(scale=False), written out."""
    import tensorflow as tf
    y = conv(kit, inputs["x"])
    _, beta, mean, variance = moments_of(kit, 4)
    return tf.nn.relu(tf.nn.batch_normalization(y, mean, variance, beta, None, 1e-3))


def by_hand(kit, inputs):
    """gamma * (x - mean) / sqrt(variance + epsilon) + beta, with a bias in front."""
    import tensorflow as tf
    y = tf.nn.bias_add(conv(kit, inputs["x"]), kit.bias(4))
    gamma, beta, mean, variance = moments_of(kit, 4)
    return gamma * (y - mean) / tf.sqrt(variance + 1e-5) + beta


def fused(kit, inputs):
    import tensorflow as tf
    return tf.nn.relu6(kit.norm(conv(kit, inputs["x"])))


def depthwise(kit, inputs):
    """A separable convolution of slim: both halves with a normalisation."""
    return kit.conv(kit.depthwise(inputs["x"]), 6, 1)


def training_of_false(kit, inputs):
    """tf.layers.batch_normalization(training=placeholder), frozen with the placeholder as false:
    both branches are in the file."""
    import tensorflow as tf
    v1 = tf.compat.v1
    y = conv(kit, inputs["x"])
    gamma, beta, mean, variance = moments_of(kit, 4)
    training = v1.placeholder_with_default(False, [], "is_training")

    def norm(is_training):
        def branch():
            statistics = {} if is_training else {"mean": mean, "variance": variance}
            return v1.nn.fused_batch_norm(y, gamma, beta, **statistics, epsilon=1e-3,
                                          is_training=is_training)[0]
        return branch
    return tf.nn.relu(v1.cond(training, norm(True), norm(False)))


def transposed(kit, inputs):
    return kit.deconv(inputs["x"], 4, norm="plain")


def behind_dense(kit, inputs):
    import tensorflow as tf
    gamma, beta, mean, variance = moments_of(kit, 5)
    y = tf.nn.bias_add(tf.matmul(inputs["x"], kit.weight([3, 5])), kit.bias(5))
    return tf.nn.relu(tf.nn.batch_normalization(y, mean, variance, beta, gamma, 1e-3))


def before_conv(kit, inputs):
    """ResNet v2: the normalisation stands in front of its convolution."""
    import tensorflow as tf
    return conv(kit, tf.nn.relu(kit.norm(inputs["x"])))


def keras_norm(*layers_of):
    def make():
        import keras
        layers = [make_one(keras.layers) for make_one in layers_of]

        def call(inputs):
            y = inputs["x"]
            for layer in layers:
                y = layer(y)
            return y
        return layers, call
    return make


def batch_norms(add):
    picture = {"x": (1, 6, 5, 3)}
    for build in (written_out, without_scale, by_hand, fused, depthwise, training_of_false, transposed,
                  before_conv):
        add.graph(f"BatchNorm.{build.__name__}", ["(patterns)"], Session(build, **picture))
    add.graph("BatchNorm.behind_dense", ["(patterns)"], Session(behind_dense, x=(2, 3)))
    add.graph("BatchNorm.keras_conv", ["(patterns)"], Keras(keras_norm(
        lambda k: k.Conv2D(4, 3, padding="same", use_bias=False),
        lambda k: k.BatchNormalization(), lambda k: k.ReLU()), **picture))
    add.graph("BatchNorm.keras_separable", ["(patterns)"], Keras(keras_norm(
        lambda k: k.DepthwiseConv2D(3, 2, "same"), lambda k: k.BatchNormalization(scale=False),
        lambda k: k.ReLU(6.0), lambda k: k.Conv2D(5, 1), lambda k: k.BatchNormalization(),
        lambda k: k.LeakyReLU()), **picture))
    add.graph("BatchNorm.keras_transposed", ["(patterns)"], Keras(keras_norm(
        lambda k: k.Conv2DTranspose(4, 3, 2, "same"), lambda k: k.BatchNormalization()), **picture))
    add.graph("BatchNorm.keras_dense", ["(patterns)"], Keras(keras_norm(
        lambda k: k.Dense(5), lambda k: k.BatchNormalization(), lambda k: k.ReLU()), x=(2, 3)))


# --- layer normalisation

def scale_and_bias(kit, width):
    return kit.weight([width], 0.25, 1.0), kit.weight([width], 0.25)


def layer_norm_of_bert(kit, inputs):
    return kit.layer_norm(inputs["x"])


def layer_norm_of_gpt2(kit, inputs):
    import tensorflow as tf
    x = inputs["x"]
    scale, bias = scale_and_bias(kit, 8)
    mean = tf.reduce_mean(x, -1, keepdims=True)
    variance = tf.reduce_mean(tf.square(x - mean), -1, keepdims=True)
    return (x - mean) * tf.math.rsqrt(variance + 1e-5) * scale + bias


def layer_norm_by_a_power(kit, inputs):
    import tensorflow as tf
    x = inputs["x"]
    scale, bias = scale_and_bias(kit, 8)
    mean, variance = tf.nn.moments(x, [-1], keepdims=True)
    return scale * ((x - mean) / ((variance + 1e-8) ** 0.5)) + bias


def layer_norm_by_a_root(kit, inputs):
    import tensorflow as tf
    x = inputs["x"]
    scale, bias = scale_and_bias(kit, 8)
    mean = tf.reduce_mean(x, [-1], keepdims=True)
    variance = tf.reduce_mean(tf.math.squared_difference(x, mean), [-1], keepdims=True)
    return scale * (x - mean) / tf.sqrt(variance + 1e-6) + bias


def layer_norm_of_keras_2(kit, inputs):
    """Keras before 3: rows are the channels of one batch normalisation with its own statistics."""
    import tensorflow as tf
    x = inputs["x"]
    scale, bias = scale_and_bias(kit, 8)
    shape = tf.shape(x)
    rows = shape[0] * shape[1]
    squeezed = tf.reshape(x, [1, rows, shape[2], 1])
    ones, zeros = tf.ones([rows]), tf.zeros([rows])
    y = tf.raw_ops.FusedBatchNormV3(x=squeezed, scale=ones, offset=zeros, mean=tf.constant([], tf.float32),
                                    variance=tf.constant([], tf.float32), epsilon=1e-3,
                                    data_format="NCHW", is_training=True).y
    return tf.reshape(y, shape) * scale + bias


def root_mean_square_of_t5(kit, inputs):
    import tensorflow as tf
    x = inputs["x"]
    variance = tf.reduce_mean(tf.square(x), axis=-1, keepdims=True)
    return kit.weight([8], 0.25, 1.0) * (x * tf.math.rsqrt(variance + 1e-6))


def layer_norms(add):
    rows = {"x": (2, 3, 8)}
    for build in (layer_norm_of_bert, layer_norm_of_gpt2, layer_norm_by_a_power,
                  layer_norm_by_a_root, layer_norm_of_keras_2, root_mean_square_of_t5):
        add.graph(f"LayerNorm.{build.__name__}", ["(patterns)"], Session(build, **rows))
    for name, layer in (("keras", lambda k: k.LayerNormalization(epsilon=1e-6)),
                        ("keras_plain", lambda k: k.LayerNormalization(center=False, scale=False)),
                        ("keras_without_bias", lambda k: k.LayerNormalization(center=False)),
                        ("keras_root_mean_square", lambda k: k.RMSNormalization())):
        add.graph("LayerNorm." + name, ["(patterns)"], Keras(keras_norm(layer), **rows))


# --- activations

def gelu_of_bert(x):
    import tensorflow as tf
    return x * (0.5 * (1.0 + tf.math.erf(x / tf.sqrt(2.0))))


def gelu_by_tanh_of_bert(x):
    import tensorflow as tf
    cdf = 0.5 * (1.0 + tf.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * tf.pow(x, 3))))
    return x * cdf


def gelu_of_gpt2(x):
    import tensorflow as tf
    return 0.5 * x * (1 + tf.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * tf.pow(x, 3))))


def gelu_by_products(x):
    import tensorflow as tf
    return 0.5 * x * (1.0 + tf.tanh(x * 0.7978845608 * (1.0 + 0.044715 * x * x)))


def gelu_of_tensorflow_2(x):
    import tensorflow as tf
    return tf.nn.gelu(x)


def gelu_by_tanh_of_tensorflow_2(x):
    import tensorflow as tf
    return tf.nn.gelu(x, approximate=True)


def swish_of_1(x):
    import tensorflow as tf
    return x * tf.sigmoid(x)


def swish_of_tensorflow(x):
    import tensorflow as tf
    return tf.nn.swish(x)


def swish_with_a_rate(x):
    """The Gelu by Sigmoid of OpenAI's programs."""
    import tensorflow as tf
    return x * tf.sigmoid(1.702 * x)


def silu_with_a_rate(x):
    import tensorflow as tf
    return tf.nn.silu(x, beta=1.5)


def activation_of(function):
    return lambda kit, inputs: function(inputs["x"])


def keras_activation(name, **options):
    def make():
        import keras
        function = getattr(keras.activations, name)
        return [], lambda inputs: function(inputs["x"], **options)
    return make


def activations(add):
    rows = {"x": (2, 3, 8)}
    for build in (gelu_of_bert, gelu_by_tanh_of_bert, gelu_of_gpt2, gelu_by_products, gelu_of_tensorflow_2,
                  gelu_by_tanh_of_tensorflow_2):
        add.graph(f"Gelu.{build.__name__}", ["(patterns)"], Session(activation_of(build), **rows))
    for build in (swish_of_1, swish_of_tensorflow, swish_with_a_rate, silu_with_a_rate):
        add.graph(f"Swish.{build.__name__}", ["(patterns)"], Session(activation_of(build), **rows))
    add.graph("Gelu.keras", ["(patterns)"], Keras(keras_activation("gelu", approximate=False), **rows))
    add.graph("Gelu.keras_by_tanh", ["(patterns)"], Keras(keras_activation("gelu", approximate=True), **rows))
    add.graph("Swish.keras", ["(patterns)"], Keras(keras_activation("silu"), **rows))
    add.graph("Swish.keras_behind_conv", ["(patterns)"], Keras(keras_norm(
        lambda k: k.Conv2D(4, 3, padding="same"), lambda k: k.BatchNormalization(),
        lambda k: k.Activation("swish")), x=(1, 6, 5, 3)))


# --- attention: 2 heads of 4, rows of 8

HEADS, SIZE, WIDTH = 2, 4, 8


def heads_of(x):
    import tensorflow as tf
    batch, length = int(x.shape[0]), int(x.shape[1])
    return tf.transpose(tf.reshape(x, [batch, length, HEADS, SIZE]), [0, 2, 1, 3])


def joined(y):
    import tensorflow as tf
    batch, _, length, _ = (int(n) for n in y.shape)
    return tf.reshape(tf.transpose(y, [0, 2, 1, 3]), [batch, length, WIDTH])


def projections(kit, x, count=3):
    import tensorflow as tf
    batch, length = int(x.shape[0]), int(x.shape[1])
    flat = tf.reshape(x, [-1, WIDTH])
    return [tf.reshape(kit.dense(flat, WIDTH), [batch, length, WIDTH]) for _ in range(count)]


def attention_of_bert(kit, inputs):
    import tensorflow as tf
    query, key, value = (heads_of(y) for y in projections(kit, inputs["x"]))
    scores = tf.matmul(query, key, transpose_b=True) * (1.0 / math.sqrt(SIZE))
    scores += (1.0 - tf.expand_dims(inputs["mask"], 1)) * -10000.0
    return joined(tf.matmul(tf.nn.softmax(scores), value))


def attention_of_the_official_transformer(kit, inputs):
    """The query is scaled in front of the product."""
    import tensorflow as tf
    query, key, value = (heads_of(y) for y in projections(kit, inputs["x"]))
    scores = tf.matmul(query * SIZE ** -0.5, key, transpose_b=True)
    return joined(tf.matmul(tf.nn.softmax(scores), value))


def attention_of_gpt2(kit, inputs):
    """A triangle of ones and zeros hides what comes later; the softmax is written out."""
    import tensorflow as tf
    query, key, value = (heads_of(y) for y in tf.split(
        kit.dense(tf.reshape(inputs["x"], [-1, WIDTH]), 3 * WIDTH)[None], 3, axis=2))
    w = tf.matmul(query, key, transpose_b=True)
    w = w * tf.math.rsqrt(tf.cast(SIZE, w.dtype))
    length = int(w.shape[-1])
    b = tf.reshape(tf.linalg.band_part(tf.ones([length, length]), -1, 0), [1, 1, length, length])
    w = w * b - tf.cast(1e10, w.dtype) * (1 - b)
    w = w - tf.reduce_max(w, axis=-1, keepdims=True)
    ex = tf.exp(w)
    return joined(tf.matmul(ex / tf.reduce_sum(ex, axis=-1, keepdims=True), value))


def attention_with_heads_in_the_batch(kit, inputs):
    """Heads are cut out of the rows and joined along the batch."""
    import tensorflow as tf
    query, key, value = (tf.concat(tf.split(y, HEADS, axis=2), axis=0)
                         for y in projections(kit, inputs["x"]))
    scores = tf.matmul(query, tf.transpose(key, [0, 2, 1])) / SIZE ** 0.5
    y = tf.matmul(tf.nn.softmax(scores), value)
    return tf.concat(tf.split(y, HEADS, axis=0), axis=2)


def attention_of_t5(kit, inputs):
    """No scale; a learned bias for each head and distance is added."""
    import tensorflow as tf
    query, key, value = (heads_of(y) for y in projections(kit, inputs["x"]))
    length = int(query.shape[2])
    scores = tf.einsum("bnqd,bnkd->bnqk", query, key) + kit.weight([1, HEADS, length, length], 0.5)
    return joined(tf.matmul(tf.nn.softmax(scores, axis=-1), value))


def attention_of_keras_2(kit, inputs):
    """Einsums that make the heads, as Keras and the model garden had them."""
    import tensorflow as tf
    x = inputs["x"]
    query, key, value = (tf.einsum("abc,cde->abde", x, kit.weight([WIDTH, HEADS, SIZE], 0.5))
                         + kit.weight([HEADS, SIZE], 0.25) for _ in range(3))
    query = query * (1.0 / math.sqrt(SIZE))
    scores = tf.nn.softmax(tf.einsum("aecd,abcd->acbe", key, query))
    y = tf.einsum("acbe,aecd->abcd", scores, value)
    return tf.einsum("abcd,cde->abe", y, kit.weight([HEADS, SIZE, WIDTH], 0.5)) + kit.bias(WIDTH)


def keras_attention(kind, **options):
    def make():
        import keras
        layer = getattr(keras.layers, kind)
        if kind == "MultiHeadAttention":
            layer = layer(HEADS, SIZE)
        elif kind == "GroupQueryAttention":
            layer = layer(head_dim=SIZE, num_query_heads=4, num_key_value_heads=2)
        else:
            layer = layer(use_scale=False)
            return [layer], lambda inputs: layer([inputs["x"], inputs["y"], inputs["y"]])
        if "y" in options:
            return [layer], lambda inputs: layer(inputs["x"], inputs["y"])
        return [layer], lambda inputs: layer(inputs["x"], inputs["x"], **options)
    return make


def masked_keras_attention():
    """The mask comes from the run."""
    import keras
    layer = keras.layers.MultiHeadAttention(HEADS, SIZE)
    return [layer], lambda inputs: layer(inputs["x"], inputs["x"],
                                         attention_mask=inputs["mask"] > 0)


def attentions(add):
    rows = {"x": (2, 6, WIDTH)}
    masked = {**rows, "mask": (2, 1, 6)}
    add.graph("Attention.attention_of_bert", ["(patterns)"], Session(attention_of_bert, **masked))
    for build in (attention_of_the_official_transformer, attention_with_heads_in_the_batch,
                  attention_of_t5, attention_of_keras_2):
        add.graph(f"Attention.{build.__name__}", ["(patterns)"], Session(build, **rows))
    add.graph("Attention.attention_of_gpt2", ["(patterns)"], Session(attention_of_gpt2, x=(1, 6, WIDTH)))
    for name, make, shapes in (
            ("keras_heads", keras_attention("MultiHeadAttention"), rows),
            ("keras_heads_causal", keras_attention("MultiHeadAttention", use_causal_mask=True), rows),
            ("keras_heads_masked", masked_keras_attention, {**rows, "mask": (2, 6, 6)}),
            ("keras_heads_of_two", keras_attention("MultiHeadAttention", y=True), {**rows, "y": (2, 4, WIDTH)}),
            ("keras_groups", keras_attention("GroupQueryAttention"), rows),
            ("keras_dot", keras_attention("Attention"), {**rows, "y": (2, 4, WIDTH)})):
        add.graph("Attention." + name, ["(patterns)"], Keras(make, **shapes))


def cases(add):
    for part in (batch_norms, layer_norms, activations, attentions):
        part(add)
