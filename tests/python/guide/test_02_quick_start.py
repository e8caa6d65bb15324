# SPDX-License-Identifier: Apache-2.0
"""Guide, chapter 2: the quick start. Its steps are put together as the page says, with a small
classifier and drawn pictures in place of the ones that the page fetches."""
import os
import re
import shutil
import textwrap

import numpy as np
import pytest
from blocks import block, run_block, run_program, shell
from conftest import draw_pictures, expected_scores, write_onnx

import acl

STEP_1 = """
import os

import acl
import numpy as np
from PIL import Image

ACL_MEM_MALLOC_HUGE_FIRST = 0
ACL_MEMCPY_HOST_TO_DEVICE = 1
ACL_MEMCPY_DEVICE_TO_HOST = 2
"""
STEP_3 = """
def __init__(self, model_path):
    self.device_id = 0

    ret = acl.init()
    ret = acl.rt.set_device(self.device_id)

    self.model_id, ret = acl.mdl.load_from_file(model_path)
    self.model_desc = acl.mdl.create_desc()
    ret = acl.mdl.get_desc(self.model_desc, self.model_id)

    self.input_dataset, self.input_data = self.prepare_dataset('input')
    self.output_dataset, self.output_data = self.prepare_dataset('output')
"""
STEP_4 = """
def prepare_dataset(self, io_type):
    if io_type == "input":
        io_num = acl.mdl.get_num_inputs(self.model_desc)
        acl_mdl_get_size_by_index = acl.mdl.get_input_size_by_index
    else:
        io_num = acl.mdl.get_num_outputs(self.model_desc)
        acl_mdl_get_size_by_index = acl.mdl.get_output_size_by_index
    dataset = acl.mdl.create_dataset()
    datas = []
    for i in range(io_num):
        buffer_size = acl_mdl_get_size_by_index(self.model_desc, i)
        buffer, ret = acl.rt.malloc(buffer_size, ACL_MEM_MALLOC_HUGE_FIRST)
        data_buffer = acl.create_data_buffer(buffer, buffer_size)
        _, ret = acl.mdl.add_dataset_buffer(dataset, data_buffer)
        datas.append({"buffer": buffer, "data": data_buffer, "size": buffer_size})
    return dataset, datas
"""
STEP_5 = """
def forward(self, inputs):
    input_num = len(inputs)

    for i in range(input_num):
        bytes_data = inputs[i].tobytes()
        bytes_ptr = acl.util.bytes_to_ptr(bytes_data)
        ret = acl.rt.memcpy(self.input_data[i]["buffer"],
                           self.input_data[i]["size"],
                           bytes_ptr,
                           len(bytes_data),
                           ACL_MEMCPY_HOST_TO_DEVICE)
    ret = acl.mdl.execute(self.model_id, self.input_dataset, self.output_dataset)
    inference_result = []
    for i, item in enumerate(self.output_data):
        buffer_host, ret = acl.rt.malloc_host(self.output_data[i]["size"])
        ret = acl.rt.memcpy(buffer_host,
                           self.output_data[i]["size"],
                           self.output_data[i]["buffer"],
                           self.output_data[i]["size"],
                           ACL_MEMCPY_DEVICE_TO_HOST)
        bytes_out = acl.util.ptr_to_bytes(buffer_host, self.output_data[i]["size"])
        data = np.frombuffer(bytes_out, dtype=np.float32)
        inference_result.append(data)
    vals = np.array(inference_result).flatten()
    vals = np.exp(vals)
    vals = vals / np.sum(vals)

    return vals
"""
STEP_6 = """
def __del__(self):
    for dataset in [self.input_data, self.output_data]:
        while dataset:
            item = dataset.pop()
            ret = acl.destroy_data_buffer(item["data"])
            ret = acl.rt.free(item["buffer"])
    ret = acl.mdl.destroy_dataset(self.input_dataset)
    ret = acl.mdl.destroy_dataset(self.output_dataset)
    ret = acl.mdl.destroy_desc(self.model_desc)
    ret = acl.mdl.unload(self.model_id)
    ret = acl.rt.reset_device(self.device_id)
    ret = acl.finalize()
"""
STEP_7 = """
def transfer_pic(input_path):
    input_path = os.path.abspath(input_path)

    with Image.open(input_path) as image_file:
        img = image_file.resize((224, 224))
        img = np.array(img).astype(np.float32)
    img -= [123.675, 116.28, 103.53]
    img /= [58.395, 57.12, 57.375]
    img = img[:, :, ::-1]
    img = img.transpose((2, 0, 1))
    return np.array([img])
"""
STEP_8 = """
def print_top_5(data):
    top_5 = data.argsort()[::-1][:5]
    print("==== top5 inference results: =====")
    for j in top_5:
        print("[%d]: %f" % (j, data[j]))

if __name__ == "__main__":
    resnet50 = net('./model/resnet50.om')
    image_paths = ["./data/dog1_1024_683.jpg", "./data/dog2_1024_683.jpg"]
    for path in image_paths:
        image = transfer_pic(path)
        result = resnet50.forward([image])
        print_top_5(result)

del resnet50
"""
NET = STEP_1 + "\nclass net:\n" + textwrap.indent(STEP_3 + STEP_4 + STEP_5 + STEP_6, "    ")


