# SPDX-License-Identifier: Apache-2.0
"""ResNet-50 in fp32 against onnxruntime and openvino."""

from peers import compare


def rows(report):
    for batch, pairs in ((1, 31), (8, 21)):
        compare(report, "ResNet-50", "resnet50", batch,
                {"onnxruntime": 1.0, "openvino": 1 / 0.95}, pairs)
