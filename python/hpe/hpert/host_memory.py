# SPDX-License-Identifier: Apache-2.0
"""Host memory in locked pages, as numpy arrays. numpy is imported on first use."""
import weakref

from hpe import _hpe
from hpe.hpert.errors import refuse

try:
    from numpy import float16 as FLOAT16
except ImportError:
    FLOAT16 = "float16"


class _Pages:
    """Locked memory that a numpy array stands on, freed with the last such array."""

    _free = staticmethod(_hpe.free_host)

    def __init__(self, size):
        self.address = _hpe.malloc_host(size)
        self.__array_interface__ = {"data": (self.address, False), "shape": (size,),
                                    "typestr": "|u1", "version": 3}

    def __del__(self):
        address = self.__dict__.get("address")
        if address:
            try:
                self._free(address)
            except Exception:  # a forked child owns nothing
                pass


def host_mem(shape, dtype=FLOAT16):
    """A new numpy array in pages that stay in memory where the system allows it."""
    import numpy
    try:
        kind = numpy.dtype(dtype)
        sizes = tuple(int(n) for n in (shape if hasattr(shape, "__iter__") else (shape,)))
        if kind.hasobject or any(n < 0 for n in sizes):
            raise ValueError("expected sizes of 0 or more and plain data")
        size = kind.itemsize
        for n in sizes:
            size *= n
        if size == 0:
            return numpy.zeros(sizes, kind)
        if size >= 2**63:
            raise refuse("stcErrorHostMemoryAllocation", f"{size} bytes are more than a host has")
        return numpy.asarray(_Pages(size)).view(kind).reshape(sizes)
    except (TypeError, ValueError, OverflowError) as error:  # numpy's word about shape and dtype
        raise refuse("stcErrorInvalidValue", f"shape {shape!r}, dtype {dtype!r}: {error}") from None


def _unregister(address, free=_hpe.host_unregister):
    try:
        free(address)
    except Exception:  # a forked child owns nothing
        pass


def host_pinned(array):
    """Locks the pages of a numpy array until the array is dropped."""
    import numpy
    if not isinstance(array, numpy.ndarray):
        raise refuse("stcErrorInvalidValue",
                     f"array is a {type(array).__name__}; expected a numpy.ndarray")
    if not array.flags.c_contiguous or array.nbytes == 0:
        raise refuse("stcErrorInvalidValue",
                     "the array is empty or not contiguous; pass numpy.ascontiguousarray(array)")
    _hpe.host_register(array.ctypes.data, array.nbytes)
    weakref.finalize(array, _unregister, array.ctypes.data).atexit = False
