# SPDX-License-Identifier: Apache-2.0
"""Single operators: models from folders and memory, execution by type and by handle, shapes."""
import json
import os
import subprocess

import numpy as np
import pytest
import single_op
from single_op import FRACTAL_NZ, FRACTAL_Z, NC1HWC0, NCHW, ND, Refused, Tensor

import acl

F, I32 = np.float32, np.int32
pytestmark = pytest.mark.usefixtures("device_0")


def tensor(kind, shape, form="ND", **more):
    return {"format": form, "shape": shape, "type": kind, **more}


def atc(folder, ops, *options):
    (folder / "ops.json").write_text(json.dumps(ops))
    return subprocess.run(["atc", f"--singleop={folder}/ops.json", f"--output={folder}/op_models",
                           "--soc_version=Ascend310P3", *options],
                          capture_output=True, text=True, timeout=300)


ADD = {"op": "Add", "input_desc": [tensor("int32", [8, 16])] * 2,
       "output_desc": [tensor("int32", [8, 16])]}
CAST = {"op": "Cast", "input_desc": [tensor("float", [1000])],
        "output_desc": [tensor("fp16", [1000])],
        "attr": [{"name": "dst_type", "type": "int", "value": 1}]}
ARG_MAX = {"op": "ArgMaxD", "input_desc": [tensor("float16", [1000])],
           "output_desc": [tensor("int32", [1])],
           "attr": [{"name": "dimension", "type": "int", "value": 0}]}
ANY_ADD = {"op": "Add", "name": "any_add",
           "input_desc": [tensor("float", [-1, 4], shape_range=[[1, 64], [4, 4]])] * 2,
           "output_desc": [tensor("float", [-1, 4], shape_range=[[1, 64], [4, 4]])]}


@pytest.fixture
def op_models(tmp_path):
    done = atc(tmp_path, [ADD, CAST, ARG_MAX, ANY_ADD])
    assert done.returncode == 0, done.stderr
    return tmp_path / "op_models"


def execute(name, inputs, outputs, attrs=None, stream=0, function=None):
    made, out = [Tensor(a) for a in inputs], [Tensor(a) for a in outputs]
    code = (function or acl.op.execute_v2)(
        name, [t.desc for t in made], [t.buffer for t in made], [t.desc for t in out],
        [t.buffer for t in out], single_op.make_attr(attrs or {}), stream)
    single_op.check(code)
    single_op.check(acl.rt.synchronize_stream(stream))
    return [t.read() for t in out]


def ramp(shape, dtype=I32):
    return np.arange(np.prod(shape), dtype=dtype).reshape(shape)


def test_atc_names_the_files_as_documented(op_models):
    assert sorted(os.listdir(op_models)) == [
        "0_Add_3_2_8_16_3_2_8_16_3_2_8_16.om", "1_Cast_0_2_1000_1_2_1000.om",
        "2_ArgMaxD_1_2_1000_3_2_1.om", "any_add.om"]


def test_operators_of_a_folder_run(op_models):
    assert acl.op.set_model_dir(str(op_models)) == 0
    a, b = ramp((8, 16)), ramp((8, 16)) * 3
    for function in (acl.op.execute, acl.op.execute_v2):
        got, = execute("Add", [a, b], [np.zeros_like(a)], function=function)
        np.testing.assert_array_equal(got, a + b)
    x = np.linspace(0, 1, 1000).astype(np.float16)
    x[123] = 5
    got, = execute("ArgMaxD", [x], [np.zeros(1, I32)], {"dimension": 0})
    assert got.tolist() == [123]


def test_models_lie_up_to_two_folders_deep(op_models, tmp_path):
    deep = tmp_path / "all" / "a" / "b"
    deep.mkdir(parents=True)
    os.rename(op_models / "any_add.om", deep / "any_add.om")
    assert acl.op.set_model_dir(str(tmp_path / "all")) == 0
    x = ramp((3, 4), F)
    np.testing.assert_array_equal(execute("Add", [x, x], [x])[0], x + x)


