# SPDX-License-Identifier: Apache-2.0
"""Operators that language models are exported with from opset 23 on, through atc and acl.mdl,
against numpy in float64."""
import numpy as np
import pytest
from model_datasets import convert
from om_runner import run_om
from onnx import helper

RANDOM = np.random.default_rng(23)
LIMITS = {np.float32: 2e-6, np.float16: 2e-3, np.float64: 1e-12}


def normal(*shape, kind=np.float32):
    return RANDOM.standard_normal(shape).astype(kind)


def value(name, array):
    kind = helper.np_dtype_to_tensor_dtype(array.dtype)
    return helper.make_tensor_value_info(name, kind, array.shape)


def run(folder, opset, nodes, feeds, outputs):
    """The outputs {name: array}, whose types and shapes must be those of `outputs`."""
    graph = helper.make_graph(nodes, "net", [value(name, array) for name, array in feeds.items()],
                              [value(name, array) for name, array in outputs.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    made = run_om(convert(folder, "net", model), list(feeds.values()))
    return {name.rpartition(":")[2]: array for name, array in made.items()}


def compare(folder, opset, nodes, feeds, expected):
    made = run(folder, opset, nodes, feeds, expected)
    for name, array in expected.items():
        assert made[name].dtype == array.dtype and made[name].shape == array.shape
        limit = LIMITS[array.dtype.type]
        np.testing.assert_allclose(made[name], array, rtol=limit, atol=limit, err_msg=name)


def heads_of(tensor, count):
    if tensor.ndim == 4:
        return tensor
    batch, length, width = tensor.shape
    return tensor.reshape(batch, length, count, width // count).transpose(0, 2, 1, 3)


def attention(q, k, v, mask=None, past=None, lengths=None, heads=None, kv_heads=None, scale=None,
              causal=False, softcap=0, left=-1, right=-1):
    """Y, present keys and values, and the products, the capped, the masked and the weights."""
    flat, kind = q.ndim == 3, q.dtype
    q, k, v = (heads_of(t.astype(np.float64), n)
               for t, n in ((q, heads), (k, kv_heads), (v, kv_heads)))
    offset = past[0].shape[2] if past else 0
    if past:
        k, v = (np.concatenate([old.astype(np.float64), new], 2) for old, new in zip(past, (k, v)))
    present = k.astype(kind), v.astype(kind)
    group = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, group, 1), np.repeat(v, group, 1)
    rows, columns = q.shape[2], k.shape[2]
    product = q @ k.transpose(0, 1, 3, 2) * (scale or q.shape[3] ** -0.5)
    capped = softcap * np.tanh(product / softcap) if softcap else product
    own = np.arange(rows)[:, None] + np.full((q.shape[0], 1, 1, 1), offset)
    if lengths is not None:
        own = own - offset + (lengths - rows).reshape(-1, 1, 1, 1)
    key = np.arange(columns)
    seen = np.ones((q.shape[0], 1, rows, columns), bool)
    seen &= (key <= own) | (not causal)
    seen &= (key >= own - left) | (left < 0)
    seen &= (key <= own + right) | (right < 0)
    if lengths is not None:
        seen &= key < lengths.reshape(-1, 1, 1, 1)
    bias = np.where(seen, 0.0, -np.inf)
    if mask is not None:
        is_bool = mask.dtype == bool
        added = np.where(mask, 0.0, -np.inf) if is_bool else mask.astype(np.float64)
        room = [(0, 0)] * (mask.ndim - 1) + [(0, columns - mask.shape[-1])]
        bias = bias + np.pad(added, room, constant_values=-np.inf)
    masked = capped + bias
    weights = np.zeros_like(masked)
    some = np.isfinite(masked).any(-1)
    top = masked[some].max(-1, keepdims=True)
    weights[some] = np.exp(masked[some] - top)
    weights[some] /= weights[some].sum(-1, keepdims=True)
    y = weights @ v
    if flat:
        y = y.transpose(0, 2, 1, 3).reshape(y.shape[0], rows, -1)
    return (y.astype(kind), *present,
            *(stage.astype(kind) for stage in (product, capped, masked, weights)))


@pytest.mark.parametrize("kind", [np.float32, np.float16, np.float64])
@pytest.mark.parametrize("causal", [0, 1])
def test_attention_shares_keys_among_heads_and_joins_the_past(tmp_path, runtime, kind, causal):
    q, k, v = normal(2, 5, 4 * 16, kind=kind), normal(2, 3, 2 * 16, kind=kind), \
        normal(2, 3, 2 * 8, kind=kind)
    past = normal(2, 2, 6, 16, kind=kind), normal(2, 2, 6, 8, kind=kind)
    node = helper.make_node("Attention", ["q", "k", "v", "", "pk", "pv"], ["y", "keys", "values"],
                            q_num_heads=4, kv_num_heads=2, is_causal=causal)
    y, keys, values, *_ = attention(q, k, v, past=past, heads=4, kv_heads=2, causal=causal)
    compare(tmp_path, 23, [node], {"q": q, "k": k, "v": v, "pk": past[0], "pv": past[1]},
            {"y": y, "keys": keys, "values": values})


@pytest.mark.parametrize("mode", [0, 1, 2, 3])
def test_attention_shows_its_scores_at_the_stage_asked_for(tmp_path, runtime, mode):
    q, k, v = normal(1, 2, 5, 16), normal(1, 2, 7, 16), normal(1, 2, 7, 8)
    mask = RANDOM.random((5, 7)) < 0.7
    mask[2] = False
    node = helper.make_node("Attention", ["q", "k", "v", "m"], ["y", "", "", "s"], scale=0.3,
                            softcap=1.5, qk_matmul_output_mode=mode)
    y, _, _, *stages = attention(q, k, v, mask, scale=0.3, softcap=1.5)
    assert not y[0, :, 2].any(), "a row that sees no key is 0"
    compare(tmp_path, 23, [node], {"q": q, "k": k, "v": v, "m": mask}, {"y": y, "s": stages[mode]})


def test_attention_over_an_outer_cache_counts_the_keys_of_each_sample(tmp_path, runtime):
    q, k, v = normal(3, 2, 4, 16), normal(3, 2, 40, 16), normal(3, 2, 40, 16)
    lengths = np.array([4, 40, 2])
    mask = normal(3, 1, 4, 40)
    node = helper.make_node("Attention", ["q", "k", "v", "m", "", "", "n"], ["y"], is_causal=1)
    compare(tmp_path, 24, [node], {"q": q, "k": k, "v": v, "m": mask, "n": lengths},
            {"y": attention(q, k, v, mask, lengths=lengths, causal=True)[0]})


@pytest.mark.parametrize("left, right, causal", [(3, 2, 0), (5, -1, 1), (-1, 0, 0)])
def test_attention_with_a_sliding_window(tmp_path, runtime, left, right, causal):
    q, k, v = normal(1, 70, 32), normal(1, 70, 32), normal(1, 70, 32)
    node = helper.make_node("Attention", ["q", "k", "v"], ["y"], q_num_heads=2, kv_num_heads=2,
                            is_causal=causal, left_window_size=left, right_window_size=right)
    compare(tmp_path, 25, [node], {"q": q, "k": k, "v": v},
            {"y": attention(q, k, v, heads=2, kv_heads=2, causal=causal, left=left,
                            right=right)[0]})


def rotate(x, cosines, sines):
    a, b = np.split(x.astype(np.float64), 2, -1)
    c, s = cosines[:, None], sines[:, None]
    return np.concatenate([c * a - s * b, s * a + c * b], -1).astype(x.dtype)


def test_a_decoder_step_writes_its_cache_and_attends_to_it(tmp_path, runtime):
    """RMSNormalization, RotaryEmbedding, TensorScatter, Attention and SwiGLU behind each other."""
    x, scale = normal(2, 2, 3, 8), normal(8)
    table = np.outer(np.arange(12), 0.5 ** np.arange(4))
    cosines, sines = np.cos(table).astype(np.float32), np.sin(table).astype(np.float32)
    places, steps = np.array([2, 5]), np.arange(3)
    positions = places[:, None] + steps
    cache = normal(2, 2, 9, 8)
    node = helper.make_node
    nodes = [node("RMSNormalization", ["x", "scale"], ["n"], epsilon=1e-6),
             node("RotaryEmbedding", ["n", "cos", "sin", "at"], ["r"]),
             node("TensorScatter", ["cache", "r", "places"], ["kept"]),
             node("Attention", ["r", "kept", "kept", "", "", "", "ends"], ["a"], is_causal=1),
             node("SwiGLU", ["a", "x"], ["y"], alpha=1.5)]
    wide = x.astype(np.float64)
    normed = wide / np.sqrt((wide**2).mean(-1, keepdims=True) + 1e-6) * scale
    turned = rotate(normed.astype(np.float32), cosines[positions], sines[positions])
    kept = cache.copy()
    for sample, place in enumerate(places):
        kept[sample, :, place:place + 3] = turned[sample]
    a = attention(turned, kept, kept, lengths=places + 3, causal=True)[0]
    y = (a / (1 + np.exp(-1.5 * a.astype(np.float64))) * x).astype(np.float32)
    feeds = {"x": x, "scale": scale, "cos": cosines, "sin": sines, "at": positions, "cache": cache,
             "places": places, "ends": places + 3}
    compare(tmp_path, 28, nodes, feeds, {"kept": kept, "y": y})


@pytest.mark.parametrize("rule", ["linear", "gated", "delta", "gated_delta"])
def test_linear_attention_carries_its_state_from_token_to_token(tmp_path, runtime, rule):
    q, k, v = normal(2, 5, 4 * 3), normal(2, 5, 2 * 3), normal(2, 5, 2 * 4)
    state = normal(2, 2, 3, 4)
    decay, beta = -np.abs(normal(2, 5, 2 * 3)), np.abs(normal(2, 5, 2))
    feeds = {"q": q, "k": k, "v": v, "s": state}
    feeds |= {"d": decay} if "gated" in rule else {}
    feeds |= {"b": beta} if "delta" in rule else {}
    node = helper.make_node("LinearAttention",
                            ["q", "k", "v", "s", *(name if name in feeds else "" for name in "db")],
                            ["y", "t"], q_num_heads=4, kv_num_heads=2, update_rule=rule)
    s, rows = state.astype(np.float64), []
    for t in range(5):
        key, value_row = k[:, t].reshape(2, 2, 3, 1), v[:, t].reshape(2, 2, 1, 4)
        if "gated" in rule:
            s = s * np.exp(decay[:, t].reshape(2, 2, 3, 1))
        if "delta" in rule:
            known = (s * key).sum(2, keepdims=True)
            value_row = beta[:, t].reshape(2, 2, 1, 1) * (value_row - known)
        s = s + key * value_row
        query = q[:, t].reshape(2, 4, 1, 3)
        rows.append((query @ np.repeat(s, 2, 1) / np.sqrt(3)).reshape(2, 1, 16))
    expected = {"y": np.concatenate(rows, 1).astype(np.float32), "t": s.astype(np.float32)}
    made = run(tmp_path, 27, [node], feeds, expected)
    for name, array in expected.items():
        np.testing.assert_allclose(made[name], array, rtol=1e-4, atol=1e-4 * np.abs(array).max())


def test_causal_convolution_hands_its_last_positions_on(tmp_path, runtime):
    x, w, b, past = normal(2, 3, 300), normal(3, 1, 4), normal(3), normal(2, 3, 3)
    node = helper.make_node("CausalConvWithState", ["x", "w", "b", "p"], ["y", "s"],
                            activation="silu")
    whole = np.concatenate([past, x], 2).astype(np.float64)
    sums = sum(whole[:, :, i:i + 300] * w[:, 0, i, None] for i in range(4)) + b[:, None]
    compare(tmp_path, 27, [node], {"x": x, "w": w, "b": b, "p": past},
            {"y": (sums / (1 + np.exp(-sums))).astype(np.float32), "s": x[:, :, -3:]})


def test_running_products_and_bits_read_as_another_type(tmp_path, runtime):
    x = normal(3, 5)
    axis = np.array(1)
    nodes = [helper.make_node("CumProd", ["x", "axis"], ["p"], exclusive=1, reverse=1),
             helper.make_node("BitCast", ["x"], ["i"], to=6),
             helper.make_node("Swish", ["x"], ["s"])]
    flipped = np.cumprod(x[:, ::-1].astype(np.float64), 1)[:, ::-1]
    products = np.concatenate([flipped[:, 1:], np.ones((3, 1))], 1).astype(np.float32)
    swish = (x / (1 + np.exp(-x.astype(np.float64)))).astype(np.float32)
    made = run(tmp_path, 26, nodes, {"x": x, "axis": axis},
               {"p": products, "i": x.view(np.int32), "s": swish})
    np.testing.assert_allclose(made["p"], products, rtol=1e-6)
    np.testing.assert_array_equal(made["i"], x.view(np.int32))
    np.testing.assert_allclose(made["s"], swish, rtol=1e-6, atol=1e-7)
