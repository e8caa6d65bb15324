# SPDX-License-Identifier: Apache-2.0
"""MobileNetV2 in fp32 against onnxruntime and openvino."""

from peers import compare


def rows(report):
    for batch, pairs in ((1, 31), (8, 21)):
        compare(report, "MobileNetV2", "mobilenetv2", batch,
                {"onnxruntime": 1.0, "openvino": None}, pairs)
