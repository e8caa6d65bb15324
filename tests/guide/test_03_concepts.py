# SPDX-License-Identifier: Apache-2.0
"""Guide 3.2: contexts, threads and the default stream. Its two blocks execute operators (acl.op),
which belong to a later release; here a fill of memory stands where the operator stands."""
from blocks import block, read_bytes, run_block

import acl


@block("3.2", "ctx1, ret = acl.rt.create_context(0)",
       slips=["`...` and `s1` stand for what the reader fills in",
              "no reset: the contexts are destroyed here"],
       note="acl.op.execute_v2 belongs to a later release; memset_async runs in its place")
def test_3_2_switching_the_context_switches_the_device():
    assert acl.init() == 0
    names = run_block("""
        ctx1, ret = acl.rt.create_context(0)
        stream, ret = acl.rt.create_stream()
        on_0, ret = acl.rt.malloc(64, 0)
        ret = acl.rt.memset_async(on_0, 64, 1, 64, stream)
        ctx2, ret = acl.rt.create_context(1)
        second, ret = acl.rt.get_device()

        stream2, ret = acl.rt.create_stream()
        on_1, ret = acl.rt.malloc(64, 0)
        ret = acl.rt.memset_async(on_1, 64, 2, 64, stream2)
        ret = acl.rt.synchronize_stream(stream2)
        ret = acl.rt.set_context(ctx1);
        third, ret = acl.rt.get_device()
        ret = acl.rt.memset_async(on_0, 32, 3, 32, stream)
        ret = acl.rt.synchronize_stream(stream)
        """, acl=acl)
    assert (names["second"], names["third"]) == (1, 0)
    assert read_bytes(acl, names["on_0"], 64) == b"\3" * 32 + b"\1" * 32
    assert read_bytes(acl, names["on_1"], 64) == b"\2" * 64
    for name in ("stream2", "stream"):
        assert acl.rt.destroy_stream(names[name]) == 0
    for name in ("ctx2", "ctx1"):
        assert acl.rt.destroy_context(names[name]) == 0
    assert acl.finalize() == 0


@block("3.2", "ret = acl.init(config_path)",
       slips=["config_path and device_id are not defined"],
       note="acl.op.execute_v2 belongs to a later release; memset_async runs in its place")
def test_3_2_work_on_the_default_stream(tmp_path):
    config = tmp_path / "acl.json"
    config.write_text("{}")
    names = run_block("""
        ret = acl.init(config_path)
        ret = acl.rt.set_device(device_id)
        memory, ret = acl.rt.malloc(64, 0)
        ret = acl.rt.memset_async(memory, 64, 1, 64, 0)
        ret = acl.rt.memset_async(memory, 32, 2, 32, 0)
        ret = acl.rt.synchronize_stream(0)
        """, acl=acl, config_path=str(config), device_id=0)
    assert read_bytes(acl, names["memory"], 64) == b"\2" * 32 + b"\1" * 32
    assert acl.rt.reset_device(0) == 0
    assert acl.rt.synchronize_stream(0) != 0, "the default stream ended with its device"
    assert acl.finalize() == 0
