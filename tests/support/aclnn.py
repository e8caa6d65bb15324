# SPDX-License-Identifier: Apache-2.0
"""aclnn from Python: the C library, called with the types of its headers. Tensors are numpy arrays
on the way in and out; views keep their strides.

    with Session() as nn:
        y = nn.empty(np.float32, (2, 3))
        nn.run("aclnnAdd", nn.tensor(a), nn.tensor(b.T), nn.scalar(1.0), y)
        y.read()
"""
import ctypes
import importlib.util
import os

import ml_dtypes
import numpy as np
from build_tree import BUILD, ROOT

BF16 = np.dtype(ml_dtypes.bfloat16)
NUMBERS = {"float32": 0, "float16": 1, "int8": 2, "int32": 3, "uint8": 4, "int16": 6, "uint16": 7,
           "uint32": 8, "int64": 9, "uint64": 10, "float64": 11, "bool": 12, "complex64": 16,
           "complex128": 17, "bfloat16": 27, "float8_e5m2": 35, "float8_e4m3fn": 36,
           "float8_e8m0fnu": 37}
FLOAT4 = 40  # float4_e2m1: two in a byte
FORMATS = {3: 47, 4: 0, 5: 30}
C_TYPES = {"int64_t": ctypes.c_int64, "int32_t": ctypes.c_int32, "int": ctypes.c_int,
           "int8_t": ctypes.c_int8, "uint64_t": ctypes.c_uint64, "bool": ctypes.c_bool,
           "double": ctypes.c_double, "float": ctypes.c_float, "aclDataType": ctypes.c_int}


