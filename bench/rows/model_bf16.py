# SPDX-License-Identifier: Apache-2.0
"""bfloat16 against our own fp32. The target of 3 x needs AMX; without it AVX512-BF16 computes."""

from peers import compare_precision


def rows(report):
    for label, name in (("ResNet-50", "resnet50"), ("MobileNetV2", "mobilenetv2"),
                        ("BERT-base", "bert")):
        for batch in (1, 8):
            compare_precision(report, label, name, batch, "mixed_bfloat16", 1 / 3)
