# SPDX-License-Identifier: Apache-2.0
"""Guide, appendix B: what a program has to keep to, and what happens when it does not."""
from blocks import block, read_bytes, run_block, run_program

import acl


@block("B", "acl.rt.memset(dev_buffer_ptr, dev_buffer_size, 0, dev_buffer_size)")
def test_b_memory_is_cleared_before_use(ready):
    names = run_block("""
        dev_buffer_ptr, ret = acl.rt.malloc(dev_buffer_size, 0)
        ret = acl.rt.memset(dev_buffer_ptr, dev_buffer_size, 0, dev_buffer_size)
        """, acl=acl, dev_buffer_size=1000)
    assert read_bytes(acl, names["dev_buffer_ptr"], 1000) == bytes(1000)
    assert acl.rt.free(names["dev_buffer_ptr"]) == 0


@block("B", "(text) fork is not supported", note="a rule stated in words: a code, never a hang")
def test_b_a_forked_child_gets_a_code(tmp_path):
    assert run_program(tmp_path / "main.py", """
        import os
        import acl
        ret = acl.init()
        ret = acl.rt.set_device(0)
        child = os.fork()
        if child == 0:
            code = acl.rt.set_device(0)
            os._exit(0 if code == 100001 else 1)
        print(os.waitpid(child, 0)[1])
        ret = acl.rt.reset_device(0)
        ret = acl.finalize()
        """) == "0\n"


@block("B", "(text) resources are not used after they were destroyed",
       note="a rule stated in words: a code, never a crash")
def test_b_destroyed_objects_are_refused(ready):
    stream, _ = acl.rt.create_stream()
    event, _ = acl.rt.create_event()
    memory, _ = acl.rt.malloc(64, 0)
    buffer = acl.create_data_buffer(memory, 64)
    assert acl.destroy_data_buffer(buffer) == acl.rt.free(memory) == 0
    assert acl.rt.destroy_event(event) == acl.rt.destroy_stream(stream) == 0
    assert acl.rt.synchronize_stream(stream) != 0
    assert acl.rt.synchronize_event(event) != 0
    assert acl.rt.memset(memory, 64, 0, 64) != 0
    assert acl.get_data_buffer_addr(buffer) == 0
    for destroy, handle in ((acl.rt.destroy_stream, stream), (acl.rt.destroy_event, event),
                            (acl.rt.free, memory), (acl.destroy_data_buffer, buffer)):
        assert destroy(handle) != 0
        assert len(acl.get_recent_err_msg()) > 0
