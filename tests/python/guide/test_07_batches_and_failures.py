# SPDX-License-Identifier: Apache-2.0
"""Guide 7.3 (models behind each other), 7.4 (batches) and 7.10 (which operator failed)."""
import subprocess

import numpy as np
import pytest
from blocks import block, read_bytes, run_block, write_bytes
from model_datasets import Model  # noqa: E402
from onnx import TensorProto, helper, numpy_helper, save

import acl

WEIGHT = np.random.default_rng(9).standard_normal((3, 3)).astype(np.float32)


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A product of 8 rows, a Relu of 8 rows, and a choice of rows that can fail."""
    folder = tmp_path_factory.mktemp("models")
    value = helper.make_tensor_value_info

    def convert(name, node, inputs, weights=()):
        graph = helper.make_graph([node], name, inputs, [value("y", TensorProto.FLOAT, None)],
                                  [numpy_helper.from_array(a, n) for n, a in weights])
        save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]),
             folder / f"{name}.onnx")
        shape = "--input_shape=x:8,3" + (";i:1" if len(inputs) > 1 else "")
        done = subprocess.run(
            ["atc", f"--model={folder}/{name}.onnx", "--framework=5", f"--output={folder}/{name}",
             "--soc_version=Ascend310P3", shape],
            capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        return str(folder / f"{name}.om")
    x = value("x", TensorProto.FLOAT, ["n", 3])
    return {
        "product": convert("product", helper.make_node("MatMul", ["x", "w"], ["y"], name="fc"),
                           [x], [("w", WEIGHT)]),
        "relu": convert("relu", helper.make_node("Relu", ["x"], ["y"], name="relu"), [x]),
        "pick": convert("pick", helper.make_node("Gather", ["x", "i"], ["y"], name="pick"),
                        [x, value("i", TensorProto.INT64, ["k"])]),
    }


@block("7.3", "(words) several models: several loads, several executions")
def test_7_3_the_output_of_one_model_is_the_input_of_the_next(ready, models):
    first, second = Model(models["product"]), Model(models["relu"])
    rows = np.arange(24, dtype=np.float32).reshape(8, 3) - 12
    first.feed(rows)
    between = acl.mdl.create_dataset()
    memory, _, size = first.output_data[0]
    buffer = acl.create_data_buffer(memory, size)
    assert acl.mdl.add_dataset_buffer(between, buffer)[1] == 0
    assert first.execute() == 0
    assert acl.mdl.execute(second.id, between, second.outputs) == 0
    np.testing.assert_allclose(second.read(0, (8, 3)), np.maximum(rows @ WEIGHT, 0), rtol=1e-5,
                               atol=1e-5)
    assert acl.destroy_data_buffer(buffer) == acl.mdl.destroy_dataset(between) == 0
    first.close()
    second.close()


@block("7.4", "batch_size = 8",
       slips=["the size of one batch is divided with /, which gives a float: // is meant",
              "for i in len(files_list) is range(len(files_list))", "cnt++ is no Python",
              "remarks stand between the lines without a comment sign"],
       note="reading a file and the execution, which the page leaves to the reader, are functions "
       "of the test")
@block("7.4", "TODO: 推理结束后, 调用acl.rt.free接口释放Device上的内存。",
       note="the end of the block above on the next page")
def test_7_4_files_are_gathered_to_batches_and_the_rest_is_run_as_it_is(ready, models):
    model = Model(models["product"])
    rows = [np.full(3, i, np.float32) for i in range(11)]
    results = []

    def read_file(name, address):
        write_bytes(acl, address, rows[name].tobytes())

    def run(p_batch_dst, count):
        memory, _, size = model.input_data[0]
        assert acl.rt.memcpy(memory, size, p_batch_dst, size, 3) == 0
        assert model.execute() == 0
        raw = read_bytes(acl, model.output_data[0][0], model.output_data[0][2])
        results.extend(np.frombuffer(raw, np.float32).reshape(8, 3)[:count])
        assert acl.rt.free(p_batch_dst) == 0

    run_block("""
        batch_size = 8
        device_num = 1
        device_id = 0
        model_input_size = acl.mdl.get_input_size_by_index(model_desc, 0)
        single_buff_size = model_input_size // batch_size
        cnt = 0
        pos = 0
        infer_file_vec = []
        for i in range(len(files_list)):
            if cnt % batch_size == 0:
                pos = 0
                infer_file_vec.clear()
                p_batch_dst, ret = acl.rt.malloc(model_input_size, ACL_MEM_MALLOC_NORMAL_ONLY)
            file_size = single_buff_size
            p_img_buf, ret = acl.rt.malloc_host(file_size)
            read_file(files_list[i], p_img_buf)
            ret = acl.rt.memcpy(p_batch_dst + pos, file_size, p_img_buf, file_size, ACL_MEMCPY_HOST_TO_DEVICE)
            pos += file_size
            acl.rt.free_host(p_img_buf)
            infer_file_vec.append(files_list[i])
            cnt += 1
            if cnt % batch_size == 0:
                run(p_batch_dst, batch_size)
        if cnt % batch_size != 0:
            run(p_batch_dst, cnt % batch_size)
        """, acl=acl, model_desc=model.desc, files_list=list(range(11)), run=run,  # noqa: E501
              read_file=read_file, ACL_MEM_MALLOC_NORMAL_ONLY=2, ACL_MEMCPY_HOST_TO_DEVICE=1)
    np.testing.assert_allclose(results, np.stack(rows) @ WEIGHT, rtol=1e-5, atol=1e-5)
    model.close()


@block("7.10", "import acl",
       note="the model fails because an index is out of range, where a card has AI Core errors")
def test_7_10_the_callback_learns_which_operator_failed(ready, models):
    model = Model(models["pick"])
    seen = []
    names = run_block("""
        def exception_callback(info):
            stream_id = acl.rt.get_stream_id_from_exception_info(info)
            thread_id = acl.rt.get_thread_id_from_exception_info(info)
            device_id = acl.rt.get_device_id_from_exception_info(info)
            task_id = acl.rt.get_task_id_from_exception_info(info)
            op_name, input_desc, num_inputs, output_desc, num_outputs, ret = \\
                acl.mdl.create_and_get_op_desc(device_id, stream_id, task_id, 256)

            for i in range(num_inputs):
                desc = acl.get_tensor_desc_by_index(input_desc, i)
                address = acl.get_tensor_desc_address(desc)
                num_dims = acl.get_tensor_desc_num_dims(desc)
                dim_0, ret = acl.get_tensor_desc_dim_v2(desc, 0)

            for i in range(num_outputs):
                desc = acl.get_tensor_desc_by_index(output_desc, i)
                address = acl.get_tensor_desc_address(desc)
                num_dims = acl.get_tensor_desc_num_dims(desc)
                dim_0, ret = acl.get_tensor_desc_dim_v2(desc, 0)

            acl.destroy_tensor_desc(input_desc)
            acl.destroy_tensor_desc(output_desc)
            seen.append((op_name, num_inputs, num_outputs, num_dims, dim_0))

        ret = acl.rt.set_exception_info_callback(exception_callback)
        """, acl=acl, seen=seen)
    assert names["ret"] == 0
    model.feed(np.zeros((8, 3), np.float32), np.array([100], np.int64))
    assert model.execute() != 0
    assert acl.rt.set_exception_info_callback(None) == 0
    assert seen == [("pick", 2, 1, 2, 1)]
    model.close()
