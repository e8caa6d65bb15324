# SPDX-License-Identifier: Apache-2.0
"""Attention of training beyond the dense layouts (those are in test_llm.py): tokens of all samples
behind each other, dropout, shifts, prefixes, rings."""
import numpy as np
import pytest
from attention_oracle import attend

from aclnn import Failed

MANY = 2147483647


def floats(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def close(got, want, tolerance=3e-5):
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


def gradients(loss, arrays):
    """Central differences, in double."""
    arrays = [a.astype(np.float64) for a in arrays]
    out = []
    for a in arrays:
        d = np.zeros_like(a)
        for at in np.ndindex(a.shape):
            keep = a[at]
            a[at] = keep + 1e-5
            up = loss(*arrays)
            a[at] = keep - 1e-5
            d[at] = (up - loss(*arrays)) / 2e-5
            a[at] = keep
        out.append(d)
    return out


def packed(q, k, v, rows, keys, scale, **options):
    """Samples by the ends of their tokens."""
    y = np.zeros((q.shape[0], q.shape[1], v.shape[2]))
    begin = key = 0
    for end, key_end in zip(rows, keys):
        y[begin:end] = attend(*(x.transpose(1, 0, 2) for x in (q[begin:end], k[key:key_end],
                                                               v[key:key_end])),
                              scale, **options)[0].transpose(1, 0, 2)
        begin, key = end, key_end
    return y


@pytest.mark.parametrize("mode", [0, 2, 3])
@pytest.mark.parametrize("rope", [False, True])
def test_tokens_behind_each_other_and_their_gradient(nn, mode, rope):
    rows, keys = [2, 5, 6], [3, 4, 7]
    q, k, v, dy = floats(1, 6, 4, 6), floats(2, 7, 2, 6), floats(3, 7, 2, 4), floats(4, 6, 4, 4)
    parts = [np.ascontiguousarray(x) for x in (q[..., :4], q[..., 4:], k[..., :4], k[..., 4:])]
    t = nn.tensor
    most, total, y = nn.empty(np.float32, (6, 4, 8)), nn.empty(np.float32,
        (6, 4, 8)), nn.empty(np.float32, (6, 4, 4))
    tail = [None, None, None, None, None, rows, keys]
    head = [t(parts[0]), t(parts[1]), t(parts[2]), t(parts[3]), t(v)] if rope else [t(q), t(k),
                                                                                    t(v)]
    starts, kind = ([None, None], [1]) if rope else ([], [])
    nn.run("aclnnFlashAttentionVarLenScoreV3" if rope else "aclnnFlashAttentionVarLenScore", *head,
           *tail, *starts, 0.4, 1.0, MANY, MANY, 4, "TND", 0, mode, *kind, most, total, None, y)
    want = packed(q, k, v, rows, keys, 0.4, mode=mode)
    close(y.read(), want)
    grads = [nn.empty(np.float32, x.shape) for x in ((*parts, v) if rope else (q, k, v))]
    before = [t(dy), None, None, None, None, most, total, None, y, None, rows, keys]
    if rope:
        nn.run("aclnnFlashAttentionUnpaddingScoreGradV3", *head, *before, None, None, 0.4, 1.0,
               MANY, MANY, 4, "TND", 0, mode, 1, *grads, None)
    else:
        nn.run("aclnnFlashAttentionUnpaddingScoreGrad", *head, *before, 0.4, 1.0, MANY, MANY, 4,
               "TND", 0, mode, *grads, None)
    dq, dk, dv = gradients(lambda a, b, c: (packed(a, b, c, rows, keys, 0.4, mode=mode) * dy).sum(),
                           (q, k, v))
    wanted = (dq[..., :4], dq[..., 4:], dk[..., :4], dk[..., 4:], dv) if rope else (dq, dk, dv)
    for got, want in zip(grads, wanted):
        close(got.read(), want, 1e-4)
    nn.clear()


def test_lengths_that_do_not_fit_are_refused(nn):
    q = nn.tensor(floats(5, 4, 1, 4))
    call = [q, q, q, None, None, None, None, None]
    out = [nn.empty(np.float32, (4, 1, 8)), nn.empty(np.float32, (4, 1, 8)), None,
           nn.empty(np.float32, (4, 1, 4))]
    numbers = [0.5, 1.0, MANY, MANY, 1, "TND", 0, 0]
    with pytest.raises(Failed, match=r"actualSeqKvLenOptional\[1\] is 5; expected 0 to 4"):
        nn.run("aclnnFlashAttentionVarLenScore", *call, [2, 4], [2, 5], *numbers, *out)
    with pytest.raises(Failed, match="with 0 lengths"):
        nn.run("aclnnFlashAttentionVarLenScore", *call, None, None, *numbers, *out)
    with pytest.raises(Failed, match="inputLayout is 'BND'"):
        nn.run("aclnnFlashAttentionScore", *call, 0.5, 1.0, MANY, MANY, 1, "BND", 0, 0, *out)
    nn.run("aclnnFlashAttentionVarLenScore", *call, [3, 2], [2, 4], *numbers, *out)
    with pytest.raises(Failed, match=r"sample 1 has the rows \[3, 2\)"):
        nn.synchronize()
    nn.clear()


@pytest.mark.parametrize("kind", [0, 1, 2, 3])
def test_shifts_before_and_after_the_scale_and_slopes(nn, kind):
    q, k, v = floats(6, 2, 2, 3, 4), floats(7, 2, 2, 5, 4), floats(8, 2, 2, 5, 4)
    slopes = np.abs(floats(9, 2))
    distance = np.abs(np.arange(3)[:, None] + 10 - np.arange(5) - 8)
    bias = {2: -slopes[:, None, None] * distance, 3: -slopes[:, None,
                                                             None] * np.sqrt(distance)}.get(
        kind, floats(9, 1, 2, 3, 5)[0])
    given = nn.tensor(slopes if kind >= 2 else bias[None].astype(np.float32))
    want = np.stack([attend(q[b], k[b], v[b], 0.4, shift=bias,
                            shift_first=kind == 1)[0] for b in range(2)])
    y, stats = nn.empty(np.float32, (2, 2, 3, 4)), [nn.empty(np.float32,
                                                             (2, 2, 3, 8)) for _ in range(2)]
    t, starts = nn.tensor, [[10], [8]]
    nn.run("aclnnFlashAttentionScoreV2", t(q), t(k), t(v), given, None, None, None, None, *starts,
           0.4, 1.0, MANY, MANY, 2, "BNSD", 0, 0, kind, *stats, None, y)
    close(y.read(), want)
    dy, grads = floats(10, 2, 2, 3, 4), [nn.empty(np.float32, x.shape) for x in (q, k, v)]
    nn.run("aclnnFlashAttentionScoreGradV2", t(q), t(k), t(v), t(dy), given, None, None, None,
           *stats, None, y, None,
           *starts, 0.4, 1.0, MANY, MANY, 2, "BNSD", 0, 0, kind, *grads, None)
    wanted = gradients(lambda a, b, c: sum((attend(a[i], b[i], c[i], 0.4, shift=bias,
                                                   shift_first=kind == 1)[0] *
                                            dy[i]).sum() for i in range(2)), (q, k, v))
    for got, want in zip(grads, wanted):
        close(got.read(), want, 1e-4)
    nn.clear()


def test_dropout_keeps_what_the_bits_say(nn):
    q, k, v = floats(11, 2, 2, 5, 8), floats(12, 2, 2, 7, 8), floats(13, 2, 2, 7, 8)
    kept = np.random.default_rng(14).random((2, 2, 5, 7)) < 0.75
    bits = np.packbits(kept.ravel(), bitorder="little")
    bits = np.concatenate([bits, np.zeros(32 - bits.size % 32, np.uint8)])
    y, t = nn.empty(np.float32, q.shape), nn.tensor
    stats = [nn.empty(np.float32, (2, 2, 5, 8)) for _ in range(2)]
    nn.run("aclnnFlashAttentionScore", t(q), t(k), t(v), None, t(bits), None, None, None, 0.3, 0.75,
           MANY, MANY, 2, "BNSD", 0, 0, *stats, None, y)
    made = [attend(q[b], k[b], v[b], 0.3, kept=kept[b], keep=0.75) for b in range(2)]
    close(y.read(), np.stack([m[0] for m in made]))
    close(stats[1].read()[..., 0], np.stack([m[3] for m in made]))
    dy, grads = floats(21, *q.shape), [nn.empty(np.float32, a.shape) for a in (q, k, v)]
    nn.run("aclnnFlashAttentionScoreGrad", t(q), t(k), t(v), t(dy), None, t(bits), None, None,
           *stats, None, y, None, 0.3, 0.75, MANY, MANY, 2, "BNSD", 0, 0, *grads, None)
    wanted = gradients(lambda a, b, c: sum((attend(a[i], b[i], c[i], 0.3, kept=kept[i],
                                                   keep=0.75)[0] * dy[i]).sum()
                                           for i in range(2)), (q, k, v))
    for got, want in zip(grads, wanted):
        close(got.read(), want, 1e-4)
    nn.clear()


@pytest.mark.parametrize("shape", [(2, 2, 3, 5), (1, 2, 3, 5)])
def test_the_gradient_of_the_shift(nn, shape):
    q, k, v, dy = floats(22, 2, 2, 3, 4), floats(23, 2, 2, 5, 4), floats(24, 2, 2, 5, 4), floats(25,
        2, 2, 3, 4)
    shift, t = floats(26, *shape), nn.tensor
    grads = [nn.empty(np.float32, a.shape) for a in (q, k, v, shift)]
    # Nothing of the run before is given: it is computed again.
    nn.run("aclnnFlashAttentionScoreGrad", t(q), t(k), t(v), t(dy), t(shift), None, None, None,
           None, None, None, None, None, 0.4, 1.0, MANY, MANY, 2, "BNSD", 0, 0, *grads)

    def loss(a, b, c, d):
        wide = np.broadcast_to(d, (2, 2, 3, 5))
        return sum((attend(a[i], b[i], c[i], 0.4, shift=wide[i],
                           shift_first=True)[0] * dy[i]).sum() for i in range(2))
    for got, want in zip(grads, gradients(loss, (q, k, v, shift))):
        close(got.read(), want, 1e-4)
    nn.clear()


@pytest.mark.parametrize("rows,keys", [(70, 130), (33, 20)])
def test_gradients_over_several_pieces_of_keys(nn, rows, keys):
    q, k, v, dy = floats(27, 1, 4, rows, 16), floats(28, 1, 2, keys, 16), floats(29, 1, 2, keys,
        16), floats(30, 1, 4, rows, 16)
    grads, t = [nn.empty(np.float32, a.shape) for a in (q, k, v)], nn.tensor
    nn.run("aclnnFlashAttentionScoreGrad", t(q), t(k), t(v), t(dy), None, None, None, None, None,
           None, None, None, None, 0.25, 1.0, MANY, MANY, 4, "BNSD", 0, 3, *grads, None)
    wide = [a[0].astype(np.float64) for a in (q, np.repeat(k, 2, 1), np.repeat(v, 2, 1), dy)]
    see = np.arange(keys) <= np.arange(rows)[:, None] + keys - rows
    s = np.where(see, wide[0] @ wide[1].swapaxes(1, 2) * 0.25, -np.inf)
    e = np.where(see, np.exp(s - np.where(see.any(-1, keepdims=True), s.max(-1, keepdims=True), 0)),
                 0)
    p = e / np.maximum(e.sum(-1, keepdims=True), 1e-300)
    dp = wide[3] @ wide[2].swapaxes(1, 2)
    ds = p * (dp - (dp * p).sum(-1, keepdims=True)) * 0.25
    pairs = [ds @ wide[1], (ds.swapaxes(1, 2) @ wide[0]).reshape(2, 2, keys, 16).sum(1),
             (p.swapaxes(1, 2) @ wide[3]).reshape(2, 2, keys, 16).sum(1)]
    for got, want in zip(grads, pairs):
        close(got.read()[0], want, 1e-4)
    nn.clear()


def test_prefixes_of_samples(nn):
    q, k, v = floats(15, 2, 1, 4, 8), floats(16, 2, 1, 6, 8), floats(17, 2, 1, 6, 8)
    y, t = nn.empty(np.float32, q.shape), nn.tensor
    mask = t(np.triu(np.ones((3072, 2048), np.uint8), 1))
    stats = [nn.empty(np.float32, (2, 1, 4, 8)) for _ in range(2)]
    nn.run("aclnnFlashAttentionScore", t(q), t(k), t(v), None, None, None, mask, [4, 0], 0.3, 1.0,
           MANY, MANY, 1, "BNSD", 0, 6, *stats, None, y)
    close(y.read(), np.stack([attend(q[b], k[b], v[b], 0.3, mode=6, prefix=p)[0] for b,
                              p in enumerate((4, 0))]))
    nn.clear()


@pytest.mark.parametrize("layout", ["SBH", "TND"])
def test_a_ring_joins_parts_of_the_keys(nn, layout):
    q, k, v = floats(18, 2, 6, 8), floats(19, 2, 9, 8), floats(20, 2, 9, 8)
    whole = attend(q, k, v, 0.4)
    parts = [attend(q, k[:, s], v[:, s], 0.4) for s in (slice(0, 4), slice(4, 9))]

    def laid(made):
        y, _, most, total = made
        stats = [np.repeat(x[..., None], 8, -1) for x in (most, total)]
        if layout == "TND":
            return [y.transpose(1, 0, 2), *(s.transpose(1, 0, 2) for s in stats)]
        return [y.transpose(1, 0, 2).reshape(6, 1, 16), *(s[None] for s in stats)]
    given = [nn.tensor(np.ascontiguousarray(a.astype(np.float32))) for part in parts
             for a in laid(part)]
    want = laid(whole)
    outs = [nn.empty(np.float32, a.shape) for a in want]
    nn.run("aclnnRingAttentionUpdate", *given, None, layout, *outs)
    for got, expected in zip(outs, want):
        close(got.read(), expected)
    nn.clear()
