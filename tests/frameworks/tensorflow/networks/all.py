# SPDX-License-Identifier: Apache-2.0
"""The networks of this folder with feeds: small for the tree, larger for `make test-frameworks`."""
from dataclasses import dataclass, field

import numpy as np

from networks import detection, pictures, sequences


@dataclass
class Network:
    name: str
    build: object
    feeds: object  # feeds(rng, large) -> {name: array}
    loops: bool = False  # has a loop, which TensorFlow 1 and 2 write differently
    sizes: dict = field(default_factory=dict)  # arguments of build when large


def image(name, small, large, kind=np.float32, high=255.0):
    def feeds(rng, is_large):
        shape = large if is_large else small
        return {name: (rng.uniform(0, high, shape)).astype(kind)}
    return feeds


def bert_feeds(rng, is_large):
    shape = (2, 48) if is_large else (1, 12)
    mask = np.ones(shape, np.int32)
    mask[:, shape[1] * 3 // 4:] = 0
    return {"input_ids": rng.randint(0, 100, shape).astype(np.int32), "input_mask": mask,
            "segment_ids": rng.randint(0, 2, shape).astype(np.int32)}


NETWORKS = [
    Network("ssd_mobilenet", detection.ssd_mobilenet,
            image("image_tensor", (1, 48, 64, 3), (1, 240, 320, 3), np.uint8), sizes={"width": 24}),
    Network("yolov3", detection.yolov3, image("input", (1, 64, 64, 3), (1, 128, 128, 3), high=1.0),
            sizes={"width": 16}),
    Network("deeplabv3plus", pictures.deeplab, image("ImageTensor", (1, 33, 41, 3), (1, 129, 129, 3)),
            sizes={"width": 32}),
    Network("unet", pictures.unet, image("input", (1, 32, 32, 1), (1, 128, 128, 1), high=1.0),
            sizes={"width": 32}),
    Network("openpose", pictures.openpose, image("image", (1, 32, 40, 3), (1, 128, 160, 3)),
            sizes={"width": 32}),
    Network("facenet", pictures.facenet, image("input", (2, 47, 47, 3), (2, 112, 112, 3)), sizes={"width": 32}),
    Network("wgan", pictures.wgan, lambda rng, large: {"z": rng.randn(4 if large else 2, 16).astype(np.float32)},
            sizes={"width": 64}),
    Network("crnn", sequences.crnn, image("input", (1, 16, 40, 1), (2, 32, 160, 1), high=1.0), loops=True,
            sizes={"width": 32}),
    Network("bert", sequences.bert, bert_feeds, sizes={"width": 128, "layers": 4}),
    Network("seq2seq", sequences.seq2seq,
            lambda rng, large: {"ids": rng.randint(0, 20, (3, 12 if large else 6)).astype(np.int32)}, loops=True,
            sizes={"width": 64}),
]


def frozen(network, large=False, new_flow=False):
    """(GraphDef, {input: array}, names of the outputs)"""
    import tensorflow as tf

    from networks import kit
    v1 = tf.compat.v1
    (v1.enable_control_flow_v2 if new_flow else v1.disable_control_flow_v2)()
    try:
        rng = np.random.RandomState(5)
        sizes = network.sizes if large else {}
        return kit.freeze(lambda layers, inputs: network.build(layers, inputs, **sizes),
                          network.feeds(rng, large))
    finally:
        v1.enable_control_flow_v2()
