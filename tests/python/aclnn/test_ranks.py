# SPDX-License-Identifier: Apache-2.0
"""Operators that exchange data between the ranks of a communicator: products of tensor parallelism,
experts of expert parallelism. Two ranks of one process, a device each."""
import ctypes

import ml_dtypes
import numpy as np
import pytest

from aclnn import Failed, Session, _load

RANKS = 2


class Group:
    """Sessions of all ranks and their communicators; `name` is what operators call the group."""

    def __init__(self, sessions):
        self.sessions = sessions
        self.hccl = _load("libhccl.so")
        self.comms = (ctypes.c_void_p * RANKS)()
        devices = (ctypes.c_int32 * RANKS)(*range(RANKS))
        assert self.hccl.HcclCommInitAll(RANKS, devices, self.comms) == 0
        name = ctypes.create_string_buffer(128)
        assert self.hccl.HcclGetCommName(ctypes.c_void_p(self.comms[0]), name) == 0
        self.name = name.value.decode()

    def run(self, name, arguments):
        """arguments(session, rank) -> (arguments, outputs); returns the outputs of every rank."""
        outs = []
        for rank, nn in enumerate(self.sessions):
            nn.use()
            given, out = arguments(nn, rank)
            nn.run(name, *given)
            outs.append(out)
        read = []
        for nn, out in zip(self.sessions, outs):
            nn.use()
            read.append([o.read() for o in out])
        for nn in self.sessions:
            nn.use()
            nn.clear()
        return read


@pytest.fixture(scope="module")
def group():
    with Session(0) as first, Session(1, inits=False) as second:
        made = Group([first, second])
        yield made
        for comm in made.comms:
            made.hccl.HcclCommDestroy(ctypes.c_void_p(comm))


def floats(seed, *shape, dtype=np.float32):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


X = [floats(1 + r, 6, 8) for r in range(RANKS)]
W = [floats(11 + r, 8, 4) for r in range(RANKS)]
BIAS, ADDED = floats(21, 4), floats(22, 6, 4)


def test_the_product_of_all_ranks_is_summed(group):
    want = sum(x.astype(np.float64) @ w + BIAS for x, w in zip(X, W))
    def plain(nn, r):
        y = nn.empty(np.float32, (6, 4))
        return [nn.tensor(X[r]), nn.tensor(W[r]), nn.tensor(BIAS), group.name, "sum", 0, 1, y], [y]
    for [y] in group.run("aclnnMatmulAllReduce", plain):
        np.testing.assert_allclose(y, want, rtol=1e-5, atol=1e-5)

    def turned(nn, r):
        y = nn.empty(np.float16, (6, 4))
        return [nn.tensor(X[r].astype(np.float16)),
                nn.tensor(np.ascontiguousarray(W[r].T).astype(np.float16).T),
                None, nn.tensor(ADDED.astype(np.float16)), group.name, "sum", 0, 1, y], [y]
    for [y] in group.run("aclnnMatmulAllReduceV2", turned):
        np.testing.assert_allclose(y, want - 2 * BIAS + 2 * ADDED, rtol=2e-2, atol=2e-2)


def integers():
    rng = np.random.default_rng(31)
    a, b = ([rng.integers(-128, 128, s).astype(np.int8) for _ in range(RANKS)]
            for s in ((6, 32), (32, 4)))
    scale = (rng.random(4) * 1e-3).astype(np.float32)
    token = (rng.random(6) + 0.5).astype(np.float32)
    bias = rng.integers(-99, 99, 4).astype(np.int32)
    return a, b, scale, token, bias


def words(scale):
    return scale.view(np.uint32).astype(np.uint64)


@pytest.mark.parametrize("version", ["", "V2", "V3", "V4"])
def test_products_of_integers_are_summed(group, version):
    a, b, scale, token, bias = integers()

    def arguments(nn, r):
        y, t = nn.empty(np.float16, (6, 4)), nn.tensor
        end = [group.name, "sum", 0, 1]
        head = [t(a[r]), t(b[r]), t(bias), None]
        if version == "":
            return [*head, t(words(scale)), *end, y], [y]
        if version == "V4":
            return [*head, t(token), t(scale), None, None, *end, 0, 0, y], [y]
        return [*head, t(scale), t(token), *([None, None] if version == "V3" else []), *end, y], [y]
    want = sum((p.astype(np.int64) @ q + bias) * scale.astype(np.float64) for p, q in zip(a, b))
    for [y] in group.run("aclnnQuantMatmulAllReduce" + version, arguments):
        np.testing.assert_allclose(y.astype(np.float64), want * (token[:, None] if version else 1),
                                   rtol=2e-3, atol=2e-3)


