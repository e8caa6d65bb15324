# SPDX-License-Identifier: Apache-2.0
"""PromptFlashAttention, IncreFlashAttention, FusedInferAttentionScore: layouts, groups of heads,
masks, lengths, caches in blocks, caches of integers."""
import ml_dtypes
import numpy as np
import pytest
from attention_oracle import attend, to_layout

from aclnn import Failed

BF16 = ml_dtypes.bfloat16
TOLERANCE = {"float32": 2e-5, "float16": 2e-3, "bfloat16": 2e-2}
MANY = 2147483647


def numbers(seed, *shapes, dtype=np.float32):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(shape).astype(dtype) for shape in shapes]


def close(got, want, dtype=np.float32):
    tolerance = TOLERANCE[np.dtype(dtype).name]
    np.testing.assert_allclose(got.astype(np.float64), want, rtol=tolerance, atol=tolerance)


# Parameters of the versions, in order; a call names those that it gives.
QUANT = ["deqScale1", "quantScale1", "deqScale2", "quantScale2", "quantOffset2"]
LATER = ["keyScale", "keyOffset", "valueScale", "valueOffset", "keyPrefix", "valuePrefix",
         "prefixLength"]
NUMBERS = ["heads", "scale", "before", "after", "layout", "kv_heads"]
TAIL = ["mode", "precise", "block", "antiMode", "lse"]
FORMS = {
    "aclnnPromptFlashAttention": ["q", "k", "v", "shift", "mask", "rows", *NUMBERS, "out"],
    "aclnnPromptFlashAttentionV2": ["q", "k", "v", "shift", "mask", "rows", "keys", *QUANT,
                                    *NUMBERS, "mode", "out"],
    "aclnnPromptFlashAttentionV3": ["q", "k", "v", "shift", "mask", "rows", "keys", *QUANT,
                                    *NUMBERS, "mode", "precise", "out"],
    "aclnnIncreFlashAttention": ["q", "ks", "vs", "shift", "mask", "keys", "heads", "scale",
                                 "layout", "kv_heads", "out"],
    "aclnnIncreFlashAttentionV2": ["q", "ks", "vs", "shift", "mask", "keys", *QUANT, "heads",
                                   "scale", "layout", "kv_heads", "out"],
    "aclnnIncreFlashAttentionV3": ["q", "ks", "vs", "shift", "mask", "keys", *QUANT, "anti",
                                   "antiOffset",
                                   "table", "heads", "scale", "layout", "kv_heads", "block",
                                   "precise", "out"],
    "aclnnIncreFlashAttentionV4": ["q", "ks", "vs", "shift", "mask", "keys", *QUANT, "anti",
                                   "antiOffset",
                                   "table", "keyPadding", "heads", "scale", "layout", "kv_heads",
                                   "block", "precise", "out"],
    "aclnnFusedInferAttentionScore": ["q", "ks", "vs", "shift", "mask", "rows", "keys", *QUANT,
                                      "anti",
                                      "antiOffset", "table", "rowPadding", "keyPadding", *NUMBERS,
                                      *TAIL, "out", "log"],
}
V2 = ["q", "ks", "vs", "shift", "mask", "rows", "keys", *QUANT, "anti", "antiOffset", "table",
      "rowPadding", "keyPadding", *LATER]
MODES = ["keyMode", "valueMode"]
FORMS["aclnnFusedInferAttentionScoreV2"] = [*V2, *NUMBERS, *TAIL, *MODES, "out", "log"]
ROPE = ["qRope", "kRope", "ropeScale"]
FORMS["aclnnFusedInferAttentionScoreV3"] = [*V2, *ROPE, *NUMBERS, *TAIL, *MODES, "out", "log"]
FORMS["aclnnFusedInferAttentionScoreV4"] = [*V2, *ROPE, "queryScale", "sink", *NUMBERS, *TAIL,
                                            *MODES, "queryMode", "out", "log"]
DEFAULTS = {"before": MANY, "after": 0, "mode": 0, "precise": 1, "block": 0, "antiMode": 0,
            "lse": False, "keyMode": 0, "valueMode": 0, "queryMode": 0, "layout": "BNSD"}
