# SPDX-License-Identifier: Apache-2.0
"""Memory: policies, sizes and alignment (guide 7.1), host memory, and running out of it."""
import pytest
from program import run

import acl

PARAM_INVALID, OUT_OF_MEMORY = 107000, 207001


@pytest.mark.usefixtures("device_0")
class TestDeviceMemory:
    @pytest.mark.parametrize("call, policy", [
        *((acl.rt.malloc, policy) for policy in range(8)),
        *((acl.rt.malloc_cached, policy) for policy in (0, 1, 2, 6))])
    def test_every_policy_gives_memory_on_64_bytes(self, call, policy):
        for size in (1, 1000, 3 << 20):
            memory, ret = call(size, policy)
            assert ret == 0 and memory % 64 == 0
            assert acl.rt.memset(memory, size, 1, size) == 0
            assert acl.rt.free(memory) == 0

    @pytest.mark.parametrize("policy", [3, 4, 5, 7])
    def test_cached_memory_has_no_pages_for_other_devices(self, policy):
        assert acl.rt.malloc_cached(64, policy) == (0, PARAM_INVALID)

    @pytest.mark.parametrize("policy", [-1, 8, 99])
    @pytest.mark.parametrize("size", [64, 2 << 20])
    def test_an_unknown_policy_gives_memory_as_on_a_card(self, policy, size):
        memory, ret = acl.rt.malloc(size, policy)
        assert ret == 0 and acl.rt.memset(memory, size, 1, size) == 0
        assert acl.rt.free(memory) == 0

    @pytest.mark.parametrize("size, room", [(1, 64), (31, 64), (32, 64), (33, 96), (64, 96),
                                            (1000, 1056)])
    def test_sizes_are_rounded_up_to_32_plus_32(self, size, room):
        memory, _ = acl.rt.malloc(size, 2)
        assert acl.rt.memset(memory, room, 0, room) == 0, "the whole of it may be used"
        assert acl.rt.memset(memory, room + 1, 0, room + 1) == PARAM_INVALID, "not one byte more"
        assert acl.rt.free(memory) == 0

    def test_align32_adds_nothing_after_the_rounding(self):
        memory, ret = acl.rt.malloc_align32(33, 0)
        assert ret == 0
        assert acl.rt.memset(memory, 64, 0, 64) == 0
        assert acl.rt.memset(memory, 65, 0, 65) == PARAM_INVALID
        assert acl.rt.free(memory) == 0

    def test_size_0_is_refused(self):
        assert acl.rt.malloc(0, 0) == (0, PARAM_INVALID)
        assert acl.rt.malloc_host(0) == (0, PARAM_INVALID)

    def test_blocks_do_not_overlap_and_keep_what_is_written(self):
        blocks = [acl.rt.malloc(100 + i, i % 3)[0] for i in range(50)]
        for i, block in enumerate(blocks):
            assert acl.rt.memset(block, 100 + i, i, 100 + i) == 0
        for i, block in enumerate(blocks):
            assert acl.util.ptr_to_bytes(block, 100 + i) == bytes([i]) * (100 + i)
            assert acl.rt.free(block) == 0

    def test_only_the_start_of_an_allocation_can_be_freed_and_only_once(self):
        memory, _ = acl.rt.malloc(256, 0)
        assert acl.rt.free(memory + 64) == PARAM_INVALID
        assert "64 bytes inside" in acl.get_recent_err_msg()
        assert acl.rt.free(memory) == 0
        assert acl.rt.free(memory) == PARAM_INVALID
        assert acl.rt.free(0) == PARAM_INVALID

    def test_host_and_device_memory_are_freed_by_their_own_calls(self):
        device, _ = acl.rt.malloc(64, 0)
        host, _ = acl.rt.malloc_host(64)
        assert acl.rt.free_host(device) == acl.rt.free(host) == PARAM_INVALID
        assert acl.rt.free(device) == acl.rt.free_host(host) == 0

    def test_memset_checks_its_range(self):
        memory, _ = acl.rt.malloc(64, 0)
        assert acl.rt.memset(memory, 10, 1, 11) == PARAM_INVALID, "count past max_count"
        assert acl.rt.memset(memory, 1 << 40, 1, 1 << 40) == PARAM_INVALID
        assert acl.rt.memset(0, 64, 0, 64) == PARAM_INVALID
        assert acl.rt.memset(memory, 64, 0, 0) == 0
        assert acl.rt.memset(memory, 64, 0x1ff, 64) == 0, "the low byte counts"
        assert acl.util.ptr_to_bytes(memory, 64) == b"\xff" * 64
        assert acl.rt.free(memory) == 0

    def test_a_huge_request_is_a_code(self):
        memory, ret = acl.rt.malloc(1 << 60, 0)
        assert (memory, ret) == (0, OUT_OF_MEMORY)


def test_host_memory_before_init_and_after_finalize():
    assert run("""
        import acl
        first, ret = acl.rt.malloc_host(1000)
        print(ret, first % 64, len(acl.util.ptr_to_bytes(first, 1000)))
        acl.init()
        second, ret = acl.rt.malloc_host(1000)
        print(ret, acl.rt.free_host(first))
        acl.finalize()
        print(acl.rt.free_host(second))
        """) == ["0", "0", "1000", "0", "0", "0"]


def test_running_out_of_device_memory_is_a_code_and_nothing_is_lost():
    assert run("""
        import acl
        acl.init()
        acl.rt.set_device(0)
        free, total, _ = acl.rt.get_mem_info(1)
        blocks = []
        while True:
            block, ret = acl.rt.malloc(4 << 20, 2)
            if ret:
                break
            blocks.append(block)
        print(total >> 20, ret, len(blocks), block)
        print("ANYNPU_DEVICE_MEMORY" in acl.get_recent_err_msg())
        acl.rt.set_device(1)
        print(acl.rt.malloc(4 << 20, 0)[1])
        acl.rt.set_device(0)
        print(all(acl.rt.free(block) == 0 for block in blocks))
        print(acl.rt.get_mem_info(1)[0] == free, acl.rt.malloc(60 << 20, 0)[1])
        """, ANYNPU_DEVICE_MEMORY="64M") == [
            "64", str(OUT_OF_MEMORY), "15", "0", "True", "0", "True", "True", "0"]
