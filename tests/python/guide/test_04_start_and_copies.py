# SPDX-License-Identifier: Apache-2.0
"""Guide 4.3 to 4.5: starting and ending, resources, and the four directions of copies."""
import os

import pytest
from blocks import block, read_bytes, run_block, run_program, write_bytes

import acl

DATA = os.urandom(1024) * 1024  # the guide copies 1 MiB
CONSTANTS = dict(acl=acl, fileName="data.bin", ACL_MEM_MALLOC_NORMAL_ONLY=2,
                 ACL_MEMCPY_HOST_TO_HOST=0, ACL_MEMCPY_HOST_TO_DEVICE=1,
                 ACL_MEMCPY_DEVICE_TO_HOST=2, ACL_MEMCPY_DEVICE_TO_DEVICE=3)


@pytest.fixture
def copied(ready):
    """Runs a copy block; what lies at `target` just before it is released."""
    def run(text, target, release):
        seen = []

        def read_file(_, address, size):
            assert size == len(DATA)
            write_bytes(acl, address, DATA)

        def look(names):
            seen.append(read_bytes(acl, names[target], len(DATA)))
        # The block releases what it copied: look at it just before.
        before, after = text.split(release, 1)
        names = run_block(before, read_file=read_file, **CONSTANTS)
        look(names)
        run_block(release + after, **{k: v for k, v in names.items() if k != "__builtins__"})
        return seen[0]
    return run


@block("4.3", "ret = acl.init()")
def test_4_3_init_without_arguments():
    run_block("""
        ret = acl.init()
        """, acl=acl)
    assert acl.finalize() == 0


@block("4.3", "import acl", note="acl_config_path = \"../src/acl.json\"")
def test_4_3_init_with_a_file_beside_the_program_and_finalize(tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "acl.json").write_text("{}")
    run_program(tmp_path / "out" / "main.py", """
        import acl
        acl_config_path = "../src/acl.json"
        ret = acl.init(acl_config_path)
        ret = acl.finalize()
        """, cwd="/")


@block("4.4", "import acl", note="device, context, stream")
def test_4_4_resources_are_taken_and_released_in_order():
    assert acl.init() == 0
    names = run_block("""
        import acl
        ret = acl.rt.set_device(device_id)
        context, ret = acl.rt.create_context(device_id)
        stream, ret = acl.rt.create_stream()
        used = [context, stream]
        ret = acl.rt.destroy_stream(stream)
        ret = acl.rt.destroy_context(context)
        ret = acl.rt.reset_device(device_id)
        """, device_id=0)
    assert all(names["used"])
    assert acl.rt.get_context()[1] != 0, "nothing is left in use"
    assert acl.finalize() == 0


@block("4.5.2", "import acl", slips=["read_file and fileName are left to the reader",
                                     "ACL_MEMCPY_HOST_TO_HOST is only defined in a comment"])
def test_4_5_2_copy_inside_the_host(copied):
    assert copied("""
        import acl
        size = 1 * 1024 * 1024
        host_ptr_a, ret = acl.rt.malloc_host(size)
        host_ptr_b, ret = acl.rt.malloc_host(size)
        read_file(fileName, host_ptr_a, size)
        ret = acl.rt.memcpy(host_ptr_b, size, host_ptr_a, size, ACL_MEMCPY_HOST_TO_HOST)
        ret = acl.rt.free_host(host_ptr_a)
        ret = acl.rt.free_host(host_ptr_b)
        """, "host_ptr_b", "        ret = acl.rt.free_host(host_ptr_a)") == DATA


@block("4.5.2", "(text) an asynchronous copy from host to host", note="a rule stated in words")
def test_4_5_2_asynchronous_copy_inside_the_host_fails_at_synchronize(ready):
    a, _ = acl.rt.malloc_host(64)
    b, _ = acl.rt.malloc_host(64)
    stream, _ = acl.rt.create_stream()
    assert acl.rt.memcpy_async(b, 64, a, 64, 0, stream) == 0, "the call itself succeeds"
    assert acl.rt.synchronize_stream(stream) != 0
    assert acl.rt.destroy_stream(stream) == 0
    assert acl.rt.free_host(a) == acl.rt.free_host(b) == 0


@block("4.5.3", "import acl", note="synchronous",
       slips=["ACL_MEM_MALLOC_NORMAL_ONLY is not defined", "read_file is left to the reader"])
def test_4_5_3_copy_from_host_to_device(copied):
    assert copied("""
        import acl
        size = 1 * 1024 * 1024
        host_ptr_a, ret = acl.rt.malloc_host(size)
        dev_ptr_b, ret = acl.rt.malloc(size, ACL_MEM_MALLOC_NORMAL_ONLY)
        read_file(fileName, host_ptr_a, size)
        ret = acl.rt.memcpy(dev_ptr_b, size, host_ptr_a, size, ACL_MEMCPY_HOST_TO_DEVICE)
        ret = acl.rt.free_host(host_ptr_a)
        ret = acl.rt.free(dev_ptr_b)
        """, "dev_ptr_b", "        ret = acl.rt.free_host(host_ptr_a)") == DATA


@block("4.5.3", "import acl", note="asynchronous",
       slips=["stream = acl.rt.create_stream() takes one value; the call returns two"])