def test_products_with_widened_weights_are_summed(group):
    rng = np.random.default_rng(32)
    w = [rng.integers(-128, 128, (8, 4)).astype(np.int8) for _ in range(RANKS)]
    scale = rng.random((2, 4)).astype(np.float32)
    offset = rng.standard_normal((2, 4)).astype(np.float32)

    def widened(nn, r):
        y = nn.empty(np.float32, (6, 4))
        return [nn.tensor(X[r]), nn.tensor(w[r]), None, nn.tensor(scale), nn.tensor(offset), None,
                group.name, "sum", 0, 1,
                4, y], [y]
    want = sum(x.astype(np.float64) @ ((v + np.repeat(offset, 4,
                                                      0)) * np.repeat(scale, 4, 0)) for x,
                                                      v in zip(X, w))
    for [y] in group.run("aclnnWeightQuantMatmulAllReduce", widened):
        np.testing.assert_allclose(y, want, rtol=1e-4, atol=1e-3)


def test_a_norm_behind_the_sum(group):
    gamma = floats(23, 4)
    total = sum(x.astype(np.float64) @ w for x, w in zip(X, W)) + ADDED
    norm = total / np.sqrt((total ** 2).mean(-1, keepdims=True) + 1e-5) * gamma

    def arguments(nn, r):
        y, n = nn.empty(np.float32, (1, 6, 4)), nn.empty(np.float32, (1, 6, 4))
        return [nn.tensor(X[r][None]), nn.tensor(W[r]), None, nn.tensor(ADDED[None]),
                nn.tensor(gamma), 1e-5, group.name,
                "sum", 0, 1, y, n], [y, n]
    for y, n in group.run("aclnnMatmulAllReduceAddRmsNorm", arguments):
        np.testing.assert_allclose(y[0], total, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(n[0], norm, rtol=1e-5, atol=1e-5)

    def in_place(nn, r):
        residual, n = nn.tensor(ADDED[None]), nn.empty(np.float32, (1, 6, 4))
        return [nn.tensor(X[r][None]), nn.tensor(W[r]), None, residual, nn.tensor(gamma), 1e-5,
                group.name, "sum", 0, 1,
                n], [residual, n]
    for y, n in group.run("aclnnInplaceMatmulAllReduceAddRmsNorm", in_place):
        np.testing.assert_allclose(y[0], total, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(n[0], norm, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kind,in_place", [("Quant", False), ("Quant", True),
                                           ("WeightQuant", False), ("WeightQuant", True)])
def test_a_norm_behind_the_sum_of_quantised_products(group, kind, in_place):
    a, b, scale, _, bias = integers()
    gamma = floats(24, 4)
    rows = [floats(25 + r, 6, 32) for r in range(RANKS)]
    if kind == "Quant":
        total = sum((p.astype(np.int64) @ q + bias) * scale.astype(np.float64) for p,
                    q in zip(a, b)) + ADDED
    else:
        total = sum(p.astype(np.float64) @ (q * scale.astype(np.float64)) for p,
                    q in zip(rows, b)) + ADDED
    norm = total / np.sqrt((total ** 2).mean(-1, keepdims=True) + 1e-5) * gamma

    def arguments(nn, r):
        residual, y = nn.tensor(ADDED), nn.empty(np.float32, (6, 4))
        n, t = nn.empty(np.float32, (6, 4)), nn.tensor
        head = ([t(a[r]), t(b[r]), t(bias), t(scale)] if kind == "Quant"
                else [t(rows[r]), t(b[r]), None, t(scale), None])
        group_size = [] if kind == "Quant" else [0]
        outs = [n] if in_place else [y, n]
        return [*head, residual, t(gamma), 1e-5, group.name, "sum", 0, 1, *group_size,
                *outs], [residual if in_place else y, n]
    name = f"aclnn{'Inplace' if in_place else ''}{kind}MatmulAllReduceAddRmsNorm"
    for y, n in group.run(name, arguments):
        np.testing.assert_allclose(y, total, rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(n, norm, rtol=1e-3, atol=1e-3)


def test_rows_of_all_ranks_are_gathered_and_multiplied(group):
    def arguments(nn, r):
        y, all_ = nn.empty(np.float32, (12, 4)), nn.empty(np.float32, (12, 8))
        return [nn.tensor(X[r]), nn.tensor(W[r]), None, group.name, 0, 0, 1, y, all_], [y, all_]
    gathered = np.concatenate(X)
    for r, (y, all_) in enumerate(group.run("aclnnAllGatherMatmul", arguments)):
        np.testing.assert_array_equal(all_, gathered)
        np.testing.assert_allclose(y, gathered.astype(np.float64) @ W[r], rtol=1e-5, atol=1e-5)


def test_rows_of_the_summed_product_go_to_their_ranks(group):
    def arguments(nn, r):
        y = nn.empty(np.float32, (3, 4))
        return [nn.tensor(X[r]), nn.tensor(W[r]), None, group.name, "sum", 0, 1, y], [y]
    want = sum(x.astype(np.float64) @ w for x, w in zip(X, W))
    for r, [y] in enumerate(group.run("aclnnMatmulReduceScatter", arguments)):
        np.testing.assert_allclose(y, want[3 * r:3 * r + 3], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("version", ["", "V2"])
def test_ranks_wait_for_each_other(group, version):
    def arguments(nn, r):
        x = nn.tensor(np.array([r], np.float32))
        return [x, *([None, None] if version else []), group.name, RANKS], [x]
    assert [x.tolist() for [x] in group.run("aclnnDistributeBarrier" + version,
                                            arguments)] == [[0], [1]]


def test_a_group_that_is_none_is_told(group):
    nn = group.sessions[0]
    nn.use()
    y = nn.empty(np.float32, (6, 4))
    with pytest.raises(Failed) as failed:
        nn.run("aclnnMatmulAllReduce", nn.tensor(X[0]), nn.tensor(W[0]), None, "nobody", "sum", 0,
               1, y)
    assert failed.value.number == 161002
    assert "'nobody'" in failed.value.sentence and group.name in failed.value.sentence
    with pytest.raises(Failed) as failed:
        nn.run("aclnnAllGatherMatmul", nn.tensor(X[0]), nn.tensor(W[0]), None, group.name, 0, 0, 1,
               nn.empty(np.float32, (18, 4)), None)
    assert "3 ranks" in failed.value.sentence
    nn.clear()


# --- experts

EXPERTS, TOP, WIDTH, MOST = 6, 2, 8, 5
TOKENS = [5, 3]
LOCAL = EXPERTS // RANKS
IDS = [np.stack([np.random.default_rng(40 + 9 * r + t).permutation(EXPERTS)[:TOP]
                 for t in range(TOKENS[r])]).astype(np.int32)
       for r in range(RANKS)]
SHARES = [np.random.default_rng(50 + r).random((TOKENS[r],
                                                TOP)).astype(np.float32) for r in range(RANKS)]
ROWS = RANKS * MOST * TOP


def tokens(r):
    return floats(60 + r, TOKENS[r], WIDTH, dtype=np.float16)


def arrivals(rank, active=None):
    """(source rank, token, choice) of every row, in order; counts by expert and source."""
    rows, counts = [], np.zeros((LOCAL, RANKS), int)
    for e in range(LOCAL):
        for s in range(RANKS):
            for t, k in np.ndindex(TOKENS[s], TOP):
                if IDS[s][t, k] == rank * LOCAL + e and (active is None or active[s][t]):
                    rows.append((s, t, k))
                    counts[e, s] += 1
    return rows, counts


def dispatched(group, quantised, active=None, version=2):
    def arguments(nn, r):
        outs = [nn.empty(np.int8 if quantised else np.float16, (ROWS, WIDTH)),
                nn.empty(np.float32, (ROWS,)),
                nn.empty(np.int32, (ROWS * 128,)), nn.empty(np.int64, (LOCAL,)),
                nn.empty(np.int32, (LOCAL * RANKS,)),
                nn.empty(np.int32, (1,)), nn.empty(np.float32, (ROWS,))]
        mask = None if active is None else nn.tensor(active[r])
        return [nn.tensor(tokens(r)), nn.tensor(IDS[r]), None, mask, nn.tensor(SHARES[r]),
                *([None] if version == 3 else []),
                group.name, RANKS, r, EXPERTS, None, 0, 0, 0, 1, 0, 2 if quantised else 0,
                MOST * RANKS, 1, None,
                *([0, 0, 0] if version == 3 else []), *outs], outs
    return group.run(f"aclnnMoeDistributeDispatchV{version}", arguments)


@pytest.mark.parametrize("version,masked", [(2, False), (2, True), (3, False)])
def test_tokens_go_to_the_ranks_of_their_experts(group, version, masked):
    active = [np.array([True, True, False, True, True]),
              np.array([True, False, True])] if masked else None
    parts = dispatched(group, False, active, version)
    for r, (x, _, info, per_expert, sums, _, shares) in enumerate(parts):
        rows, counts = arrivals(r, active)
        np.testing.assert_array_equal(x[:len(rows)], np.stack([tokens(s)[t] for s, t, _ in rows]))
        assert not x[len(rows):].any()
        np.testing.assert_array_equal(per_expert, counts.sum(1))
        np.testing.assert_array_equal(sums, counts.ravel().cumsum())
        np.testing.assert_array_equal(info.reshape(ROWS, 128)[:len(rows), :3], rows)
        np.testing.assert_array_equal(shares[:len(rows)], [SHARES[s][t, k] for s, t, k in rows])


def test_tokens_may_travel_as_integers(group):
    for r, (x, scales, *_) in enumerate(dispatched(group, True)):
        rows, _ = arrivals(r)
        want = np.stack([tokens(s)[t] for s, t, _ in rows]).astype(np.float64)
        np.testing.assert_allclose(scales[:len(rows)], np.abs(want).max(1) / 127, rtol=1e-5)
        assert np.abs(x[:len(rows)] * scales[:len(rows), None] - want).max() <= scales.max() * 0.51


@pytest.mark.parametrize("version", [1, 2, 3])
def test_results_come_back_to_their_tokens(group, version):
    def first(nn, r):
        outs = [nn.empty(np.float16, (ROWS, WIDTH)), nn.empty(np.float32, (ROWS,)),
                nn.empty(np.int32, (TOKENS[r] * TOP,)),
                nn.empty(np.int64, (LOCAL,)), nn.empty(np.int32, (LOCAL * RANKS,)),
                nn.empty(np.int32, (1,)), None]
        return [nn.tensor(tokens(r)), nn.tensor(IDS[r]), None, None, None, group.name, RANKS, r,
                EXPERTS, None, 0, 0, 0, 0,
                0, 0, MOST * RANKS, 0, *outs], outs[:6]
    sent = group.run("aclnnMoeDistributeDispatch", first)

    def results(r):
        """Every expert multiplies by its number."""
        x, counts = sent[r][0].astype(np.float32), np.diff(np.concatenate([[0], sent[r][4]]))
        number = np.repeat(np.arange(LOCAL) + r * LOCAL, counts.reshape(LOCAL, RANKS).sum(1))
        x[:len(number)] *= number[:, None]
        return x.astype(np.float16)

    def back(nn, r):
        y = nn.empty(np.float16, (TOKENS[r], WIDTH))
        t = nn.tensor
        head = [t(results(r)), t(IDS[r]), t(sent[r][2]), t(sent[r][4]), t(SHARES[r])]
        numbers = [group.name, RANKS, r, EXPERTS, None, 0, 0, 0, 0 if version == 1 else 1, 0,
                   MOST * RANKS, 0, 0, 0]
        if version == 1:
            return [*head, None, None, None, None, None, None, *numbers, y], [y]
        if version == 2:
            return [*head, *[None] * 7, *numbers, None, y], [y]
        return [*head, *[None] * 12, *numbers, None, 0, 0, 0, y], [y]
    name = "aclnnMoeDistributeCombine" + ("" if version == 1 else f"V{version}")
    for r, [y] in enumerate(group.run(name, back)):
        want = (SHARES[r] * IDS[r]).sum(1)[:, None] * tokens(r).astype(np.float64)
        np.testing.assert_allclose(y, want, rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("version", [1, 2])
def test_results_come_back_with_a_norm(group, version):
    sent = dispatched(group, False)
    gamma, residual = floats(70, WIDTH), [floats(71 + r, TOKENS[r], 1, WIDTH) for r in range(RANKS)]

    def back(nn, r):
        outs = [nn.empty(ml_dtypes.bfloat16, (TOKENS[r], 1, WIDTH)),
                nn.empty(np.float32, (TOKENS[r], 1, 1)),
                nn.empty(np.float32, (TOKENS[r], 1, WIDTH))]
        t = nn.tensor
        return [t(sent[r][0]), t(IDS[r]), t(sent[r][2]), t(sent[r][4]), t(SHARES[r]),
                t(residual[r]), t(gamma),
                *[None] * (7 if version == 1 else 12), group.name, RANKS, r, EXPERTS, None, 0, 0, 0,
                1, 0, MOST * RANKS, 0, 0,
                0, None, 1e-5, *([] if version == 1 else [0, 0, 0]), *outs], outs
    name = "aclnnMoeDistributeCombineAddRmsNorm" + ("" if version == 1 else "V2")
    for r, (y, rstd, x) in enumerate(group.run(name, back)):
        want = SHARES[r].sum(1)[:, None, None] * tokens(r)[:, None].astype(np.float64) + residual[r]
        root = 1 / np.sqrt((want ** 2).mean(-1, keepdims=True) + 1e-5)
        np.testing.assert_allclose(x, want, rtol=1e-3, atol=1e-3)
        np.testing.assert_allclose(rstd, root, rtol=1e-3)
        np.testing.assert_allclose(y.astype(np.float64), want * root * gamma, rtol=2e-2, atol=2e-2)


# --- experts of several ranks: rows travel, are multiplied, travel back

# Rows of each rank for each of four experts, two a rank.
COUNTS = np.array([[2, 0, 1, 3], [1, 2, 0, 2]])


@pytest.mark.parametrize("turned", [False, True])
def test_rows_travel_to_their_experts_and_back(group, turned):
    x, w = [floats(50 + r, int(COUNTS[r].sum()), 6) for r in range(RANKS)], floats(60, 4, 6, 5)
    shared, own = floats(61, 3, 6), floats(62, 6, 4)
    expert_of = [np.repeat(np.arange(4), COUNTS[r]) for r in range(RANKS)]
    # Rank r has experts 2 r and 2 r + 1; their rows, those of rank 0 first.
    sent = [[(e, x[s][expert_of[s] == e]) for e in (2 * r, 2 * r + 1) for s in range(RANKS)]
            for r in range(RANKS)]
    rows = [np.concatenate([part for _, part in parts]) for parts in sent]
    want = [np.concatenate([part @ w[e] for e, part in parts]) for parts in sent]
    received = [COUNTS[:, 2 * r:2 * r + 2].reshape(-1).tolist() for r in range(RANKS)]

    def weights(r):
        part = w[2 * r:2 * r + 2]
        return np.ascontiguousarray(part.transpose(0, 2, 1)) if turned else part

    def there(nn, r):
        outputs = y, kept, z = [nn.empty(np.float32, shape)
                                for shape in (want[r].shape, rows[r].shape, (3, 4))]
        return [nn.tensor(x[r]), nn.tensor(weights(r)), None, None, nn.tensor(shared),
                nn.tensor(own), group.name, RANKS, COUNTS[r].tolist(), received[r], turned, False,
                True, y, z, kept], outputs
    for r, (y, kept, z) in enumerate(group.run("aclnnAlltoAllvGroupedMatMul", there)):
        np.testing.assert_allclose(y, want[r], rtol=1e-5, atol=1e-5)
        np.testing.assert_array_equal(kept, rows[r])
        np.testing.assert_allclose(z, shared @ own, rtol=1e-5, atol=1e-5)

    def back(nn, r):
        y = nn.empty(np.float32, (len(x[r]), 5))
        return [nn.tensor(rows[r]), nn.tensor(weights(r)), None, None, None, None, group.name,
                RANKS, received[r], COUNTS[r].tolist(), turned, False, y, None], [y]
    for r, [y] in enumerate(group.run("aclnnGroupedMatMulAlltoAllv", back)):
        products = np.stack([row @ w[e] for row, e in zip(x[r], expert_of[r])])
        np.testing.assert_allclose(y, products, rtol=1e-5, atol=1e-5)


def test_counts_that_do_not_fit_are_told(group):
    nn = group.sessions[0]
    nn.use()
    y = nn.empty(np.float32, (3, 5))
    def call(send, receive):
        nn.run("aclnnAlltoAllvGroupedMatMul", nn.tensor(floats(1, 6, 6)),
               nn.tensor(floats(2, 2, 6, 5)), None, None, None, None, group.name, RANKS, send,
               receive, False, False, False, y, None, None)
    few = "sendCounts has 3 numbers; expected one for each of 2 experts of 2 ranks"
    with pytest.raises(Failed, match=few):
        call([2, 0, 1], [2, 0, 1, 0])
    with pytest.raises(Failed, match="6 rows are sent as"):
        call([2, 0, 1, 0], [2, 0, 1, 0])
    with pytest.raises(Failed, match="expected 0 to"):
        call([2, -1, 1, 0], [2, 0, 1, 0])
    nn.clear()