LISTS = {"ks": "k", "vs": "v"}


def call(nn, name, **given):
    """Tensors are arrays; the outputs come back."""
    made = {}

    def argument(key):
        source = LISTS.get(key, key)
        value = given.get(source, DEFAULTS.get(source))
        if isinstance(value, list) and key in LISTS:
            return nn.tensors([nn.tensor(item) for item in value])
        if isinstance(value, np.ndarray):
            made[key] = nn.tensor(value)
            return nn.tensors([made[key]]) if key in LISTS else made[key]
        return value
    nn.run(name, *[argument(key) for key in FORMS[name]])
    out = made["out"].read()
    log = made["log"].read() if "log" in made else None
    nn.clear()
    return (out, log) if log is not None else out


def whole(q, k, v, scale, **options):
    """Every sample with all its rows and keys."""
    made = [attend(*item, scale, **options) for item in zip(q, k, v)]
    return np.stack([m[0] for m in made]), np.stack([m[1] for m in made])


# The first version has no sparse modes.
PROMPTS = [(name, mode) for name in FORMS if "Incre" not in name
           for mode in ([0] if name == "aclnnPromptFlashAttention" else [0, 2, 3, 4])]


@pytest.mark.parametrize("name,mode", PROMPTS)
@pytest.mark.parametrize("layout", ["BSH", "BSND", "BNSD", "BNSD_BSND"])
def test_prompts_in_every_layout(nn, name, layout, mode):
    (q,), (k, v) = numbers(1, (2, 4, 5, 8)), numbers(2, (2, 2, 7, 8), (2, 2, 7, 8))
    want, _ = whole(q, k, v, 0.3, mode=mode, before=3, after=1)
    inner, outer = layout.split("_")[0], layout.split("_")[-1]
    got = call(nn, name, q=to_layout(q, inner), k=to_layout(k, inner), v=to_layout(v, inner),
               heads=4, kv_heads=2, scale=0.3, layout=layout, mode=mode, before=3, after=1,
               mask=np.triu(np.ones((2048, 2048), bool), 1) if mode else None,
               out=np.zeros(to_layout(want, outer).shape, np.float32))
    close(got, to_layout(want, outer))