def test_a_model_is_loaded_from_memory(op_models):
    data = (op_models / "0_Add_3_2_8_16_3_2_8_16_3_2_8_16.om").read_bytes()
    assert acl.op.load(acl.util.bytes_to_ptr(data), len(data)) == 0
    del data
    a = ramp((8, 16))
    np.testing.assert_array_equal(execute("Add", [a, a], [a])[0], a + a)


def test_an_open_shape_takes_what_its_range_holds(op_models):
    assert acl.op.set_model_dir(str(op_models)) == 0
    for rows in (1, 7, 64):
        x = ramp((rows, 4), F)
        np.testing.assert_array_equal(execute("Add", [x, x], [x])[0], x + x)
    with pytest.raises(Refused) as refused:
        execute("Add", [ramp((65, 4), F)] * 2, [ramp((65, 4), F)])
    assert refused.value.code == 100024


@pytest.mark.parametrize("change", ["type", "shape", "dtype", "attribute", "format"])
def test_without_a_matching_model_nothing_is_compiled(op_models, change):
    assert acl.op.set_model_dir(str(op_models)) == 0
    x = np.zeros(999 if change == "shape" else 1000, F if change == "dtype" else np.float16)
    name = "ArgMinD" if change == "type" else "ArgMaxD"
    made, out = Tensor(x, NCHW if change == "format" else ND), Tensor(np.zeros(1, I32))
    attr = single_op.make_attr({"dimension": -1 if change == "attribute" else 0})
    assert acl.op.execute_v2(name, [made.desc], [made.buffer], [out.desc], [out.buffer], attr,
                             0) == 100024
    assert name in acl.get_recent_err_msg()


def test_a_handle_keeps_the_match(op_models):
    assert acl.op.set_model_dir(str(op_models)) == 0
    stream, _ = acl.rt.create_stream()
    a, b = Tensor(ramp((8, 16))), Tensor(ramp((8, 16)) * 2)
    out = Tensor(np.zeros((8, 16), I32))
    handle, ret = acl.op.create_handle("Add", [a.desc, b.desc], [out.desc], acl.op.create_attr())
    assert ret == 0
    for _ in range(3):
        assert acl.op.execute_with_handle(handle, [a.buffer, b.buffer], [out.buffer], stream) == 0
        assert acl.rt.synchronize_stream(stream) == 0
    np.testing.assert_array_equal(out.read(), ramp((8, 16)) * 3)
    small = acl.create_data_buffer(a.address, 511)
    assert acl.op.execute_with_handle(handle, [small, b.buffer], [out.buffer], stream) == 100021
    assert acl.op.execute_with_handle(handle, [a.buffer, b.buffer], [small], stream) == 100022
    acl.op.destroy_handle(handle)
    assert acl.op.execute_with_handle(handle, [a.buffer, b.buffer], [out.buffer], stream) == 100000
    acl.rt.destroy_stream(stream)


def test_cast_needs_no_model():
    x = Tensor(np.array([0.1, -2.5, 7e4, np.inf], F))
    out = Tensor(np.zeros(4, np.float16))
    assert acl.op.cast(x.desc, x.buffer, out.desc, out.buffer, 0, 0) == 0
    assert acl.rt.synchronize_stream(0) == 0
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(out.read(), x.array.astype(np.float16))
    handle, ret = acl.op.create_handle_for_cast(x.desc, out.desc, 0)
    assert ret == 0
    assert acl.op.execute_with_handle(handle, [x.buffer], [out.buffer], 0) == 0
    assert acl.rt.synchronize_stream(0) == 0
    acl.op.destroy_handle(handle)


