# SPDX-License-Identifier: Apache-2.0
"""Guide 7.6 (gears and shapes at run time) and 7.7 (dynamic AIPP), on the small classifier."""

import subprocess

import numpy as np
import pytest
from blocks import block, read_bytes, run_block, write_bytes
from conftest import expected_scores, write_onnx

AIPP = "aipp_op { aipp_mode: dynamic related_input_rank: %d max_src_image_size: %d }\n"


def convert(folder, name, *options, source="net.onnx"):
    done = subprocess.run(
        [
            "atc",
            f"--model={folder}/{source}",
            "--framework=5",
            f"--output={folder}/{name}",
            "--soc_version=Ascend310P3",
            *options,
        ],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return str(folder / f"{name}.om")


def write_two_inputs(path):
    """Two pictures in, their channels' means out."""
    import onnx
    from onnx import TensorProto, helper

    names, batches = ("first", "second"), (1, 2)
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        [
            helper.make_node("GlobalAveragePool", [name], [name + "_mean"], name=name + "_pool")
            for name in names
        ],
        "two",
        [value(name, TensorProto.FLOAT, [n, 3, 224, 224]) for name, n in zip(names, batches)],
        [value(name + "_mean", TensorProto.FLOAT, None) for name in names],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), path)


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dynamic")
    write_onnx(folder / "net.onnx")
    write_two_inputs(folder / "two.onnx")
    (folder / "one.cfg").write_text(AIPP % (0, 256 * 224 * 3 // 2))
    (folder / "two.cfg").write_text(AIPP % (0, 256 * 256 * 4) + AIPP % (1, 2 * 224 * 224 * 3))
    name = "actual_input_1"
    return {
        "onnx": folder / "net.onnx",
        "batch": convert(
            folder, "batch", f"--input_shape={name}:-1,3,224,224", "--dynamic_batch_size=1,8,4"
        ),
        "image": convert(
            folder,
            "image",
            f"--input_shape={name}:1,3,-1,-1",
            "--dynamic_image_size=224,224;448,448",
        ),
        "dims": convert(
            folder,
            "dims",
            f"--input_shape={name}:-1,3,-1,-1",
            "--input_format=ND",
            "--dynamic_dims=1,224,224;8,224,224",
        ),
        "range": convert(folder, "range", f"--input_shape={name}:1~4,3,224,224"),
        "aipp": convert(
            folder,
            "aipp",
            f"--input_shape={name}:1,3,224,224",
            f"--insert_op_conf={folder}/one.cfg",
        ),
        "two": convert(folder, "two", f"--insert_op_conf={folder}/two.cfg", source="two.onnx"),
    }


class Loaded:
    """A model with its description and datasets; sizes of 0 become `large`."""

    def __init__(self, acl, path, large=1 << 22):
        self.acl = acl
        self.id, ret = acl.mdl.load_from_file(path)
        assert ret == 0, acl.get_recent_err_msg()
        self.desc = acl.mdl.create_desc()
        assert acl.mdl.get_desc(self.desc, self.id) == 0
        self.input = self.dataset(
            [
                acl.mdl.get_input_size_by_index(self.desc, i) or large
                for i in range(acl.mdl.get_num_inputs(self.desc))
            ]
        )
        self.output = self.dataset(
            [
                acl.mdl.get_output_size_by_index(self.desc, i) or large
                for i in range(acl.mdl.get_num_outputs(self.desc))
            ]
        )

    def dataset(self, sizes):
        dataset = self.acl.mdl.create_dataset()
        for size in sizes:
            memory, ret = self.acl.rt.malloc(size, 0)
            assert ret == 0
            _, ret = self.acl.mdl.add_dataset_buffer(
                dataset, self.acl.create_data_buffer(memory, size)
            )
            assert ret == 0
        return dataset

    def address(self, dataset, index):
        return self.acl.get_data_buffer_addr(self.acl.mdl.get_dataset_buffer(dataset, index))

    def feed(self, array, index=0):
        write_bytes(self.acl, self.address(self.input, index), array.tobytes())

    def result(self, shape, index=0):
        raw = read_bytes(self.acl, self.address(self.output, index), int(np.prod(shape)) * 4)
        return np.frombuffer(raw, np.float32).reshape(shape)

    def close(self):
        for dataset in (self.input, self.output):
            for i in range(self.acl.mdl.get_dataset_num_buffers(dataset)):
                buffer = self.acl.mdl.get_dataset_buffer(dataset, i)
                assert self.acl.rt.free(self.acl.get_data_buffer_addr(buffer)) == 0
                assert self.acl.destroy_data_buffer(buffer) == 0
            assert self.acl.mdl.destroy_dataset(dataset) == 0
        assert self.acl.mdl.destroy_desc(self.desc) == 0
        assert self.acl.mdl.unload(self.id) == 0


@pytest.fixture
def load(ready, models):
    made = []

    def make(name):
        made.append(Loaded(ready, models[name]))
        return made[-1]

    yield make
    for model in made:
        model.close()


def random_image(*shape):
    return np.random.default_rng(7).standard_normal(shape).astype(np.float32)


def converted(raw, width, height, left, top):
    """224x224 of a YUV420SP picture from (left, top) through the guide's colour matrix."""
    y = raw[: width * height].reshape(height, width, 1)
    uv = raw[width * height :].reshape(height // 2, width // 2, 2).repeat(2, 0).repeat(2, 1)
    yuv = np.concatenate([y, uv], -1)[top : top + 224, left : left + 224].astype(np.int64)
    matrix = np.array([[256, 443, 0], [256, -86, -178], [256, 0, 350]])
    return np.clip(((yuv - [0, 128, 128]) @ matrix.T) >> 8, 0, 255).transpose(2, 0, 1)[None]


def check_scores(model, models, image):
    want = expected_scores(models["onnx"], image)
    np.testing.assert_allclose(model.result(want.shape), want, rtol=1e-4, atol=1e-4)


@block("7.6.1", "def model_set_dynamicinfo():")
@block(
    "7.6.1",
    'index, ret = acl.mdl.get_input_index_by_name(model_desc, "ascend_mbatch_shape_data")',
    slips=[
        "batchSize = 8 is read as batch_size",
        "the functions have no indented bodies",
        "a brace closes a function",
        "the functions are defined but not called",
    ],
)
def test_7_6_1_dynamic_batch(load, models, ready):
    model, image = load("batch"), random_image(8, 3, 224, 224)
    model.feed(image)
    run_block(
        """
        def model_set_dynamicinfo():
            index, ret = acl.mdl.get_input_index_by_name(model_desc, "ascend_mbatch_shape_data")
            batch_size = 8
            ret = acl.mdl.set_dynamic_batch_size(model_id, input, index, batch_size)
            return ret

        def model_execute(index):
            ret = model_set_dynamicinfo()
            ret = acl.mdl.execute(model_id, input, output)
        model_execute(0)
        """,
        acl=ready,
        model_desc=model.desc,
        model_id=model.id,
        input=model.input,
        output=model.output,
    )
    check_scores(model, models, image)


@block(
    "7.6.1",
    "def model_set_dynamicInfo():",
    slips=[
        "modelDesc is model_desc elsewhere",
        "the functions have no indented bodies",
        "the functions are defined but not called",
    ],
)
def test_7_6_1_dynamic_image_size(load, models, ready):
    model, image = load("image"), random_image(1, 3, 224, 224)
    model.feed(image)
    run_block(
        """
        def model_set_dynamicInfo():
            index, ret = acl.mdl.get_input_index_by_name(modelDesc, "ascend_mbatch_shape_data")
            height = 224
            width = 224
            ret = acl.mdl.set_dynamic_hw_size(model_id, input, index, height, width)
            return ret

        def model_execute(index):
            ret = model_set_dynamicInfo()
            ret = acl.mdl.execute(model_id, input, output)
        model_execute(0)
        """,
        acl=ready,
        modelDesc=model.desc,
        model_id=model.id,
        input=model.input,
        output=model.output,
    )
    check_scores(model, models, image)


@block("7.6.1", "import acl")
@block(
    "7.6.1",
    "def model_set_dynamic_info():",
    slips=[
        "def ModelExecute(int index) is no Python",
        "a comment runs over into a line of code",
        "the functions are defined but not called",
    ],
)
def test_7_6_1_dynamic_dims(load, models):
    model, image = load("dims"), random_image(8, 3, 224, 224)
    model.feed(image)
    run_block(
        """
        import acl
        def model_set_dynamic_info():
            index, ret = acl.mdl.get_input_index_by_name(model_desc, "ascend_mbatch_shape_data")
            current_dims = {'name': '', 'dimCount': 4, 'dims': [8, 3, 224, 224]}
            ret = acl.mdl.set_input_dynamic_dims(model_id, input_dataset, index, current_dims)
            return ret

        def ModelExecute(index):
            ret = model_set_dynamic_info()
            ret = acl.mdl.execute(model_id, input_dataset, output_dataset)
        ModelExecute(0)
        """,
        model_desc=model.desc,
        model_id=model.id,
        input_dataset=model.input,
        output_dataset=model.output,
    )
    check_scores(model, models, image)


@block("7.6.2", "def set_tensor_desc():")
@block(
    "7.6.2",
    "outputDesc = acl.mdl.get_dataset_tensor_desc(output_, 0)",
    slips=[
        "set_dataset_tensor_desc gives (dataset, ret)",
        "get_run_mode and malloc_host take no value to fill in: they return it",
        "str(ss): ss is not defined",
        "an address is no bytes object: it has to be copied out",
        "the functions are defined but not called",
    ],
)
def test_7_6_2_shapes_at_run_time(load, models, ready, tmp_path):
    model, image = load("range"), random_image(1, 3, 224, 224)
    model.feed(image)
    run_block(
        """
        def set_tensor_desc():
            shapes = [1, 3, 224, 224]
            inputDesc = acl.create_tensor_desc(0, shapes, 0)
            _, ret = acl.mdl.set_dataset_tensor_desc(input_, inputDesc, 0)
            acl.destroy_tensor_desc(inputDesc)

        def model_execute():
            set_tensor_desc()
            ret = acl.mdl.execute(modelId, input_, output_)
            outputDesc = acl.mdl.get_dataset_tensor_desc(output_, 0)
            outputFileName = str(ss)
            outputDesc_size = acl.get_tensor_desc_size(outputDesc)
            dataBuffer = acl.mdl.get_dataset_buffer(output_, 0)
            data = acl.get_data_buffer_addr(dataBuffer)
            outHostData = None
            runMode, ret = acl.rt.get_run_mode()
            if runMode == ACL_HOST:
                outHostData, ret = acl.rt.malloc_host(outputDesc_size)
                ret = acl.rt.memcpy(outHostData, outputDesc_size, data, outputDesc_size,
                                    ACL_MEMCPY_DEVICE_TO_HOST)
                with open(outputFileName, "wb") as f:
                    f.write(acl.util.ptr_to_bytes(outHostData, outputDesc_size))
                ret = acl.rt.free_host(outHostData)
            else:
                with open(outputFileName, "wb") as f:
                    f.write(acl.util.ptr_to_bytes(data, outputDesc_size))
        model_execute()
        """,
        acl=ready,
        modelId=model.id,
        input_=model.input,
        output_=model.output,
        ss=tmp_path / "out.bin",
        ACL_HOST=1,
        ACL_MEMCPY_DEVICE_TO_HOST=2,
    )
    scores = np.fromfile(tmp_path / "out.bin", np.float32)
    assert scores.size == 1000, "the size of the real output, not of the buffer"
    np.testing.assert_allclose(
        scores, expected_scores(models["onnx"], image)[0], rtol=1e-4, atol=1e-4
    )


@block("7.7.2", "import acl")
@block(
    "7.7.2",
    "def model_set_dynamic_aipp():",
    slips=[
        "set_aipp_rbuw_swap_switch is set_aipp_rbuv_swap_switch; both names are there",
        "def model_execute(index) has no colon",
        "the functions are defined but not called",
    ],
)
def test_7_7_2_one_input_with_dynamic_aipp(load, models):
    model = load("aipp")
    raw = np.random.default_rng(5).integers(0, 256, 256 * 224 * 3 // 2, np.uint8)
    model.feed(raw)
    run_block(
        """
        import acl

        ACL_YUV420SP_U8 = 1

        def model_set_dynamic_aipp():
            index, ret = acl.mdl.get_input_index_by_name(model_desc, "ascend_dynamic_aipp_data")

            batch_number = 1
            aipp_dynamic_set = acl.mdl.create_aipp(batch_number)
            ret = acl.mdl.set_aipp_src_image_size(aipp_dynamic_set, 256, 224)
            ret = acl.mdl.set_aipp_input_format(aipp_dynamic_set, ACL_YUV420SP_U8)
            ret = acl.mdl.set_aipp_csc_params(aipp_dynamic_set, 1, 256, 443, 0, 256, -86, -178, 256, 0, 350, 0, 0, 0,
                                              0, 128, 128)
            ret = acl.mdl.set_aipp_rbuw_swap_switch(aipp_dynamic_set, 0)
            ret = acl.mdl.set_aipp_dtc_pixel_mean(aipp_dynamic_set, 0, 0, 0, 0, 0)
            ret = acl.mdl.set_aipp_dtc_pixel_min(aipp_dynamic_set, 0, 0, 0, 0, 0)
            ret = acl.mdl.set_aipp_pixel_var_reci(aipp_dynamic_set, 1, 1, 1, 1, 0)
            ret = acl.mdl.set_aipp_crop_params(aipp_dynamic_set, 1, 0, 0, 224, 224, 0)
            ret = acl.mdl.set_input_aipp(model_id, input_dataset, index, aipp_dynamic_set)
            ret = acl.mdl.destroy_aipp(aipp_dynamic_set)
            return ret

        def model_execute(index):
            ret = model_set_dynamic_aipp()
            ret = acl.mdl.execute(model_id, input_dataset, output_dataset)
        model_execute(0)
        """,
        model_desc=model.desc,
        model_id=model.id,
        input_dataset=model.input,
        output_dataset=model.output,
    )
    check_scores(model, models, converted(raw, 256, 224, 0, 0))


@block("7.7.3", "import acl")
@block(
    "7.7.3",
    "def model_set_dynamic_aipp():",
    slips=[
        "def ModelExecute(int index) is no Python",
        "set_aipp_rbuw_swap_switch is set_aipp_rbuv_swap_switch; both names are there",
        "the second set has no input format",
        "the crop of 224x224 from (2, 2) does not fit "
        "into the source of 256x224: 256x226 is given",
        "the functions are defined but not called",
    ],
)
def test_7_7_3_two_inputs_with_dynamic_aipp(load):
    model = load("two")
    random = np.random.default_rng(6)
    first = random.integers(0, 256, 256 * 226 * 3 // 2, np.uint8)
    model.feed(first, 0)
    second = random.integers(0, 256, (2, 224, 224, 3), np.uint8)
    model.feed(second, 1)
    run_block(
        """
        import acl

        ACL_DATA_WITH_DYNAMIC_AIPP = 2
        ACL_YUV420SP_U8 = 1

        def model_set_dynamic_aipp():
            need_dynamic_aipp = []
            input_num = acl.mdl.get_num_inputs(model_desc)
            for index in range(input_num):
                aipp_type, dynamic_attached_index, ret = acl.mdl.get_aipp_type(model_id, index)
                if aipp_type == ACL_DATA_WITH_DYNAMIC_AIPP:
                    need_dynamic_aipp.append(index)

            if len(need_dynamic_aipp) != 2:
                return 1
            batch_number_first = 1
            aipp_dynamic_set_first = acl.mdl.create_aipp(batch_number_first)
            ret = acl.mdl.set_aipp_src_image_size(aipp_dynamic_set_first, 256, 226)
            ret = acl.mdl.set_aipp_input_format(aipp_dynamic_set_first, ACL_YUV420SP_U8)
            ret = acl.mdl.set_aipp_csc_params(aipp_dynamic_set_first, 1, 256, 443, 0, 256, -86,
                                              -178, 256, 0, 350, 0, 0, 0, 0, 128, 128)
            ret = acl.mdl.set_aipp_rbuw_swap_switch(aipp_dynamic_set_first, 0)
            ret = acl.mdl.set_aipp_dtc_pixel_mean(aipp_dynamic_set_first, 0, 0, 0, 0, 0)
            ret = acl.mdl.set_aipp_dtc_pixel_min(aipp_dynamic_set_first, 0, 0, 0, 0, 0)
            ret = acl.mdl.set_aipp_pixel_var_reci(aipp_dynamic_set_first, 1.0, 1.0, 1.0, 1.0, 0)
            ret = acl.mdl.set_aipp_crop_params(aipp_dynamic_set_first, 1, 2, 2, 224, 224, 0)
            ret = acl.mdl.set_aipp_by_input_index(model_id, input_dataset, need_dynamic_aipp[0],
                                                  aipp_dynamic_set_first)
            ret = acl.mdl.destroy_aipp(aipp_dynamic_set_first)
            batch_number_second = 2
            aipp_dynamic_set_second = acl.mdl.create_aipp(batch_number_second)
            ret = acl.mdl.set_aipp_src_image_size(aipp_dynamic_set_second, 224, 224)
            ret = acl.mdl.set_aipp_input_format(aipp_dynamic_set_second, ACL_RGB888_U8)
            ret = acl.mdl.set_aipp_by_input_index(model_id, input_dataset, need_dynamic_aipp[1],
                                                  aipp_dynamic_set_second)
            ret = acl.mdl.destroy_aipp(aipp_dynamic_set_second)
            return ret

        def ModelExecute(index):
            ret = model_set_dynamic_aipp()
            ret = acl.mdl.execute(model_id, input_dataset, output_dataset)
        ModelExecute(0)
        """,
        model_desc=model.desc,
        model_id=model.id,
        input_dataset=model.input,
        output_dataset=model.output,
        ACL_RGB888_U8=3,
    )
    pictures = converted(first, 256, 226, 2, 2), second.transpose(0, 3, 1, 2)
    for index, picture in enumerate(pictures):
        means = picture.mean(axis=(2, 3), keepdims=True, dtype=np.float64)
        np.testing.assert_allclose(model.result(means.shape, index), means, rtol=1e-5)
