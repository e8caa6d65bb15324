# SPDX-License-Identifier: Apache-2.0
"""Several threads share contexts, streams, events and memory; and programs end in any order."""
import threading

import pytest
from program import run

import acl


def in_threads(count, function):
    """Runs function(i) in `count` threads at once and raises what one of them raised."""
    failures = []
    start = threading.Barrier(count)

    def body(i):
        try:
            start.wait()
            function(i)
        except BaseException as error:  # noqa: B036
            failures.append(error)

    threads = [threading.Thread(target=body, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


@pytest.mark.usefixtures("device_0")
class TestSharing:
    def test_threads_submit_to_one_stream_and_each_keeps_its_order(self):
        context, _ = acl.rt.get_context()
        stream, _ = acl.rt.create_stream()
        memory = [acl.rt.malloc(4096, 0)[0] for _ in range(4)]

        def work(i):
            assert acl.rt.set_context(context) == 0
            for value in range(100):
                assert acl.rt.memset_async(memory[i], 4096, value, 4096, stream) == 0
                if value % 25 == 0:
                    assert acl.rt.synchronize_stream(stream) == 0

        in_threads(4, work)
        assert acl.rt.synchronize_stream(stream) == 0
        for block in memory:
            assert acl.util.ptr_to_bytes(block, 4096) == bytes([99]) * 4096
            assert acl.rt.free(block) == 0
        assert acl.rt.destroy_stream(stream) == 0

    def test_threads_with_contexts_of_their_own_on_one_device(self):
        def work(i):
            for _ in range(10):
                context, ret = acl.rt.create_context(0)
                assert ret == 0
                stream, _ = acl.rt.create_stream()
                event, _ = acl.rt.create_event()
                memory, _ = acl.rt.malloc(1000, 0)
                assert acl.rt.memset_async(memory, 1000, i, 1000, stream) == 0
                assert acl.rt.record_event(event, stream) == acl.rt.synchronize_event(event) == 0
                assert acl.util.ptr_to_bytes(memory, 1000) == bytes([i]) * 1000
                assert acl.rt.free(memory) == acl.rt.destroy_event(event) == 0
                assert acl.rt.destroy_stream(stream) == acl.rt.destroy_context(context) == 0

        in_threads(4, work)

    def test_threads_wait_for_one_stream_at_once(self):
        context, _ = acl.rt.get_context()
        memory, _ = acl.rt.malloc(1 << 20, 0)
        stream, _ = acl.rt.create_stream()
        for value in range(100):
            acl.rt.memset_async(memory, 1 << 20, value, 1 << 20, stream)

        def wait(_):
            assert acl.rt.set_context(context) == 0
            assert acl.rt.synchronize_stream(stream) == 0
            assert acl.util.ptr_to_bytes(memory, 1) == bytes([99])

        in_threads(4, wait)
        assert acl.rt.destroy_stream(stream) == acl.rt.free(memory) == 0

    def test_threads_set_and_reset_the_device_in_pairs(self):
        def work(i):
            for _ in range(20):
                assert acl.rt.set_device(0) == 0
                memory, ret = acl.rt.malloc(64, 0)
                assert ret == 0 and acl.rt.memset(memory, 64, i, 64) == 0
                assert acl.rt.free(memory) == 0
                assert acl.rt.reset_device(0) == 0

        in_threads(4, work)
        assert acl.rt.get_device() == (0, 0), "the use of this thread is left"

    def test_one_thread_destroys_what_others_use(self):
        context, _ = acl.rt.get_context()
        memory, _ = acl.rt.malloc(64, 0)
        streams = [acl.rt.create_stream()[0] for _ in range(50)]

        def work(i):
            assert acl.rt.set_context(context) == 0
            for stream in streams:
                if i == 0:
                    assert acl.rt.destroy_stream(stream) == 0
                else:
                    assert acl.rt.memset_async(memory, 64, i, 64, stream) in (0, 107017)
                    assert acl.rt.synchronize_stream(stream) in (0, 107017)

        in_threads(3, work)
        assert acl.rt.free(memory) == 0


def test_a_context_keeps_its_device_in_use_when_another_thread_resets_it():
    assert acl.init() == 0
    context, _ = acl.rt.create_context(3)
    stream, _ = acl.rt.create_stream()
    memory, _ = acl.rt.malloc(64, 0)

    def other(_):
        assert acl.rt.set_device(3) == acl.rt.reset_device(3) == 0

    in_threads(1, other)
    assert acl.rt.memset_async(memory, 64, 1, 64, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert acl.rt.destroy_stream(stream) == acl.rt.free(memory) == 0
    assert acl.rt.destroy_context(context) == acl.rt.reset_device(3) == 0
    assert acl.finalize() == 0


@pytest.mark.parametrize("order", [
    "finalize, destroy", "destroy, finalize", "destroy", "finalize", "nothing"])
def test_objects_are_destroyed_at_the_end_of_the_program_in_any_order(order):
    run(f"""
        import atexit
        import acl
        class Holder:
            def __init__(self):
                self.context, _ = acl.rt.create_context(0)
                self.stream, _ = acl.rt.create_stream()
                self.event, _ = acl.rt.create_event()
                self.memory, _ = acl.rt.malloc(1 << 20, 0)
                self.host, _ = acl.rt.malloc_host(64)
                self.buffer = acl.create_data_buffer(self.memory, 64)
                for i in range(50):
                    acl.rt.memset_async(self.memory, 1 << 20, i, 1 << 20, self.stream)
            def __del__(self):
                acl.rt.destroy_context(self.context)
                acl.rt.free(self.memory)
                acl.destroy_data_buffer(self.buffer)
                acl.rt.destroy_event(self.event)
                acl.rt.destroy_stream(self.stream)
                acl.rt.free_host(self.host)
                acl.rt.reset_device(0)
        acl.init()
        acl.rt.set_device(0)
        order = "{order}"
        holder = Holder()
        if order.startswith("destroy"):
            del holder
        if order.endswith("finalize") or order.startswith("finalize"):
            acl.finalize()
        if order == "nothing":
            keep = holder
            keep.itself = keep  # never collected before the end
        """)


def test_a_program_may_end_while_a_stream_is_held_and_threads_wait():
    run("""
        import threading
        import acl
        acl.init()
        acl.rt.set_device(0)
        context, _ = acl.rt.get_context()
        stream, _ = acl.rt.create_stream()
        acl.rt.subscribe_report(1, stream)
        acl.rt.launch_callback(print, 0, 1, stream)
        def wait():
            acl.rt.set_context(context)
            acl.rt.synchronize_stream(stream)
        for _ in range(3):
            threading.Thread(target=wait, daemon=True).start()
        """)
