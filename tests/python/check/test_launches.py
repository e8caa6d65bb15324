# SPDX-License-Identifier: Apache-2.0
"""`anynpu check` and kernels that a program launches itself: what they write is known."""
import shutil

import pytest
from conftest import marked
from hpe_programs import compile_kernels

pytestmark = pytest.mark.skipif(shutil.which("clang-19") is None,
                                reason="clang-19 is not installed")

KERNELS = """
#include <npurt.h>
extern "C" __global__ void copy(int* in, int* out, int count) {
  for (int i = CoreID; i < count; i += CoreNum) out[i] = in[i] + 1;
}
extern "C" __global__ void trap(int* in, int* out, int count) { *(volatile int*)0 = 1; }
"""

START = """
        import struct
        binary, ret = acl.rt.binary_load_from_file("k-fatbin.o", None)
        func, ret = acl.rt.binary_get_function(binary, NAME)
        size, count = 1 << 14, 1 << 12
        pool, ret = acl.rt.malloc(4 * size, 0)
        host, ret = acl.rt.malloc_host(size)
        one, ret = acl.rt.create_stream()
        two, ret = acl.rt.create_stream()
        assert acl.rt.memset(pool, 4 * size, 0, 4 * size) == 0
        def launch(source, target, stream):
            piece = struct.pack("<QQi", source, target, count)
            return acl.rt.launch_kernel(func, 20, acl.util.bytes_to_ptr(piece), len(piece), stream)
"""
END = """
        assert acl.rt.destroy_stream(one) == acl.rt.destroy_stream(two) == 0
        assert acl.rt.free_host(host) == acl.rt.binary_unload(binary) == 0
"""


@pytest.fixture
def check_launch(tmp_path, check_text):
    compile_kernels(KERNELS, str(tmp_path), "k", "-O2 -g")

    def run(text, name="copy"):
        return check_text(START.replace("NAME", repr(name)) + text + END)
    return run


def test_results_of_a_kernel_that_are_read_or_freed_too_early(check_launch, tmp_path):
    checked = check_launch("""
        assert launch(pool, pool + size, one) == 0
        ret = acl.rt.memcpy(host, size, pool + size, size, 2)  # found: read-before-synchronize
        assert acl.rt.memcpy(host, size, pool, size, 2) == 0
        assert acl.rt.memcpy(host, size, pool + 2 * size, size, 2) == 0
        assert acl.rt.synchronize_stream(one) == 0
        assert acl.rt.memcpy(host, size, pool + size, size, 2) == 0
        assert launch(pool, pool + size, one) == 0
        assert acl.rt.free(pool) == 0  # found: free-before-synchronize
        assert acl.rt.synchronize_stream(one) == 0
    """)
    assert checked.places() == marked(tmp_path / "app.py"), checked.done.stderr
    assert "acl.rt.launch_kernel writes" in checked.findings[0]["message"]


def test_kernels_of_two_streams_race_only_where_they_write_the_same(check_launch, tmp_path):
    checked = check_launch("""
        assert launch(pool, pool + size, one) == 0
        assert launch(pool, pool + 2 * size, two) == 0
        assert acl.rt.synchronize_device() == 0
        assert launch(pool, pool + 3 * size, one) == 0
        assert launch(pool + 2 * size, pool + 3 * size, two) == 0  # found: race
        assert acl.rt.synchronize_device() == 0
        assert acl.rt.free(pool) == 0
    """)
    (race,) = checked.findings  # the innermost frame is that of the function launch
    assert [("race", race["places"][0]["frames"][1]["line"])] == marked(tmp_path / "app.py")


def test_lists_of_arguments_and_host_arguments_are_seen_too(check_launch, tmp_path):
    checked = check_launch("""
        piece = struct.pack("<QQi", pool, pool + size, count)
        assert acl.rt.launch_kernel_with_host_args(func, 8, one, None, acl.util.bytes_to_ptr(piece),
                                                   len(piece), [], 0) == 0
        ret = acl.rt.memcpy(host, size, pool + size, size, 2)  # found: read-before-synchronize
        assert acl.rt.synchronize_stream(one) == 0
        args, ret = acl.rt.kernel_args_init(func)
        for value in (struct.pack("<Q", pool), struct.pack("<Q", pool + 2 * size),
                      struct.pack("<i", count)):
            param, ret = acl.rt.kernel_args_append(args, acl.util.bytes_to_ptr(value), len(value))
            assert ret == 0
        assert acl.rt.kernel_args_finalize(args) == 0
        assert acl.rt.launch_kernel_with_config(func, 8, one, None, args, None) == 0
        ret = acl.rt.memcpy(host, size, pool + 2 * size, size, 2)  # found: read-before-synchronize
        assert acl.rt.synchronize_stream(one) == 0
        assert acl.rt.free(pool) == 0
    """)
    assert checked.places() == marked(tmp_path / "app.py"), checked.done.stderr


def test_a_kernel_that_fails_writes_nothing_and_holds_nobody_up(check_launch):
    checked = check_launch("""
        assert launch(pool, pool + size, one) == 0
        assert acl.rt.memcpy(host, size, pool + size, size, 2) == 0
        assert acl.rt.synchronize_stream(one) == 507015
        assert acl.rt.free(pool) == 0
    """, "trap")
    assert checked.kinds() == ["kernel-out-of-bounds"], checked.done.stderr  # what the kernel did


def test_a_stream_that_waits_for_the_program_is_not_waited_for(check_launch):
    checked = check_launch("""
        event, ret = acl.rt.create_event()
        assert acl.rt.record_event(event, two) == 0
        flag, ret = acl.rt.malloc(64, 0)
        assert acl.rt.memset(flag, 64, 0, 64) == 0
        assert acl.rt.value_wait(flag, 1, 0, one) == 0
        assert launch(pool, pool + size, one) == 0
        assert acl.rt.value_write(flag, 1, 0, two) == 0
        assert acl.rt.synchronize_stream(one) == acl.rt.synchronize_stream(two) == 0
        assert acl.rt.memcpy(host, size, pool + size, size, 2) == 0
        assert acl.util.ptr_to_bytes(host, 4) == bytes([1, 0, 0, 0])
        assert acl.rt.free(pool) == acl.rt.free(flag) == acl.rt.destroy_event(event) == 0
    """)
    assert checked.findings == [], checked.done.stderr
