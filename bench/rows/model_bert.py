# SPDX-License-Identifier: Apache-2.0
"""BERT-base in fp32 against onnxruntime and openvino."""

from peers import compare


def rows(report):
    for batch, pairs in ((1, 21), (8, 7)):  # batch 8 takes a second and more
        compare(report, "BERT-base", "bert", batch,
                {"onnxruntime": 1.0, "openvino": None}, pairs)
