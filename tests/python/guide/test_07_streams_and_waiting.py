# SPDX-License-Identifier: Apache-2.0
"""Guide 7.8.3, 7.8.5 and 7.9: streams and the ways of waiting. 7.8.4 is with the models."""
import pytest
from blocks import block, read_bytes, run_block, write_bytes

import acl

SIZE = 4096


@pytest.fixture
def buffers(ready):
    """The names the copy blocks assume: dev_ptr, dev_size, host_ptr, host_size."""
    host, _ = acl.rt.malloc_host(SIZE)
    device, _ = acl.rt.malloc(SIZE, 0)
    write_bytes(acl, host, b"stream" * (SIZE // 6) + bytes(SIZE % 6))
    yield dict(dev_ptr=device, dev_size=SIZE, host_ptr=host, host_size=SIZE)
    assert read_bytes(acl, device, 6) == b"stream"
    assert acl.rt.free(device) == acl.rt.free_host(host) == 0


@block("7.8.3", "import acl", slips=["dev_ptr, dev_size, host_ptr and host_size are not defined"])
def test_7_8_3_one_thread_one_stream(buffers):
    run_block("""
        import acl
        ACL_MEMCPY_HOST_TO_DEVICE = 1
        stream, ret = acl.rt.create_stream()
        ret = acl.rt.memcpy_async(dev_ptr, dev_size, host_ptr, host_size,
                                  ACL_MEMCPY_HOST_TO_DEVICE, stream)
        ret = acl.rt.synchronize_stream(stream)
        ret = acl.rt.destroy_stream(stream)
        """, **buffers)


@block("7.8.5", "import acl",
       slips=["stream1 and stream2 are passed to the threads but never made; the threads make "
              "their own streams, so 0 is passed"])
def test_7_8_5_two_threads_with_a_stream_each():
    assert acl.init() == 0
    names = run_block("""
        import acl
        ended = []
        def run_thread(stream):
            device_id = 0
            context, ret = acl.rt.create_context(device_id)
            stream, ret = acl.rt.create_stream()
            ret = acl.rt.synchronize_stream(stream)
            ret = acl.rt.destroy_stream(stream)
            ret = acl.rt.destroy_context(context)
            ended.append(stream)

        stream1 = 0
        stream2 = 0
        thread_id1, ret = acl.util.start_thread(run_thread, stream1)
        thread_id2, ret = acl.util.start_thread(run_thread, stream2)
        ret = acl.util.stop_thread(thread_id1)
        ret = acl.util.stop_thread(thread_id2)
        """)
    assert len(set(names["ended"])) == 2, "both threads ran to their end, each with its own stream"
    assert acl.finalize() == 0


@block("7.9.2", "import acl")
def test_7_9_2_wait_for_an_event(ready):
    run_block("""
        import acl
        event, ret = acl.rt.create_event()
        stream, ret = acl.rt.create_stream()
        ret = acl.rt.record_event(event, stream)
        ret = acl.rt.synchronize_event(event)
        status, ret = acl.rt.query_event_status(event)
        assert status == 1
        ret = acl.rt.destroy_stream(stream)
        ret = acl.rt.destroy_event(event)
        """)


@block("7.9.3", "import acl", slips=["dev_ptr, dev_size, host_ptr and host_size are not defined",
                                     "ACL_MEMCPY_HOST_TO_DEVICE is not defined"])
def test_7_9_3_wait_for_the_work_of_a_stream(buffers):
    run_block("""
        import acl
        stream, ret = acl.rt.create_stream()
        ret = acl.rt.memcpy_async(dev_ptr, dev_size, host_ptr, host_size,
                                  ACL_MEMCPY_HOST_TO_DEVICE, stream)
        ret = acl.rt.synchronize_stream(stream)
        ret = acl.rt.destroy_stream(stream)
        """, ACL_MEMCPY_HOST_TO_DEVICE=1, **buffers)


@block("7.9.4", "import acl")
def test_7_9_4_one_stream_waits_for_another(ready):
    run_block("""
        import acl
        event, ret = acl.rt.create_event()
        s1, ret = acl.rt.create_stream()
        s2, ret = acl.rt.create_stream()
        ret = acl.rt.record_event(event, s1)
        ret = acl.rt.stream_wait_event(s2, event)
        ret = acl.rt.destroy_stream(s2)
        ret = acl.rt.destroy_stream(s1)
        ret = acl.rt.destroy_event(event)
        """)


@block("7.9.4", "(text) several streams wait for one event", note="a rule stated in words (7.9.1)")
def test_7_9_4_several_streams_wait_for_one_event(ready):
    event, _ = acl.rt.create_event()
    first, _ = acl.rt.create_stream()
    others = [acl.rt.create_stream()[0] for _ in range(3)]
    assert acl.rt.record_event(event, first) == 0
    for stream in others:
        assert acl.rt.stream_wait_event(stream, event) == 0
        assert acl.rt.synchronize_stream(stream) == 0
    for stream in [first, *others]:
        assert acl.rt.destroy_stream(stream) == 0
    assert acl.rt.destroy_event(event) == 0


@block("7.9.5", "import acl",
       slips=["the stream is synchronised but never destroyed; a destroy_stream follows here"])
def test_7_9_5_wait_for_the_device():
    assert acl.init() == 0
    run_block("""
        import acl
        device_id = 0
        ret = acl.rt.set_device(device_id)
        context, ret = acl.rt.create_context(device_id)
        stream, ret = acl.rt.create_stream()
        ret = acl.rt.synchronize_device()
        ret = acl.rt.synchronize_stream(stream)
        ret = acl.rt.destroy_stream(stream)
        ret = acl.rt.destroy_context(context)
        ret = acl.rt.reset_device(device_id)
        """)
    assert acl.finalize() == 0
