# SPDX-License-Identifier: Apache-2.0
"""The module aclruntime by itself: names, enums, tensors, sessions."""
import importlib.metadata
import importlib.util
import subprocess

import numpy as np
import pytest
from om_models import image

import aclruntime
from ais_bench.infer.interface import InferSession


def options(**values):
    made = aclruntime.session_options()
    for name, value in values.items():
        assert hasattr(made, name)
        setattr(made, name, value)
    return made


@pytest.fixture
def session(models):
    return aclruntime.InferenceSession(models("step"), 0, options())


def test_both_distributions_are_installed_with_the_version_scripts_ask_for():
    for name in ("aclruntime", "ais_bench"):
        assert importlib.metadata.version(name) == "0.0.2"
    if importlib.util.find_spec("pkg_resources"):  # newest setuptools have it no more
        import pkg_resources
        assert pkg_resources.get_distribution("aclruntime").version == "0.0.2"


def test_the_extension_uses_the_public_c_api():
    """Everything by functions of acl.h; Ctrl-C and marks in profiles by four of ours in C."""
    extension = aclruntime._aclruntime.__file__
    lines = subprocess.run(["nm", "-D", "--undefined-only", extension], check=True,
                           capture_output=True, text=True).stdout.splitlines()
    names = [line.split()[-1] for line in lines]
    assert sum(name.startswith("acl") for name in names) > 30
    assert [name for name in names if "anynpu" in name] == [
        "anynpu_prof_marks_on", "anynpu_prof_range_start", "anynpu_prof_range_stop",
        "anynpu_set_interrupt_check"]


def test_enums_have_the_numbers_and_texts_of_the_original():
    numbers = dict(int8=2, uint8=4, int16=6, uint16=7, int32=3, uint32=8, int64=9, uint64=10,
                   float16=1, float32=0, double=11, bool=12)
    for name, number in numbers.items():
        member = getattr(aclruntime, name)
        assert member is getattr(aclruntime.dtype, name)
        assert member == number and hash(member) == hash(number) and member.name == name
        assert str(member) == f"dtype.{name}" and repr(member) == f"<dtype.{name}: {number}>"
    for name, number in dict(memory_host=0, memory_device=1, memory_dvpp=2).items():
        assert getattr(aclruntime, name) == number and str(getattr(aclruntime, name)) == \
            f"type.{name}"


def test_options_have_the_defaults_of_the_original():
    made = aclruntime.session_options()
    assert (made.loop, made.log_level, made.acl_json_path) == (1, 2, "")
    made = aclruntime.infer_options()
    assert (made.output_dir, made.auto_dym_shape, made.auto_dym_dims, made.out_format,
            made.pure_infer_mode, made.output_names, made.shapes_list) == (
                "", False, False, "", False, [], [])


@pytest.mark.parametrize("kind", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8",
                                  "?"])
def test_a_tensor_copies_an_array_and_gives_it_back(kind):
    array = (image(3, 4) * 9).astype(kind)
    tensor = aclruntime.Tensor(array)
    assert tensor.shape == [3, 4] and tensor.device == -1
    assert tensor.type == aclruntime.memory_host
    assert np.dtype(tensor.dtype.name) == array.dtype
    assert np.array_equal(np.array(tensor), array) and np.array(tensor).dtype == array.dtype
    array[:] = 0
    assert np.array(tensor).any()


def test_a_tensor_shares_its_memory_where_that_is_safe(session):
    tensor = aclruntime.Tensor(image(4, 8))
    shared = np.asarray(tensor)
    shared[0] = 7
    assert np.array(tensor)[0, 0] == 7
    tensor.to_device(0)
    shared[0] = 5  # the array holds the old memory
    tensor.to_host()
    assert np.array(tensor)[0, 0] == 7


def test_a_tensor_takes_what_an_array_shows():
    base = image(6, 8)
    for view in (base.T, base[::2, ::-1], np.float32(3), np.zeros((0, 3), np.float32)):
        tensor = aclruntime.Tensor(view)
        assert np.array_equal(np.array(tensor), view) and tensor.shape == list(view.shape)
    assert np.array(aclruntime.Tensor(b"abc")).tobytes() == b"abc"


@pytest.mark.parametrize("bad", [np.zeros(3, complex), np.zeros(3, ">f4"), np.zeros(2, "S3")])
def test_a_tensor_refuses_what_it_cannot_hold(bad):
    with pytest.raises(TypeError, match="cannot hold elements of the format"):
        aclruntime.Tensor(bad)


