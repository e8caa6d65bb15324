# SPDX-License-Identifier: Apache-2.0
"""Reads the protobuf wire format; damage is a WireError. In C++: src/base/protowire.h."""

LARGEST = (1 << 64) - 1


class WireError(Exception):
    """Bytes that are not a message; the text says why and where."""


def varint(data, at):
    """(value, the place behind it)."""
    value = 0
    for i in range(10):
        if at + i >= len(data):
            raise WireError(f"a number is cut off after {len(data)} bytes")
        byte = data[at + i]
        value |= (byte & 127) << 7 * i
        if byte < 128:
            if value > LARGEST:
                break
            return value, at + i + 1
    raise WireError(f"the number at byte {at} has more than 64 bits")


def fields(data):
    """(number, value) of each field of a message: an int, or the bytes of any other type."""
    at = 0
    while at < len(data):
        begin = at
        key, at = varint(data, at)
        number, kind = key >> 3, key & 7
        if number == 0:
            raise WireError(f"the field at byte {begin} has number 0")
        if kind == 0:
            value, at = varint(data, at)
            yield number, value
            continue
        if kind == 2:
            size, at = varint(data, at)
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
        else:
            raise WireError(f"field {number} at byte {begin} has wire type {kind}")
        if size > len(data) - at:
            raise WireError(f"field {number} at byte {begin} has {size} bytes; "
                            f"{len(data) - at} are left")
        yield number, data[at:at + size]
        at += size


def message(data, types):
    """{number: value} of the fields in `types`, {number: int or bytes}; the last one counts."""
    found = {}
    for number, value in fields(data):
        if number not in types:
            continue
        is_int = isinstance(value, int)
        if is_int != (types[number] is int):
            raise WireError(f"field {number} is {'a number' if is_int else 'bytes'}")
        found[number] = value
    return found


def integers(values):
    """The elements of a repeated integer field: `values` are ints and packed runs of them."""
    out = []
    for value in values:
        if isinstance(value, int):
            out.append(value)
            continue
        at = 0
        while at < len(value):
            one, at = varint(value, at)
            out.append(one)
    return out
