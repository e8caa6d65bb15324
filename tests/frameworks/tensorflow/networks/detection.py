# SPDX-License-Identifier: Apache-2.0
"""SSD-MobileNet with the post-processing of the detection collection, and YOLOv3."""
import numpy as np
import tensorflow as tf

CLASSES = 4


def anchors(sizes, scales=(0.3, 0.5)):
    """Centres and sizes (y, x, h, w) of two boxes at every place of every map."""
    rows = []
    for level, (height, width) in enumerate(sizes):
        for y in range(height):
            for x in range(width):
                for scale in scales:
                    side = scale * (level + 1)
                    rows.append([(y + 0.5) / height, (x + 0.5) / width, side, side])
    return np.array(rows, np.float32)


def ssd_mobilenet(kit, inputs, width=8):
    image = inputs["image_tensor"]  # uint8, any size: the graph resizes it
    with tf.name_scope("Preprocessor"):
        x = tf.compat.v1.image.resize_bilinear(tf.cast(image, tf.float32), [64, 64], align_corners=False)
        x = x * (2.0 / 255.0) - 1.0
    with tf.name_scope("FeatureExtractor/MobilenetV1"):
        x = kit.conv(x, width, 3, 2, act=tf.nn.relu6)
        for stride, out in ((1, 2), (2, 4), (1, 4), (2, 8)):
            x = kit.conv(kit.depthwise(x, stride), width * out, 1, act=tf.nn.relu6)
        first = x
        second = kit.conv(kit.depthwise(x, 2), width * 8, 1, act=tf.nn.relu6)
    boxes, scores = [], []
    with tf.name_scope("BoxPredictor"):
        for features in (first, second):
            shape = tf.shape(features)
            count = shape[1] * shape[2] * 2
            places = kit.conv(features, 2 * 4, 3, act=None, norm="")
            marks = kit.conv(features, 2 * (CLASSES + 1), 3, act=None, norm="")
            boxes.append(tf.reshape(places, tf.stack([shape[0], count, 4])))
            scores.append(tf.reshape(marks, tf.stack([shape[0], count, CLASSES + 1])))
    boxes, scores = tf.concat(boxes, 1), tf.concat(scores, 1)
    with tf.name_scope("Postprocessor"):
        prior = tf.constant(anchors([(8, 8), (4, 4)]))
        ty, tx, th, tw = tf.unstack(tf.transpose(boxes[0]))
        ya, xa, ha, wa = tf.unstack(tf.transpose(prior))
        h, w = tf.exp(th / 5.0) * ha, tf.exp(tw / 5.0) * wa
        y, x = ty / 10.0 * ha + ya, tx / 10.0 * wa + xa
        decoded = tf.transpose(tf.stack([y - h / 2, x - w / 2, y + h / 2, x + w / 2]))
        decoded = tf.clip_by_value(decoded, 0.0, 1.0)
        marks = tf.sigmoid(scores)[0, :, 1:]
        found, kept, labels = [], [], []
        for label in range(CLASSES):
            one = marks[:, label]
            index = tf.image.non_max_suppression(decoded, one, 10, 0.6, 0.4)
            found.append(tf.gather(decoded, index))
            kept.append(tf.gather(one, index))
            labels.append(tf.fill(tf.shape(index), float(label + 1)))
        found, kept, labels = tf.concat(found, 0), tf.concat(kept, 0), tf.concat(labels, 0)
        most = tf.minimum(10, tf.shape(kept)[0])
        best, order = tf.nn.top_k(kept, most)
        missing = 10 - most
        detections = tf.pad(tf.gather(found, order), tf.stack([[0, missing], [0, 0]]))
        return [tf.expand_dims(tf.reshape(detections, [10, 4]), 0),
                tf.expand_dims(tf.reshape(tf.pad(best, [[0, missing]]), [10]), 0),
                tf.expand_dims(tf.reshape(tf.pad(tf.gather(labels, order), [[0, missing]]), [10]), 0),
                tf.reshape(tf.cast(most, tf.float32), [1])]


def leaky(x):
    return tf.nn.leaky_relu(x, 0.1)


def yolov3(kit, inputs, width=4):
    x = inputs["input"]

    def conv(x, out, size=3, stride=1):
        if stride == 2:  # darknet pads at the top and left too
            x = tf.pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]])
            return kit.conv(x, out, size, 2, "VALID", act=leaky)
        return kit.conv(x, out, size, act=leaky)

    def stage(x, out, blocks):
        x = conv(x, out, 3, 2)
        for _ in range(blocks):
            x = x + conv(conv(x, out // 2, 1), out, 3)
        return x

    def head(x, out, anchor, size):
        for _ in range(2):
            x = conv(conv(x, out, 1), out * 2, 3)
        route = conv(x, out, 1)
        raw = kit.conv(conv(route, out * 2, 3), 3 * (5 + CLASSES), 1, act=None, norm="")
        shape = tf.shape(raw)
        raw = tf.reshape(raw, [shape[0], shape[1], shape[2], 3, 5 + CLASSES])
        centre, extent, confidence, classes = tf.split(raw, [2, 2, 1, CLASSES], -1)
        ys = tf.tile(tf.range(shape[1])[:, None], [1, shape[2]])
        xs = tf.tile(tf.range(shape[2])[None, :], [shape[1], 1])
        grid = tf.cast(tf.stack([xs, ys], -1)[None, :, :, None, :], tf.float32)
        stride = size / tf.cast(shape[1], tf.float32)
        box = tf.concat([(tf.sigmoid(centre) + grid) * stride,
                         tf.exp(extent) * tf.constant(anchor, tf.float32)], -1)
        return route, tf.concat([box, tf.sigmoid(confidence), tf.sigmoid(classes)], -1)

    x = conv(x, width)
    x = stage(x, width * 2, 1)
    small = stage(x, width * 4, 2)
    middle = stage(small, width * 8, 2)
    large = stage(middle, width * 16, 1)
    route, first = head(large, width * 8, [[116, 90], [156, 198], [373, 326]], 64.0)
    up = conv(route, width * 4, 1)
    up = tf.compat.v1.image.resize_nearest_neighbor(up, tf.shape(middle)[1:3])
    route, second = head(tf.concat([up, middle], -1), width * 4, [[30, 61], [62, 45], [59, 119]], 64.0)
    up = conv(route, width * 2, 1)
    up = tf.compat.v1.image.resize_nearest_neighbor(up, tf.shape(small)[1:3])
    _, third = head(tf.concat([up, small], -1), width * 2, [[10, 13], [16, 30], [33, 23]], 64.0)
    flat = [tf.reshape(t, [tf.shape(t)[0], -1, 5 + CLASSES]) for t in (first, second, third)]
    return [tf.concat(flat, 1)]
