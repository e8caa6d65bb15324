# SPDX-License-Identifier: Apache-2.0
"""acl.blas, acl.fv and kernels of the program's own: calls that do not fit are refused with a
documented code and a sentence that has the values, and leave everything as it was: the good call
gives the same bytes directly afterwards. (acl.op: test_op_bad_calls.py; handles and addresses of
every function: test_misuse.py.)"""

import numpy as np
import pytest
from misuse import codes
from misuse import kernels as rv32
from single_op import Tensor, check

import acl

pytestmark = pytest.mark.usefixtures("device_0")
F, H, B, I32 = np.float32, np.float16, np.int8, np.int32
RNG = np.random.default_rng(3)
RULES = codes.load()
INVALID = 100000


def refused(function, code, words=()):
    """The code is one that tests/data/misuse_codes.tsv has for this, with a sentence."""
    message = acl.get_recent_err_msg()
    assert codes.allowed(RULES, f"acl.{function}", "does not fit", str(code)), (code, message)
    assert f"E{code}" in message, message
    for word in words:
        assert word in message, message


class Products:
    """The arguments of a product that fits: 4 x 6 by 6 x 5, or by a vector."""

    def __init__(self, call):
        self.call, short = call, call.lstrip("hs8")
        half, byte = call.startswith("h"), call.startswith("s8")
        kind, result = (H, H) if half else (B, I32) if byte else (F, F)
        number = {F: 0, H: 1, B: 2, I32: 3}
        shapes = ((4, 6), (6,), (4,)) if "gemv" in call else ((4, 6), (6, 5), (4, 5))
        a, b = (RNG.integers(-9, 9, s).astype(kind) for s in shapes[:2])
        self.c = Tensor(np.full(shapes[2], 7, result))
        self.kept = [Tensor(a), Tensor(b), self.c, *(Tensor(np.array([f], result)) for f in (2, 3))]
        at_a, at_b, at_c, alpha, beta = (t.address for t in self.kept)
        wide = short.endswith("_ex")
        types = [{f"type_{x}": number[kind if x != "c" else result]} if wide else {} for x in "abc"]
        if "gemv" in call:
            self.values = {"trans_a": 0, "m": 4, "n": 6, "alpha": alpha, "a": at_a, "lda": 6,
                           **types[0], "x": at_b, "incx": 1, **types[1], "beta": beta, "c": at_c,
                           "incy": 1, **types[2], "type": 0, "stream": 0}
        else:
            self.values = {"trans_a": 0, "trans_b": 0, "trans_c": 0, "m": 4, "n": 5, "k": 6,
                           "alpha": alpha, "a": at_a, "lda": 6, **types[0], "b": at_b, "ldb": 5,
                           **types[1], "beta": beta, "c": at_c, "ldc": 5, **types[2], "type": 0,
                           "stream": 0}

    def run(self, **change):
        """The code of a call and what it left in c."""
        host = self.c.array
        check(acl.rt.memcpy(self.c.address, host.nbytes, acl.util.numpy_to_ptr(host), host.nbytes,
                            1))
        code = getattr(acl.blas, self.call)(*{**self.values, **change}.values())
        ret = acl.rt.synchronize_stream(0)
        return code or ret, self.c.read()

    def bad(self):
        """Changes of one argument, and words of the refusal."""
        gone = Tensor(np.zeros(64, F))
        gone.free()
        for name in self.values:
            if name in ("m", "n", "k"):
                yield from ((name, far, [str(far)]) for far in (0, -1))
                yield name, 2**31 - 1, []
            elif name.startswith("trans"):
                yield from ((name, far, [str(far)]) for far in (-1, 4, 99))
            elif name in ("lda", "ldb", "ldc"):
                yield from ((name, far, [f"{name} is {far}"]) for far in (0, -2, 1, 4)
                            if far != self.values[name])
                yield name, 2**31 - 1, []
            elif name in ("incx", "incy"):
                yield from ((name, far, [f"{name} is {far}"]) for far in (0, -2))
                yield name, 2**31 - 1, []
            elif name in ("alpha", "beta", "a", "b", "x", "c"):
                yield name, 0, ["null"]
                yield name, gone.address, []
                yield name, gone.address | 1 << 46, []
            elif name.startswith("type_"):
                yield from ((name, far, []) for far in (-1, 9, 13, 99))
            elif name == "type":
                yield from ((name, far, [str(far)]) for far in (-1, 2))
            else:
                yield name, 12345, []


