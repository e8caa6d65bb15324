# SPDX-License-Identifier: Apache-2.0
"""What models take and return: --out_nodes, --output_type, --input_fp16_nodes, layouts."""
import ml_dtypes
import numpy as np
import pytest
from model_datasets import Model, atc, convert
from om_runner import run_om
from onnx import TensorProto, helper, numpy_helper, save
from onnx_models import network

import acl

RANDOM = np.random.default_rng(5)
WEIGHT = RANDOM.standard_normal((20, 3, 3, 3)).astype(np.float32)
PICTURE = RANDOM.standard_normal((2, 3, 6, 6)).astype(np.float32)


@pytest.fixture
def net(tmp_path, monkeypatch, runtime):
    """x -> conv -> relu -> halves (two outputs) -> y = tanh of the first half."""
    monkeypatch.chdir(tmp_path)
    nodes = [helper.make_node("Conv", ["x", "w"], ["c"], name="conv", pads=[1] * 4),
             helper.make_node("Relu", ["c"], ["r"], name="relu"),
             helper.make_node("Split", ["r"], ["a", "b:0"], name="halves", axis=1),
             helper.make_node("Tanh", ["a"], ["y"], name="last")]
    save(network(nodes, [("x", TensorProto.FLOAT, PICTURE.shape)],
                 [("y", TensorProto.FLOAT, None)], [numpy_helper.from_array(WEIGHT, "w")]),
         "net.onnx")

    def convert(*options):
        return atc("--model=net.onnx", "--framework=5", "--output=net",
                   "--soc_version=Ascend310P3", *options)
    return convert


def run(convert, *options, feed=PICTURE):
    done = convert(*options)
    assert done.returncode == 0, done.stderr
    return run_om("net.om", [feed])


def test_out_nodes_by_node_and_index_cut_the_model_and_order_its_outputs(net):
    whole = run(net)
    cut = run(net, "--out_nodes=halves:1;relu:0")
    assert list(whole) == ["last:0:y"]
    assert list(cut) == ["halves:1:b:0", "relu:0:r"]
    np.testing.assert_array_equal(cut["relu:0:r"][:, 10:], cut["halves:1:b:0"])
    np.testing.assert_allclose(np.tanh(cut["relu:0:r"][:, :10]), whole["last:0:y"], atol=1e-6)


def test_out_nodes_by_tensor_name_take_names_with_colons(net):
    assert list(run(net, "--out_nodes=r;b:0")) == ["relu:0:r", "halves:1:b:0"]


@pytest.mark.parametrize("chosen", ["places:0;values:0", "p;v"])
def test_out_nodes_behind_operators_whose_values_decide_the_shape(tmp_path, runtime, chosen):
    """x -> NonZero -> Transpose -> GatherND -> the sum of what was found. The places and the values
    found are outputs on request; the run tells their shapes."""
    nodes = [helper.make_node("NonZero", ["x"], ["n"], name="found"),
             helper.make_node("Transpose", ["n"], ["p"], name="places", perm=[1, 0]),
             helper.make_node("GatherND", ["x", "p"], ["v"], name="values"),
             helper.make_node("ReduceSum", ["v"], ["y"], name="sum", keepdims=0)]
    model = network(nodes, [("x", TensorProto.FLOAT, (3, 4))], [("y", TensorProto.FLOAT, ())])
    path = convert(tmp_path, "net", model, f"--out_nodes={chosen}")
    loaded = Model(path, output_sizes=[12 * 2 * 8, 12 * 4])
    assert [acl.mdl.get_output_name_by_index(loaded.desc, i) for i in range(2)] == ["places:0:p",
                                                                                    "values:0:v"]
    assert acl.mdl.get_output_size_by_index(loaded.desc, 0) == 0, "the shape is open"
    for count in (0, 5, 12):
        x = np.zeros((3, 4), np.float32)
        x.flat[:count] = np.arange(1, count + 1)
        loaded.run(x)
        shapes = []
        for i in range(2):
            desc = acl.mdl.get_dataset_tensor_desc(loaded.outputs, i)
            shapes.append([acl.get_tensor_desc_dim_v2(desc, axis)[0]
                           for axis in range(acl.get_tensor_desc_num_dims(desc))])
        assert shapes == [[count, 2], [count]]
        assert np.array_equal(loaded.read(0, (count, 2), np.int64), np.argwhere(x))
        assert np.array_equal(loaded.read(1, (count,)), np.arange(1, count + 1))
    loaded.close()


