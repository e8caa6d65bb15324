# SPDX-License-Identifier: Apache-2.0
"""acl.blas: products of matrices and vectors, with factors and leading dimensions."""
import numpy as np
import pytest
from single_op import TYPES, Tensor, check

import acl

pytestmark = pytest.mark.usefixtures("device_0")
RNG = np.random.default_rng(5)
F, H, B, I32 = np.float32, np.float16, np.int8, np.int32
KINDS = [(F, F), (H, H), (H, F), (B, I32), (B, F)]


def make(shape, dtype):
    if dtype == B:
        return RNG.integers(-128, 128, shape, dtype=B)
    return RNG.standard_normal(shape).astype(dtype)


def gemm(a, b, c, alpha, beta, ta=0, tb=0, lds=(-1, -1, -1), mnk=None):
    m, n, k = mnk or (c.shape[0], c.shape[1], a.shape[0 if ta else 1])
    given = [Tensor(x) for x in (a, b, c, np.array([alpha], c.dtype), np.array([beta], c.dtype))]
    ta_, tb_, tc_, alpha_, beta_ = given
    check(acl.blas.gemm_ex(ta, tb, 0, m, n, k, alpha_.address, ta_.address, lds[0],
                           TYPES[a.dtype.name], tb_.address, lds[1], TYPES[b.dtype.name],
                           beta_.address, tc_.address, lds[2], TYPES[c.dtype.name], 0, 0))
    check(acl.rt.synchronize_stream(0))
    got = tc_.read()
    for tensor in given:
        tensor.free()
    return got


def near(got, want, dtype):
    if got.dtype == I32:
        np.testing.assert_array_equal(got, want)
    elif dtype == B:
        np.testing.assert_allclose(got, want, rtol=1e-6)
    else:
        step = 2e-3 if got.dtype == H else 1e-4
        np.testing.assert_allclose(got.astype(F), want, rtol=step, atol=step * 8)


def wide(x):
    return x.astype(np.int64 if x.dtype.kind == "i" else np.float64)


@pytest.mark.parametrize("source, target", KINDS)
@pytest.mark.parametrize("ta, tb", [(0, 0), (1, 0), (0, 1), (1, 1)])
@pytest.mark.parametrize("alpha, beta", [(1, 0), (2, 1), (3, -2)])
def test_products_with_factors(source, target, ta, tb, alpha, beta):
    m, n, k = 17, 33, 65
    a, b = make((k, m) if ta else (m, k), source), make((n, k) if tb else (k, n), source)
    c = make((m, n), F).astype(target)
    want = alpha * (wide(a.T if ta else a) @ wide(b.T if tb else b)) + beta * wide(c)
    near(gemm(a, b, c, alpha, beta, ta, tb), want, source)


def to_bf16(x):
    """The nearest bfloat16 of each number, as the bits that numpy has no type for."""
    bits = np.ascontiguousarray(x, F).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def from_bf16(bits):
    return (bits.astype(np.uint32) << 16).view(F)