@pytest.mark.parametrize("call", ["gemm_ex", "hgemm", "s8gemm", "gemv_ex", "hgemv", "s8gemv"])
def test_a_product_that_does_not_fit_leaves_c_alone(call):
    products = Products(call)
    code, good = products.run()
    assert code == 0
    calls = 0
    for name, value, words in products.bad():
        code, c = products.run(**{name: value})
        assert code != 0, (name, value)
        refused(f"blas.{call}", code, words)
        np.testing.assert_array_equal(c, products.c.array, err_msg=f"{name} = {value}")
        calls += 1
    assert calls > 30
    np.testing.assert_array_equal(products.run()[1], good)


def test_a_matrix_whose_memory_ends_too_early_is_refused():
    products = Products("gemm_ex")
    address, ret = acl.rt.malloc(4096, 2)
    check(ret)
    for name, needed in (("a", 96), ("b", 120), ("c", 80)):
        code, c = products.run(**{name: address + 4096 - 4})  # 4 bytes, and the filling behind
        refused("blas.gemm_ex", code, [str(needed)])
        np.testing.assert_array_equal(c, products.c.array)
    acl.rt.free(address)


@pytest.mark.parametrize("call, arguments", [
    ("gemm_ex", {"ta": 0, "tb": 0, "tc": 0, "m": 4, "n": 5, "k": 6, "type_a": 0, "type_b": 0,
                 "type_c": 0, "type": 0}),
    ("hgemm", {"ta": 0, "tb": 0, "tc": 0, "m": 4, "n": 5, "k": 6, "type": 0}),
    ("s8gemm", {"ta": 0, "tb": 0, "tc": 0, "m": 4, "n": 5, "k": 6, "type": 0}),
    ("gemv_ex", {"ta": 0, "m": 4, "n": 5, "type_a": 0, "type_x": 0, "type_y": 0, "type": 0}),
    ("hgemv", {"ta": 0, "m": 4, "n": 5, "type": 0}),
    ("s8gemv", {"ta": 0, "m": 4, "n": 5, "type": 0}),
])
def test_no_handle_comes_of_a_product_that_does_not_fit(call, arguments):
    make = getattr(acl.blas, f"create_handle_for_{call}")
    for name in arguments:
        for far in (-1, 99) if "t" in name else (0, -1):
            handle, code = make(*{**arguments, name: far}.values())
            assert handle == 0 and code != 0, (name, far)
            refused(f"blas.create_handle_for_{call}", code)
    handle, code = make(*arguments.values())
    assert handle != 0 and code == 0
    acl.op.destroy_handle(handle)


# acl.fv


class Search:
    """A repository of 20 features and one query."""

    def __init__(self):
        self.features = Tensor(RNG.integers(0, 256, (20, 36)).astype(np.uint8))
        self.info = acl.fv.create_feature_info(0, 0, 0, 36, 20, self.features.address, 720)
        check(acl.fv.repo_add(0, self.info))
        self.table = Tensor(RNG.integers(0, 50, (32, 256)).astype(F))
        self.outs = [Tensor(np.full(n, 77, np.uint32)) for n in (1, 5, 5, 5, 5)]

    def run(self, kind=0, top=5, queries=1, length=32768, table=None, ids=(0, 1, 0, 1), results=1,
            number_bytes=4, data_bytes=20, out=None):
        """The code (None: a description was refused) and what is in the five results."""
        for tensor in self.outs:
            host = tensor.array
            acl.rt.memcpy(tensor.address, host.nbytes, acl.util.numpy_to_ptr(host), host.nbytes, 1)
        where = [t.address for t in self.outs]
        if out is not None:
            where[out] = 0
        address = self.table.address if table is None else table
        query = acl.fv.create_query_table(queries, length, address, queries * length)
        repos = acl.fv.create_repo_range(*ids)
        given = acl.fv.create_search_input(query, repos, top) if query and repos else 0
        result = acl.fv.create_search_result(results, where[0], number_bytes, *where[1:],
                                             data_bytes)
        code = acl.fv.search(kind, given, result) if given and result else None
        for handle, destroy in ((result, acl.fv.destroy_search_result),
                                (given, acl.fv.destroy_search_input),
                                (repos, acl.fv.destroy_repo_range),
                                (query, acl.fv.destroy_query_table)):
            if handle:
                check(destroy(handle))
        return code, [t.read().tolist() for t in self.outs]


