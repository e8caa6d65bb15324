# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: E501
"""Results that are right although they are not the CPU's: other places of equal elements, other factors
with the same product, and numbers that are nearer to those of a wider type."""
import compare
import torch

WIDER = {torch.float16: torch.float32, torch.bfloat16: torch.float32, torch.float32: torch.float64}

# Of equal elements any may come first: PyTorch leaves that open. Position of `dim` among the arguments.
PLACES = {"topk": 1, "kthvalue": 1, "sort": 0, "argsort": 0}
# A = U S V^H: columns are unique up to their signs, and those of a null space not at all.
FACTORS = {"svd": False, "linalg.svd": True, "svd_lowrank": False, "pca_lowrank": False}
DRAWN = {"svd_lowrank", "pca_lowrank"}  # along directions that are drawn: near, not equal


def widened(sample):
    """The sample in a wider type."""
    def wide(value):
        if isinstance(value, torch.Tensor) and value.dtype in WIDER:
            made = value.detach().to(WIDER[value.dtype])
            return made.requires_grad_(value.requires_grad)
        if isinstance(value, torch.dtype):
            return WIDER.get(value, value)
        return value
    return sample.transform(wide)


def narrowed(value, like):
    """What a wider type gave, in the types of another result."""
    if isinstance(value, torch.Tensor):
        return value.to(like.dtype) if value.dtype != like.dtype else value
    if isinstance(value, (tuple, list)):
        return [narrowed(v, item) for v, item in zip(value, like)]
    return value


def _dim(name, sample):
    place = PLACES[name]
    return sample.kwargs.get("dim", sample.args[place] if len(sample.args) > place else -1)


def _assert_same_places(name, sample, actual, expected):
    """Every place holds the element that the CPU's place holds, and none is named twice."""
    assert not sample.kwargs.get("stable"), "a stable order is exact"
    compare.assert_same_form(actual, expected)
    x, dim = sample.input.detach().cpu(), _dim(name, sample)
    ours, theirs = (compare.tensors_of(compare.to_cpu(r))[-1] for r in (actual, expected))
    if name != "argsort":
        values = compare.tensors_of(compare.to_cpu(actual))[0]
        compare.assert_same_values(values, compare.tensors_of(expected)[0])
    if x.dim() == 0 or ours.numel() == 0:
        return
    if ours.dim() < x.dim():
        ours, theirs = ours.unsqueeze(dim), theirs.unsqueeze(dim)
    torch.testing.assert_close(x.gather(dim, ours), x.gather(dim, theirs), rtol=0, atol=0, equal_nan=True)
    ordered = ours.sort(dim).values
    assert not (ordered.diff(dim=dim) == 0).any(), "a place is named twice"


def _assert_same_product(name, actual, expected):
    compare.assert_same_form(actual, expected)
    (u, s, v), (u0, s0, v0) = (compare.tensors_of(compare.to_cpu(r)) for r in (actual, expected))
    rtol, atol = (1e-2, 1e-2) if name in DRAWN else (1e-3, 1e-4)
    torch.testing.assert_close(s, s0, rtol=rtol / 10, atol=atol / 10)
    if FACTORS[name]:
        v, v0 = v.mH, v0.mH

    def product(u, s, v):
        k = s.shape[-1]
        return (u[..., :k] * s.unsqueeze(-2)) @ v[..., :k].mH
    torch.testing.assert_close(product(u, s, v), product(u0, s0, v0), rtol=rtol, atol=atol)
    for columns in (u, v):
        unit = torch.eye(columns.shape[-1], dtype=columns.dtype).expand(*columns.shape[:-2], -1, -1)
        torch.testing.assert_close(columns.mH @ columns, unit, rtol=1e-3, atol=1e-4)


def assert_right(name, sample, actual, expected, in_wider_type):
    """`in_wider_type` computes the CPU's result once more; called only when it is needed."""
    try:
        return compare.assert_same_values(actual, expected)
    except AssertionError as error:
        first = error
    compare.assert_same_form(actual, expected)
    if name in PLACES:
        return _assert_same_places(name, sample, actual, expected)
    if name in FACTORS and len(compare.tensors_of(expected)) == 3:
        return _assert_same_product(name, actual, expected)
    try:
        wide = in_wider_type()
    except Exception:  # the operator does not take the wider type
        raise first from None
    if wide is None:
        raise first
    try:
        compare.assert_same_values(actual, narrowed(wide, expected))
    except AssertionError:
        raise first from None