def test_out_nodes_of_two_styles_are_refused(net):
    done = net("--out_nodes=relu:0;y")
    assert done.returncode == 1
    assert "mixes node:index with names of tensors" in done.stderr


@pytest.mark.parametrize("name,kind", [("FP16", np.float16), ("INT32", np.int32),
                                       ("UINT8", np.uint8), ("DOUBLE", np.float64),
                                       ("FP8E5M2", ml_dtypes.float8_e5m2),
                                       ("FP8E4M3FN", ml_dtypes.float8_e4m3fn)])
def test_output_type_changes_every_output(net, name, kind):
    plain = run(net, "--out_nodes=relu:0;last:0")
    typed = run(net, "--out_nodes=relu:0;last:0", f"--output_type={name}")
    for key, value in plain.items():
        assert typed[key].dtype == kind
        np.testing.assert_array_equal(typed[key], value.astype(kind))


def test_output_type_of_single_outputs(net):
    typed = run(net, "--out_nodes=relu:0;last:0", "--output_type=last:0:FP16")
    assert typed["relu:0:r"].dtype == np.float32
    assert typed["last:0:y"].dtype == np.float16
    done = net("--out_nodes=relu:0", "--output_type=last:0:FP16")
    assert done.returncode == 1
    assert "'last:0' is not among --out_nodes" in done.stderr


@pytest.mark.parametrize("name,number", [("HIF8", 34), ("FP8E5M2", 35), ("FP8E4M3FN", 36)])
def test_output_type_of_single_outputs_as_floats_of_8_bits(net, name, number):
    assert net("--out_nodes=relu:0;last:0", f"--output_type=last:0:{name}").returncode == 0
    model = Model("net.om")
    assert [acl.mdl.get_output_data_type(model.desc, i) for i in range(2)] == [0, number]
    assert acl.mdl.get_output_size_by_index(model.desc, 1) == 2 * 10 * 6 * 6
    model.close()


def hifloat8_numbers():
    """The positive numbers of HiFloat8 by their codes: mantissas of 3 bits up to exponents of 3, of
    2 up to 7, of 1 up to 15; below them powers of 2 alone."""
    numbers = {0: 0.0} | {m: 2.0 ** (m - 23) for m in range(1, 8)}
    for first, sizes, places in ((0x08, [0], 3), (0x10, [1], 3), (0x20, [2, 3], 3),
                                 (0x40, range(4, 8), 2), (0x60, range(8, 16), 1)):
        exponents = [*sizes, *(-size for size in sizes if size)]
        for i, exponent in enumerate(exponents):
            for m in range(1 << places):
                code = first + (i << places) + m
                numbers[code] = (1 + m / (1 << places)) * 2.0 ** exponent
    numbers[0x6f] = np.inf
    return [numbers[code] for code in range(128)]


def test_output_type_hif8_rounds_to_the_nearest_number_of_that_type(net):
    plain = run(net, "--out_nodes=relu:0;last:0")
    typed = run(net, "--out_nodes=relu:0;last:0", "--output_type=HIF8")
    numbers = np.array(hifloat8_numbers())
    order = np.argsort(numbers)[:-1]  # without infinity, which no output here reaches
    for key, value in plain.items():
        size = np.abs(value.astype(np.float64))
        codes = order[np.abs(size[..., None] - numbers[order]).argmin(-1)]
        want = np.where((value < 0) & (codes > 0), codes | 0x80, codes)
        np.testing.assert_array_equal(typed[key], want)


def test_input_fp16_nodes_are_fed_in_float16(net):
    half = PICTURE.astype(np.float16)
    fed = run(net, "--input_fp16_nodes=x", feed=half)
    plain = run(net, feed=half.astype(np.float32))
    np.testing.assert_array_equal(fed["last:0:y"], plain["last:0:y"])


