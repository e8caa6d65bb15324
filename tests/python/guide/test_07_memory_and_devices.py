# SPDX-License-Identifier: Apache-2.0
"""Guide 7.1 (memory that a program divides itself) and 7.2 (several devices). The chapters print a
table and a flow chart instead of code; both are followed here."""
import pytest
from blocks import block, read_bytes, run_block, write_bytes

import acl


def align_up(length, k):
    """As 7.1 prints it: ((len - 1) / k + 1) * k."""
    return ((length - 1) // k + 1) * k


@block("7.1", "(table) acl.rt.malloc")
@pytest.mark.parametrize("call", ["malloc", "malloc_cached", "malloc_host"])
def test_7_1_allocations_start_on_64_bytes_and_have_the_documented_room(ready, call):
    policy = [] if call == "malloc_host" else [0]
    for length in (1, 31, 32, 33, 1000, 4096):
        address, ret = getattr(acl.rt, call)(length, *policy)
        assert ret == 0 and address % 64 == 0
        room = length if call == "malloc_host" else align_up(length, 32) + 32
        assert acl.rt.memset(address, room, 0, room) == 0
        free = acl.rt.free_host if call == "malloc_host" else acl.rt.free
        assert free(address) == 0


@block("7.1", "(table) ALIGN_UP[len, k]")
def test_7_1_a_pool_divided_by_the_rules_holds_every_piece(ready):
    lengths = [1, 100, 4096, 33]
    offsets, end = [], 0
    for length in lengths:
        offsets.append(end)
        end += align_up(align_up(length, 32) + 32, 64)
    pool, ret = acl.rt.malloc(end, 2)
    assert ret == 0
    for i, (offset, length) in enumerate(zip(offsets, lengths)):
        assert (pool + offset) % 64 == 0
        write_bytes(acl, pool + offset, bytes([i + 1]) * length)
    for i, (offset, length) in enumerate(zip(offsets, lengths)):
        assert read_bytes(acl, pool + offset, length) == bytes([i + 1]) * length
    assert acl.rt.free(pool) == 0


@block("7.1", "(table) acl.rt.memcpy_async", note="both addresses on 64 bytes")
def test_7_1_asynchronous_copy_between_aligned_pieces_of_a_pool(ready):
    pool, _ = acl.rt.malloc(256, 2)
    host, _ = acl.rt.malloc_host(64)
    write_bytes(acl, host, b"piece" + bytes(59))
    stream, _ = acl.rt.create_stream()
    assert acl.rt.memcpy_async(pool + 64, 64, host, 64, 1, stream) == 0
    assert acl.rt.memcpy_async(pool + 192, 64, pool + 64, 64, 3, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert read_bytes(acl, pool + 192, 5) == b"piece"
    assert acl.rt.destroy_stream(stream) == acl.rt.free(pool) == acl.rt.free_host(host) == 0


@block("7.2", "(figure 7-3) work on two devices, switched by set_context")
def test_7_2_two_devices_are_waited_for_one_after_the_other():
    assert acl.init() == 0
    names = run_block("""
        ret = acl.rt.set_device(0)
        context_0, ret = acl.rt.create_context(0)
        stream_0, ret = acl.rt.create_stream()
        dev_0, ret = acl.rt.malloc(64, 0)
        ret = acl.rt.memset_async(dev_0, 64, 1, 64, stream_0)

        ret = acl.rt.set_device(1)
        context_1, ret = acl.rt.create_context(1)
        stream_1, ret = acl.rt.create_stream()
        dev_1, ret = acl.rt.malloc(64, 0)
        ret = acl.rt.memset_async(dev_1, 64, 2, 64, stream_1)

        ret = acl.rt.set_context(context_0)
        ret = acl.rt.synchronize_device()
        first, ret = acl.rt.get_device()
        ret = acl.rt.set_context(context_1)
        ret = acl.rt.synchronize_device()
        second, ret = acl.rt.get_device()
        """, acl=acl)
    assert (names["first"], names["second"]) == (0, 1)
    assert read_bytes(acl, names["dev_0"], 64) == b"\1" * 64
    assert read_bytes(acl, names["dev_1"], 64) == b"\2" * 64
    run_block("""
        ret = acl.rt.destroy_stream(stream_1)
        ret = acl.rt.destroy_context(context_1)
        ret = acl.rt.destroy_stream(stream_0)
        ret = acl.rt.destroy_context(context_0)
        ret = acl.rt.reset_device(1)
        ret = acl.rt.reset_device(0)
        ret = acl.finalize()
        """, **{k: v for k, v in names.items() if k != "__builtins__"})