def test_cast_knows_hifloat8():
    """The float of 8 bits that AscendCL alone has: halves go away from zero, 40960 is infinity."""
    x = Tensor(np.array([1, -1.0625, 15.5, 40959, -40960, 2.0 ** -23, -2.0 ** -24, np.nan], F))
    codes, back = Tensor(np.zeros(8, np.uint8)), Tensor(np.zeros(8, F))
    acl.destroy_tensor_desc(codes.desc)
    codes.desc = acl.create_tensor_desc(34, [8], single_op.ND)
    assert acl.op.cast(x.desc, x.buffer, codes.desc, codes.buffer, 0, 0) == 0
    assert acl.op.cast(codes.desc, codes.buffer, back.desc, back.buffer, 0, 0) == 0
    assert acl.rt.synchronize_stream(0) == 0
    assert codes.read().tolist() == [0x08, 0x89, 0x40, 0x6e, 0xef, 0x01, 0x00, 0x80]
    np.testing.assert_array_equal(
        back.read(), np.array([1, -1.125, 16, 32768, -np.inf, 2.0 ** -22, 0, np.nan], F))


def infer(name, inputs, outputs, attrs=None):
    made = [Tensor(a) for a in inputs]
    out = [acl.create_tensor_desc(-1, [], -1) for _ in range(outputs)]
    code = acl.op.infer_shape(name, [t.desc for t in made], [t.buffer for t in made], outputs, out,
                              single_op.make_attr(attrs or {}))
    single_op.check(code)
    found = []
    for desc in out:
        count = acl.get_tensor_desc_num_dims(desc)
        found.append([acl.get_tensor_desc_dim_v2(desc, i)[0] for i in range(count)])
    return found, out


def test_shapes_are_inferred_from_descriptions():
    assert infer("MatMulV2", [ramp((3, 4), F), ramp((4, 5), F)], 1)[0] == [[3, 5]]
    assert infer("SplitD", [ramp((4, 6), F)], 2, {"split_dim": 1, "num_split": 2})[0] == [
        [4, 3], [4, 3]]


def test_shapes_are_inferred_from_values_where_they_matter():
    assert infer("Reshape", [ramp((4, 6), F), np.array([3, -1], I32)], 1)[0] == [[3, 8]]
    assert infer("Tile", [ramp((4, 6), F), np.array([2, 3], I32)], 1)[0] == [[8, 18]]


def test_a_shape_that_only_the_data_decides_is_a_range():
    shapes, descs = infer("Where", [ramp((2, 3))], 1)
    assert shapes == [[-1, 2]]
    low_high, ret = acl.get_tensor_desc_dim_range(descs[0], 0, 2)
    assert (list(low_high), ret) == ([0, 6], 0)


def test_the_description_holds_the_real_shape_after_the_run():
    got, = single_op.run("Where", [np.array([[0, 3], [0, 1]], I32)], [np.zeros((4, 2), np.int64)])
    assert got.tolist() == [[0, 1], [1, 1]]


@pytest.mark.parametrize("shape, dtype, form, blocked", [
    ((2, 17, 3, 5), np.float16, NC1HWC0, (2, 2, 3, 5, 16)),
    ((2, 40, 3, 5), np.int8, NC1HWC0, (2, 2, 3, 5, 32)),
    ((20, 17, 3, 5), np.float16, FRACTAL_Z, (2 * 15, 2, 16, 16)),
])
def test_blocked_formats_come_and_go(shape, dtype, form, blocked):
    x = (np.random.default_rng(1).standard_normal(shape) * 50).astype(dtype)
    name = {NC1HWC0: "NC1HWC0", FRACTAL_Z: "FRACTAL_Z"}[form]
    there, = single_op.run("TransData", [x], [np.zeros(blocked, dtype)],
                           {"src_format": "NCHW", "dst_format": name}, (), [NCHW], [form])
    width = blocked[-1]
    if form == NC1HWC0:
        np.testing.assert_array_equal(there[:, 0, :, :, :16], x[:, :16].transpose(0, 2, 3, 1))
        assert not there[:, 1, :, :, shape[1] - width:].any()
    else:
        np.testing.assert_array_equal(there[0, 0, :, :], x[:16, :16, 0, 0])
        np.testing.assert_array_equal(there[16, 1, :4, 0], x[16:20, 16, 0, 1])
    back, = single_op.run("TransData", [there], [np.zeros_like(x)],
                          {"src_format": name, "dst_format": "NCHW"}, (), [form], [NCHW])
    np.testing.assert_array_equal(back, x)