def test_4_5_3_asynchronous_copy_from_host_to_device(copied):
    assert copied("""
        import acl
        size = 1 * 1024 * 1024
        host_ptr_a, ret = acl.rt.malloc_host(size + 64)
        host_align = host_ptr_a + 64 - host_ptr_a % 64
        dev_ptr_b, ret = acl.rt.malloc(size, ACL_MEM_MALLOC_NORMAL_ONLY)
        read_file(fileName, host_align, size)
        stream, ret = acl.rt.create_stream()
        ret = acl.rt.memcpy_async(dev_ptr_b, size, host_align, size,
                                  ACL_MEMCPY_HOST_TO_DEVICE, stream)
        ret = acl.rt.synchronize_stream(stream)
        ret = acl.rt.destroy_stream(stream)
        ret = acl.rt.free_host(host_ptr_a)
        ret = acl.rt.free(dev_ptr_b)
        """, "dev_ptr_b", "        ret = acl.rt.destroy_stream(stream)") == DATA


@block("4.5.4", "import acl", note="synchronous", slips=["read_file is left to the reader"])
def test_4_5_4_copy_inside_the_device(copied):
    assert copied("""
        import acl
        size = 1 * 1024 * 1024
        dev_ptr_a, ret = acl.rt.malloc(size, ACL_MEM_MALLOC_NORMAL_ONLY)
        dev_ptr_b, ret = acl.rt.malloc(size, ACL_MEM_MALLOC_NORMAL_ONLY)
        read_file(fileName, dev_ptr_a, size)
        ret = acl.rt.memcpy(dev_ptr_b, size, dev_ptr_a, size, ACL_MEMCPY_DEVICE_TO_DEVICE)
        ret = acl.rt.free(dev_ptr_a)
        ret = acl.rt.free(dev_ptr_b)
        """, "dev_ptr_b", "        ret = acl.rt.free(dev_ptr_a)") == DATA


@block("4.5.4", "import acl", note="asynchronous",
       slips=["stream = acl.rt.create_stream() takes one value; the call returns two"])
def test_4_5_4_asynchronous_copy_inside_the_device(copied):
    assert copied("""
        import acl
        size = 1 * 1024 * 1024
        dev_ptr_a, ret = acl.rt.malloc(size, ACL_MEM_MALLOC_NORMAL_ONLY)
        dev_ptr_b, ret = acl.rt.malloc(size, ACL_MEM_MALLOC_NORMAL_ONLY)
        read_file(fileName, dev_ptr_a, size)
        stream, ret = acl.rt.create_stream()
        ret = acl.rt.memcpy_async(dev_ptr_b, size, dev_ptr_a, size,
                                  ACL_MEMCPY_DEVICE_TO_DEVICE, stream)
        ret = acl.rt.synchronize_stream(stream)
        ret = acl.rt.destroy_stream(stream)
        ret = acl.rt.free(dev_ptr_a)
        ret = acl.rt.free(dev_ptr_b)
        """, "dev_ptr_b", "        ret = acl.rt.destroy_stream(stream)") == DATA


@block("4.5.5", "import acl", note="synchronous",
       slips=["the marks of bold type (**) and escaped underscores stand inside the code"])
def test_4_5_5_copy_from_device_to_host(copied):
    assert copied("""
        import acl
        size = 1 * 1024 * 1024
        host_ptr_b, ret = acl.rt.malloc_host(size)
        dev_ptr_a, ret = acl.rt.malloc(size, ACL_MEM_MALLOC_NORMAL_ONLY)
        read_file(fileName, dev_ptr_a, size)
        ret = acl.rt.memcpy(host_ptr_b, size, dev_ptr_a, size, ACL_MEMCPY_DEVICE_TO_HOST)
        ret = acl.rt.free_host(host_ptr_b)
        ret = acl.rt.free(dev_ptr_a)
        """, "host_ptr_b", "        ret = acl.rt.free_host(host_ptr_b)") == DATA


@block("4.5.5", "import acl", note="asynchronous",
       slips=["the marks of bold type (**) and escaped underscores stand inside the code",
              "stream = acl.rt.create_stream() takes one value; the call returns two"])
def test_4_5_5_asynchronous_copy_from_device_to_host(copied):
    assert copied("""
        import acl
        size = 1 * 1024 * 1024
        dev_ptr_a, ret = acl.rt.malloc(size, ACL_MEM_MALLOC_NORMAL_ONLY)
        host_ptr_b, ret = acl.rt.malloc_host(size + 64)
        host_align = host_ptr_b + 64 - host_ptr_b % 64
        read_file(fileName, dev_ptr_a, size)
        stream, ret = acl.rt.create_stream()
        ret = acl.rt.memcpy_async(host_align, size, dev_ptr_a, size,
                                  ACL_MEMCPY_DEVICE_TO_HOST, stream)
        ret = acl.rt.synchronize_stream(stream)
        ret = acl.rt.destroy_stream(stream)
        ret = acl.rt.free_host(host_ptr_b)
        ret = acl.rt.free(dev_ptr_a)
        """, "host_align", "        ret = acl.rt.destroy_stream(stream)") == DATA
