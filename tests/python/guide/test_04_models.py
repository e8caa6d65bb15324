# SPDX-License-Identifier: Apache-2.0
"""Guide 4.1, 4.2 and 4.6: from the model file to results."""
import struct
from types import SimpleNamespace

import numpy as np
import pytest
from blocks import block, run_block, shell
from conftest import expected_scores, write_onnx

import acl

LOAD = """
    model_id, ret = acl.mdl.load_from_file(model_path)
    """
PREPARE = """
    ACL_MEM_MALLOC_HUGE_FIRST = 0

    self.model_desc = acl.mdl.create_desc()
    ret = acl.mdl.get_desc(self.model_desc, self.model_id)

    self.load_input_dataset = acl.mdl.create_dataset()
    input_size = acl.mdl.get_num_inputs(self.model_desc)
    self.input_data = []
    for i in range(input_size):
        buffer_size = acl.mdl.get_input_size_by_index(self.model_desc, i)
        buffer, ret = acl.rt.malloc(buffer_size, ACL_MEM_MALLOC_HUGE_FIRST)
        data = acl.create_data_buffer(buffer, buffer_size)
        _, ret = acl.mdl.add_dataset_buffer(self.load_input_dataset, data)
        self.input_data.append({"buffer": buffer, "size": buffer_size})

    self.load_output_dataset = acl.mdl.create_dataset()
    output_size = acl.mdl.get_num_outputs(self.model_desc)
    self.output_data = []
    for i in range(output_size):
        buffer_size = acl.mdl.get_output_size_by_index(self.model_desc, i)
        buffer, ret = acl.rt.malloc(buffer_size, ACL_MEM_MALLOC_HUGE_FIRST)
        data = acl.create_data_buffer(buffer, buffer_size)
        _, ret = acl.mdl.add_dataset_buffer(self.load_output_dataset, data)
        self.output_data.append({"buffer": buffer, "size": buffer_size})
    """
EXECUTE = """
    ACL_MEMCPY_HOST_TO_DEVICE = 1
    ACL_MEMCPY_DEVICE_TO_HOST = 2
    NPY_BYTE = 1
    images_list = ["./data/dog1_1024_683.jpg", "./data/dog2_1024_683.jpg"]

    for image in images_list:
        img = transfer_pic(image)

        bytes_data = img.tobytes()
        np_ptr = acl.util.bytes_to_ptr(bytes_data)
        ret = acl.rt.memcpy(self.input_data[0]["buffer"], self.input_data[0]["size"], np_ptr,
                            self.input_data[0]["size"], ACL_MEMCPY_HOST_TO_DEVICE)

        ret = acl.mdl.execute(self.model_id, self.load_input_dataset, self.load_output_dataset)
    """
RESULT = """
    inference_result = []
    for i, item in enumerate(self.output_data):
        buffer_host, ret = acl.rt.malloc_host(self.output_data[i]["size"])
        ret = acl.rt.memcpy(buffer_host, self.output_data[i]["size"], self.output_data[i]["buffer"],
                            self.output_data[i]["size"], ACL_MEMCPY_DEVICE_TO_HOST)

        bytes_out = acl.util.ptr_to_bytes(buffer_host, self.output_data[i]["size"])
        data = np.frombuffer(bytes_out, dtype=np.byte)

        inference_result.append(data)
        tuple_st = struct.unpack("1000f", bytearray(inference_result[0]))
        vals = np.array(tuple_st).flatten()
        top_k = vals.argsort()[-1:-6:-1]
        print("==== top5 inference results: =====")
        for j in top_k:
            print("[%d]: %f" % (j, vals[j]))
    """
RELEASE = """
    while self.input_data:
        item = self.input_data.pop()
        ret = acl.rt.free(item["buffer"])
    input_number = acl.mdl.get_dataset_num_buffers(self.load_input_dataset)
    for i in range(input_number):
        data_buf = acl.mdl.get_dataset_buffer(self.load_input_dataset, i)
        if data_buf:
            ret = acl.destroy_data_buffer(data_buf)
    ret = acl.mdl.destroy_dataset(self.load_input_dataset)

    while self.output_data:
        item = self.output_data.pop()
        ret = acl.rt.free(item["buffer"])
    output_number = acl.mdl.get_dataset_num_buffers(self.load_output_dataset)
    for i in range(output_number):
        data_buf = acl.mdl.get_dataset_buffer(self.load_output_dataset, i)
        if data_buf:
            ret = acl.destroy_data_buffer(data_buf)
    ret = acl.mdl.destroy_dataset(self.load_output_dataset)
    """
UNLOAD = """
    ret = acl.mdl.unload(self.model_id)

    if self.model_desc:
        ret = acl.mdl.destroy_desc(self.model_desc)
        self.model_desc = None
    """


def picture_as_input(path):
    """The guide's transfer_pic: left to the samples there."""
    from PIL import Image
    with Image.open(path) as file:
        image = np.array(file.resize((224, 224))).astype(np.float32) / 255
    return image.transpose((2, 0, 1))[np.newaxis]


