# SPDX-License-Identifier: Apache-2.0
"""Native sparse attention, the operators before latent attention, and attention to sampled points.
The oracles compute token by token in numpy; gradients are finite differences in double."""
import numpy as np
import pytest

from aclnn import Failed


def floats(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def slope(function, a, step=1e-6):
    out = np.zeros(a.shape)
    for at in np.ndindex(a.shape):
        up, down = a.astype(np.float64), a.astype(np.float64)
        up[at] += step
        down[at] -= step
        out[at] = (function(up) - function(down)) / (2 * step)
    return out


# --- tokens compressed by blocks

def compress(x, w, ends, step):
    out, first = [], 0
    for end in ends:
        out += [(x[at:at + len(w)] * w[:, :, None]).sum(0)
                for at in range(first, end - len(w) + 1, step)]
        first = end
    return np.array(out)


def test_blocks_of_tokens_become_one(nn):
    x, w, ends = floats(1, 20, 2, 3), floats(2, 4, 2), [9, 11, 20]
    want = compress(x.astype(np.float64), w, ends, 2)
    y = nn.empty(np.float32, want.shape)
    nn.run("aclnnNsaCompress", nn.tensor(x), nn.tensor(w), ends, "TND", 4, 2, 0, y)
    np.testing.assert_allclose(y.read(), want, rtol=1e-5, atol=1e-5)
    dy, dx = floats(3, *want.shape), nn.empty(np.float32, x.shape)
    dw = nn.empty(np.float32, w.shape)
    nn.run("aclnnNsaCompressGrad", nn.tensor(dy), nn.tensor(x), nn.tensor(w), ends, 4, 2, 0, "TND",
           dx, dw)
    np.testing.assert_allclose(dx.read(), slope(lambda v: (compress(v, w, ends, 2) * dy).sum(), x),
                               rtol=1e-4, atol=1e-4)
    double = x.astype(np.float64)
    np.testing.assert_allclose(dw.read(),
                               slope(lambda v: (compress(double, v, ends, 2) * dy).sum(), w),
                               rtol=1e-4, atol=1e-4)
    nn.clear()


# --- attention to chosen blocks

def selected(q, k, v, chosen, q_ends, k_ends, block, scale, causal):
    """(result, largest scores, sums) token by token."""
    out, most = np.zeros((len(q), q.shape[1], v.shape[2])), np.zeros(q.shape[:2])
    sums = np.zeros(q.shape[:2])
    group = q.shape[1] // k.shape[1]
    q0 = k0 = 0
    for q1, k1 in zip(q_ends, k_ends):
        for t in range(q0, q1):
            for h in range(q.shape[1]):
                n = h // group
                keys = [i for b in sorted(set(chosen[t, n])) if b >= 0
                        for i in range(k0 + b * block, min(k0 + (b + 1) * block, k1))
                        if not causal or i - k0 <= t - q0 + (k1 - k0) - (q1 - q0)]
                if not keys:
                    continue
                s = k[keys, n] @ q[t, h] * scale
                most[t, h] = s.max()
                e = np.exp(s - s.max())
                sums[t, h] = e.sum()
                out[t, h] = e @ v[keys, n] / e.sum()
        q0, k0 = q1, k1
    return out, most, sums


@pytest.mark.parametrize("mode", [0, 2])
def test_tokens_attend_to_the_blocks_that_they_chose(nn, mode):
    q, k, v = floats(4, 7, 4, 6), floats(5, 18, 2, 6), floats(6, 18, 2, 5)
    q_ends, k_ends, block = [3, 7], [8, 18], 4
    rng = np.random.default_rng(7)
    chosen = np.stack([np.stack([rng.permutation(2 if t < 3 else 3)[:2] for _ in range(2)])
                       for t in range(7)])
    chosen[0, 1, 1] = -1
    chosen = chosen.astype(np.int32)
    case = (chosen, q_ends, k_ends, block, 0.4, mode == 2)
    want, most, sums = selected(q.astype(np.float64), k, v, *case)
    outs = [nn.empty(np.float32, (7, 4, 8)), nn.empty(np.float32, (7, 4, 8)),
            nn.empty(np.float32, want.shape)]
    t = nn.tensor
    nn.run("aclnnNsaSelectedAttention", t(q), t(k), t(v), t(chosen), None, q_ends, k_ends, 0.4, 4,
           "TND", mode, block, 2,
           *outs)
    np.testing.assert_allclose(outs[2].read(), want, rtol=1e-4, atol=1e-5)
    live = sums > 0
    np.testing.assert_allclose(outs[0].read()[..., 0][live], most[live], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(outs[1].read()[..., 7], sums, rtol=1e-4, atol=1e-5)
    dy = floats(8, *want.shape)
    grads = [nn.empty(np.float32, a.shape) for a in (q, k, v)]
    nn.run("aclnnNsaSelectedAttentionGrad", t(q), t(k), t(v), outs[2], t(dy), outs[0], outs[1],
           t(chosen), q_ends, k_ends,
           None, 0.4, block, 2, 4, "TND", mode, *grads)
    wide = [a.astype(np.float64) for a in (q, k, v)]
    for i, got in enumerate(grads):
        def loss(a, i=i):
            return (selected(*wide[:i], a, *wide[i + 1:], *case)[0] * dy).sum()
        np.testing.assert_allclose(got.read(), slope(loss, wide[i]), rtol=1e-3, atol=1e-4)
    nn.clear()


@pytest.mark.parametrize("flat", [False, True])
def test_a_step_attends_to_chosen_blocks_of_a_cache(nn, flat):
    q, size, block = floats(4, 2, 4, 6), 4, 3
    pools = floats(5, 6, size, 2, 6), floats(6, 6, size, 2, 5)
    table, lengths = np.array([[4, 0, 2], [1, 5, 3]], np.int32), [10, 7]
    chosen = np.array([[[0, 3], [2, -1]], [[1, 2], [2, 0]]], np.int32)
    want = np.zeros((2, 4, 5))
    for b in range(2):
        k, v = (pool[table[b]].reshape(3 * size, 2, -1) for pool in pools)
        for h in range(4):
            n = h // 2
            tokens = [t for c in chosen[b, n] if c >= 0
                      for t in range(c * block, (c + 1) * block) if t < lengths[b]]
            s = k[tokens, n].astype(np.float64) @ q[b, h] * 0.4
            e = np.exp(s - s.max())
            want[b, h] = e @ v[tokens, n] / e.sum()
    given = [pool.reshape(6, size, -1) if flat else pool for pool in pools]
    y = nn.empty(np.float32, (2, 1, 20) if flat else (2, 1, 4, 5))
    queries = q.reshape(2, 1, 24) if flat else q[:, None]
    nn.run("aclnnNsaSelectedAttentionInfer", nn.tensor(queries), *map(nn.tensor, given),
           nn.tensor(chosen), None, nn.tensor(table), None, lengths, "BSH" if flat else "BSND",
           4, 2, block, 2, size, 0.4, 0, y)
    np.testing.assert_allclose(y.read().reshape(2, 4, 5), want, rtol=1e-4, atol=1e-5)
    with pytest.raises(Failed, match="one token for each of 2 samples"):
        nn.run("aclnnNsaSelectedAttentionInfer", nn.tensor(q), *map(nn.tensor, given),
               nn.tensor(chosen), None, nn.tensor(table), None, [10], "TND",
               4, 2, block, 2, size, 0.4, 0, y)
    nn.clear()


def test_lengths_that_do_not_fit_are_told(nn):
    with pytest.raises(Failed) as failed:
        nn.run("aclnnNsaCompress", nn.empty(np.float32, (8, 1, 2)), nn.empty(np.float32, (4, 1)),
               [9], "TND", 4, 2, 0,
               nn.empty(np.float32, (3, 1, 2)))
    assert "[9]" in failed.value.sentence and "8 tokens" in failed.value.sentence
    nn.clear()


# --- in front of latent attention

def rms(a, g, eps):
    return a / np.sqrt((a * a).mean(-1, keepdims=True) + eps) * g


def turned(x, cos, sin):
    x = np.concatenate([x[..., ::2], x[..., 1::2]], -1)
    a, b = np.split(x, 2, -1)
    return x * cos + np.concatenate([-b, a], -1) * sin


@pytest.mark.parametrize("name", ["aclnnMlaProlog", "aclnnMlaPrologV2WeightNz",
                                  "aclnnMlaPrologV3WeightNz"])
def test_tokens_become_latent_queries_and_rows_of_caches(nn, name):
    tokens, width, low, heads, plain, turning, latent = 5, 12, 8, 3, 6, 4, 7
    x, dq = floats(10, tokens, width), floats(11, width, low)
    uq = floats(12, low, heads * (plain + turning))
    uk, dkv = floats(13, heads, plain, latent), floats(14, width, latent + turning)
    gq, gkv, sin = floats(15, low), floats(16, latent), floats(17, tokens, turning)
    cos = floats(18, tokens, turning)
    places = np.array([6, 0, -1, 3, 7], np.int64)
    kv, kr = floats(19, 2, 4, 1, latent), floats(20, 2, 4, 1, turning)
    q_out = nn.empty(np.float32, (tokens, heads, latent))
    r_out = nn.empty(np.float32, (tokens, heads, turning))
    t = nn.tensor
    caches, index = [t(kv), t(kr)], t(places)
    first = [t(a) for a in (x, dq, uq, uk, dkv, gq, gkv, sin, cos)]
    if name.endswith("V3WeightNz"):
        nn.run(name, *first, *caches, index, *[None] * 8, 1e-5, 1e-6, "PA_BSND", False, 0, 0, 0, 0,
               0, 0, 1.0, 1.0, 1.0,
               q_out, r_out, None, None, None)
    else:
        nn.run(name, *first, index, *caches, *[None] * 7, 1e-5, 1e-6, "PA_BSND", q_out, r_out,
               *([None] if "V2" in name else []))
    x = x.astype(np.float64)
    q = (rms(x @ dq, gq, 1e-5) @ uq).reshape(tokens, heads, plain + turning)
    np.testing.assert_allclose(q_out.read(), np.einsum("thd,hdc->thc", q[..., :plain], uk),
                               rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(r_out.read(), turned(q[..., plain:], cos[:, None], sin[:, None]),
                               rtol=1e-3, atol=1e-3)
    both = x @ dkv
    want_kv, want_kr = kv.reshape(8, latent).copy(), kr.reshape(8, turning).copy()
    rows, angles = rms(both[:, :latent], gkv, 1e-6), turned(both[:, latent:], cos, sin)
    for i, at in enumerate(places):
        if at >= 0:
            want_kv[at], want_kr[at] = rows[i], angles[i]
    np.testing.assert_allclose(caches[0].read().reshape(8, -1), want_kv, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(caches[1].read().reshape(8, -1), want_kr, rtol=1e-3, atol=1e-3)
    nn.clear()


# --- attention to sampled points

SIZES = [(4, 5), (2, 3)]


def sampled(value, place, weight):
    """Point by point."""
    samples, _, heads, channels = value.shape
    _, queries, _, levels, points, _ = place.shape
    out = np.zeros((samples, queries, heads, channels))
    for b, t, h, level, p in np.ndindex(samples, queries, heads, levels, points):
        rows, columns = SIZES[level]
        start = sum(r * c for r, c in SIZES[:level])
        x, y = place[b, t, h, level, p] * [columns, rows] - 0.5
        left, top = int(np.floor(x)), int(np.floor(y))
        for cy, cx, share in ((top, left, (1 - (y - top)) * (1 - (x - left))),
                              (top, left + 1, (1 - (y - top)) * (x - left)),
                              (top + 1, left, (y - top) * (1 - (x - left))),
                              (top + 1, left + 1, (y - top) * (x - left))):
            if 0 <= cy < rows and 0 <= cx < columns:
                out[b, t, h] += weight[b, t, h, level,
                                       p] * share * value[b, start + cy * columns + cx, h]
    return out.reshape(samples, queries, heads * channels)


def test_points_of_several_maps_are_sampled(nn):
    value, weight = floats(21, 2, 26, 2, 3), floats(22, 2, 3, 2, 2, 4)
    place = (np.random.default_rng(23).random((2, 3, 2, 2, 4, 2)) * 1.4 - 0.2).astype(np.float32)
    want = sampled(value.astype(np.float64), place, weight)
    y, t = nn.empty(np.float32, want.shape), nn.tensor
    maps = [t(np.array(SIZES, np.int64)), t(np.array([0, 20], np.int64))]
    nn.run("aclnnMultiScaleDeformableAttnFunction", t(value), *maps, t(place), t(weight), y)
    np.testing.assert_allclose(y.read(), want, rtol=1e-4, atol=1e-5)
    dy = floats(24, *want.shape)
    outs = [nn.empty(np.float32, a.shape) for a in (value, place, weight)]
    nn.run("aclnnMultiScaleDeformableAttentionGrad", t(value), *maps, t(place), t(weight), t(dy),
           *outs)
    wide = [a.astype(np.float64) for a in (value, place, weight)]
    for i, got in enumerate(outs):
        def loss(a, i=i):
            return (sampled(*wide[:i], a, *wide[i + 1:]) * dy).sum()
        np.testing.assert_allclose(got.read(), slope(loss, wide[i]), rtol=2e-3, atol=1e-3)
    nn.clear()


def test_the_distance_of_two_clouds_goes_back(nn):
    a, b = floats(25, 2, 5, 2), floats(26, 2, 4, 2)
    d = ((a[:, :, None] - b[:, None]) ** 2).sum(-1)
    i1, i2, d1 = d.argmin(2).astype(np.int32), d.argmin(1).astype(np.int32), floats(27, 2, 5)
    d2 = floats(28, 2, 4)

    def loss(a, b):
        return sum((d1[n] * ((a[n] - b[n][i1[n]]) ** 2).sum(-1)).sum()
                   + (d2[n] * ((b[n] - a[n][i2[n]]) ** 2).sum(-1)).sum()
                   for n in range(2))
    outs = [nn.empty(np.float32, a.shape), nn.empty(np.float32, b.shape)]
    nn.run("aclnnChamferDistanceBackward", *[nn.tensor(v) for v in (a, b, i1, i2, d1, d2)], *outs)
    np.testing.assert_allclose(outs[0].read(), slope(lambda v: loss(v, b), a), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(outs[1].read(), slope(lambda v: loss(a, v), b), rtol=1e-4, atol=1e-4)
    nn.clear()
