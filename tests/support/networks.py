# SPDX-License-Identifier: Apache-2.0
"""The networks whose results are compared, whole and in a size that tests can afford."""
import os
import sys
from dataclasses import dataclass

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "examples", "models"))

from make_bert import make_bert  # noqa: E402
from make_efficientnet import make_efficientnet  # noqa: E402
from make_gpt import make_gpt  # noqa: E402
from make_mobilenetv2 import make_mobilenetv2  # noqa: E402
from make_resnet50 import make_resnet50  # noqa: E402
from make_unet import make_unet  # noqa: E402
from make_vit import make_vit  # noqa: E402
from make_yolov5 import make_yolov5  # noqa: E402


def tokens(shape, vocabulary, rng):
    return rng.integers(0, vocabulary, shape, dtype=np.int64)


def bert_feeds(model, rng):
    shape = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
    mask = np.ones(shape, np.int64)
    mask[:, shape[1] * 3 // 4:] = 0
    vocabulary = next(w for w in model.graph.initializer if w.name.startswith("embeddings.words"))
    return {"input_ids": tokens(shape, vocabulary.dims[0], rng), "attention_mask": mask,
            "token_type_ids": tokens(shape, 2, rng)}


def gpt_feeds(steps):
    return lambda model, rng: {"token": np.array([[7]], np.int64),
                               "steps": np.array(steps, np.int64)}


def image_feeds(model, rng):
    value = model.graph.input[0]
    shape = [d.dim_value for d in value.type.tensor_type.shape.dim]
    return {value.name: rng.standard_normal(shape).astype(np.float32)}


@dataclass
class Network:
    name: str
    make: object
    small: dict  # arguments of the size for tests
    feeds: object = image_feeds
    small_feeds: object = None

    def model(self, whole):
        return self.make(**({} if whole else self.small))

    def inputs(self, model, whole, seed=5):
        feeds = self.feeds if whole or not self.small_feeds else self.small_feeds
        return feeds(model, np.random.default_rng(seed))


NETWORKS = [
    Network("ResNet-50", make_resnet50, {"size": 64, "classes": 100}),
    Network("MobileNetV2", make_mobilenetv2, {"size": 64, "classes": 100}),
    Network("EfficientNet-B0", make_efficientnet, {"size": 64, "classes": 100}),
    Network("YOLOv5s style", make_yolov5, {"size": 96, "width": 16, "classes": 6}),
    Network("U-Net", make_unet, {"size": 64, "width": 8}),
    Network("BERT-base", make_bert, {"length": 16, "layers": 3, "width": 96, "vocabulary": 200},
            bert_feeds),
    Network("ViT-B/16", make_vit, {"size": 64, "layers": 3, "width": 96, "classes": 100}),
    Network("GPT with Loop", make_gpt,
            {"layers": 2, "width": 64, "vocabulary": 100, "longest": 24}, gpt_feeds(64),
            gpt_feeds(20)),
]
