# SPDX-License-Identifier: Apache-2.0
"""Layers with seeded weights. Weights are multiples of 1/256, so that recorded graphs pack well."""
import numpy as np
import tensorflow as tf

v1 = tf.compat.v1


class Kit:
    def __init__(self, seed=1):
        self.rng = np.random.RandomState(seed)

    def weight(self, shape, scale=None, mean=0.0):
        fan_in = int(np.prod(shape[:-1])) or 1
        scale = 1.6 / np.sqrt(fan_in) if scale is None else scale
        values = np.round(self.rng.uniform(-scale, scale, shape) * 256) / 256 + mean
        name = v1.get_default_graph().unique_name("weights")
        return v1.get_variable(name.replace("/", "_"), initializer=values.astype(np.float32),
                               use_resource=False)

    def bias(self, width):
        return self.weight([width], 0.25)

    def norm(self, x, epsilon=1e-3):
        """What slim's batch_norm freezes to."""
        width = int(x.shape[-1])
        parts = [self.weight([width], 0.25, mean) for mean in (1.0, 0.0, 0.0, 1.0)]
        scale, offset, mean, variance = parts
        return v1.nn.fused_batch_norm(x, scale, offset, mean, variance, epsilon, is_training=False)[0]

    def plain_norm(self, x, epsilon=1e-5):
        """Batch normalisation as programs write it out."""
        width = int(x.shape[-1])
        scale, offset, mean, variance = (self.weight([width], 0.25, m) for m in (1.0, 0.0, 0.0, 1.0))
        return tf.nn.batch_normalization(x, mean, variance, offset, scale, epsilon)

    def conv(self, x, width, size=3, stride=1, padding="SAME", rate=1, act=tf.nn.relu, norm="fused"):
        w = self.weight([size, size, int(x.shape[-1]), width])
        y = tf.nn.conv2d(x, w, [1, stride, stride, 1], padding, dilations=[1, rate, rate, 1])
        return self.finish(y, width, act, norm)

    def depthwise(self, x, stride=1, act=tf.nn.relu6, size=3, rate=1):
        w = self.weight([size, size, int(x.shape[-1]), 1], 0.6)
        y = tf.nn.depthwise_conv2d(x, w, [1, stride, stride, 1], "SAME", dilations=[rate, rate])
        return self.finish(y, int(x.shape[-1]), act, "fused")

    def deconv(self, x, width, size=4, stride=2, act=tf.nn.relu, norm="fused"):
        w = self.weight([size, size, width, int(x.shape[-1])], 0.2)
        shape = v1.shape(x)
        out = tf.stack([shape[0], shape[1] * stride, shape[2] * stride, width])
        y = v1.nn.conv2d_transpose(x, w, out, [1, stride, stride, 1], "SAME")
        y.set_shape([x.shape[0], x.shape[1] * stride, x.shape[2] * stride, width])
        return self.finish(y, width, act, norm)

    def finish(self, y, width, act, norm):
        if norm == "fused":
            y = self.norm(y)
        elif norm == "plain":
            y = self.plain_norm(y)
        else:
            y = tf.nn.bias_add(y, self.bias(width))
        return act(y) if act else y

    def dense(self, x, width, act=None):
        y = tf.nn.bias_add(tf.matmul(x, self.weight([int(x.shape[-1]), width])), self.bias(width))
        return act(y) if act else y

    def layer_norm(self, x, epsilon=1e-12):
        """As the published BERT writes it: moments and batch_normalization."""
        width = int(x.shape[-1])
        mean, variance = tf.nn.moments(x, [-1], keepdims=True)
        return tf.nn.batch_normalization(x, mean, variance, self.bias(width), self.weight([width], 0.2, 1.0),
                                         epsilon)


def freeze(build, feeds, seed=1):
    """(GraphDef, {input: array}, names of the outputs) of `build(kit, {name: placeholder})`."""
    with tf.Graph().as_default() as graph:
        inputs = {name: v1.placeholder(array.dtype, array.shape, name) for name, array in feeds.items()}
        outputs = [tf.identity(t, name=f"output{i}") for i, t in enumerate(build(Kit(seed), inputs))]
        with v1.Session(graph=graph) as session:
            session.run(v1.global_variables_initializer())
            names = [tensor.op.name for tensor in outputs]
            frozen = v1.graph_util.convert_variables_to_constants(session, graph.as_graph_def(), names)
    return frozen, feeds, [tensor.name for tensor in outputs]