def test_a_tensor_moves_and_says_where_it_is(session):
    tensor = aclruntime.Tensor(image(4, 8))
    assert str(tensor) == "<Tensor>\nshape:[4, 8]\ndtype:dtype.float32\ndevice:-1"
    tensor.to_device(0)
    assert tensor.device == 0 and "device:0" in repr(tensor)
    with pytest.raises((RuntimeError, BufferError), match="tensor is in npu"):
        memoryview(tensor)
    tensor.to_dvpp(0)
    assert tensor.type == aclruntime.memory_dvpp
    for device in (100, -1):
        with pytest.raises(RuntimeError, match=r"\[1004\]\[Invalid parameter\] "):
            tensor.to_device(device)
    with pytest.raises(RuntimeError, match="no session is open on device 5"):
        tensor.to_device(5)
    tensor.to_host()
    assert np.array_equal(np.array(tensor), image(4, 8))


def test_descriptions_name_what_the_model_takes_and_gives(session, models):
    first, second = session.get_inputs()
    assert (first.name, first.datatype, first.shape, first.size, first.realsize) == (
        "a", aclruntime.float32, [4, 8], 128, 128)
    assert second.name == "b" and [d.name.split(":")[-1] for d in session.get_outputs()] == [
        "sum", "difference"]
    assert session.get_outputs()[0].format == 2
    picture = aclruntime.InferenceSession(models("batch"), 0, options())
    (desc,) = picture.get_inputs()
    assert desc.format == 0 and desc.shape == [-1, 3, 8, 8], "the gear's own input is hidden"
    text = str(session)
    assert "a  (4, 8)  float32  128  128" in text and "device" in text


def test_realsize_follows_the_gear(models):
    session = aclruntime.InferenceSession(models("batch"), 0, options())
    (desc,) = session.get_inputs()
    assert session.set_dynamic_batchsize(1) == 0
    one = desc.realsize
    session.set_dynamic_batchsize(4)
    assert desc.realsize == 4 * one and session.get_max_dym_batchsize() == 4
    session.set_staticbatch()
    assert desc.realsize == 4 * one
    hw = aclruntime.InferenceSession(models("image"), 0, options())
    hw.set_dynamic_hw(4, 6)
    assert hw.get_inputs()[0].realsize == 2 * 3 * 4 * 6 * 4


@pytest.mark.parametrize("feeds", ["list", "dict", "base"])
def test_run_takes_tensors_in_three_forms(session, feeds):
    arrays = [image(4, 8), image(4, 8) * 2]
    tensors = [aclruntime.Tensor(array) for array in arrays]
    for tensor in tensors:
        tensor.to_device(0)
    given = {"list": tensors, "dict": {"b": tensors[1], "a": tensors[0]},
             "base": [aclruntime.BaseTensor(a.__array_interface__["data"][0], a.nbytes)
                      for a in arrays]}[feeds]
    names = [desc.name for desc in session.get_outputs()]
    outputs = session.run(names[::-1], given)
    for output in outputs:
        assert output.device == 0
        output.to_host()
    assert np.array_equal(np.array(outputs[0]), arrays[0] - arrays[1])
    assert np.array_equal(np.array(outputs[1]), arrays[0] + arrays[1])
    assert session.run([], given) == []
    assert len(session.sumary().exec_time_list) == 2


def test_run_refuses_what_does_not_fit(session):
    tensor = aclruntime.Tensor(image(4, 8))
    names = [desc.name for desc in session.get_outputs()]
    with pytest.raises(TypeError):
        session.run(None, [tensor, tensor])
    with pytest.raises(TypeError):
        session.run(names, {"a": image(4, 8), "b": image(4, 8)})
    for feeds in ([tensor], [tensor] * 3, {"a": tensor}, {"a": tensor, "c": tensor},
                  [tensor, aclruntime.Tensor(image(4, 7))], [aclruntime.BaseTensor(64, 128)] * 2):
        with pytest.raises(RuntimeError):
            session.run(names, feeds)
    with pytest.raises(RuntimeError, match="no output 'other'"):
        session.run(["other"], [tensor, tensor])
    with pytest.raises(TypeError):
        aclruntime.InferenceSession("x.om", 0)


def test_a_dymshape_model_needs_a_shape_and_output_sizes(models):
    session = aclruntime.InferenceSession(models("range"), 0, options())
    names = [desc.name for desc in session.get_outputs()]
    tensor = aclruntime.Tensor(image(1, 3, 8, 8))
    with pytest.raises(RuntimeError):
        session.run(names, [tensor])
    session.set_dynamic_shape("image:1,3,8,8")
    with pytest.raises(RuntimeError, match=r"\[3011\]"):
        session.run(names, [tensor])
    session.set_custom_outsize([10000, 10000])
    assert [o.shape for o in session.run(names, [tensor])] == [[1, 5], [1, 4, 8, 8]]