def test_fractal_nz_comes_and_goes():
    x = np.random.default_rng(1).standard_normal((3, 20, 33)).astype(np.float16)
    there, = single_op.run("TransData", [x], [np.zeros((3, 3, 2, 16, 16), np.float16)],
                           {"src_format": "ND", "dst_format": "FRACTAL_NZ"}, (), [ND], [FRACTAL_NZ])
    np.testing.assert_array_equal(there[1, 2, 1, :4, 0], x[1, 16:20, 32])
    back, = single_op.run("TransData", [there], [np.zeros_like(x)],
                          {"src_format": "FRACTAL_NZ", "dst_format": "ND"}, (), [FRACTAL_NZ], [ND])
    np.testing.assert_array_equal(back, x)


def test_an_operator_computes_on_blocked_pictures():
    x = np.random.default_rng(1).standard_normal((1, 2, 4, 4, 16)).astype(F)
    nchw = x.transpose(0, 1, 4, 2, 3).reshape(1, 32, 4, 4)
    want = nchw.reshape(1, 32, 2, 2, 2, 2).max((3, 5)).reshape(1, 2, 16, 2, 2).transpose(0, 1, 3,
                                                                                         4, 2)
    got, = single_op.run("Pooling", [x], [np.zeros_like(want)],
                         {"mode": 0, "window": [2, 2], "stride": [2, 2]}, (), [NC1HWC0], [NC1HWC0])
    np.testing.assert_array_equal(got, want)


def test_lists_are_taken_with_and_without_their_length():
    x = Tensor(ramp((2, 3, 4), F))
    for arguments in (([2, 0, 1],), (3, [2, 0, 1]), (np.array([2, 0, 1]),)):
        attr = acl.op.create_attr()
        assert acl.op.set_attr_list_int(attr, "perm", *arguments) == 0
        out = Tensor(np.zeros((4, 2, 3), F))
        assert acl.op.compile_and_execute("TransposeD", [x.desc], [x.buffer], [out.desc],
                                          [out.buffer], attr, 0, 0, "", 0) == 0
        assert acl.rt.synchronize_stream(0) == 0
        np.testing.assert_array_equal(out.read(), x.array.transpose(2, 0, 1))
    attr = acl.op.create_attr()
    assert acl.op.set_attr_list_float(attr, "f", 2, [0.5, 1.5]) == 0
    assert acl.op.set_attr_list_string(attr, "s", ["a", "b"]) == 0
    assert acl.op.set_attr_list_list_int(attr, "l", [[1], [2, 3]]) == 0
    assert acl.op.set_attr_list_bool(attr, "b", [1, 0]) == 0
    assert acl.op.set_attr_list_data_type(attr, "t", [0, 1]) == 0
    with pytest.raises(ValueError, match="num_values is 3"):
        acl.op.set_attr_list_int(attr, "perm", 3, [1, 2])


@pytest.mark.parametrize("setter", ["set_attr_int", "set_attr_data_type"])
@pytest.mark.parametrize("flag", [0, 1])
def test_a_type_is_an_attribute_of_its_own_or_a_number_and_flags_change_no_result(setter, flag):
    assert acl.op.set_compile_flag(flag) == 0
    x, out, attr = Tensor(ramp((2, 3), F)), Tensor(np.zeros((2, 3), np.int32)), acl.op.create_attr()
    assert getattr(acl.op, setter)(attr, "dst_type", single_op.TYPES["int32"]) == 0
    assert acl.op.compile_and_execute("Cast", [x.desc], [x.buffer], [out.desc], [out.buffer], attr,
                                      0, 0, "", 0) == 0
    assert acl.rt.synchronize_stream(0) == 0
    np.testing.assert_array_equal(out.read(), x.array.astype(np.int32))
    assert acl.op.set_compile_flag(2) == 100000 and acl.op.set_compile_flag(0) == 0