@pytest.mark.parametrize("dtype", [np.float16, BF16])
@pytest.mark.parametrize("rows,keys", [(1, 300), (70, 130), (3, 64)])
def test_short_types_over_many_keys(nn, dtype, rows, keys):
    (q,), (k, v) = (numbers(3, (1, 8, rows, 32), dtype=dtype),
                    numbers(4, (1, 2, keys, 32), (1, 2, keys, 32), dtype=dtype))
    want, log = whole(q, k, v, 0.2, mode=3)
    got, logs = call(nn, "aclnnFusedInferAttentionScoreV3", q=q, k=k, v=v, heads=8, kv_heads=2,
                     scale=0.2, mode=3, lse=True, out=np.zeros(want.shape, dtype),
                     log=np.zeros((1, 8, rows, 1), np.float32))
    close(got, want, dtype)
    np.testing.assert_allclose(logs[..., 0], log, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("shape", [(2, 1, 5, 7), (1, 1, 5, 7), (2, 5, 7), (5, 7)])
@pytest.mark.parametrize("kind", [np.bool_, np.int8, np.uint8])
def test_masks(nn, shape, kind):
    (q,), (k, v) = numbers(5, (2, 2, 5, 8)), numbers(6, (2, 2, 7, 8), (2, 2, 7, 8))
    masked = np.random.default_rng(7).random(shape) < 0.4
    masked[..., 2, :] = True  # a row that sees nothing is 0
    full = masked.reshape((masked.shape[0] if masked.ndim > 2 else 1, 1, 5, 7))
    full = np.broadcast_to(full, (2, 2, 5, 7))
    want = np.stack([attend(q[b], k[b], v[b], 0.5, masked=full[b])[0] for b in range(2)])
    got = call(nn, "aclnnPromptFlashAttentionV3", q=q, k=k, v=v, mask=masked.astype(kind), heads=2,
               kv_heads=0, scale=0.5, after=MANY, out=np.zeros_like(q))
    close(got, want)
    assert np.all(got[:, :, 2] == 0)


def test_the_shift_is_added_to_scaled_scores(nn):
    (q,), (k, v) = numbers(8, (2, 4, 3, 8)), numbers(9, (2, 4, 6, 8), (2, 4, 6, 8))
    (shift,) = numbers(10, (1, 4, 3, 6))
    want = np.stack([attend(q[b], k[b], v[b], 0.4, shift=shift[0])[0] for b in range(2)])
    close(call(nn, "aclnnFusedInferAttentionScoreV2", q=q, k=k, v=v, shift=shift, heads=4,
               kv_heads=4, scale=0.4, out=np.zeros_like(q)), want)


def test_lengths_come_with_every_call(nn):
    """One plan for all of them: rows behind a length are 0, keys behind it are not seen."""
    (q,), (k, v) = numbers(11, (2, 2, 4, 8)), numbers(12, (2, 2, 9, 8), (2, 2, 9, 8))
    for rows, keys in [([4, 2], [9, 3]), ([1, 4], [5, 9]), ([0, 3], [2, 0])]:
        got, log = call(nn, "aclnnFusedInferAttentionScore", q=q, k=k, v=v, rows=rows, keys=keys,
                        heads=2, kv_heads=2, scale=0.5, mode=3, lse=True, out=np.full_like(q, 7),
                        log=np.zeros((2, 2, 4, 1), np.float32))
        want, logs = np.zeros(q.shape), np.full((2, 2, 4), np.inf)
        for b in range(2):
            y, ln, *_ = attend(q[b, :, :rows[b]], k[b, :, :keys[b]], v[b, :, :keys[b]], 0.5, mode=3)
            want[b, :, :rows[b]], logs[b, :, :rows[b]] = y, ln
        close(got, want)
        np.testing.assert_allclose(log[..., 0], logs, rtol=1e-4)


def test_a_length_that_the_cache_does_not_have_is_refused(nn):
    (q,), (k, v) = numbers(13, (1, 1, 1, 8)), numbers(14, (1, 1, 4, 8), (1, 1, 4, 8))
    options = dict(q=q, k=k, v=v, heads=1, kv_heads=1, scale=1.0, out=np.zeros_like(q))
    for keys in ([5], [-1]):
        with pytest.raises(Failed, match=rf"actualSeqLengths\[0\] is {keys[0]}; expected 0 to 4"):
            call(nn, "aclnnIncreFlashAttention", keys=keys, **options)
    nn.clear()
    close(call(nn, "aclnnIncreFlashAttention", keys=[4], **options), whole(q, k, v, 1.0)[0])
    with pytest.raises(Failed, match="inputLayout is 'SH'"):
        call(nn, "aclnnIncreFlashAttention", layout="SH", **options)
    nn.clear()
    with pytest.raises(Failed, match="numHeads is 3 and numKeyValueHeads 2"):
        call(nn, "aclnnIncreFlashAttention", **{**options, "heads": 3, "kv_heads": 2})
    nn.clear()


def test_left_padding(nn):
    (q,), (k, v) = numbers(15, (2, 2, 4, 8)), numbers(16, (2, 2, 9, 8), (2, 2, 9, 8))
    got = call(nn, "aclnnFusedInferAttentionScore", q=q, k=k, v=v, rows=[2, 3], keys=[4, 7],
               heads=2, kv_heads=2, scale=0.5, rowPadding=np.array([1], np.int64),
               keyPadding=np.array([2], np.int64), out=np.zeros_like(q))
    want = np.zeros(q.shape)
    for b, (rows, keys) in enumerate([(2, 4), (3, 7)]):
        at, key = 4 - 1 - rows, 9 - 2 - keys
        want[b, :, at:at + rows] = attend(q[b, :, at:at + rows], k[b, :, key:key + keys],
                                          v[b, :, key:key + keys], 0.5)[0]
    close(got, want)


@pytest.mark.parametrize("name", ["aclnnIncreFlashAttentionV4", "aclnnFusedInferAttentionScoreV3"])
@pytest.mark.parametrize("layout", ["BSH", "BNSD", "NZ"])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_a_cache_in_blocks(nn, name, layout, dtype):
    lengths, size, heads, kv_heads, d = [37, 5, 16], 16, 4, 2, 32
    (q,) = numbers(17, (3, heads, 1, d), dtype=dtype)
    pool_k, pool_v = numbers(18, (7, kv_heads, size, d), (7, kv_heads, size, d), dtype=dtype)
    table = np.array([[5, 0, 3], [2, 6, 6], [1, 4, 4]], np.int32)
    want = []
    for b, length in enumerate(lengths):
        k, v = (np.concatenate([pool[i] for i in table[b]], 1)[:, :length] for pool in (pool_k,
                                                                                        pool_v))
        want.append(attend(q[b], k, v, 0.25)[0])

    def pool(x):
        if layout == "BSH":
            return np.ascontiguousarray(x.transpose(0, 2, 1, 3).reshape(7, size, kv_heads * d))
        if layout == "NZ":
            return np.ascontiguousarray(x.reshape(7, kv_heads, size, d // 16, 16).transpose(0, 1, 3,
                                                                                            2, 4))
        return x
    got = call(nn, name, q=q, k=pool(pool_k), v=pool(pool_v), keys=lengths, table=table,
               heads=heads, kv_heads=kv_heads, scale=0.25, block=size, out=np.zeros_like(q))
    close(got, np.stack(want), dtype)


def test_a_block_that_is_not_there_fails_the_stream_and_not_the_process(nn):
    (q,), (k, v) = numbers(19, (1, 1, 1, 8)), numbers(20, (2, 4, 8), (2, 4, 8))
    with pytest.raises(Failed, match="block 1 of sample 0 is number 9; there are 2 blocks"):
        call(nn, "aclnnIncreFlashAttentionV4", q=q, k=k, v=v, keys=[6],
             table=np.array([[0, 9]], np.int32),
             heads=1, kv_heads=1, scale=1.0, block=4, out=np.zeros_like(q))
    nn.clear()


@pytest.mark.parametrize("paged", [False, True])
def test_tokens_of_all_samples_behind_each_other(nn, paged):
    rows, keys, n, kv, d = [3, 1, 4], [5, 9, 4], 4, 2, 16
    (q,), (k, v) = numbers(21, (sum(rows), n, d)), numbers(22, (sum(keys), kv, d),
                                                           (sum(keys), kv, d))
    ends_q, ends_k = np.cumsum(rows), np.cumsum(keys)
    want, logs = np.zeros(q.shape), np.zeros((sum(rows), n))
    for b in range(3):
        at, key = slice(ends_q[b] - rows[b], ends_q[b]), slice(ends_k[b] - keys[b], ends_k[b])
        y, log, *_ = attend(q[at].transpose(1, 0, 2), k[key].transpose(1, 0, 2),
                            v[key].transpose(1, 0, 2), 0.3, mode=3)
        want[at], logs[at] = y.transpose(1, 0, 2), log.T
    options = {}
    if paged:
        table, size = np.array([[0, 1, 2], [3, 4, 5], [6, 7, 8]], np.int32), 4
        pools = [np.zeros((9, size, kv * d), np.float32) for _ in range(2)]
        for b in range(3):
            for pool, x in zip(pools, (k, v)):
                flat = x[ends_k[b] - keys[b]:ends_k[b]].reshape(keys[b], -1)
                for t in range(keys[b]):
                    pool[table[b][t // size], t % size] = flat[t]
        options = dict(table=table, block=size, keys=keys)
        k, v = pools
    else:
        options = dict(keys=ends_k.tolist())
    got, log = call(nn, "aclnnFusedInferAttentionScoreV3", q=q, k=k, v=v, rows=ends_q.tolist(),
                    heads=n,
                    kv_heads=kv, scale=0.3, mode=3, layout="TND", lse=True, out=np.zeros_like(q),
                    log=np.zeros((sum(rows), n, 1), np.float32), **options)
    close(got, want)
    np.testing.assert_allclose(log[..., 0], logs, rtol=1e-4)


def test_a_list_of_caches_of_different_lengths(nn):
    keys = [6, 3]
    (q,) = numbers(23, (2, 2, 1, 8))
    ks = [numbers(24 + i, (1, 2, s, 8))[0] for i, s in enumerate(keys)]
    vs = [numbers(26 + i, (1, 2, s, 8))[0] for i, s in enumerate(keys)]
    want = np.stack([attend(q[b], ks[b][0], vs[b][0], 0.5)[0] for b in range(2)])
    close(call(nn, "aclnnFusedInferAttentionScore", q=q, k=ks, v=vs, heads=2, kv_heads=2, scale=0.5,
               out=np.zeros_like(q)), want)


CHANNEL, TOKEN = 0, 1


@pytest.mark.parametrize("mode", ["tensor", "channel", "token"])
@pytest.mark.parametrize("offsets", [False, True])
def test_a_cache_of_int8(nn, mode, offsets):
    rng = np.random.default_rng(30)
    (q,) = numbers(31, (2, 4, 1, 32), dtype=np.float16)
    k, v = (rng.integers(-128, 128, (2, 2, 70, 32)).astype(np.int8) for _ in range(2))
    shape = {"tensor": (2,), "channel": (2, 2, 1, 32), "token": (2, 2, 70)}[mode]
    scale = (rng.random(shape) * 0.02 + 0.01).astype(np.float16 if mode != "token" else np.float32)
    offset = rng.integers(-5, 5, shape).astype(scale.dtype) if offsets else None

    def real(x, part):
        def factor(a):
            a = a.astype(np.float64)[part]
            return {"tensor": a, "channel": a, "token": a[:, None, :,
                                                          None] if mode == "token" else a}[mode]
        return (x + (factor(offset) if offsets else 0)) * factor(scale)
    want = np.stack([attend(q[b], real(k, 0)[b], real(v, 1)[b], 0.2)[0] for b in range(2)])
    got = call(nn, "aclnnFusedInferAttentionScore", q=q, k=k, v=v, anti=scale, antiOffset=offset,
               heads=4, kv_heads=2, scale=0.2, antiMode=TOKEN if mode == "token" else CHANNEL,
               out=np.zeros_like(q))
    np.testing.assert_allclose(got.astype(np.float64), want, rtol=4e-3, atol=4e-3)


@pytest.mark.parametrize("mode", [0, 1, 2, 3])
def test_scales_of_keys_and_values_of_their_own(nn, mode):
    rng = np.random.default_rng(32)
    (q,) = numbers(33, (2, 4, 1, 16), dtype=np.float16)
    k, v = (rng.integers(-128, 128, (2, 2, 20, 16)).astype(np.int8) for _ in range(2))
    shape, axes = {0: ((2, 16), (None, slice(None), None, slice(None))),
                   1: ((2, 20), (slice(None), None, slice(None), None)),
                   2: ((2,), (None, slice(None), None, None)),
                   3: ((2, 2, 20), (slice(None), slice(None), slice(None), None))}[mode]
    scales = [(rng.random(shape) * 0.02 + 0.01).astype(np.float32) for _ in range(2)]
    real = [x * s.astype(np.float64)[axes] for x, s in zip((k, v), scales)]
    want = np.stack([attend(q[b], real[0][b], real[1][b], 0.2)[0] for b in range(2)])
    got = call(nn, "aclnnFusedInferAttentionScoreV2", q=q, k=k, v=v, keyScale=scales[0],
               valueScale=scales[1], keyMode=mode, valueMode=mode, heads=4, kv_heads=2, scale=0.2,
               out=np.zeros_like(q))
    np.testing.assert_allclose(got.astype(np.float64), want, rtol=4e-3, atol=4e-3)


def test_a_cache_of_int4_in_words(nn):
    rng = np.random.default_rng(34)
    (q,) = numbers(35, (1, 2, 1, 16), dtype=np.float16)
    k, v = (rng.integers(-8, 8, (1, 2, 9, 16)) for _ in range(2))

    def words(x):
        nibbles = (x & 15).astype(np.uint32).reshape(*x.shape[:-1], -1, 8)
        return (nibbles << (4 * np.arange(8, dtype=np.uint32))).sum(-1,
                                                                    dtype=np.uint32).view(np.int32)
    scale = np.array([0.05, 0.1], np.float16)
    want = attend(q[0], k[0] * float(scale[0]), v[0] * float(scale[1]), 0.5)[0]
    got = call(nn, "aclnnIncreFlashAttentionV4", q=q, k=words(k), v=words(v), anti=scale, heads=2,
               kv_heads=2, scale=0.5, out=np.zeros_like(q))
    np.testing.assert_allclose(got[0].astype(np.float64), want, rtol=4e-3, atol=4e-3)


def test_results_of_int8(nn):
    (q,), (k, v) = numbers(36, (1, 2, 3, 8)), numbers(37, (1, 2, 5, 8), (1, 2, 5, 8))
    want = np.round(whole(q, k, v, 0.4)[0] * 50 + 3).clip(-128, 127)
    got = call(nn, "aclnnPromptFlashAttentionV2", q=q, k=k, v=v, heads=2, kv_heads=2, scale=0.4,
               quantScale2=np.array([50], np.float32), quantOffset2=np.array([3], np.float32),
               out=np.zeros((1, 2, 3, 8), np.int8))
    assert np.abs(got.astype(int) - want).max() <= 1 and (got == want).mean() > 0.9


def test_a_second_part_of_heads_and_a_sink(nn):
    (q, qr), (k, kr) = numbers(38, (2, 4, 3, 16), (2, 4, 3, 8)), numbers(39, (2, 1, 6, 16),
                                                                         (2, 1, 6, 8))
    (sink,) = numbers(40, (4,))
    joined = [np.concatenate(pair, -1) for pair in ((q, qr), (k, kr))]
    want = np.stack([attend(joined[0][b], joined[1][b], k[b], 0.3, sink=sink)[0] for b in range(2)])
    got = call(nn, "aclnnFusedInferAttentionScoreV4", q=q, k=k, v=k, qRope=qr, kRope=kr, sink=sink,
               heads=4, kv_heads=1, scale=0.3, out=np.zeros_like(q))
    close(got, want)


def test_a_prefix_that_samples_share(nn):
    (q,), (k, v) = numbers(41, (2, 2, 1, 8)), numbers(42, (2, 2, 5, 8), (2, 2, 5, 8))
    pk, pv = numbers(43, (1, 2, 4, 8), (1, 2, 4, 8))
    want = np.stack([attend(q[b], np.concatenate([pk[0, :, :3], k[b, :, :n]], 1),
                            np.concatenate([pv[0, :, :3], v[b, :, :n]], 1), 0.5)[0]
                     for b, n in enumerate([5, 2])])
    got = call(nn, "aclnnFusedInferAttentionScoreV2", q=q, k=k, v=v, keys=[5, 2], keyPrefix=pk,
               valuePrefix=pv, prefixLength=[3], heads=2, kv_heads=2, scale=0.5,
               out=np.zeros_like(q))
    close(got, want)


def test_views_and_empty_batches(nn):
    (q,), (k, v) = numbers(44, (2, 5, 4, 8)), numbers(45, (2, 7, 4, 8), (2, 7, 4, 8))
    turned = [x.transpose(0, 2, 1, 3) for x in (q, k, v)]  # views of BSND as BNSD
    want, _ = whole(*turned, 0.3)
    out = np.zeros((2, 5, 4, 8), np.float32).transpose(0, 2, 1, 3)
    close(call(nn, "aclnnPromptFlashAttentionV3", q=turned[0], k=turned[1], v=turned[2], heads=4,
               kv_heads=4, scale=0.3, out=out), want)
    empty = np.zeros((0, 4, 5, 8), np.float32)
    assert call(nn, "aclnnPromptFlashAttentionV3", q=empty, k=empty, v=empty, heads=4, kv_heads=4,
                scale=0.3, out=empty.copy()).shape == empty.shape
