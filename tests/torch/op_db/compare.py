# SPDX-License-Identifier: Apache-2.0
"""How a result of the device is compared with the CPU's."""
import math

import torch

# Relative and absolute. The CPU is no exact reference either: both sides sum in their own order.
TOLERANCE = {
    torch.float32: (1e-4, 1e-5), torch.complex64: (1e-4, 1e-5),
    torch.float16: (4e-3, 1e-3), torch.bfloat16: (3e-2, 1e-2),
}

# Results that are random. Two-sample Kolmogorov-Smirnov over many draws.
RANDOM = {
    "bernoulli", "cauchy", "exponential", "geometric", "log_normal", "multinomial", "normal",
    "normal.in_place", "normal.number_mean", "uniform", "rand_like", "randint_like",
    "randn_like",
    "randint", "randn", "nn.functional.dropout", "nn.functional.dropout2d",
    "nn.functional.dropout3d",
    "nn.functional.alpha_dropout", "nn.functional.feature_alpha_dropout.with_train",
    "nn.functional.rrelu",
    "nn.functional.fractional_max_pool2d", "nn.functional.fractional_max_pool3d",
}
# Random only when the sample asks for dropout.
RANDOM_BY_ARGUMENT = {"nn.functional.scaled_dot_product_attention": "dropout_p",
                      "nn.functional.multi_head_attention_forward": "dropout_p"}
PLACES = {"nn.functional.multi_head_attention_forward": 9}  # among the arguments behind the input
# Memory that nobody has written: only type, shape and strides are defined.
UNWRITTEN = {"empty", "empty_like", "empty_permuted", "empty_strided", "new_empty",
             "new_empty_strided"}

# Random ones whose elements depend on each other: whole channels are dropped, regions chosen. There
# only the draws count as independent.
JOINT = {"nn.functional.dropout2d", "nn.functional.dropout3d",
         "nn.functional.feature_alpha_dropout", "nn.functional.fractional_max_pool2d",
         "nn.functional.fractional_max_pool3d",
         "nn.functional.scaled_dot_product_attention",
         "nn.functional.multi_head_attention_forward"}

DRAWS = 24
JOINT_DRAWS = 100
LEVEL = 1e-7  # how often a right generator would fail


def tensors_of(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        return [t for v in value.values() for t in tensors_of(v)]
    if isinstance(value, (tuple, list)):
        return [t for v in value for t in tensors_of(v)]
    return []


def to_cpu(value):
    if isinstance(value, torch.Tensor):
        return value.detach().cpu()
    if isinstance(value, dict):
        return {key: to_cpu(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [to_cpu(item) for item in value]
    return value


def assert_same_form(actual, expected):
    actual, expected = tensors_of(actual), tensors_of(expected)
    assert len(actual) == len(expected), f"{len(actual)} results, expected {len(expected)}"
    for a, e in zip(actual, expected):
        assert a.shape == e.shape, f"shape {tuple(a.shape)}, expected {tuple(e.shape)}"
        assert a.dtype == e.dtype, f"type {a.dtype}, expected {e.dtype}"


def assert_same_values(actual, expected):
    rtol, atol = 0.0, 0.0
    for tensor in tensors_of(expected):
        limits = TOLERANCE.get(tensor.dtype)
        if limits:
            rtol, atol = max(rtol, limits[0]), max(atol, limits[1])
        elif tensor.dtype.is_floating_point or tensor.dtype.is_complex:
            rtol, atol = max(rtol, 1e-4), max(atol, 1e-5)
    if not tensors_of(expected):
        rtol, atol = 1e-4, 1e-5
    torch.testing.assert_close(to_cpu(actual), to_cpu(expected), rtol=rtol, atol=atol,
                               equal_nan=True)


def draws_of(name):
    return JOINT_DRAWS if name in JOINT else DRAWS


def assert_same_distribution(name, actual, expected):
    """`actual` and `expected` are lists of results of many draws."""
    assert_same_form(actual[0], expected[0])
    for index, tensor in enumerate(tensors_of(expected[0])):
        if tensor.numel() == 0:
            continue
        samples = []
        for draws in (actual, expected):
            values = torch.cat([to_cpu(tensors_of(draw)[index]).flatten() for draw in draws])
            values = torch.view_as_real(values) if values.is_complex() else values
            samples.append(values.double().flatten())
        ours, theirs = samples
        assert ours.isnan().sum() == theirs.isnan().sum(), "NaN in other places"
        ours, theirs = (s[~s.isnan()].sort().values for s in samples)
        everything = torch.cat([ours, theirs])
        gap = (torch.searchsorted(ours, everything, right=True) / len(ours)
               - torch.searchsorted(theirs, everything, right=True) / len(theirs)).abs().max()
        size = len(actual) if name in JOINT else min(len(ours), len(theirs))
        limit = math.sqrt(-math.log(LEVEL / 2) / 2) * math.sqrt(2 / size)
        assert gap <= limit, f"distributions differ by {gap:.3f}, expected at most {limit:.3f}"