@pytest.mark.parametrize("name, inputs, outputs, attrs, code, words", [
    ("Add", [(2, 3), (2, 4)], [(2, 3)], {}, 100021, "2x3"),
    ("Add", [(2, 3), (2, 3)], [(3, 2)], {}, 145021, "described as 3x2"),
    ("TransposeD", [(2, 3)], [(3, 2)], {}, 100000, "'perm'"),
    ("TransposeD", [(2, 3)], [(3, 2)], {"perm": 1}, 100000, "set as int"),
    ("ArgMaxD", [(2, 3)], [(2,)], {"dimension": 2}, 100000, "-2 to 1"),
    ("ConcatD", [(2, 3), (3, 3)], [(5, 3)], {"concat_dim": 7}, None, "axis"),
    ("Unheard", [(2, 3)], [(2, 3)], {}, 100024, "'Unheard'"),
])
def test_what_does_not_fit_is_refused_with_a_sentence(name, inputs, outputs, attrs, code, words):
    with pytest.raises(Refused) as refused:
        single_op.run(name, [np.zeros(s, F) for s in inputs], [np.zeros(s, F) for s in outputs],
                      attrs)
    assert code is None or refused.value.code == code, refused.value
    assert words in refused.value.message


def test_empty_tensors_run():
    x = np.zeros((0, 4), F)
    assert single_op.run("Add", [x, x], [x])[0].shape == (0, 4)
    got, = single_op.run("ReduceSumD", [x], [np.ones(4, F)], {"axes": [0]})
    assert got.tolist() == [0] * 4


@pytest.mark.parametrize("change, words", [
    ({"op": 3}, "'op'"), ({"input_desc": {}}, "input_desc"), ({"op": "Unheard"}, "Unheard"),
    ({"input_desc": [tensor("float", [2])]}, "input 1"),
    ({"output_desc": [tensor("int31", [2])]}, "int31"),
    ({"attr": [{"name": "x", "type": "int", "value": "y"}]}, "attribute 'x'"),
    ({"input_desc": [tensor("float", [-2])] * 2}, "unknown number of dimensions"),
    ({"input_desc": [{**tensor("float", [2]), "is_const": "yes"}] * 2}, "'is_const' is"),
    ({"input_desc": [{**tensor("float", [2]), "dynamic_input": 3}] * 2}, "'dynamic_input' is"),
    ({"name": 5}, "'name' is"), ({"name": "../add"}, "without a folder"),
    ({"name": "a/add"}, "without a folder"), ({"name": "add\0"}, "without a folder"),
    ({"name": "0_Add_3_2_8_16_3_2_8_16_3_2_8_16"}, "operators 0 and 1 are both named"),
])
def test_atc_says_what_is_wrong_with_a_description(tmp_path, change, words):
    done = atc(tmp_path, [ADD, {**ADD, **change}])
    assert done.returncode != 0
    assert words in done.stderr, done.stderr
    assert not (tmp_path / "op_models").exists()


def test_atc_names_all_operators_that_are_not_there_at_once(tmp_path):
    done = atc(tmp_path, [{**ADD, "op": "Unheard", "name": "first"}, ADD, {**ADD, "op": "Unseen"}])
    assert done.returncode != 0
    for words in ("2 operators", "Unheard 'first' (operator 0)", "Unseen '' (operator 2)",
                  "docs/operator_names.md"):
        assert words in done.stderr
    assert not (tmp_path / "op_models").exists()


def test_a_folder_with_a_damaged_model_changes_nothing(op_models):
    (op_models / "zz.om").write_bytes(b"not a model")
    assert acl.op.set_model_dir(str(op_models)) != 0
    assert "zz.om" in acl.get_recent_err_msg()
    with pytest.raises(Refused):
        execute("Add", [ramp((8, 16))] * 2, [ramp((8, 16))])
    assert acl.op.set_model_dir(str(op_models / "absent")) == 100003


def test_compiled_operators_age_out_beyond_the_limit():
    assert acl.op.set_max_op_queue_num(1) == 0
    try:
        x, y = ramp((2, 2), F), ramp((3, 2), F)
        single_op.run("Add", [x, x], [x])
        single_op.run("Add", [y, y], [y])
        execute("Add", [y, y], [y])
        with pytest.raises(Refused):
            execute("Add", [x, x], [x])
    finally:
        acl.op.set_max_op_queue_num(20000)
