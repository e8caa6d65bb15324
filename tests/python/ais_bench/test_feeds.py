# SPDX-License-Identifier: Apache-2.0
"""What infer takes as an input: every listed kind, and what it says about the rest."""
import subprocess
import sys

import numpy as np
import pytest
from om_models import image

import aclruntime


def test_a_view_with_strides_sends_the_elements_it_shows(make):
    session = make("step")
    wide = image(8, 8)
    for view in (wide[::2], wide[:4, ::-1], wide.T[:4], np.asfortranarray(wide[:4])):
        np.testing.assert_array_equal(session.infer([view, np.zeros_like(view)])[0], view)


def test_the_other_byte_order_is_turned(make):
    x = image(4, 8)
    swapped = x.astype(">f4")
    np.testing.assert_array_equal(make("step").infer([swapped, x * 0])[0], x)


def test_read_only_arrays_and_subclasses_are_taken(make):
    class Mine(np.ndarray):
        pass

    x = image(4, 8)
    x.flags.writeable = False
    np.testing.assert_array_equal(make("step").infer([x, x.view(Mine)])[1], np.zeros_like(x))


def test_only_the_number_of_bytes_counts(make):
    x = image(4, 8)
    session = make("step")
    for same in (x.view(np.int32), x.reshape(-1), x.view(np.uint8), x.view(np.float64)):
        np.testing.assert_array_equal(session.infer([same, x * 0])[0], x)


@pytest.mark.parametrize("kind", [np.int32, np.uint32, np.float32])
def test_a_numpy_number_is_an_input(make, kind):
    (y,) = make("scalar").infer([kind(7)])
    assert y.shape == (1,) and y.tobytes() == np.asarray(kind(7)).tobytes()


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int64, np.uint8, np.uint16, np.float16,
                                  np.float64])
def test_a_numpy_number_of_another_size_is_known_but_does_not_fit(make, kind):
    size = np.dtype(kind).itemsize
    with pytest.raises(RuntimeError, match=f"was given {size} bytes, the model needs 4"):
        make("scalar").infer([kind(7)])


@pytest.mark.parametrize("feed", [[1.0], 1.0, 1, b"1234", "text", None, np.bool_(1), np.uint64(1),
                                  np.array(["a"], object)])
def test_other_types_are_refused_by_name(make, feed):
    with pytest.raises(RuntimeError, match="type:<class .*> invalid"):
        make("scalar").infer([feed])


def test_zero_size_inputs_and_outputs_work(make):
    (y,) = make("empty").infer([np.empty((2, 0, 3), np.float32)])
    assert y.shape == (2, 0, 3) and y.dtype == np.float32


def test_tensors_of_host_and_device_are_inputs(make):
    session, a, b = make("step"), image(4, 8), image(4, 8) + 1
    tensor = aclruntime.Tensor(a)
    np.testing.assert_array_equal(session.infer([tensor, b])[0], a + b)
    tensor.to_device(0)
    on_device = session.create_tensor_from_arrays_to_device(b)
    assert on_device.device == 0
    for _ in range(2):
        np.testing.assert_array_equal(session.infer([tensor, on_device])[0], a + b)


def test_outputs_on_the_device_are_inputs_of_another_session(make):
    first, second, a = make("step"), make("step"), image(4, 8)
    sums = first.infer([a, a], out_array=False)
    np.testing.assert_array_equal(second.infer([sums[0], a])[0], a + a + a)


def test_a_tensor_of_another_device_is_refused(make):
    first, second, a = make("step"), make("step", device_id=1), image(4, 8)
    sums = first.infer([a, a], out_array=False)
    with pytest.raises(RuntimeError, match="on device 0, the session is on device 1"):
        second.infer([sums[0], a])


def test_the_number_of_feeds_has_to_be_right(make):
    session, a = make("step"), image(4, 8)
    for feeds in ([], [a], [a, a, a]):
        with pytest.raises(RuntimeError, match=f"{len(feeds)} inputs were given, the model has 2"):
            session.infer(feeds)
    with pytest.raises(RuntimeError, match="feeds is a list"):
        session.infer(a)
    np.testing.assert_array_equal(session.infer([a, a])[0], a + a)


def test_a_wrong_size_names_index_name_and_sizes(make):
    with pytest.raises(RuntimeError, match=r"\[-1\]\[ACL: general failure\] input 1 \('b'\) was "
                                           "given 64 bytes, the model needs 128"):
        make("step").infer([image(4, 8), image(4, 4)])


@pytest.mark.parametrize("mode", ["dynbatch", "", None, 3])
def test_an_unknown_mode_lists_the_five(make, mode):
    with pytest.raises(RuntimeError, match="static, dymbatch, dymhw, dymdims, dymshape"):
        make("step").infer([image(4, 8)] * 2, mode)