@pytest.fixture
def model(ready, first_app, monkeypatch):
    """`self` of the blocks, with a loaded model and the working folder of the quick start."""
    monkeypatch.chdir(first_app)
    model_id, ret = acl.mdl.load_from_file("./model/resnet50.om")
    assert ret == 0, acl.get_recent_err_msg()
    return SimpleNamespace(model_id=model_id)


def names_of(model):
    return dict(acl=acl, self=model, transfer_pic=picture_as_input, np=np, struct=struct,
                ACL_MEMCPY_DEVICE_TO_HOST=2)


@block("4.1", "-App名称", note="the folder tree of a program")
def test_4_1_the_folder_of_a_program(tmp_path, first_app):
    for name in ("caffe_model/xxx.cfg", "caffe_model/xxx.prototxt", "data/xxx.jpg", "xxx.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("print('xxx')")
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "xxx.om").symlink_to(first_app / "model" / "resnet50.om")
    assert shell("python3 xxx.py", tmp_path) == "xxx\n"
    assert acl.init() == 0 and acl.rt.set_device(0) == 0
    model_id, ret = acl.mdl.load_from_file(str(tmp_path / "model" / "xxx.om"))
    assert ret == 0 and acl.mdl.unload(model_id) == 0
    assert acl.rt.reset_device(0) == 0 and acl.finalize() == 0


@block("4.2", "cd <SAMPLE_DIR>/MyFirstApp_ONNX/model",
       slips=["the line with wget is left out: the test writes its own resnet50.onnx",
              "<soc_version> is what npu-smi and acl.get_soc_name() say"])
def test_4_2_the_model_is_built(tmp_path):
    folder = tmp_path / "MyFirstApp_ONNX" / "model"
    folder.mkdir(parents=True)
    write_onnx(folder / "resnet50.onnx")
    assert "ATC run success" in shell(f"""
        cd {tmp_path}/MyFirstApp_ONNX/model
        atc --model=resnet50.onnx --framework=5 --output=resnet50 \
            --input_shape="actual_input_1:1,3,224,224" --soc_version={acl.get_soc_name()}
        """)
    assert (folder / "resnet50.om").exists()


@block("4.6.1", 'model_path = "./model/resnet50.om"')
def test_4_6_1_a_model_is_loaded_from_its_file(ready, first_app, monkeypatch):
    monkeypatch.chdir(first_app)
    names = run_block('    model_path = "./model/resnet50.om"' + LOAD, acl=acl)
    assert acl.mdl.unload(names["model_id"]) == 0


@block("4.6.2", "ACL_MEM_MALLOC_HUGE_FIRST = 0", note="input and output data")
def test_4_6_2_datasets_are_prepared(model):
    run_block(PREPARE, **names_of(model))
    assert [item["size"] for item in model.input_data] == [3 * 224 * 224 * 4]
    assert [item["size"] for item in model.output_data] == [4000]
    run_block(RELEASE + UNLOAD, **names_of(model))


@block("4.6.2", "ACL_MEMCPY_HOST_TO_DEVICE = 1", note="execution",
       slips=["the pictures are looked for in /data, the page puts them into ./data",
              "transfer_pic is left to the samples"])
def test_4_6_2_the_model_is_executed(model, first_app):
    run_block(PREPARE + EXECUTE, **names_of(model))
    data = bytes(4000)
    assert acl.rt.memcpy(acl.util.bytes_to_ptr(data), 4000, model.output_data[0]["buffer"], 4000,
                         2) == 0
    expected = expected_scores(first_app / "model" / "resnet50.onnx",
                               picture_as_input("data/dog2_1024_683.jpg"))
    np.testing.assert_allclose(np.frombuffer(data, np.float32), expected[0], rtol=1e-4, atol=1e-5)
    run_block(RELEASE + UNLOAD, **names_of(model))


@block("4.6.2", "inference_result = []", note="results in memory",
       slips=["numpy and struct are not imported", "buffer_host is never freed"])
def test_4_6_2_the_five_best_classes_are_printed(model, first_app, capsys):
    run_block(PREPARE + EXECUTE + RESULT, **names_of(model))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "==== top5 inference results: ====="
    expected = expected_scores(first_app / "model" / "resnet50.onnx",
                               picture_as_input("data/dog2_1024_683.jpg"))[0]
    best = expected.argsort()[-1:-6:-1]
    assert [int(line[1:line.index("]")]) for line in lines[1:]] == list(best)
    run_block(RELEASE + UNLOAD, **names_of(model))


@block("4.6.2", "while self.input_data:", note="release of input and output")
def test_4_6_2_inputs_and_outputs_are_released(model):
    run_block(PREPARE, **names_of(model))
    memory = model.input_data[0]["buffer"], model.output_data[0]["buffer"]
    run_block(RELEASE, **names_of(model))
    assert all(acl.rt.free(address) != 0 for address in memory), "they were freed"
    assert acl.mdl.destroy_dataset(model.load_input_dataset) != 0
    run_block(UNLOAD, **names_of(model))


@block("4.6.3", "ret = acl.mdl.unload(self.model_id)")
def test_4_6_3_the_model_is_unloaded(model):
    model.model_desc = acl.mdl.create_desc()
    run_block(UNLOAD, **names_of(model))
    assert model.model_desc is None
    assert acl.mdl.unload(model.model_id) != 0, "it is gone"
