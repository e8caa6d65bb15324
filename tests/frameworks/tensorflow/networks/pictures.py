# SPDX-License-Identifier: Apache-2.0
"""DeepLabV3+, U-Net, OpenPose, FaceNet, WGAN."""
import tensorflow as tf


def bilinear(x, like):
    return tf.compat.v1.image.resize_bilinear(x, tf.shape(like)[1:3], align_corners=True)


def deeplab(kit, inputs, width=8):
    x = inputs["ImageTensor"]

    def separable(x, out, rate=1, stride=1):
        return kit.conv(kit.depthwise(x, stride, tf.nn.relu, rate=rate), out, 1)

    x = kit.conv(x * (1 / 127.5) - 1.0, width, 3, 2)
    low = separable(x, width * 2, stride=2)
    x = separable(low, width * 4, stride=2)
    for _ in range(2):
        x = x + separable(x, width * 4, rate=2)
    with tf.name_scope("aspp"):
        pooled = tf.reduce_mean(x, [1, 2], keepdims=True)
        branches = [kit.conv(x, width * 2, 1), bilinear(kit.conv(pooled, width * 2, 1), x)]
        branches += [separable(x, width * 2, rate=rate) for rate in (2, 4)]
        x = kit.conv(tf.concat(branches, 3), width * 2, 1)
    with tf.name_scope("decoder"):
        x = tf.concat([bilinear(x, low), kit.conv(low, width, 1)], 3)
        x = separable(x, width * 2)
        x = bilinear(kit.conv(x, 5, 1, act=None, norm=""), inputs["ImageTensor"])
    return [tf.cast(tf.argmax(x, 3), tf.int32), tf.nn.softmax(x)]


def unet(kit, inputs, width=8):
    x, skips = inputs["input"], []
    for level in range(3):
        x = kit.conv(kit.conv(x, width << level, norm="plain"), width << level, norm="plain")
        skips.append(x)
        x = tf.nn.max_pool2d(x, 2, 2, "SAME")
    x = kit.conv(x, width << 3, norm="plain")
    for level in reversed(range(3)):
        x = tf.concat([kit.deconv(x, width << level), skips[level]], 3)
        x = kit.conv(x, width << level, norm="plain")
    return [tf.sigmoid(kit.conv(x, 1, 1, act=None, norm=""))]


def openpose(kit, inputs, width=8):
    def prelu(x):
        alpha = kit.weight([int(x.shape[-1])], 0.25)
        return tf.nn.relu(x) + alpha * (x - tf.abs(x)) * 0.5

    x = inputs["image"] / 255.0 - 0.5
    for level in range(3):
        x = kit.conv(x, width << level, act=tf.nn.relu, norm="")
        x = kit.conv(x, width << level, act=tf.nn.relu, norm="")
        x = tf.nn.max_pool2d(x, 2, 2, "VALID")
    features = kit.conv(x, width * 2, act=prelu, norm="")
    x = features
    for stage in range(3):
        fields = kit.conv(kit.conv(x, width * 2, act=prelu, norm=""), 38, 1, act=None, norm="")
        maps = kit.conv(kit.conv(x, width * 2, act=prelu, norm=""), 19, 1, act=None, norm="")
        x = tf.concat([maps, fields, features], 3, name=f"stage{stage}")
    up = tf.compat.v1.image.resize_bicubic(maps, tf.shape(maps)[1:3] * 4)
    peaks = tf.nn.max_pool2d(up, 3, 1, "SAME")
    return [maps, fields, tf.where(tf.equal(up, peaks), up, tf.zeros_like(up))]


def facenet(kit, inputs, width=8):
    x = tf.image.per_image_standardization(inputs["input"])
    x = kit.conv(x, width, 3, 2, "VALID")
    x = kit.conv(x, width * 2, 3, 1)
    x = tf.nn.max_pool2d(x, 3, 2, "VALID")
    for _ in range(2):  # the 35x35 blocks of Inception-ResNet
        branches = [kit.conv(x, width, 1), kit.conv(kit.conv(x, width, 1), width, 3),
                    kit.conv(kit.conv(kit.conv(x, width, 1), width, 3), width, 3)]
        x = tf.nn.relu(x + 0.17 * kit.conv(tf.concat(branches, 3), width * 2, 1, act=None, norm=""))
    x = tf.concat([kit.conv(x, width * 2, 3, 2, "VALID"), tf.nn.max_pool2d(x, 3, 2, "VALID")], 3)
    x = tf.reduce_mean(x, [1, 2])
    x = kit.dense(x, 32)
    return [tf.nn.l2_normalize(x, 1, 1e-10, name="embeddings")]


def wgan(kit, inputs, width=16):
    """The generator, and the critic on what it made."""
    x = kit.dense(inputs["z"], 4 * 4 * width * 2, tf.nn.relu)
    x = tf.reshape(x, [-1, 4, 4, width * 2])
    x = kit.deconv(x, width, 5)
    image = tf.tanh(kit.deconv(x, 3, 5, act=None, norm=""))
    image.set_shape([inputs["z"].shape[0], 16, 16, 3])
    y = tf.nn.leaky_relu(kit.conv(image, width, 5, 2, act=None, norm=""))
    y = tf.nn.leaky_relu(kit.conv(y, width * 2, 5, 2, act=None))
    y = tf.reshape(y, [-1, 4 * 4 * width * 2])
    return [image, kit.dense(y, 1)]