@pytest.mark.parametrize("name, mode, shape, sentence", [
    ("batch", "dymbatch", (3, 3, 8, 8), r"3 is no batch gear of the model; its gears are \[1"),
    ("image", "dymhw", (2, 3, 9, 9), "9,9 is no image gear"),
    ("batch", "dymbatch", (2, 3), "was given 24 bytes, the model needs 1536"),
    ("fixed", "dymbatch", (1, 4, 8, 8), "axis 1 dim not matched!"),
    ("fixed", "dymbatch", (1, 3, 8, 8), "not a dymbatch model!"),
    ("fixed", "dymhw", (1, 3, 8, 8), "not a dymhw model!"),
    ("range", "dymshape", (9, 3, 8, 8), r"was compiled for \[1~8"),
    ("range", "dymshape", (3, 8, 8), "145021"),
    ("range", "dymdims", (1, 3, 8, 8), "no dims gear of the model; its gears .* are none"),
])
def test_a_shape_that_the_model_does_not_have(make, name, mode, shape, sentence):
    session = make(name)
    with pytest.raises(RuntimeError, match=sentence):
        session.infer([image(*shape)], mode)


@pytest.mark.parametrize("name, mode", [("batch", "dymbatch"), ("image", "dymhw"),
                                        ("dims", "dymdims"), ("range", "dymshape")])
def test_dynamic_modes_count_the_feeds_first(make, name, mode):
    with pytest.raises(RuntimeError, match="input datas and intensors nums not matched!"):
        make(name).infer([image(2, 3, 8, 8)] * 3, mode)


def test_a_range_model_has_no_static_mode(make):
    with pytest.raises(RuntimeError, match="needs 0"):
        make("range").infer([image(1, 3, 8, 8)])


TORCH = """
import sys, types
import numpy as np
try:
    import torch
except ImportError:
    class Tensor:
        '''The part of torch.Tensor that the interface uses, for machines without torch.'''
        def __init__(self, array, name):
            self.array, self.name, self.shape = array, name, array.shape
        def type(self): return self.name
        def detach(self): return self
        def contiguous(self): return Tensor(np.ascontiguousarray(self.array), self.name)
        def view(self, kind): return Tensor(self.array.view(kind), "torch.ShortTensor")
        def t(self): return Tensor(self.array.T, self.name)
        def numpy(self):
            assert self.name != "torch.BFloat16Tensor", "torch has no numpy() for it"
            return self.array

    sys.modules["torch"] = types.SimpleNamespace(int16=np.int16)
    make, kind = Tensor, "stand-in"
else:
    kind = torch.__version__

    def make(array, name):
        if name == "torch.BFloat16Tensor":
            return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
        return torch.from_numpy(array)

from ais_bench.infer.interface import InferSession
session = InferSession(0, sys.argv[1])
kinds = dict(Float="f4", Double="f8", Half="f2", BFloat16="u2", Byte="u1", Char="i1", Short="i2",
             Long="i8", Bool="?", Int="i4")
for name, code in kinds.items():
    data = np.random.default_rng(1).integers(0, 2, 64, np.uint8)
    array = data.view(code)
    tensor = make(array, f"torch.{name}Tensor")
    assert tensor.type() == f"torch.{name}Tensor"
    assert session.infer([tensor])[0].tobytes() == data.tobytes(), name
    square = array.reshape(2, -1)
    turned = make(square, f"torch.{name}Tensor").t()
    assert session.infer([turned])[0].tobytes() == square.T.tobytes(), name
if kind == "stand-in":
    try:
        session.infer([make(data, "torch.cuda.FloatTensor")])
    except RuntimeError as error:
        assert "torch.cuda.FloatTensor" in str(error), error
    else:
        raise AssertionError("a tensor of a GPU was taken")
print("ten types,", kind)
"""


def test_torch_tensors_of_the_ten_types_are_inputs(models):
    done = subprocess.run([sys.executable, "-c", TORCH, models("bytes")], capture_output=True,
                          text=True, timeout=300)
    assert done.returncode == 0 and "ten types" in done.stdout, done.stdout + done.stderr


def test_torch_is_not_imported(models):
    code = ("import sys, numpy\nfrom ais_bench.infer.interface import InferSession\n"
            "InferSession(0, sys.argv[1]).infer([numpy.zeros(64, 'u1')])\n"
            "assert 'torch' not in sys.modules and 'ray' not in sys.modules")
    subprocess.run([sys.executable, "-c", code, models("bytes")], check=True, timeout=300)
