# SPDX-License-Identifier: Apache-2.0
"""Attention, normalisations by the root of squares, gates, rotary positions."""
import numpy as np
import pytest
from aclnn_cases import Case, Skip, inout, out, x

FLOATS = ("float32", "float16", "bfloat16")


def sigmoid(a):
    return 1 / (1 + np.exp(-a))


def rms(a, g, eps):
    r = 1 / np.sqrt((a * a).mean(-1, keepdims=True) + eps)
    return a * r * g, r


def rms_gradient(dy, a, r, g):
    n, p = a * r, dy * g
    return (r * (p - n * (p * n).mean(-1, keepdims=True)),
            (dy * n).reshape(-1, a.shape[-1]).sum(0))


def turned(a):
    h = a.shape[-1] // 2
    return np.concatenate([-a[..., h:], a[..., :h]], -1)


def turned_pairs(a):
    y = np.empty_like(a)
    y[..., ::2], y[..., 1::2] = -a[..., 1::2], a[..., ::2]
    return y


def swiglu_gradient(dy, a):
    h = a.shape[-1] // 2
    u, v = a[..., :h], a[..., h:]
    s = sigmoid(u)
    return np.concatenate([dy * v * s * (1 + u * (1 - s)), dy * u * s], -1)


CASES = [
    Case("aclnnRmsNorm", [x(2, 3, 8), x(8), 1e-6, out(2, 3, 8), out(2, 3, 1)], rms,
         tolerance=1e-4),
    Case("aclnnRmsNormGrad", [x(4, 8), x(4, 8), x(4, 1, like="positive"), x(8), out(4, 8), out(8)],
         rms_gradient, tolerance=1e-4),
    Case("aclnnAddRmsNorm", [x(4, 8), x(4, 8), x(8), 1e-6, out(4, 8), out(4, 1), out(4, 8)],
         lambda a, b, g, e: (*rms(a + b, g, e), a + b), tolerance=1e-4),
    Case("aclnnSwiGlu", [x(3, 8), -1, out(3, 4)],
         lambda a, d: a[:, :4] * sigmoid(a[:, :4]) * a[:, 4:], types=FLOATS, tolerance=2e-2),
    Case("aclnnSwiGluGrad", [x(3, 4), x(3, 8), Skip(-1), out(3, 8)], swiglu_gradient),
    Case("aclnnRotaryPositionEmbedding", [x(2, 3, 4, 8), x(1, 3, 1, 8), x(1, 3, 1, 8), Skip(0),
                                          out(2, 3, 4, 8)],
         lambda a, c, s: a * c + turned(a) * s),
    Case("aclnnRotaryPositionEmbedding", [x(2, 3, 4, 8), x(1, 3, 1, 8), x(1, 3, 1, 8), Skip(1),
                                          out(2, 3, 4, 8)],
         lambda a, c, s: a * c + turned_pairs(a) * s),
    Case("aclnnApplyRotaryPosEmb", [inout(2, 3, 4, 8), inout(2, 3, 2, 8), x(2, 3, 1, 8),
                                    x(2, 3, 1, 8), Skip(1)],
         lambda q, k, c, s: (q * c + turned(q) * s, k * c + turned(k) * s)),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_results(nn, case):
    case.check(nn)


def attention(q, k, v, scale, masked=None, kept=None, keep=1.0):
    """Weights and result in BNSD."""
    groups = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, groups, 1), np.repeat(v, groups, 1)
    s = q @ k.swapaxes(-1, -2) * scale
    if masked is not None:
        s = np.where(masked, -np.inf, s)
    most = s.max(-1, keepdims=True)
    e = np.exp(s - most)
    total = e.sum(-1, keepdims=True)
    p = e / total
    d = p if kept is None else np.where(kept, p / keep, 0)
    return p, d @ v, most, total


def gradients(q, k, v, dy, scale, p):
    groups = q.shape[1] // k.shape[1]
    wide_k, wide_v = np.repeat(k, groups, 1), np.repeat(v, groups, 1)
    dp = dy @ wide_v.swapaxes(-1, -2)
    ds = p * (dp - (dp * p).sum(-1, keepdims=True)) * scale

    def joined(a):
        b, _, s, d = a.shape
        return a.reshape(b, k.shape[1], groups, s, d).sum(2)
    return ds @ wide_k, joined(ds.swapaxes(-1, -2) @ q), joined(p.swapaxes(-1, -2) @ dy)


def to_layout(a, layout):
    b, n, s, d = a.shape
    return {"BNSD": a, "BSND": a.transpose(0, 2, 1, 3),
            "BSH": a.transpose(0, 2, 1, 3).reshape(b, s, n * d),
            "SBH": a.transpose(2, 0, 1, 3).reshape(s, b, n * d)}[layout]


@pytest.mark.parametrize("layout", ["BNSD", "BSND", "BSH", "SBH"])
@pytest.mark.parametrize("mode", ["none", "mask", "causal"])
def test_flash_attention_and_its_gradient(nn, layout, mode):
    rng = np.random.default_rng(1)
    q, dy = (rng.standard_normal((2, 4, 5, 8)).astype(np.float32) for _ in range(2))
    k, v = (rng.standard_normal((2, 2, 7, 8)).astype(np.float32) for _ in range(2))
    masked = {"none": None, "mask": rng.random((2, 1, 5, 7)) < 0.3,
              "causal": np.arange(7) > np.arange(5)[:, None]}[mode]
    given = None if mode == "none" else nn.tensor(
        masked.astype(np.uint8) if mode == "mask" else np.triu(np.ones((2048, 2048), np.uint8), 1))
    scale, sparse = 8 ** -0.5, 2 if mode == "causal" else 0
    p, y, most, total = attention(q, k, v, scale, masked)
    tensors = [nn.tensor(np.ascontiguousarray(to_layout(a, layout))) for a in (q, k, v)]
    result = nn.tensor(np.zeros_like(to_layout(q, layout)))
    largest, sums = nn.empty(np.float32, (2, 4, 5, 8)), nn.empty(np.float32, (2, 4, 5, 8))
    nn.run("aclnnFlashAttentionScore", *tensors, None, None, None, given, None, scale, 1.0,
           2147483647, 0, 4, layout, 0, sparse, largest, sums, nn.empty(np.float32, (0,)), result)
    np.testing.assert_allclose(result.read(), to_layout(y, layout), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(largest.read(), np.repeat(most, 8, -1), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(sums.read(), np.repeat(total, 8, -1), rtol=1e-4)
    grads = [nn.tensor(np.zeros_like(to_layout(a, layout))) for a in (q, k, v)]
    nn.run("aclnnFlashAttentionScoreGrad", *tensors,
           nn.tensor(np.ascontiguousarray(to_layout(dy, layout))), None, None, None, given, largest,
           sums, None, result, None, scale, 1.0, 2147483647, 0, 4, layout, 0, sparse, *grads, None)
    for grad, want in zip(grads, gradients(q, k, v, dy, scale, p)):
        np.testing.assert_allclose(grad.read(), to_layout(want, layout), rtol=1e-3, atol=1e-4)
    nn.clear()
