# SPDX-License-Identifier: Apache-2.0
"""Mixtures of experts: gates, tokens to experts and back, products of groups."""
import ml_dtypes
import numpy as np
import pytest

from aclnn import Failed

BF16 = ml_dtypes.bfloat16


def rng(seed=1):
    return np.random.default_rng(seed)


def floats(seed, *shape, dtype=np.float32):
    return rng(seed).standard_normal(shape).astype(dtype)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def best(x, k):
    return np.argsort(-x, -1, kind="stable")[..., :k]


def close(got, want, tolerance=2e-5):
    np.testing.assert_allclose(got.astype(np.float64), want, rtol=tolerance, atol=tolerance)


# --- gates

def test_gating_by_softmax(nn):
    x, done = floats(1, 6, 8), np.array([0, 0, 1, 0, 0, 1], bool)
    y, experts, rows = (nn.empty(t, (6, 3)) for t in (np.float32, np.int32, np.int32))
    nn.run("aclnnMoeGatingTopKSoftmax", nn.tensor(x), nn.tensor(done), 3, y, experts, rows)
    p = softmax(x.astype(np.float64))
    at = best(p, 3)
    close(y.read(), np.take_along_axis(p, at, -1))
    np.testing.assert_array_equal(experts.read(), np.where(done[:, None], 8, at))
    np.testing.assert_array_equal(rows.read(), np.arange(18).reshape(3, 6).T)
    nn.clear()


@pytest.mark.parametrize("renorm", [0, 1])
def test_gating_second_version(nn, renorm):
    x = floats(2, 5, 7, dtype=np.float16)
    y, experts = nn.empty(np.float16, (5, 2)), nn.empty(np.int32, (5, 2))
    shares = nn.empty(np.float32, (5, 7))
    nn.run("aclnnMoeGatingTopKSoftmaxV2", nn.tensor(x), None, 2, renorm, renorm == 0, y, experts,
           shares)
    wide = x.astype(np.float64)
    at = best(wide, 2)
    p = softmax(wide)
    want = softmax(np.take_along_axis(wide, at, -1)) if renorm else np.take_along_axis(p, at, -1)
    close(y.read(), want, 2e-3)
    np.testing.assert_array_equal(experts.read(), at)
    if not renorm:
        close(shares.read(), p, 1e-4)
    nn.clear()


@pytest.mark.parametrize("kind,by_two", [(0, 0), (1, 0), (1, 1)])
def test_gating_in_groups(nn, kind, by_two):
    x, bias = floats(3, 9, 16), floats(4, 16)
    y, experts, out = nn.empty(np.float32, (9, 4)), nn.empty(np.int32, (9, 4)), nn.empty(np.float32,
                                                                                         (9, 16))
    nn.run("aclnnMoeGatingTopK", nn.tensor(x), nn.tensor(bias), 4, 2, 4, by_two, 0, kind, True, 2.5,
           1e-20, y, experts, out)
    wide = x.astype(np.float64)
    shares = softmax(wide) if kind == 0 else 1 / (1 + np.exp(-wide))
    scores = (shares + bias).reshape(9, 4, 4)
    of_group = np.sort(scores, -1)[..., -2:].sum(-1) if by_two else scores.max(-1)
    chosen = np.zeros((9, 4), bool)
    np.put_along_axis(chosen, best(of_group, 2), True, -1)
    at = best(np.where(chosen[..., None], scores, -np.inf).reshape(9, 16), 4)
    want = np.take_along_axis(shares, at, -1)
    if kind == 1:
        want = want / want.sum(-1, keepdims=True)
    np.testing.assert_array_equal(experts.read(), at)
    close(y.read(), want * 2.5)
    close(out.read(), shares)
    nn.clear()


# --- tokens to experts

def test_init_routing(nn):
    n, k, h = 5, 2, 4
    x, experts = floats(5, n, h), rng(6).integers(0, 3, (n, k)).astype(np.int32)
    rows = np.arange(n * k).reshape(k, n).T.astype(np.int32)
    outs = nn.empty(np.float32, (4 * k, h)), nn.empty(np.int32, (n * k,)), nn.empty(np.int32,
                                                                                    (n * k,))
    nn.run("aclnnMoeInitRouting", nn.tensor(x), nn.tensor(np.ascontiguousarray(rows)),
           nn.tensor(experts), 4, *outs)
    order = np.argsort(experts.ravel(), kind="stable")
    source = rows.ravel()[order]
    close(outs[0].read(), x[source[:4 * k] % n])
    places = np.empty(n * k, int)
    places[source] = np.arange(n * k)
    np.testing.assert_array_equal(outs[1].read(), places)
    np.testing.assert_array_equal(outs[2].read(), experts.ravel()[order])
    nn.clear()


