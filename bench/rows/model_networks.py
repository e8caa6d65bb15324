# SPDX-License-Identifier: Apache-2.0
"""The other networks of the exactness suite in fp32 against onnxruntime and openvino."""

from peers import compare

NETWORKS = {"EfficientNet-B0": "efficientnet", "YOLOv5s": "yolov5", "U-Net": "unet",
            "ViT-B/16": "vit"}


def rows(report):
    for label, name in NETWORKS.items():
        compare(report, label, name, 1, {"onnxruntime": None, "openvino": None})
