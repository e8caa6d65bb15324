# SPDX-License-Identifier: Apache-2.0
"""What atc makes of the recorded networks of TensorFlow: no Transpose between convolutions, and the
fused operators of the patterns that programs write out."""
import os
import subprocess

import pytest
import tf_archive
from compiled_graph import transposes_between_convolutions, types_of


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """compiled(name): the .om of a recorded network."""
    folder = tmp_path_factory.mktemp("compiled")
    cases = {case.name: case for case in tf_archive.all_cases() if case.family == "networks"}

    def make(name):
        path = os.path.join(folder, name)
        if not os.path.exists(path + ".om"):
            with open(path + ".pb", "wb") as file:
                file.write(cases[name].graph)
            subprocess.run(["atc", f"--model={path}.pb", "--framework=3", "--output=" + path,
                            "--soc_version=Ascend310P3", "--out_nodes=" + cases[name].out_nodes],
                           check=True, capture_output=True)
        return path + ".om"
    return make


@pytest.mark.parametrize("name", ["ssd_mobilenet.v1", "yolov3.v1", "deeplabv3plus.v1", "unet.v1",
                                  "openpose.v1", "facenet.v1", "wgan.v1", "crnn.v1"])
def test_no_transpose_is_between_convolutions(compiled, name):
    assert transposes_between_convolutions(compiled(name)) == []


@pytest.mark.parametrize("name", ["ssd_mobilenet.v1", "yolov3.v1", "deeplabv3plus.v1", "unet.v1"])
def test_batch_normalisation_becomes_part_of_the_convolution(compiled, name):
    """As one operator of TensorFlow, and in U-Net written out; transposed convolutions too."""
    types = set(types_of(compiled(name)))
    assert not types & {"BatchNormalization", "Rsqrt", "Sqrt", "Reciprocal"}, sorted(types)


def test_a_transformer_becomes_its_fused_operators(compiled):
    """The recorded BERT: two layers of attention, one Gelu by erf and one by tanh, five
    normalisations."""
    types = types_of(compiled("bert.v1"))
    assert types.count("FusedAttention") + types.count("Attention") == 2, types
    assert types.count("LayerNormalization") == 5, types
    assert not set(types) & {"Softmax", "Erf", "ReduceMean", "Pow", "Sqrt"}, types
