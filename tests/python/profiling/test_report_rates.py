# SPDX-License-Identifier: Apache-2.0
"""Arithmetic, bytes and shares of a device's peaks in `anynpu report`, worked out by hand."""
import json
import os

import pytest

from anynpu.msprof.recording import _read_devices
from anynpu.msprof.work import OpText
from anynpu.report import operations


def op(kind, inputs, outputs, dtype="float32"):
    """The description of an operator whose tensors have one type."""
    sides = []
    for shapes in (inputs, outputs):
        sides += [";".join(",".join(map(str, shape)) for shape in shapes),
                  ";".join(dtype for _ in shapes), ";".join("nd" for _ in shapes)]
    return OpText("\t".join([kind, "kernel", *sides]))


@pytest.mark.parametrize("kind", ["Conv", "FusedConv"])
def test_a_convolution_counts_two_operations_for_each_weight_and_output(kind):
    conv = op(kind, [(1, 3, 8, 8), (16, 3, 5, 5), (16,)], [(1, 16, 4, 4)])
    assert operations.flops_of(conv) == 2 * (16 * 4 * 4) * (3 * 5 * 5)
    assert operations.size_of(conv) == 4 * (3 * 64 + 16 * 75 + 16 + 256)


def test_grouped_and_transposed_convolutions():
    grouped = op("Conv", [(1, 8, 6, 6), (8, 1, 3, 3)], [(1, 8, 6, 6)])
    assert operations.flops_of(grouped) == 2 * 288 * 9
    transposed = op("ConvTranspose", [(1, 4, 5, 5), (4, 2, 2, 2)], [(1, 2, 10, 10)])
    assert operations.flops_of(transposed) == 2 * 100 * (2 * 2 * 2)


def test_products_count_the_shared_axis_wherever_it_lies():
    assert operations.flops_of(op("FusedMatMul", [(2, 3, 5), (5, 7)], [(2, 3, 7)])) == 2 * 42 * 5
    assert operations.flops_of(op("Gemm", [(5, 3), (7, 5)], [(3, 7)])) == 2 * 21 * 5


def test_attention_and_element_wise_operators():
    heads = [(2, 4, 10, 16)] * 3
    assert operations.flops_of(op("FusedAttention", heads, heads[:1])) == 4 * (2 * 4 * 10 * 16) * 10
    assert operations.flops_of(op("Add", [(3, 4), (4,)], [(3, 4)])) == 12
    assert operations.flops_of(op("Nothing", [], [])) == 0


def test_the_least_time_is_that_of_arithmetic_or_bytes_whichever_is_longer():
    peaks = {"bytes_per_s": 100.0, "flops_32": 50.0, "flops_16": 1000.0}
    product = op("MatMul", [(10, 10), (10, 10)], [(10, 10)])
    assert operations.least_ns(product, peaks) == pytest.approx(1e9 * 2000 / 50)
    short = op("MatMul", [(10, 10), (10, 10)], [(10, 10)], "float16")
    assert operations.least_ns(short, peaks) == pytest.approx(1e9 * 600 / 100)
    assert operations.least_ns(product, {}) is None
    assert operations.least_ns(product, {"bytes_per_s": 0, "flops_32": 50.0}) is None


def test_damaged_facts_about_a_device_are_left_out(tmp_path):
    for name, text in (("device_0", json.dumps({"description": "a card", "bytes_per_s": 5.5,
                                                "flops_16": -1, "flops_32": [1]})),
                       ("device_1", "{"), ("device_x", "{}")):
        os.makedirs(tmp_path / name)
        (tmp_path / name / "anynpu_device.json").write_text(text)
    assert _read_devices(tmp_path) == {0: {"description": "a card", "bytes_per_s": 5.5}}