@pytest.mark.parametrize("text", ["image", "image:1,3", "image:a,3,8,8", "other:1,3,8,8", "",
                                  "image:1,3,8,8;image:1,3,8,8", "image:1,3,8,8;more:1"])
def test_texts_that_are_no_shape_of_the_model_are_refused(models, text):
    session = aclruntime.InferenceSession(models("range"), 0, options())
    session.set_custom_outsize([10000, 10000])
    with pytest.raises(RuntimeError):
        session.set_dynamic_shape(text)
        session.run([], [aclruntime.Tensor(image(1, 3, 8, 8))])


def test_batch_joins_tensors_and_model_opens_a_session(models):
    tensors = [aclruntime.Tensor(image(1, 3) + i) for i in range(2)]
    assert aclruntime.batch(tensors).shape == [2, 1, 3]
    assert aclruntime.batch(tensors, keep_dims=True).shape == [2, 3]
    assert len(aclruntime.model(models("step")).get_inputs()) == 2


def test_raw_files_become_one_tensor(session, tmp_path):
    x = image(4, 8)
    for i, part in enumerate((x[:2], x[2:])):
        part.tofile(tmp_path / f"{i}.bin")
    desc = session.get_inputs()[0]
    files = [str(tmp_path / "0.bin"), str(tmp_path / "1.bin")]
    tensor = session.create_tensor_from_fileslist(desc, files)
    outputs = session.run([session.get_outputs()[0].name], [tensor, tensor])
    outputs[0].to_host()
    assert np.array_equal(np.array(outputs[0]), x + x)
    with pytest.raises(RuntimeError, match="hold 64 bytes, 'a' needs 128"):
        session.create_tensor_from_fileslist(desc, files[:1])


def test_the_threaded_run_over_lists_of_tensors(session):
    names = [desc.name for desc in session.get_outputs()]
    arrays = [image(4, 8) + i for i in range(5)]
    feeds = [[aclruntime.BaseTensor(a.__array_interface__["data"][0], a.nbytes)] * 2
             for a in arrays]
    results = session.run_pipeline(names, feeds, [], False, False)
    for array, (total, _) in zip(arrays, results):
        assert total.device == -1 and np.array_equal(np.array(total), array + array)


def borrowed(*arrays):
    return [aclruntime.BaseTensor(a.__array_interface__["data"][0], a.nbytes) for a in arrays]


def test_the_threaded_run_takes_shapes_as_texts_and_as_lists(models):
    shapes = [((2, 3), (3,)), ((5, 4), (4,)), ((1, 7), (7,))]
    arrays = [(image(*a), image(*b)) for a, b in shapes]
    feeds = [borrowed(*pair) for pair in arrays]
    texts = [";".join(f"{name}:{','.join(map(str, shape))}" for name, shape in zip("ab", pair))
             for pair in shapes]
    lists = [[list(shape) for shape in pair] for pair in shapes]
    session = aclruntime.InferenceSession(models("dims"), 0, options())
    names = [desc.name for desc in session.get_outputs()]
    for given in (texts, lists, shapes, [texts[0], lists[1], shapes[2]]):
        results = session.run_pipeline(names, feeds, given, False, True)
        for (a, b), (total,) in zip(arrays, results):
            np.testing.assert_array_equal(np.array(total), a + b)
    with pytest.raises(RuntimeError, match="2 shapes were given, feeds 2 has none"):
        session.run_pipeline(names, feeds, lists[:2], False, True)
    with pytest.raises(RuntimeError, match="are for 1 inputs, the model has 2"):
        session.run_pipeline(names, feeds[:1], [[[2, 3]]], False, True)
    ranged = aclruntime.InferenceSession(models("range"), 0, options())
    ranged.set_custom_outsize([10000, 100000])
    pictures = [image(1, 3, 8, 8), image(2, 3, 5, 6)]
    outputs = ranged.run_pipeline([d.name for d in ranged.get_outputs()],
                                  [borrowed(x) for x in pictures],
                                  [[list(x.shape)] for x in pictures], True, False)
    assert [one.shape for one, _ in outputs] == [[1, 5], [2, 5]]


def test_a_device_id_may_be_an_integer_of_numpy(models):
    for kind in (np.int64, np.int32, np.uint8):
        session = aclruntime.InferenceSession(models("step"), kind(0), options())
        assert len(session.get_inputs()) == 2
        InferSession(kind(0), models("step")).free_resource()
    with pytest.raises(TypeError, match="device_id is an int, not float"):
        aclruntime.InferenceSession(models("step"), 0.0, options())
