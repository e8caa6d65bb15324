# SPDX-License-Identifier: Apache-2.0
"""Checks and conversions of what programs pass to hpe.hpert.api."""
import operator
import struct

from hpe.hpert.errors import refuse


def integer(value, name, low=0, high=2**63 - 1):
    """`value` as an int between `low` and `high`; stcErrorInvalidValue otherwise."""
    try:
        number = operator.index(value)
    except TypeError:
        raise refuse("stcErrorInvalidValue",
                     f"{name} is a {type(value).__name__}; expected an int") from None
    if not low <= number <= high:
        raise refuse("stcErrorInvalidValue", f"{name} is {number}; expected {low} to {high}")
    return number


def device_number(device_id):
    """The number for one call; -1 stands for the thread's device."""
    if device_id is None:
        return -1
    number = integer(device_id, "device_id", low=-2**63)
    if not 0 <= number < 2**31:
        raise refuse("stcErrorInvalidDevice", f"there is no device {number}")
    return number


INTEGER, SINGLE, HALF, POINTER = 1, 2, 3, 4  # stcParamKind


def _float_word(value, name):
    try:
        return struct.unpack("<I", struct.pack("<f", value))[0]
    except OverflowError:
        raise refuse("stcErrorInvalidValue",
                     f"{name} is {value}, which a float of 4 bytes cannot hold") from None


def parameter_word(value, name):
    """The 32 bits of a kernel parameter and what they were: int, float or numpy scalar."""
    dtype = getattr(value, "dtype", None)
    if dtype is not None and dtype.kind == "f" and dtype.itemsize <= 4 and value.ndim == 0:
        # a half fills the low 16 bits
        return (int.from_bytes(value.astype(value.dtype.newbyteorder("<")).tobytes(), "little"),
                SINGLE if dtype.itemsize == 4 else HALF)
    if isinstance(value, float):
        return _float_word(value, name), SINGLE
    try:
        number = int(value) if dtype is not None and dtype.kind == "b" else operator.index(value)
    except TypeError:
        raise refuse("stcErrorInvalidValue",
                     f"{name} is a {type(value).__name__}; expected DeviceMem, int, float or a "
                     "numpy scalar of at most 4 bytes") from None
    if not -2**31 <= number < 2**32:
        raise refuse("stcErrorInvalidValue",
                     f"{name} is {number}; parameters have 4 bytes: {-2**31} to {2**32 - 1}")
    return number & 0xFFFFFFFF, INTEGER
