# SPDX-License-Identifier: Apache-2.0
"""dtype and type: element types and places of memory, with the numbers of AscendCL."""
import enum


class _Named(enum.IntEnum):
    """Equal to its number, printed by its name on every Python."""

    def __str__(self):
        return f"{type(self).__name__}.{self.name}"

    def __repr__(self):
        return f"<{type(self).__name__}.{self.name}: {self.value}>"

    __format__ = object.__format__
    __hash__ = enum.IntEnum.__hash__


class dtype(_Named):  # noqa: N801  the name scripts use
    float32 = 0
    float16 = 1
    int8 = 2
    int32 = 3
    uint8 = 4
    int16 = 6
    uint16 = 7
    uint32 = 8
    int64 = 9
    uint64 = 10
    double = 11
    bool = 12
    bfloat16 = 27

    @property
    def itemsize(self):
        return _BYTES[self]


_BYTES = {dtype.float32: 4, dtype.float16: 2, dtype.int8: 1, dtype.int32: 4, dtype.uint8: 1,
          dtype.int16: 2, dtype.uint16: 2, dtype.uint32: 4, dtype.int64: 8, dtype.uint64: 8,
          dtype.double: 8, dtype.bool: 1, dtype.bfloat16: 2}


class type_(_Named):
    memory_host = 0
    memory_device = 1
    memory_dvpp = 2


type_.__name__ = type_.__qualname__ = "type"
