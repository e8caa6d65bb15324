# SPDX-License-Identifier: Apache-2.0
"""Inputs of every accepted kind as arrays that the session can copy: contiguous, native order."""
import numpy as np

import aclruntime
from ais_bench.infer import checks

MOST_FEEDS = 1024
SCALARS = (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.float16,
           np.float32, np.float64)
TORCH_TYPES = frozenset(f"torch.{name}Tensor" for name in (
    "Float", "Double", "Half", "BFloat16", "Byte", "Char", "Short", "Long", "Bool", "Int"))
_BFLOAT16 = "torch.BFloat16Tensor"


def _refuse(feed, why=""):
    raise RuntimeError(f"type:{type(feed)} invalid{why}; an input is a numpy.ndarray, a numpy "
                       "number, a torch.Tensor on the CPU or an aclruntime.Tensor")


def plain_array(array):
    """The array itself if it is contiguous, else a contiguous copy."""
    if array.dtype.byteorder == ">":
        array = array.astype(array.dtype.newbyteorder("="))
    if array.dtype.hasobject:
        _refuse(array, f" ({array.dtype} elements are no plain bytes)")
    if not array.flags.c_contiguous:
        array = np.ascontiguousarray(array)
    return array if array.dtype.kind not in "mM" else array.view(np.int64)


def _torch_array(tensor, name):
    tensor = tensor.detach()
    if name == _BFLOAT16:  # numpy has no such type: the bits
        import torch
        tensor = tensor.contiguous().view(torch.int16)
    return np.ascontiguousarray(tensor.numpy())


def convert(feed):
    """(what the session takes, shape for the dynamic modes)"""
    if isinstance(feed, np.ndarray):
        array = plain_array(feed)
        return array, array.shape
    if isinstance(feed, aclruntime.Tensor):
        return feed, feed.shape
    if isinstance(feed, SCALARS):
        return np.asarray(feed), (1,)
    kind = getattr(feed, "type", None)
    if callable(kind):
        try:
            name = kind()
        except TypeError:
            name = None
        if name in TORCH_TYPES:
            array = _torch_array(feed, name)
            return array, tuple(feed.shape)
        if isinstance(name, str) and name.startswith("torch."):
            _refuse(feed, f" ({name})")
    _refuse(feed)


def convert_all(feeds):
    arrays, shapes = [], []
    for feed in checks.a_list("feeds", feeds, "with one element for each input of the model",
                              MOST_FEEDS):
        array, shape = convert(feed)
        arrays.append(array)
        shapes.append(shape)
    return arrays, shapes