def blocked(picture):
    """N, C, H, W -> N, C1, H, W, 16."""
    n, c, h, w = picture.shape
    whole = np.zeros((n, (c + 15) // 16 * 16, h, w), picture.dtype)
    whole[:, :c] = picture
    return whole.reshape(n, -1, 16, h, w).transpose(0, 1, 3, 4, 2)


def test_inputs_and_outputs_in_the_chips_layout(net):
    half = PICTURE.astype(np.float16)
    plain = run(net, "--out_nodes=relu:0", "--output_type=FP16", "--input_fp16_nodes=x", feed=half)
    made = run(net, "--out_nodes=relu:0", "--input_fp16_nodes=x",
               "--is_input_adjust_hw_layout=true", "--is_output_adjust_hw_layout=true",
               feed=blocked(half))
    assert made["relu:0:r"].shape == (2, 2, 6, 6, 16)
    np.testing.assert_array_equal(made["relu:0:r"], blocked(plain["relu:0:r"]))
    model, _ = acl.mdl.load_from_file("net.om")
    desc = acl.mdl.create_desc()
    acl.mdl.get_desc(desc, model)
    assert acl.mdl.get_input_format(desc, 0) == 3
    assert acl.mdl.get_output_format(desc, 0) == 3
    acl.mdl.destroy_desc(desc)
    acl.mdl.unload(model)


def formats_of(path):
    model, ret = acl.mdl.load_from_file(path)
    assert ret == 0, acl.get_recent_err_msg()
    desc = acl.mdl.create_desc()
    acl.mdl.get_desc(desc, model)
    found = [[get(desc, i) for i in range(count(desc))] for get, count in (
        (acl.mdl.get_input_format, acl.mdl.get_num_inputs),
        (acl.mdl.get_output_format, acl.mdl.get_num_outputs))]
    acl.mdl.destroy_desc(desc)
    acl.mdl.unload(model)
    return found


@pytest.mark.parametrize("name,wanted", [
    (None, [0, 2]), ("NCHW", [0, 2]), ("NHWC", [1, 2]), ("ND", [2, 2]), ("NCDHW", [2, 30])])
def test_input_format_is_that_of_tensors_of_its_rank(tmp_path, monkeypatch, runtime, name, wanted):
    monkeypatch.chdir(tmp_path)
    shapes = {"a": [1, 2, 3, 4], "b": [1, 2, 3, 4, 5]}
    save(network([helper.make_node("Relu", [key], [key + "_out"]) for key in shapes],
                 [(key, TensorProto.FLOAT, shape) for key, shape in shapes.items()],
                 [(key + "_out", TensorProto.FLOAT, None) for key in shapes]), "net.onnx")
    done = atc("--model=net.onnx", "--framework=5", "--output=net", "--soc_version=Ascend310P3",
               *([f"--input_format={name}"] if name else []))
    assert done.returncode == 0, done.stderr
    assert formats_of("net.om") == [wanted, wanted]


def test_layouts_are_given_for_each_of_the_nodes(net):
    for nodes, layouts in (("--out_nodes=relu:0", "--is_output_adjust_hw_layout=true,false"),
                           ("--input_fp16_nodes=x", "--is_input_adjust_hw_layout=true,true")):
        done = net(nodes, layouts)
        assert done.returncode == 1
        assert "has 2 entries" in done.stderr and "expected one for each" in done.stderr
    done = net("--input_fp16_nodes=x", "--is_input_adjust_hw_layout=yes")
    assert done.returncode == 1 and "expected true or false" in done.stderr


def test_an_input_with_aipp_is_not_fed_in_float16(net, tmp_path):
    (tmp_path / "aipp.cfg").write_text("aipp_op { aipp_mode: static input_format: RGB888_U8 }")
    done = net("--insert_op_conf=aipp.cfg", "--input_fp16_nodes=x")
    assert done.returncode == 1
    assert "both name input 'x'" in done.stderr
