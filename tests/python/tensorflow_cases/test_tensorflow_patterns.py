# SPDX-License-Identifier: Apache-2.0
"""What atc makes of normalisation, activations and attention that programs write in small operators
(tests/frameworks/tensorflow/cases/patterns.py); their results are compared with the other cases."""
import os
import subprocess

import pytest
import tf_archive
from compiled_graph import types_of

CASES = {case.name: case for case in tf_archive.all_cases() if case.family == "patterns"}
# What is left of a convolution or product with its normalisation and its activation.
LAYERS = {"Conv", "FusedConv", "ConvTranspose", "Gemm", "FusedGemm", "MatMul", "FusedMatMul",
          "Relu", "Clip", "LeakyRelu", "Transpose", "Reshape"}
ATTENTION = {"Attention", "FusedAttention"}


def types(case, folder):
    path = os.path.join(folder, "net")
    with open(path + ".pb", "wb") as file:
        file.write(case.graph)
    subprocess.run(["atc", f"--model={path}.pb", "--framework=3", "--output=" + path,
                    "--soc_version=Ascend310P3", "--out_nodes=" + case.out_nodes],
                   check=True, capture_output=True)
    return types_of(path + ".om")


def of(pattern):
    names = [name for name in CASES if name.startswith(pattern + ".")]
    assert len(names) >= 4, names
    return pytest.mark.parametrize("name", names)


@of("BatchNorm")
def test_a_batch_normalisation_goes_into_its_layer(name, tmp_path):
    found = types(CASES[name], tmp_path)
    if name == "BatchNorm.before_conv":  # there is nothing in front of it
        assert found.count("BatchNormalization") == 1
        found.remove("BatchNormalization")
    assert set(found) <= LAYERS, found


@of("LayerNorm")
def test_a_layer_normalisation_is_one_operator(name, tmp_path):
    root = "root_mean_square" in name
    assert types(CASES[name], tmp_path) == ["RMSNormalization" if root else "LayerNormalization"]


@of("Gelu")
def test_gelu_is_one_operator(name, tmp_path):
    assert types(CASES[name], tmp_path) == ["Gelu"]


@of("Swish")
def test_swish_is_one_operator(name, tmp_path):
    found = types(CASES[name], tmp_path)
    if name == "Swish.keras_behind_conv":
        assert set(found) - LAYERS == {"Swish"}, found
    else:
        assert found == ["Swish"]


@of("Attention")
def test_attention_is_one_operator(name, tmp_path):
    found = types(CASES[name], tmp_path)
    assert sum(kind in ATTENTION for kind in found) == 1, found
    assert "Softmax" not in found, found
