# SPDX-License-Identifier: Apache-2.0
"""Runs one operator through acl.op with numpy arrays: what the tests of single operators share."""
import numpy as np

import acl

ND, NCHW, NHWC, NC1HWC0, FRACTAL_Z, HWCN, FRACTAL_NZ = 2, 0, 1, 3, 4, 16, 29
TYPES = {"float32": 0, "float16": 1, "int8": 2, "int32": 3, "uint8": 4, "int16": 6, "uint16": 7,
         "uint32": 8, "int64": 9, "uint64": 10, "float64": 11, "bool": 12, "complex64": 16,
         "complex128": 17}


class Refused(Exception):
    """A call that failed: its code and its sentence."""

    def __init__(self, code):
        self.code, self.message = code, acl.get_recent_err_msg()
        super().__init__(f"{code}: {self.message}")


def check(code):
    if code != 0:
        raise Refused(code)


class Tensor:
    """An array with what acl needs of it: a description and a buffer on the device."""

    def __init__(self, array, form=ND, const=False):
        if array is None:  # an input that is left out
            self.array, form = np.zeros(0, np.float32), -1
            self.desc = acl.create_tensor_desc(-1, [], form)
            self.address, self.buffer = 0, acl.create_data_buffer(0, 0)
            return
        self.array = array = np.array(array, order="C")
        shape = list(np.shape(array))
        self.desc = acl.create_tensor_desc(TYPES[array.dtype.name], shape, form)
        self.address, ret = acl.rt.malloc(max(array.nbytes, 1), 2)
        check(ret)
        if array.nbytes:
            pointer = acl.util.numpy_to_ptr(array)
            check(acl.rt.memcpy(self.address, array.nbytes, pointer, array.nbytes, 1))
            if const:
                check(acl.set_tensor_const(self.desc, pointer, array.nbytes))
        self.buffer = acl.create_data_buffer(self.address, array.nbytes)

    def shape(self):
        count = acl.get_tensor_desc_num_dims(self.desc)
        return tuple(acl.get_tensor_desc_dim_v2(self.desc, i)[0] for i in range(count))

    def read(self):
        """The data on the device, in the shape that the description has now."""
        out = np.empty_like(self.array)
        if out.nbytes:
            check(acl.rt.memcpy(acl.util.numpy_to_ptr(out), out.nbytes, self.address, out.nbytes,
                                2))
        shape = self.shape()
        return out.reshape(-1)[: int(np.prod(shape))].reshape(shape)

    def free(self):
        acl.destroy_data_buffer(self.buffer)
        acl.destroy_tensor_desc(self.desc)
        if self.address:
            acl.rt.free(self.address)


def make_attr(values):
    """An aclopAttr; the form of each attribute follows from its Python type."""
    attr = acl.op.create_attr()
    for name, value in values.items():
        first = value[0] if isinstance(value, (list, tuple)) and value else value
        if isinstance(value, bool):
            code = acl.op.set_attr_bool(attr, name, value)
        elif isinstance(value, int):
            code = acl.op.set_attr_int(attr, name, value)
        elif isinstance(value, float):
            code = acl.op.set_attr_float(attr, name, value)
        elif isinstance(value, str):
            code = acl.op.set_attr_string(attr, name, value)
        elif isinstance(first, (list, tuple)):
            code = acl.op.set_attr_list_list_int(attr, name, value)
        elif isinstance(first, float):
            code = acl.op.set_attr_list_float(attr, name, value)
        else:
            code = acl.op.set_attr_list_int(attr, name, list(value))
        check(code)
    return attr


def run(name, inputs, outputs, attrs=None, const=(), in_formats=None, out_formats=None, stream=0):
    """The outputs (arrays) of one operator that is compiled on the way; `outputs` are like them."""
    made = [Tensor(a, (in_formats or [ND] * len(inputs))[i], i in const)
            for i, a in enumerate(inputs)]
    out = [Tensor(a, (out_formats or [ND] * len(outputs))[i]) for i, a in enumerate(outputs)]
    attr = make_attr(attrs or {})
    try:
        check(acl.op.compile_and_execute_v2(
            name, [t.desc for t in made], [t.buffer for t in made], [t.desc for t in out],
            [t.buffer for t in out], attr, 0, 0, "", stream))
        check(acl.rt.synchronize_stream(stream))
        return [t.read() for t in out]
    finally:
        acl.op.destroy_attr(attr)
        for tensor in made + out:
            tensor.free()


def agree(name, inputs, want, attrs, const=(), in_formats=None, out_formats=None):
    """Runs an operator and compares its outputs; None is an input that is left out."""
    def narrow(array):
        array = np.asarray(array)
        return array.astype(np.float32) if array.dtype == np.float64 else array

    want = [narrow(w) for w in want]
    got = run(name, [i if i is None else narrow(i) for i in inputs],
              [np.zeros_like(w) for w in want], attrs, const, in_formats, out_formats)
    for g, w in zip(got, want):
        assert g.shape == w.shape
        if w.dtype.kind in "fc":
            np.testing.assert_allclose(g, w, rtol=2e-5, atol=2e-5)
        else:
            np.testing.assert_array_equal(g, w)
