# SPDX-License-Identifier: Apache-2.0
"""The reader of protobuf in Python: what is a message, and what is said of bytes that are none."""
import random

import pytest

from anynpu.protowire import WireError, fields, integers, message, varint


def test_fields_of_every_wire_type_are_read():
    data = b"\x08\x96\x01" + b"\x12\x02hi" + b"\x1d\x00\x00\x80\x3f" + b"\x21" + b"\x01" * 8
    assert list(fields(data)) == [(1, 150), (2, b"hi"), (3, b"\x00\x00\x80\x3f"), (4, b"\x01" * 8)]
    assert list(fields(memoryview(data)))[1] == (2, b"hi")
    assert list(fields(b"")) == []


def test_the_last_value_of_a_field_counts_and_unknown_fields_are_passed_over():
    assert message(b"\x08\x01\x08\x02\x52\x01x", {1: int, 2: bytes}) == {1: 2}


def test_repeated_numbers_may_be_packed():
    assert integers([3, b"\x01\x96\x01", 4]) == [3, 1, 150, 4]


def test_the_largest_number_has_64_bits():
    assert varint(b"\xff" * 9 + b"\x01", 0) == ((1 << 64) - 1, 10)


@pytest.mark.parametrize("data, words", [
    (b"\x08", "cut off"),
    (b"\x08" + b"\xff" * 10 + b"\x01", "64 bits"),
    (b"\x08" + b"\xff" * 9 + b"\x02", "64 bits"),
    (b"\x12\x05hi", "5 bytes; 2 are left"),
    (b"\x12" + b"\xff" * 9 + b"\x01", "are left"),
    (b"\x1d\x00", "4 bytes; 1 are left"),
    (b"\x0b", "wire type 3"),
    (b"\x00\x01", "number 0"),
])
def test_bytes_that_are_no_message_are_told(data, words):
    with pytest.raises(WireError, match=words):
        list(fields(data))


def test_a_field_of_another_type_is_told():
    with pytest.raises(WireError, match="field 1 is bytes"):
        message(b"\x0a\x00", {1: int})
    with pytest.raises(WireError, match="field 1 is a number"):
        message(b"\x08\x00", {1: bytes})


def test_random_bytes_give_fields_or_a_sentence():
    rng = random.Random(3)
    read = 0
    for _ in range(3000):
        data = rng.randbytes(rng.randrange(24))
        try:
            found = list(fields(data))
            read += 1
            assert sum(len(v) for _, v in found if not isinstance(v, int)) <= len(data)
        except WireError as error:
            assert str(error)
    assert read > 10
