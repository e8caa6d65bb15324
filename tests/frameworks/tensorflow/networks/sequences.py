# SPDX-License-Identifier: Apache-2.0
"""CRNN with LSTM, BERT, and a translator that decodes in a loop with TensorArrays."""
import math

import tensorflow as tf


def lstm(kit, x, width, backwards=False):
    """x: time, batch, features. A loop as dynamic_rnn makes it."""
    steps, batch = int(x.shape[0]), int(x.shape[1])
    w, b = kit.weight([int(x.shape[2]) + width, 4 * width]), kit.bias(4 * width)
    if backwards:
        x = tf.reverse(x, [0])
    source = tf.TensorArray(tf.float32, steps).unstack(x)
    results = tf.TensorArray(tf.float32, steps)

    def step(t, c, h, results):
        gates = tf.nn.bias_add(tf.matmul(tf.concat([source.read(t), h], 1), w), b)
        i, j, f, o = tf.split(gates, 4, 1)
        c = c * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
        h = tf.tanh(c) * tf.sigmoid(o)
        return t + 1, c, h, results.write(t, h)

    zero = tf.zeros([batch, width])
    *_, results = tf.while_loop(lambda t, *_: t < steps, step, [tf.constant(0), zero, zero, results])
    y = results.stack()
    y.set_shape([steps, batch, width])
    return tf.reverse(y, [0]) if backwards else y


def crnn(kit, inputs, width=8):
    x = inputs["input"]
    for level, stride in ((0, 2), (1, 2), (2, 1)):
        x = kit.conv(x, width << level)
        x = tf.nn.max_pool2d(x, [1, 2, stride, 1], [1, 2, stride, 1], "VALID")
    x = kit.conv(x, width * 4, 2, 1, "VALID")
    x = tf.reduce_max(x, 1)  # batch, time, features
    x = tf.transpose(x, [1, 0, 2])
    x = tf.concat([lstm(kit, x, width * 2), lstm(kit, x, width * 2, True)], 2)
    shape = x.shape
    logits = tf.reshape(kit.dense(tf.reshape(x, [-1, int(shape[2])]), 12), [int(shape[0]), int(shape[1]), 12])
    decoded, scores = tf.nn.ctc_greedy_decoder(logits, tf.fill([int(shape[1])], int(shape[0])))
    dense = tf.compat.v1.sparse_to_dense(decoded[0].indices, [int(shape[1]), int(shape[0])], decoded[0].values, -1)
    return [tf.nn.log_softmax(logits), dense, scores]


def gelu(x):
    return x * 0.5 * (1.0 + tf.math.erf(x / math.sqrt(2.0)))


def gelu_by_tanh(x):
    return x * 0.5 * (1.0 + tf.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * tf.pow(x, 3))))


def bert(kit, inputs, width=32, layers=2, heads=4, vocabulary=100):
    ids, mask, kinds = inputs["input_ids"], inputs["input_mask"], inputs["segment_ids"]
    batch, length = (int(n) for n in ids.shape)
    with tf.name_scope("bert/embeddings"):
        table = kit.weight([vocabulary, width], 0.5)
        x = tf.reshape(tf.gather(table, tf.reshape(ids, [-1])), [batch, length, width])
        kind = tf.matmul(tf.one_hot(tf.reshape(kinds, [-1]), 2), kit.weight([2, width], 0.5))
        x += tf.reshape(kind, [batch, length, width])
        x += tf.reshape(tf.slice(kit.weight([max(64, length), width], 0.5), [0, 0], [length, -1]), [1, length, width])
        x = kit.layer_norm(x)
    adder = (1.0 - tf.cast(tf.reshape(mask, [batch, 1, 1, length]), tf.float32)) * -10000.0
    x = tf.reshape(x, [-1, width])
    for layer in range(layers):
        with tf.name_scope(f"bert/encoder/layer_{layer}/attention"):
            def split(y):
                y = tf.reshape(y, [batch, length, heads, width // heads])
                return tf.transpose(y, [0, 2, 1, 3])
            query, key, value = (split(kit.dense(x, width)) for _ in range(3))
            scores = tf.matmul(query, key, transpose_b=True) * (1.0 / math.sqrt(width // heads)) + adder
            y = tf.transpose(tf.matmul(tf.nn.softmax(scores), value), [0, 2, 1, 3])
            x = kit.layer_norm(x + kit.dense(tf.reshape(y, [batch * length, width]), width))
        with tf.name_scope(f"bert/encoder/layer_{layer}/intermediate"):
            act = gelu_by_tanh if layer % 2 else gelu
            x = kit.layer_norm(x + kit.dense(kit.dense(x, width * 4, act), width))
    x = tf.reshape(x, [batch, length, width])
    with tf.name_scope("bert/pooler"):
        pooled = kit.dense(tf.squeeze(x[:, 0:1, :], axis=1), width, tf.tanh)
    return [x, pooled]


def seq2seq(kit, inputs, width=16, vocabulary=20, most=8):
    """An encoder, attention, and greedy decoding until every row has ended."""
    ids = inputs["ids"]
    batch, length = (int(n) for n in ids.shape)
    table = kit.weight([vocabulary, width], 0.6)
    memory = tf.transpose(lstm(kit, tf.transpose(tf.gather(table, ids), [1, 0, 2]), width), [1, 0, 2])
    wq, wc = kit.weight([width, width]), kit.weight([width * 3, width])
    out = kit.weight([width, vocabulary], 0.6)
    tokens = tf.TensorArray(tf.int32, size=0, dynamic_size=True, element_shape=[batch])

    def step(t, token, state, done, tokens):
        scores = tf.squeeze(tf.matmul(memory, tf.expand_dims(tf.matmul(state, wq), 2)), 2)
        context = tf.reduce_sum(tf.expand_dims(tf.nn.softmax(scores), 2) * memory, 1)
        state = tf.tanh(tf.matmul(tf.concat([tf.gather(table, token), state, context], 1), wc))
        token = tf.argmax(tf.matmul(state, out), 1, output_type=tf.int32)
        token = tf.where(done, tf.zeros_like(token), token)
        done = tf.logical_or(done, tf.equal(token, 0))
        return t + 1, token, state, done, tokens.write(t, token)

    first = [tf.constant(0), tf.ones([batch], tf.int32), memory[:, -1], tf.zeros([batch], tf.bool), tokens]
    t, _, state, _, tokens = tf.while_loop(
        lambda t, token, state, done, tokens: tf.logical_and(t < most, tf.logical_not(tf.reduce_all(done))),
        step, first)
    return [tf.transpose(tokens.stack()), state, t]