def _generator():
    spec = importlib.util.spec_from_file_location(
        "gen_aclnn", os.path.join(ROOT, "tools", "gen_aclnn", "__main__.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


OPERATORS = {op.name: op for op in _generator().operators()}


def _load(name):
    return ctypes.CDLL(os.path.join(BUILD, "lib", name), mode=ctypes.RTLD_GLOBAL)


class Failed(Exception):
    """A call that returned a number, with its sentence."""

    def __init__(self, function, number, sentence):
        super().__init__(f"{function}: {number}: {sentence}")
        self.number, self.sentence = number, sentence


class Tensor:
    """A descriptor over device memory that holds the whole storage of an array."""

    def __init__(self, session, array):
        self.session, self.array = session, array
        base = array
        while isinstance(base.base, np.ndarray):
            base = base.base
        self.base = base
        size = max(base.nbytes, 1)
        self.memory = session.malloc(size)
        session.copy_in(self.memory, base)
        item = array.itemsize
        start = array.__array_interface__["data"][0] - base.__array_interface__["data"][0]
        dims = (ctypes.c_int64 * max(array.ndim, 1))(*array.shape)
        strides = (ctypes.c_int64 * max(array.ndim, 1))(*(s // item for s in array.strides))
        storage = (ctypes.c_int64 * 1)(base.size)
        self.handle = session.base.aclCreateTensor(
            dims, array.ndim, NUMBERS[array.dtype.name], strides, start // item,
            FORMATS.get(array.ndim, 2), storage, 1, ctypes.c_void_p(self.memory))
        session.check("aclCreateTensor", 0 if self.handle else 1)

    def read(self):
        """The view as it is now, after all work is done."""
        array = self.array
        start = array.__array_interface__["data"][0] - self.base.__array_interface__["data"][0]
        return np.ndarray(array.shape, array.dtype, self.read_storage(), start,
                          array.strides).copy()

    def read_storage(self):
        """The bytes of the whole storage."""
        self.session.synchronize()
        whole = np.empty(self.base.nbytes, np.uint8)
        self.session.copy_out(whole, self.memory)
        return whole

    def shape(self):
        """What aclGetViewShape says."""
        dims, count = ctypes.POINTER(ctypes.c_int64)(), ctypes.c_uint64()
        self.session.check("aclGetViewShape", self.session.base.aclGetViewShape(
            self.handle, ctypes.byref(dims), ctypes.byref(count)))
        return tuple(dims[:count.value])


class Session:
    """A device, a stream and what was made for them. Of several in one process only the first has
    `inits`; call use() before switching to another one."""

    def __init__(self, device=0, inits=True):
        self.device, self.inits = device, inits
        self.acl = _load("libascendcl.so")
        self.base = _load("libnnopbase.so")
        self.ops = _load("libopapi.so")
        self.acl.aclGetRecentErrMsg.restype = ctypes.c_char_p
        for name in ("aclCreateTensor", "aclCreateScalar", "aclCreateIntArray",
                     "aclCreateFloatArray", "aclCreateBoolArray", "aclCreateTensorList",
                     "aclCreateScalarList"):
            getattr(self.base, name).restype = ctypes.c_void_p
        self.base.aclCreateTensor.argtypes = [
            ctypes.c_void_p, ctypes.c_uint64, ctypes.c_int, ctypes.c_void_p, ctypes.c_int64,
            ctypes.c_int, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p]
        for name in ("aclGetViewShape",):
            getattr(self.base, name).argtypes = [ctypes.c_void_p] * 3
        self.blocks, self.objects = [], []

    def __enter__(self):
        if self.inits:
            self.check("aclInit", self.acl.aclInit(None))
        self.use()
        self.stream = ctypes.c_void_p()
        self.check("aclrtCreateStream", self.acl.aclrtCreateStream(ctypes.byref(self.stream)))
        return self

    def use(self):
        self.check("aclrtSetDevice", self.acl.aclrtSetDevice(self.device))

    def __exit__(self, *_):
        self.use()
        self.acl.aclrtSynchronizeStream(self.stream)
        self.clear()
        self.acl.aclrtDestroyStream(self.stream)
        self.acl.aclrtResetDevice(self.device)
        if self.inits:
            self.acl.aclFinalize()

    def clear(self):
        """Ends everything that was made."""
        for destroy, handle in reversed(self.objects):
            getattr(self.base, destroy)(ctypes.c_void_p(handle))
        for block in self.blocks:
            self.acl.aclrtFree(ctypes.c_void_p(block))
        self.blocks, self.objects = [], []

    def check(self, function, number):
        if number:
            raise Failed(function, number, (self.acl.aclGetRecentErrMsg() or b"").decode())

    def malloc(self, size):
        pointer = ctypes.c_void_p()
        self.check("aclrtMalloc", self.acl.aclrtMalloc(ctypes.byref(pointer),
                                                       ctypes.c_size_t(size), 0))
        self.blocks.append(pointer.value)
        return pointer.value

    def copy_in(self, to, array):
        if array.nbytes:
            self.check("aclrtMemcpy", self.acl.aclrtMemcpy(
                ctypes.c_void_p(to), ctypes.c_size_t(array.nbytes),
                ctypes.c_void_p(array.__array_interface__["data"][0]),
                ctypes.c_size_t(array.nbytes), 1))

    def copy_out(self, array, from_):
        if array.nbytes:
            self.check("aclrtMemcpy", self.acl.aclrtMemcpy(
                ctypes.c_void_p(array.__array_interface__["data"][0]),
                ctypes.c_size_t(array.nbytes), ctypes.c_void_p(from_),
                ctypes.c_size_t(array.nbytes), 2))

    def synchronize(self):
        self.check("aclrtSynchronizeStream", self.acl.aclrtSynchronizeStream(self.stream))

    def keep(self, destroy, handle):
        self.check(destroy.replace("Destroy", "Create"), 0 if handle else 1)
        self.objects.append((destroy, handle))
        return ctypes.c_void_p(handle)

    # --- arguments

    def tensor(self, array):
        return self._kept(Tensor(self, np.asarray(array)))

    def bits4(self, shape):
        """A tensor of float4_e2m1 over zeros; read() gives its bytes."""
        made = Tensor(self, np.zeros(int(np.prod(shape)) // 2, np.uint8))
        self.base.aclDestroyTensor(ctypes.c_void_p(made.handle))
        dims = (ctypes.c_int64 * len(shape))(*shape)
        made.handle = self.base.aclCreateTensor(dims, len(shape), FLOAT4, None, 0, 2, dims,
                                                len(shape),
                                                ctypes.c_void_p(made.memory))
        return self._kept(made)

    def _kept(self, made):
        self.objects.append(("aclDestroyTensor", made.handle))
        return made

    def empty(self, dtype, shape, value=0):
        return self.tensor(np.full(shape, value, dtype))

    def scalar(self, value, dtype=None):
        if dtype is None:
            dtype = (np.bool_ if isinstance(value, bool) else np.int64 if isinstance(value, int)
                     else np.complex128 if isinstance(value, complex) else np.float64)
        array = np.array([value], dtype)
        return self.keep("aclDestroyScalar", self.base.aclCreateScalar(
            ctypes.c_void_p(array.ctypes.data), NUMBERS[array.dtype.name]))

    def array(self, name, ctype, values):
        block = (ctype * max(len(values), 1))(*values)
        return self.keep(f"aclDestroy{name}", getattr(self.base, f"aclCreate{name}")(
            block, ctypes.c_uint64(len(values))))

    def ints(self, values):
        return self.array("IntArray", ctypes.c_int64, values)

    def floats(self, values):
        return self.array("FloatArray", ctypes.c_float, values)

    def bools(self, values):
        return self.array("BoolArray", ctypes.c_bool, values)

    def tensors(self, tensors):
        """A list, which takes the tensors over."""
        handles = [t.handle if t is not None else None for t in tensors]
        self.objects = [o for o in self.objects if o[1] not in handles]
        return self.array("TensorList", ctypes.c_void_p, handles)

    def scalars(self, values):
        made = [self.scalar(v).value if not isinstance(v, ctypes.c_void_p) else v.value
                for v in values]
        self.objects = [o for o in self.objects if o[1] not in made]
        return self.array("ScalarList", ctypes.c_void_p, made)

    # --- calls

    def prepare(self, name, *arguments):
        """Phase 1: (bytes of the workspace, executor)."""
        op = OPERATORS[name]
        assert len(arguments) == len(op.parameters), (name, [p.name for p in op.parameters])
        given = []
        for value, parameter in zip(arguments, op.parameters):
            kind = parameter.type.removeprefix("const ")
            if kind in C_TYPES:
                given.append(C_TYPES[kind](value))
            elif kind == "char*":
                given.append(ctypes.c_char_p(value.encode() if value is not None else None))
            else:
                given.append(self._object(value, kind))
        size, executor = ctypes.c_uint64(), ctypes.c_void_p()
        number = getattr(self.ops, name + "GetWorkspaceSize")(
            *given, ctypes.byref(size), ctypes.byref(executor))
        self.check(name + "GetWorkspaceSize", number)
        return size.value, executor

    def _object(self, value, kind):
        """Python values where an object is expected are made one."""
        if isinstance(value, Tensor):
            return ctypes.c_void_p(value.handle)
        if value is None or isinstance(value, ctypes.c_void_p):
            return ctypes.c_void_p(None) if value is None else value
        make = {"aclTensor*": self.tensor, "aclScalar*": self.scalar, "aclIntArray*": self.ints,
                "aclFloatArray*": self.floats, "aclBoolArray*": self.bools,
                "aclTensorList*": self.tensors, "aclScalarList*": self.scalars}[kind]
        made = make(value)
        return ctypes.c_void_p(made.handle) if isinstance(made, Tensor) else made

    def execute(self, name, size, executor):
        """Phase 2."""
        work = self.malloc(size) if size else None
        self.check(name, getattr(self.ops, name)(ctypes.c_void_p(work), ctypes.c_uint64(size),
                                                 executor, self.stream))

    def run(self, name, *arguments):
        """Both phases; the work is queued."""
        self.execute(name, *self.prepare(name, *arguments))