def blocks(x):
    """A matrix in FRACTAL_NZ: columns of blocks of 16 x 16, 16 x 32 for bytes."""
    across = 32 if x.itemsize == 1 else 16
    rows, columns = -(-x.shape[0] // 16) * 16, -(-x.shape[1] // across) * across
    whole = np.zeros((rows, columns), x.dtype)
    whole[:x.shape[0], :x.shape[1]] = x
    return whole.reshape(rows // 16, 16, columns // across, across).transpose(2, 0, 1, 3).copy()


def product(mnk, a, b, c, factors, types, trans=(0, 0, 0)):
    """gemm_ex over arrays as they lie in memory; the bytes of c afterwards, like c."""
    given = [Tensor(x) for x in (a, b, c, *(np.array([f], c.dtype) for f in factors))]
    address = [t.address for t in given]
    check(acl.blas.gemm_ex(*trans, *mnk, address[3], address[0], -1, types[0], address[1], -1,
                           types[0], address[4], address[2], -1, types[1], 0, 0))
    check(acl.rt.synchronize_stream(0))
    got = given[2].read()
    for tensor in given:
        tensor.free()
    return got


@pytest.mark.parametrize("ta, tb", [(0, 0), (1, 0), (0, 1), (1, 1)])
@pytest.mark.parametrize("wide_c", [False, True])
def test_bfloat16_into_bfloat16_and_float(ta, tb, wide_c):
    m, n, k = 17, 33, 65
    a, b = to_bf16(make((k, m) if ta else (m, k), F)), to_bf16(make((n, k) if tb else (k, n), F))
    c = make((m, n), F)
    c = c if wide_c else to_bf16(c)
    factors = [2, 0.5] if wide_c else [int(to_bf16(np.array([f]))[0]) for f in (2, 0.5)]
    got = product((m, n, k), a, b, c, factors, (27, 0 if wide_c else 27), (ta, tb, 0))
    fa, fb = from_bf16(a), from_bf16(b)
    want = 2 * (wide(fa.T if ta else fa) @ wide(fb.T if tb else fb))
    want += 0.5 * wide(c if wide_c else from_bf16(c))
    if wide_c:
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-3)
    else:  # half a step of the last place, and what fp32 sums lose
        np.testing.assert_allclose(from_bf16(got), want, rtol=2**-8, atol=2e-2)


@pytest.mark.parametrize("source, target", [(H, H), (H, F), (B, I32)])
@pytest.mark.parametrize("which", ["a", "b", "c", "all", "transposed"])
def test_matrices_in_fractal_nz(source, target, which):
    m, n, k = 33, 47, 20
    a, b, c = make((m, k), source), make((k, n), source), make((m, n), F).astype(target)
    want = wide(a) @ wide(b) + 2 * wide(c)
    trans, given = [0, 0, 0], [a, b, c]
    for i, name in enumerate("abc"):
        if which in (name, "all"):
            trans[i], given[i] = 2, blocks(given[i])
        elif which == "transposed" and name != "c":
            trans[i], given[i] = 3, blocks(given[i].T)
    got = product((m, n, k), *given, (1, 2), (TYPES[a.dtype.name], TYPES[c.dtype.name]), trans)
    if trans[2]:
        across = got.shape[3]
        got = got.transpose(1, 2, 0, 3).reshape(-1, got.shape[0] * across)[:m, :n]
    near(got, want, source)


@pytest.mark.parametrize("source, target", [(0, 1), (1, 2), (27, 1), (2, 1), (3, 3), (1, 27)])
def test_types_that_do_not_go_together(source, target):
    x = Tensor(np.zeros((8, 8), F))
    assert acl.blas.gemm_ex(0, 0, 0, 4, 4, 4, x.address, x.address, -1, source, x.address, -1,
                            source, x.address, x.address, -1, target, 0, 0) == 100026
    assert "a product of" in acl.get_recent_err_msg()


def test_rows_may_have_gaps():
    a, b, c = make((5, 9), F), make((7, 11), F), make((5, 8), F)
    got = gemm(a, b, c, 1, 1, lds=(9, 11, 8), mnk=(5, 6, 7))
    want = c.copy()
    want[:, :6] += a[:, :7] @ b[:, :6]
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


def test_factors_are_read_when_the_product_runs():
    a, b, c = (Tensor(make((4, 4), F)) for _ in range(3))
    factors = Tensor(np.array([7, 7], F))
    host = np.array([2, 0], F)
    stream, _ = acl.rt.create_stream()
    check(acl.rt.memcpy_async(factors.address, 8, acl.util.numpy_to_ptr(host), 8, 1, stream))
    check(acl.blas.gemm_ex(0, 0, 0, 4, 4, 4, factors.address, a.address, 4, 0, b.address, 4, 0,
                           factors.address + 4, c.address, 4, 0, 0, stream))
    check(acl.rt.synchronize_stream(stream))
    np.testing.assert_allclose(c.read(), 2 * (a.array @ b.array), rtol=1e-5, atol=1e-5)
    acl.rt.destroy_stream(stream)


@pytest.mark.parametrize("ta", [0, 1])
@pytest.mark.parametrize("call, dtype, target", [("hgemv", H, H), ("s8gemv", B, I32)])
def test_matrix_times_vector(ta, call, dtype, target):
    a, x, y = make((6, 10), dtype), make(6 if ta else 10, dtype), make(10 if ta else 6, F)
    y = y.astype(target)
    t = [Tensor(v) for v in (a, x, y, np.array([1], target), np.array([1], target))]
    check(getattr(acl.blas, call)(ta, 6, 10, t[3].address, t[0].address, 10, t[1].address, 1,
                                  t[4].address, t[2].address, 1, 0, 0))
    check(acl.rt.synchronize_stream(0))
    near(t[2].read(), wide(a.T if ta else a) @ wide(x) + wide(y), dtype)


def test_vectors_may_have_steps():
    a, x, y = make((6, 10), F), make((10, 3), F), make((6, 2), F)
    t = [Tensor(v) for v in (a, x, y, np.array([1], F), np.array([2], F))]
    check(acl.blas.gemv_ex(0, 6, 10, t[3].address, t[0].address, -1, 0, t[1].address, 3, 0,
                           t[4].address, t[2].address, 2, 0, 0, 0))
    check(acl.rt.synchronize_stream(0))
    want = y.copy()
    want[:, 0] = a @ x[:, 0] + 2 * y[:, 0]
    np.testing.assert_allclose(t[2].read(), want, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("call, types, dtype, target", [
    ("gemm_ex", (0, 0, 0), F, F), ("gemm_ex", (1, 1, 0), H, F), ("hgemm", (), H, H),
    ("s8gemm", (), B, I32)])
def test_handles_take_a_b_c_alpha_beta(call, types, dtype, target):
    handle, ret = getattr(acl.blas, f"create_handle_for_{call}")(0, 1, 0, 4, 5, 6, *types, 0)
    check(ret)
    a, b, c = make((4, 6), dtype), make((5, 6), dtype), make((4, 5), F).astype(target)
    t = [Tensor(v) for v in (a, b, c, np.array(2, target), np.array(3, target))]
    check(acl.op.execute_with_handle(handle, [v.buffer for v in t], [t[2].buffer], 0))
    check(acl.rt.synchronize_stream(0))
    near(t[2].read(), 2 * (wide(a) @ wide(b).T) + 3 * wide(c), dtype)
    acl.op.destroy_handle(handle)


@pytest.mark.parametrize("call, types, dtype, target", [
    ("gemv_ex", (0, 0, 0), F, F), ("gemv_ex", (1, 1, 0), H, F), ("hgemv", (), H, H),
    ("s8gemv", (), B, I32)])
@pytest.mark.parametrize("ta", [0, 1])
def test_handles_of_a_matrix_times_a_vector(call, types, dtype, target, ta):
    handle, ret = getattr(acl.blas, f"create_handle_for_{call}")(ta, 4, 6, *types, 0)
    check(ret)
    a, x = make((4, 6), dtype), make((4 if ta else 6, 1), dtype)
    y = make((6 if ta else 4, 1), F).astype(target)
    t = [Tensor(v) for v in (a, x, y, np.array(2, target), np.array(3, target))]
    check(acl.op.execute_with_handle(handle, [v.buffer for v in t], [t[2].buffer], 0))
    check(acl.rt.synchronize_stream(0))
    near(t[2].read(), 2 * (wide(a.T if ta else a) @ wide(x)) + 3 * wide(y), dtype)
    acl.op.destroy_handle(handle)


@pytest.mark.parametrize("change, words", [
    ({"m": 0}, "above 0"), ({"trans_a": 7}, "aclTransType"), ({"trans_c": 1}, "transC"),
    ({"lda": 3}, "lda is 3"), ({"data_type_c": 9}, "int64"), ({"type": 5}, "aclComputeType"),
    ({"matrix_a": 0}, "matrixA")])
def test_what_does_not_fit_is_refused(change, words):
    x = Tensor(np.zeros((8, 8), F))
    values = {"trans_a": 0, "trans_b": 0, "trans_c": 0, "m": 4, "n": 4, "k": 4,
              "alpha": x.address, "matrix_a": x.address, "lda": 4, "data_type_a": 0,
              "matrix_b": x.address, "ldb": 4, "data_type_b": 0, "beta": x.address,
              "matrix_c": x.address, "ldc": 4, "data_type_c": 0, "type": 0, "stream": 0, **change}
    assert acl.blas.gemm_ex(*values.values()) != 0
    assert words in acl.get_recent_err_msg()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("source, target", [(F, F), (H, F), (H, H)])
def test_what_is_no_number_stays_in_its_row_and_column(source, target):
    """Infinities, NaN and denormal numbers; k is long enough to be multiplied in chunks."""
    m, n, k = 19, 37, 1400
    a, b = make((m, k), source), make((k, n), source)
    a[3, 1300], a[5, 7], b[9, 11], b[1399, 36] = np.inf, np.nan, -np.inf, np.nan
    a[7], b[:, 2] = 6e-8, 1
    want = wide(a) @ wide(b)
    near(gemm(a, b, np.zeros((m, n), target), 1, 0), want.astype(target).astype(F), source)


@pytest.mark.parametrize("source, target", [(F, F), (H, H), (H, F)])
def test_without_beta_the_old_values_do_not_count(source, target):
    a, b = make((5, 9), source), make((9, 4), source)
    c = np.full((5, 4), np.nan, target)
    near(gemm(a, b, c, 1, 0), wide(a) @ wide(b), source)


def test_products_of_the_least_int8_are_exact():
    a, b = np.full((3, 4099), -128, B), np.full((4099, 5), -128, B)
    b[:, 1] = 127
    got = gemm(a, b, np.zeros((3, 5), I32), 1, 0)
    np.testing.assert_array_equal(got, wide(a) @ wide(b))
