# SPDX-License-Identifier: Apache-2.0
"""Makes what the guide's programs work on: pictures and a small classifier with the input and
output of the guide's ResNet-50."""
import os
import subprocess

import pytest


def draw_pictures(folder):
    """Two pictures with the names and the size of the guide's: one mostly red, one mostly blue."""
    from PIL import Image
    os.makedirs(folder, exist_ok=True)
    for name, colour in (("dog1", (220, 60, 40)), ("dog2", (30, 70, 230))):
        Image.new("RGB", (1024, 683), colour).save(os.path.join(folder, name + "_1024_683.jpg"))


def write_onnx(path):
    """actual_input_1 [1,3,224,224] -> 1000 values, by the mean of each channel and one product."""
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    random = np.random.RandomState(1)
    weights = [numpy_helper.from_array(random.randn(3, 1000).astype(np.float32), "weight"),
               numpy_helper.from_array(random.randn(1000).astype(np.float32), "bias")]
    nodes = [helper.make_node("GlobalAveragePool", ["actual_input_1"], ["mean"], name="pool"),
             helper.make_node("Flatten", ["mean"], ["flat"], name="flat"),
             helper.make_node("Gemm", ["flat", "weight", "bias"], ["output1"], name="fc")]
    graph = helper.make_graph(
        nodes, "small",
        [helper.make_tensor_value_info("actual_input_1", TensorProto.FLOAT, ["N", 3, 224, 224])],
        [helper.make_tensor_value_info("output1", TensorProto.FLOAT, ["N", 1000])], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), path)


def expected_scores(onnx_path, image):
    """What the model of write_onnx gives for an image [1,3,224,224], computed with numpy."""
    import onnx
    from onnx import numpy_helper
    weight, bias = map(numpy_helper.to_array, onnx.load(onnx_path).graph.initializer)
    return image.astype("float64").mean(axis=(2, 3)) @ weight + bias


@pytest.fixture(scope="session")
def first_app(tmp_path_factory):
    """The folder first_app of chapter 2, with pictures, the .onnx and the .om made from it."""
    folder = tmp_path_factory.mktemp("first_app")
    draw_pictures(folder / "data")
    (folder / "model").mkdir()
    write_onnx(folder / "model" / "resnet50.onnx")
    done = subprocess.run(
        ["atc", "--model=resnet50.onnx", "--framework=5", "--output=resnet50",
         "--input_shape=actual_input_1:1,3,224,224", "--soc_version=Ascend310P3"],
        cwd=folder / "model", capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture
def ready():
    """Initialised and with device 0 in use, as blocks assume that start in the middle."""
    import acl
    assert acl.init() == 0
    assert acl.rt.set_device(0) == 0
    yield acl
    assert acl.rt.reset_device(0) == 0
    assert acl.finalize() == 0
