# SPDX-License-Identifier: Apache-2.0
"""Values in device memory as signals between streams."""
import numpy as np
import pytest

import acl

PARAM_INVALID = 107000
UNALIGNED = 107008
INVALID_HANDLE = 107017
SYNC_TIMEOUT = 507046
AT_LEAST, EQUAL, AND, NOR = range(4)

pytestmark = pytest.mark.usefixtures("device_0")


@pytest.fixture
def word():
    address, ret = acl.rt.malloc(64, 0)
    assert ret == 0 and acl.rt.memset(address, 64, 0, 64) == 0
    yield address
    assert acl.rt.free(address) == 0


def read(address):
    value = np.zeros(1, dtype=np.uint64)
    assert acl.rt.memcpy(value.ctypes.data, 8, address, 8, 2) == 0
    return int(value[0])


def test_a_stream_writes_a_value(word):
    stream, _ = acl.rt.create_stream()
    assert acl.rt.value_write(word + 8, 2**64 - 1, 0, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert read(word + 8) == 2**64 - 1 and read(word) == 0
    assert acl.rt.destroy_stream(stream) == 0


@pytest.mark.parametrize("flag, value, early, late", [
    (AT_LEAST, 5, 4, 9), (EQUAL, 5, 6, 5), (AND, 6, 1, 2), (NOR, 1, 2**64 - 2, 4)])
def test_a_stream_waits_for_its_condition(word, flag, value, early, late):
    waits, writes = (acl.rt.create_stream()[0] for _ in range(2))
    assert acl.rt.value_write(word, early, 0, writes) == 0
    assert acl.rt.synchronize_stream(writes) == 0
    assert acl.rt.value_wait(word, value, flag, waits) == 0
    assert acl.rt.synchronize_stream_with_timeout(waits, 10) == SYNC_TIMEOUT
    assert acl.rt.value_write(word, late, 0, writes) == 0
    assert acl.rt.synchronize_stream(waits) == 0
    for stream in (waits, writes):
        assert acl.rt.destroy_stream(stream) == 0


def test_wrong_arguments_give_their_codes(word):
    for call in (acl.rt.value_write, acl.rt.value_wait):
        assert call(word + 4, 1, 0, 0) == UNALIGNED
        assert call(0, 1, 0, 0) == PARAM_INVALID
        assert call(word + (1 << 30), 1, 0, 0) == PARAM_INVALID
        assert call(word, 1, 4, 0) == PARAM_INVALID
        assert call(word, 1, 0, 12345) == INVALID_HANDLE
