# SPDX-License-Identifier: Apache-2.0
"""Quantised networks (QDQ) against onnxruntime on the same file."""

from peers import compare, make_quantized


def rows(report):
    for label, name in (("ResNet-50", "resnet50"), ("MobileNetV2", "mobilenetv2"),
                        ("BERT-base", "bert")):
        compare(report, f"{label} int8", name, 1, {"onnxruntime": 0.9}, make=make_quantized)