@pytest.mark.parametrize("flag", [1, 2])
@pytest.mark.parametrize("dtype", [np.float32, BF16])
def test_init_routing_without_drops(nn, flag, dtype):
    n, k, h, e = 6, 3, 8, 5
    x = floats(7, n, h, dtype=dtype)
    experts = np.stack([rng(8 + i).permutation(e)[:k] for i in range(n)]).astype(np.int32)
    y, places, counts = nn.empty(dtype, (n * k, h)), nn.empty(np.int32,
                                                              (n * k,)), nn.empty(np.int32, (e,))
    nn.run("aclnnMoeInitRoutingV2", nn.tensor(x), nn.tensor(experts), 0, 0, e, 0, flag, False, y,
           places, counts, None)
    order = np.argsort(experts.ravel(), kind="stable")
    np.testing.assert_array_equal(y.read(), x[order // k])
    np.testing.assert_array_equal(places.read(), np.argsort(order))
    want = np.bincount(experts.ravel(), minlength=e)
    np.testing.assert_array_equal(counts.read(), np.cumsum(want) if flag == 1 else want)
    nn.clear()


def test_init_routing_with_a_capacity(nn):
    n, k, h, e, c = 8, 2, 4, 3, 4
    x, experts = floats(9, n, h), rng(10).integers(0, e, (n, k)).astype(np.int32)
    y, places = nn.empty(np.float32, (e, c, h), 9), nn.empty(np.int32, (n * k,))
    before = nn.empty(np.int32, (e,))
    nn.run("aclnnMoeInitRoutingV2", nn.tensor(x), nn.tensor(experts), 0, c, e, 1, 0, True, y,
           places, None, before)
    want, rows, used = np.zeros((e, c, h)), np.full(n * k, -1), np.zeros(e, int)
    for p, expert in enumerate(experts.ravel()):
        if used[expert] < c:
            rows[p] = expert * c + used[expert]
            want[expert, used[expert]] = x[p // k]
        used[expert] += 1
    close(y.read(), want)
    np.testing.assert_array_equal(places.read(), rows)
    np.testing.assert_array_equal(before.read(), used)
    nn.clear()


@pytest.mark.parametrize("kind", [0, 1])
def test_init_routing_of_some_experts(nn, kind):
    n, k, h = 6, 2, 4
    x, experts = floats(11, n, h), rng(12).integers(0, 6, (n, k)).astype(np.int32)
    y, places = nn.empty(np.float32, (n * k, h)), nn.empty(np.int32, (n * k,))
    counts = nn.empty(np.int64, (3,))
    nn.run("aclnnMoeInitRoutingV3", nn.tensor(x), nn.tensor(experts), None, None, n * k, 0, 6, 0, 1,
           True, -1, [2, 5], kind, y, places, counts, None)
    flat = experts.ravel()
    mine = [p for p in np.argsort(flat, kind="stable") if 2 <= flat[p] < 5]
    want = np.zeros((n * k, h))
    want[:len(mine)] = x[np.array(mine, int) // k]
    close(y.read(), want)
    rows = np.full(n * k, -1)
    if kind == 0:
        rows[mine] = np.arange(len(mine))
    else:
        rows[:len(mine)] = mine
    np.testing.assert_array_equal(places.read(), rows)
    np.testing.assert_array_equal(counts.read(), np.bincount(flat, minlength=6)[2:5])
    nn.clear()


def test_init_routing_with_quantised_rows(nn):
    n, k, h, e = 5, 2, 16, 4
    x, experts = floats(13, n, h), rng(14).integers(0, e, (n, k)).astype(np.int32)
    smooth = rng(15).random((e, h)).astype(np.float32) + 0.5
    y, places, scales = nn.empty(np.int8, (n * k, h)), nn.empty(np.int32,
        (n * k,)), nn.empty(np.float32, (n * k,))
    nn.run("aclnnMoeInitRoutingQuantV2", nn.tensor(x), nn.tensor(experts), nn.tensor(smooth), None,
           0, 0, e, 0, 0, False, 1, y, places, None, None, scales)
    order = np.argsort(experts.ravel(), kind="stable")
    rows = x[order // k].astype(np.float64) * smooth[experts.ravel()[order]]
    want = np.abs(rows).max(-1) / 127
    close(scales.read(), want)
    assert np.abs(y.read() - rows / want[:, None]).max() <= 0.51
    nn.clear()


def test_expert_tokens_are_counted_up(nn):
    out = nn.empty(np.int32, (5,))
    nn.run("aclnnMoeComputeExpertTokens", nn.tensor(np.array([0, 0, 2, 2, 2, 4], np.int32)), 5, out)
    np.testing.assert_array_equal(out.read(), [2, 2, 5, 5, 6])
    nn.clear()


# --- and back

@pytest.mark.parametrize("mode", [0, 1, 2, 3])
def test_finalize_routing(nn, mode):
    n, k, h, e = 4, 2, 8, 3
    rows, x1, x2, bias = floats(16, n * k, h), floats(17, n, h), floats(18, n, h), floats(19, e, h)
    scales, experts = floats(20, n, k), rng(21).integers(0, e, (n, k)).astype(np.int32)
    places = rng(22).permutation(n * k).astype(np.int32)
    if mode in (1, 3):
        places[[1, 6]] = -1
    want = (x1 + x2).astype(np.float64)
    for i in range(n):
        for j in range(k):
            at = places[j * n + i if mode < 2 else i * k + j]
            if at >= 0:
                want[i] += scales[i, j] * (rows[at] + bias[experts[i, j]]).astype(np.float64)
    out = nn.empty(np.float32, (n, h))
    t = nn.tensor
    nn.run("aclnnMoeFinalizeRoutingV2", t(rows), t(places), t(x1), t(x2), t(bias), t(scales),
           t(experts), mode, out)
    close(out.read(), want)
    if mode == 0:
        nn.run("aclnnMoeFinalizeRouting", t(rows), t(x1), t(x2), t(bias), t(scales), t(places),
               t(experts), out)
        close(out.read(), want)
    if mode == 2:
        nn.run("aclnnMoeFinalizeRoutingV2", t(rows), t(places), None, None, None, None, None, mode,
               out)
        close(out.read(), rows[places].reshape(n, k, h).sum(1))
    nn.clear()


@pytest.mark.parametrize("out_tokens", [0, 7])
def test_permute_and_back_and_their_gradients(nn, out_tokens):
    n, k, h = 5, 2, 8
    tokens, experts = floats(23, n, h), rng(24).integers(0, 4, (n, k))
    rows = out_tokens or n * k
    permuted, places = nn.empty(np.float32, (rows, h)), nn.empty(np.int32, (n * k,))
    nn.run("aclnnMoeTokenPermute", nn.tensor(tokens), nn.tensor(experts), out_tokens, False,
           permuted, places)
    order = np.argsort(experts.ravel(), kind="stable")
    sent, at = tokens[order[:rows] // k], np.argsort(order)
    close(permuted.read(), sent)
    np.testing.assert_array_equal(places.read(), at)
    probs, dy = floats(25, n, k), floats(26, n, h)
    out = nn.empty(np.float32, (n, h))
    nn.run("aclnnMoeTokenUnpermute", permuted, places, nn.tensor(probs), False, None, out)
    kept = at < rows
    padded = np.concatenate([sent, np.zeros((n * k - rows, h))])
    want = (padded[at] * probs.reshape(-1, 1)).reshape(n, k, h).sum(1)
    close(out.read(), want)
    d_rows, d_probs = nn.empty(np.float32, (rows, h)), nn.empty(np.float32, (n, k))
    nn.run("aclnnMoeTokenUnpermuteGrad", permuted, nn.tensor(dy), places, nn.tensor(probs), False,
           None, d_rows, d_probs)
    want_rows = np.zeros((rows, h))
    want_rows[at[kept]] = (np.repeat(dy, k, 0) * probs.reshape(-1, 1))[kept]
    close(d_rows.read(), want_rows)
    close(d_probs.read(), (padded[at] * np.repeat(dy, k, 0)).sum(-1).reshape(n, k))
    d_tokens = nn.empty(np.float32, (n, h))
    nn.run("aclnnMoeTokenPermuteGrad", d_rows, places, k, False, d_tokens)
    padded = np.concatenate([want_rows, np.zeros((n * k - rows, h))])
    close(d_tokens.read(), padded[at].reshape(n, k, h).sum(1))
    nn.clear()


def test_gradients_of_routing(nn):
    n, k, h = 4, 2, 8
    grad, places = floats(27, n * k, h), rng(28).permutation(n * k).astype(np.int32)
    out = nn.empty(np.float32, (n, h))
    nn.run("aclnnMoeInitRoutingV2Grad", nn.tensor(grad), nn.tensor(places), k, 0, 0, out)
    close(out.read(), grad[places].reshape(n, k, h).sum(1))
    dy, rows, scales = floats(29, n, h), floats(30, n * k, h), floats(31, n, k)
    d_rows, d_scales = nn.empty(np.float32, (n * k, h)), nn.empty(np.float32, (n, k))
    t = nn.tensor
    nn.run("aclnnMoeFinalizeRoutingV2Grad", t(dy), t(places), t(rows), t(scales), None, None, 0, 0,
           0, 0, d_rows, d_scales)
    want = np.zeros((n * k, h))
    want[places] = np.repeat(dy, k, 0) * scales.reshape(-1, 1)
    close(d_rows.read(), want)
    close(d_scales.read(), (rows[places] * np.repeat(dy, k, 0)).sum(-1).reshape(n, k))
    nn.clear()


# --- products of groups

def grouped(x, weights, ends, bias=None):
    y, begin = np.zeros((x.shape[0], weights[0].shape[1])), 0
    for i, end in enumerate(ends):
        y[begin:end] = x[begin:end].astype(np.float64) @ weights[i].astype(np.float64)
        if bias is not None:
            y[begin:end] += bias[i]
        begin = end
    return y


def v4(nn, x, w, groups, out, bias=None, scale=None, anti=None, anti_offset=None, rows=None, kind=0,
       act=0, split=3, group_type=0, name="aclnnGroupedMatmulV4"):
    def listed(a):
        return None if a is None else nn.tensors([nn.tensor(b) for b in (a if isinstance(a,
            list) else [a])])
    result = nn.tensor(out)
    more = [None] if name.endswith("V5") else []
    nn.run(name, listed(x), listed(w), listed(bias), listed(scale), None, listed(anti),
           listed(anti_offset),
           listed(rows), None if groups is None else nn.tensor(np.asarray(groups, np.int64)), None,
           None, None, split, group_type, kind, act, *more, nn.tensors([result]), None, None)
    y = result.read()
    nn.clear()
    return y


@pytest.mark.parametrize("dtype", [np.float32, np.float16, BF16])
@pytest.mark.parametrize("stacked", [True, False])
@pytest.mark.parametrize("kind", [0, 1])
def test_grouped_matmul(nn, dtype, stacked, kind):
    x, w, bias = floats(32, 20, 24, dtype=dtype), floats(33, 4, 24, 40, dtype=dtype), floats(34, 4,
        40, dtype=dtype)
    ends = [7, 7, 13, 18]  # the second group has no rows, two rows have no group
    want = grouped(x, w, ends, bias.astype(np.float64))
    given = ends if kind == 0 else np.diff([0, *ends])
    for name in ("aclnnGroupedMatmulV4", "aclnnGroupedMatmulV5"):
        got = v4(nn, x, w if stacked else list(w), given, np.zeros((20, 40), dtype),
                 bias=bias if stacked else list(bias), kind=kind, name=name)
        tolerance = {"float32": 1e-5, "float16": 4e-3, "bfloat16": 4e-2}[np.dtype(dtype).name]
        np.testing.assert_allclose(got.astype(np.float64), want, rtol=tolerance, atol=tolerance * 4)


def test_the_groups_are_read_when_the_operator_runs(nn):
    """Another list of the same length is not another plan, and a bad one fails the stream."""
    x, w = floats(35, 6, 8), floats(36, 2, 8, 5)
    for ends in ([2, 6], [0, 6], [5, 6]):
        close(v4(nn, x, w, ends, np.zeros((6, 5), np.float32)), grouped(x, w, ends), 1e-5)
    with pytest.raises(Failed, match="entry 1 of the groups is group 1 with -2 rows"):
        v4(nn, x, w, [4, 2], np.zeros((6, 5), np.float32))
    nn.clear()


def test_grouped_matmul_of_turned_weights_and_columns(nn):
    x, w = floats(37, 9, 8), floats(38, 3, 6, 8).transpose(0, 2, 1)  # N x K in memory
    close(v4(nn, x, w, [3, 4, 9], np.zeros((9, 6), np.float32)), grouped(x, w, [3, 4, 9]), 1e-5)
    a, b = floats(39, 12, 5), floats(40, 12, 7)  # gradients of weights: columns of x in groups
    got = v4(nn, a.T, b, [4, 4, 12], np.zeros((3, 5, 7), np.float32), group_type=2)
    want = np.stack([a[i:j].T.astype(np.float64) @ b[i:j] for i, j in ((0, 4), (4, 4), (4, 12))])
    close(got, want, 1e-5)


@pytest.mark.parametrize("act", range(1, 6))
def test_activations_behind_groups(nn, act):
    from math import erf
    x, w = floats(41, 4, 8), floats(42, 2, 8, 6)
    y = grouped(x, w, [1, 4])
    want = {1: np.maximum(y, 0),
            2: 0.5 * y * (1 + np.tanh(np.sqrt(2 / np.pi) * (y + 0.044715 * y ** 3))),
            3: 0.5 * y * (1 + np.vectorize(erf)(y / np.sqrt(2))),
            4: y / (1 + np.exp(-1.702 * y)), 5: y / (1 + np.exp(-y))}[act]
    close(v4(nn, x, w, [1, 4], np.zeros((4, 6), np.float32), act=act), want, 1e-5)


def test_grouped_matmul_tensor_by_tensor(nn):
    xs, ws = [floats(43, 3, 8), floats(44, 5, 6)], [floats(45, 8, 4), floats(46, 6, 9)]
    outs = [nn.empty(np.float32, (3, 4)), nn.empty(np.float32, (5, 9))]
    lists = [nn.tensors([nn.tensor(a) for a in some]) for some in (xs, ws)]
    nn.run("aclnnGroupedMatmul", *lists, None, None, None, None, None, None, 0, nn.tensors(outs))
    for out, x, w in zip(outs, xs, ws):
        close(out.read(), x.astype(np.float64) @ w, 1e-5)
    nn.clear()
    x, w = floats(47, 6, 8), floats(48, 2, 8, 5)
    out = nn.empty(np.float32, (6, 5))
    nn.run("aclnnGroupedMatmulV2", nn.tensors([nn.tensor(x)]), nn.tensors([nn.tensor(w)]), None,
           None, None, None, None, [4, 6], 3, 0, nn.tensors([out]))
    close(out.read(), grouped(x, w, [4, 6]), 1e-5)
    nn.clear()


@pytest.mark.parametrize("rows", [False, True])
def test_grouped_matmul_of_int8(nn, rows):
    r = rng(49)
    x, w = r.integers(-128, 128, (9, 32)).astype(np.int8), r.integers(-128, 128,
                                                                      (3, 32, 16)).astype(np.int8)
    scale, bias = (r.random((3, 16)) * 0.01).astype(np.float32), r.integers(-99, 99,
        (3, 16)).astype(np.int32)
    token = (r.random(9) + 0.5).astype(np.float32) if rows else None
    ends = [2, 5, 9]
    want = grouped(x, w, ends, bias)
    for i, (a, b) in enumerate(zip([0, *ends], ends)):
        want[a:b] *= scale[i]
    if rows:
        want *= token[:, None]
    got = v4(nn, x, w, ends, np.zeros((9, 16), np.float16), bias=bias, scale=scale, rows=token)
    np.testing.assert_allclose(got.astype(np.float64), want, rtol=2e-3, atol=2e-3)
    exact = v4(nn, x, w, ends, np.zeros((9, 16), np.int32))
    np.testing.assert_array_equal(exact, grouped(x, w, ends))


@pytest.mark.parametrize("parts", [1, 4])
def test_grouped_matmul_of_widened_weights(nn, parts):
    r = rng(50)
    x, w = floats(51, 7, 32, dtype=np.float16), r.integers(-128, 128, (2, 32, 16)).astype(np.int8)
    scale = (r.random((2, parts, 16)) * 0.01).astype(np.float16)
    offset = r.integers(-9, 9, (2, parts, 16)).astype(np.float16)
    real = (w + np.repeat(offset, 32 // parts, 1)) * np.repeat(scale, 32 // parts,
                                                               1).astype(np.float64)
    shape = (2, 16) if parts == 1 else (2, parts, 16)
    got = v4(nn, x, w, [3, 7], np.zeros((7, 16), np.float16), anti=scale.reshape(shape),
             anti_offset=offset.reshape(shape))
    np.testing.assert_allclose(got.astype(np.float64), grouped(x, real, [3, 7]), rtol=3e-3,
                               atol=1e-2)


def test_products_are_sent_back_to_their_tokens(nn):
    r = rng(52)
    m, k, n, b, e = 8, 16, 6, 4, 2
    x, w = r.integers(-128, 128, (m, k)).astype(np.int8), r.integers(-128, 128,
                                                                     (e, k, n)).astype(np.int8)
    scale, token = (r.random((e,
                              n)) * 0.01).astype(np.float32), (r.random(m) * 0.1).astype(np.float32)
    shared, logit = floats(53, 2, n, dtype=BF16), r.random(m).astype(np.float32)
    index, ends = r.integers(0, b, m), [5, 8]
    y = grouped(x, w, ends)
    y[:5] *= scale[0]
    y[5:] *= scale[1]
    y *= (token * logit)[:, None]
    want = np.zeros((b, n))
    want[1:3] = shared.astype(np.float64) * 0.5
    np.add.at(want, index, y)
    out, t = nn.empty(np.float32, (b, n)), nn.tensor
    nn.run("aclnnGroupedMatmulFinalizeRoutingV2", t(x), t(w), t(scale), None, None, None, None,
           t(token),
           t(np.array(ends)), t(shared), t(logit), t(index), 0, 0.5, 1, False, False, 0, out)
    close(out.read(), want, 1e-4)
    nn.clear()


@pytest.mark.parametrize("name", ["aclnnFFN", "aclnnFFNV3"])
@pytest.mark.parametrize("activation", ["relu", "silu", "swiglu", "geglu"])
def test_feed_forward(nn, name, activation):
    x, inner = floats(54, 6, 8), 10 if activation.endswith("glu") else 5
    w1, w2, b1, b2 = floats(55, 2, 8, inner), floats(56, 2, 5, 8), floats(57, 2, inner), floats(58,
        2, 8)
    y = grouped(x, w1, [2, 6], b1)
    act = {"relu": lambda a: np.maximum(a, 0), "silu": lambda a: a / (1 + np.exp(-a)),
           "swiglu": lambda a: a / (1 + np.exp(-a)),
           "geglu": lambda a: 0.5 * a * (1 + np.tanh(np.sqrt(2 / np.pi)
                                                     * (a + 0.044715 * a ** 3)))}[activation]
    y = act(y[:, :5]) * y[:, 5:] if inner == 10 else act(y)
    want = grouped(y, w2, [2, 6], b2)
    out, t = nn.empty(np.float32, (6, 8)), nn.tensor
    counts = t(np.array([2, 4])) if name == "aclnnFFNV3" else [2, 4]
    more = [False] if name == "aclnnFFNV3" else []
    nn.run(name, t(x), t(w1), t(w2), counts, t(b1), t(b2), *[None] * 8, activation, 0, *more, out)
    close(out.read(), want, 1e-4)
    nn.clear()


# --- a map says who goes where

def mapped(tokens=7, experts=5, k=2):
    """A map with k experts for each token, and probabilities."""
    order = rng(4).permuted(np.tile(np.arange(experts), (tokens, 1)), axis=1)
    return order < k, np.abs(floats(5, tokens, experts))


@pytest.mark.parametrize("padded", [False, True])
def test_tokens_go_where_a_map_says(nn, padded):
    x, (route, probs) = floats(1, 7, 6), mapped()
    tokens = np.tile(np.arange(7), (5, 1))  # experts x tokens
    if padded:
        at = np.argsort(~route.T, -1, kind="stable")[:, :3]  # three places for each expert
        want, weights = at.reshape(-1), np.take_along_axis(probs.T, at, -1).reshape(-1)
        sorted_ = want
    else:
        want, weights = tokens[route.T], probs.T[route.T]
        sorted_ = np.argsort(want, kind="stable")
    rows = len(want)
    y, p, order = nn.empty(np.float32, (rows, 6)), nn.empty(np.float32, (rows,)), nn.empty(np.int32,
                                                                                           (rows,))
    nn.run("aclnnMoeTokenPermuteWithRoutingMap", nn.tensor(x), nn.tensor(route), nn.tensor(probs),
           rows, padded, y, p, order)
    np.testing.assert_array_equal(y.read(), x[want])
    np.testing.assert_array_equal(p.read(), weights)
    np.testing.assert_array_equal(order.read(), sorted_)

    dy, dp = floats(7, rows, 6), floats(8, rows)
    dx, dprobs = nn.empty(np.float32, (7, 6)), nn.empty(np.float32, (7, 5))
    nn.run("aclnnMoeTokenPermuteWithRoutingMapGrad", nn.tensor(dy), nn.tensor(dp),
           nn.tensor(sorted_.astype(np.int32)), nn.tensor(route), 5, 7, padded, dx, dprobs)
    of_x, of_probs = np.zeros((7, 6)), np.zeros((5, 7))
    np.add.at(of_x, want, dy)
    if padded:
        np.put_along_axis(of_probs, at, dp.reshape(5, 3), -1)
    else:
        of_probs[route.T] = dp
    close(dx.read(), of_x)
    close(dprobs.read(), of_probs.T)
    nn.clear()


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_come_back_to_their_tokens(nn, padded, weighted):
    route, probs = mapped()
    if padded:
        at = np.argsort(~route.T, -1, kind="stable")[:, :3]
        token, share = at.reshape(-1), np.take_along_axis(probs.T, at, -1).reshape(-1)
        sorted_ = token
    else:
        token, share = np.tile(np.arange(7), (5, 1))[route.T], probs.T[route.T]
        sorted_ = np.argsort(token, kind="stable")
    rows, count = floats(6, len(token), 6), len(token)
    want = np.zeros((7, 6))
    np.add.at(want, token, rows * share[:, None] if weighted else rows)
    y, index, of_token = (
        nn.empty(np.float32, (7, 6)),
        *(nn.empty(np.int32, (count,)) for _ in range(2)),
    )
    kept = nn.empty(np.float32, (count,))
    nn.run(
        "aclnnMoeTokenUnpermuteWithRoutingMap",
        nn.tensor(rows),
        nn.tensor(sorted_.astype(np.int32)),
        nn.tensor(route),
        nn.tensor(probs) if weighted else None,
        padded,
        [7, 6],
        y,
        index,
        of_token,
        kept,
    )
    close(y.read(), want)
    np.testing.assert_array_equal(of_token.read(), token)
    if weighted:
        np.testing.assert_allclose(kept.read(), share, rtol=1e-6)
        dy, grads = floats(9, 7, 6), [nn.empty(np.float32, s) for s in ((count, 6), (7, 5))]
        nn.run(
            "aclnnMoeTokenUnpermuteWithRoutingMapGrad",
            nn.tensor(dy),
            index,
            of_token,
            nn.tensor(route),
            nn.tensor(rows),
            nn.tensor(probs),
            padded,
            [7, 6],
            *grads,
        )
        of_probs = np.zeros((5, 7))
        if padded:
            np.put_along_axis(of_probs, at, (rows * dy[token]).sum(-1).reshape(5, 3), -1)
        else:
            of_probs[route.T] = (rows * dy[token]).sum(-1)
        close(grads[0].read(), dy[token] * share[:, None])
        close(grads[1].read(), of_probs.T)
        with pytest.raises(
            Failed, match="probsOptional is given without a routingMapOptional of 7 tokens"
        ):
            nn.run(
                "aclnnMoeTokenUnpermuteWithRoutingMap",
                nn.tensor(rows),
                nn.tensor(sorted_.astype(np.int32)),
                None,
                nn.tensor(probs),
                padded,
                [7, 6],
                y,
                index,
                of_token,
                kept,
            )
    nn.clear()


def test_a_map_with_other_rows_than_stated(nn):
    route, _ = mapped()
    y, order = nn.empty(np.float32, (14, 6)), nn.empty(np.int32, (14,))
    with pytest.raises(Failed, match="numOutTokens is 21 and permuteTokensOut has 14 rows"):
        nn.run("aclnnMoeTokenPermuteWithRoutingMap", nn.tensor(floats(1, 7, 6)), nn.tensor(route),
               None, 21, False, y, None, order)
    nn.clear()