@pytest.fixture
def quick_start(first_app):
    """The names that steps 1 to 7 define, and a `net` with the model; gone after the test."""
    names = run_block(NET + STEP_7)
    names["resnet50"] = names["net"](str(first_app / "model" / "resnet50.om"))
    yield names
    names.pop("resnet50", None)  # __del__ releases everything
    assert acl.rt.get_device()[1] == 100001, "the library was finalised"


def softmax_of(onnx_path, image):
    scores = np.exp(expected_scores(onnx_path, image).flatten())
    return scores / scores.sum()


@block("2", "first_app", note="the folder tree",
       slips=["resnet50.onnx is drawn beside the folder model instead of inside it"])
def test_2_the_folder_of_the_program(tmp_path):
    draw_pictures(tmp_path / "first_app" / "data")
    (tmp_path / "first_app" / "model").mkdir()
    write_onnx(tmp_path / "first_app" / "model" / "resnet50.onnx")
    files = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.*"))
    assert files == ["first_app/data/dog1_1024_683.jpg", "first_app/data/dog2_1024_683.jpg",
                     "first_app/model/resnet50.onnx"]


@block("2", "atc --model=resnet50.onnx --framework=5 --output=resnet50 --",
       slips=["a line break stands inside the option --input_shape"])
def test_2_atc_converts_the_model(tmp_path):
    write_onnx(tmp_path / "resnet50.onnx")
    out = shell('atc --model=resnet50.onnx --framework=5 --output=resnet50 '
                '--input_shape="actual_input_1:1,3,224,224" --soc_version=Ascend310P3', tmp_path)
    assert "ATC run success" in out
    assert (tmp_path / "resnet50.om").stat().st_size > 12000


@block("2", "npusmi info", slips=["the program is called npu-smi"])
def test_2_the_name_of_the_processor_makes_the_soc_version(tmp_path):
    name = acl.get_soc_name()
    assert name.startswith("Ascend") and name[len("Ascend"):] in shell("npu-smi info")
    write_onnx(tmp_path / "resnet50.onnx")
    assert "ATC run success" in shell(
        "atc --model=resnet50.onnx --framework=5 --output=resnet50 "
        f'--input_shape="actual_input_1:1,3,224,224" --soc_version={name}', tmp_path)


@block("2", "import os", note="step 1")
def test_2_step_1_modules_and_constants():
    names = run_block(STEP_1)
    assert names["acl"] is acl and names["ACL_MEMCPY_DEVICE_TO_HOST"] == 2


@block("2", "class net:", note="step 2",
       slips=["a class of comments alone is no Python; `pass` stands for the methods"])