@pytest.fixture
def searching(device_0):
    para = acl.fv.create_init_para(25)
    check(acl.fv.init(para))
    yield Search()
    check(acl.fv.release())
    check(acl.fv.destroy_init_para(para))


SEARCHES = [
    ({"kind": 2}, "2"), ({"kind": -1}, "-1"), ({"top": 0}, "0"), ({"top": 2**31}, str(2**31)),
    ({"queries": 2, "results": 2, "number_bytes": 8, "data_bytes": 40}, "2"),
    ({"length": 1024}, "1024"), ({"length": 32767}, "32767"), ({"table": 0}, "null"),
    ({"ids": (2, 1, 0, 1)}, "2"), ({"ids": (0, 1, 0, 1024)}, "1024"), ({"results": 2}, "2"),
    ({"number_bytes": 3}, "3"), ({"data_bytes": 19}, "19"),
    *[({"out": o}, "null") for o in range(5)],
]  # fmt: skip


@pytest.mark.parametrize("change, word", SEARCHES)
def test_a_search_that_does_not_fit_writes_no_result(searching, change, word):
    before = searching.run()
    assert before[0] == 0 and before[1][0] == [5]
    code, results = searching.run(**change)
    assert code in (None, INVALID), acl.get_recent_err_msg()
    refused("fv.search", INVALID, [word])
    assert results == [t.array.tolist() for t in searching.outs]
    assert searching.run() == before


def test_features_that_are_refused_are_not_in_half(searching):
    before = searching.run()
    data = searching.features.address
    # Where they do not follow, more than the 25 that aclfvInit was told, a kind that is none.
    for kind, offset, count in ((0, 19, 5), (0, 21, 5), (0, 20, 6), (2, 20, 5)):
        info = acl.fv.create_feature_info(0, 0, offset, 36, count, data, 36 * count)
        refused("fv.repo_add", acl.fv.repo_add(kind, info))
        check(acl.fv.destroy_feature_info(info))
        assert searching.run() == before
    short = acl.fv.create_feature_info(0, 0, 20, 36, 5, data + (1 << 46), 180)
    assert acl.fv.repo_add(0, short) == INVALID
    assert searching.run() == before
    info = acl.fv.create_feature_info(0, 0, 20, 36, 5, data, 180)
    check(acl.fv.repo_add(0, info))


# Kernels


def elf(**fields):
    """A kernel object with other fields of its header."""
    data = bytearray(rv32.object_bytes())
    places = {"class": (4, 1), "order": (5, 1), "kind": (16, 2), "machine": (18, 2),
              "sections": (32, 4), "count": (48, 2)}
    for name, value in fields.items():
        at, width = places[name]
        data[at:at + width] = value.to_bytes(width, "little")
    return bytes(data)


OBJECTS = {
    "no ELF": b"not an object" * 20, "zeros": bytes(64), "the magic": b"\x7fELF" + bytes(99),
    "x86-64": elf(machine=62), "AArch64": elf(machine=183), "64 bits": elf(**{"class": 2}),
    "big-endian": elf(order=2), "sections behind the end": elf(sections=1 << 20),
    "too many sections": elf(count=9999), "cut off": elf()[:120],
}  # fmt: skip


@pytest.mark.parametrize("what", OBJECTS)
def test_an_object_that_is_no_kernel_registers_nothing(what):
    bad, good = (np.frombuffer(x, np.uint8) for x in (OBJECTS[what], elf()))
    check(acl.op.register_compile_func("mine", lambda *given: acl.op.set_kernel_args(
        given[5], "k", 1, 0, 0)))
    x = Tensor(np.zeros(4, F))
    descs = [x.desc], [x.desc], acl.op.create_attr()

    def create(data):
        return acl.op.create_kernel("mine", "k", "name", acl.util.numpy_to_ptr(data), data.nbytes,
                                    1, 0)

    refused("op.create_kernel", create(bad), ["device image"])
    binary, code = acl.rt.binary_load_from_data(acl.util.numpy_to_ptr(bad), bad.nbytes, None)
    assert binary == 0
    refused("rt.binary_load_from_data", code, ["device image"])
    # The id is still free, and no selector can choose what is not there.
    assert acl.op.update_params("mine", *descs) != 0
    assert "'k'" in acl.get_recent_err_msg()
    check(create(good))
    check(acl.op.update_params("mine", *descs))
    check(acl.op.unregister_compile_func("mine"))
    x.free()
    acl.op.destroy_attr(descs[2])