def test_2_step_2_the_class():
    assert run_block("class net:\n    pass\n")["net"].__name__ == "net"


@block("2", "def __init__(self, model_path):", note="step 3")
def test_2_step_3_the_model_is_loaded(quick_start):
    net = quick_start["resnet50"]
    assert acl.mdl.get_num_inputs(net.model_desc) == acl.mdl.get_num_outputs(net.model_desc) == 1
    assert acl.rt.get_device() == (0, 0)


@block("2", "def prepare_dataset(self, io_type):", note="step 4")
def test_2_step_4_datasets_have_the_sizes_of_the_model(quick_start):
    net = quick_start["resnet50"]
    assert [item["size"] for item in net.input_data] == [3 * 224 * 224 * 4]
    assert [item["size"] for item in net.output_data] == [1000 * 4]
    assert acl.mdl.get_dataset_num_buffers(net.input_dataset) == 1


@block("2", "def forward(self, inputs):", note="step 5",
       slips=["the page break takes the body's indentation away; the model is executed after the "
              "loop over the inputs, not inside it", "buffer_host is never freed"])
def test_2_step_5_inference_gives_the_models_result(quick_start, first_app):
    image = np.random.default_rng(2).standard_normal((1, 3, 224, 224)).astype(np.float32)
    result = quick_start["resnet50"].forward([image])
    expected = softmax_of(first_app / "model" / "resnet50.onnx", image)
    np.testing.assert_allclose(result, expected, rtol=1e-4)


@block("2", "def __del__(self):", note="step 6")
def test_2_step_6_everything_is_released(quick_start):
    net = quick_start["resnet50"]
    model_id, buffer = net.model_id, net.input_data[0]["buffer"]
    del net, quick_start["resnet50"]
    assert acl.init() == 0, "finalize was called, so init works again"
    assert acl.rt.set_device(0) == 0
    assert acl.mdl.unload(model_id) != 0
    assert acl.rt.free(buffer) != 0
    assert acl.finalize() == 0


@block("2", "def transfer_pic(input_path):", note="step 7",
       slips=["the page break takes the body's indentation away"])
def test_2_step_7_pictures_become_input(first_app):
    names = run_block(STEP_1 + STEP_7)
    image = names["transfer_pic"](str(first_app / "data" / "dog1_1024_683.jpg"))
    assert image.shape == (1, 3, 224, 224) and image.dtype == np.float32
    means = image.mean(axis=(0, 2, 3))  # in the order blue, green, red
    np.testing.assert_allclose(means, [(40 - 103.53) / 57.375, (60 - 116.28) / 57.12,
                                       (220 - 123.675) / 58.395], atol=0.05)


@block("2", "def print_top_5(data):", note="step 8",
       slips=["the pictures are looked for in /data, the page puts them into ./data"])
@block("2", "python3 first_app.py")
@block("2", "==== top5 inference results: =====", note="what the program prints",
       slips=["the classes and numbers are those of the test's own model"])
def test_2_step_8_the_program_prints_five_classes_for_each_picture(first_app, tmp_path):
    folder = tmp_path / "first_app"
    shutil.copytree(first_app, folder)
    out = run_program(folder / "first_app.py", NET + STEP_7 + STEP_8)
    lines = out.splitlines()
    assert len(lines) == 12 and lines[0] == lines[6] == "==== top5 inference results: ====="
    transfer_pic = run_block(STEP_1 + STEP_7)["transfer_pic"]
    for dog, printed in (("dog1", lines[1:6]), ("dog2", lines[7:12])):
        image = transfer_pic(os.path.join(folder, "data", dog + "_1024_683.jpg"))
        expected = softmax_of(folder / "model" / "resnet50.onnx", image)
        for line, index in zip(printed, expected.argsort()[::-1][:5]):
            found = re.fullmatch(r"\[(\d+)\]: (0\.\d{6})", line)
            assert int(found[1]) == index
            assert abs(float(found[2]) - expected[index]) < 1e-5
