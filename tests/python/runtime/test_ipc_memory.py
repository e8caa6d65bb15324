# SPDX-License-Identifier: Apache-2.0
"""Memory and notifies shared by two processes: the other side is a new Python, never a fork."""
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import acl

PARAM_INVALID = 107000
NO_PERMISSION = 207006
DISABLE_PID_CHECK = 1
HOST_TO_DEVICE, DEVICE_TO_HOST = 1, 2
HUGE_FIRST = 0
KEY_BYTES = 65

PRELUDE = """
import os, sys
import acl, numpy as np
assert acl.init() == 0 and acl.rt.set_device(0) == 0
def line():
    return sys.stdin.readline().strip()
def say(*words):
    print(*words, flush=True)
"""

pytestmark = pytest.mark.usefixtures("device_0")


class Other:
    """A second process that runs `text`; it and the test talk in lines."""

    def __init__(self, text):
        home = os.path.dirname(os.path.dirname(os.path.abspath(acl.__file__)))
        self.process = subprocess.Popen(
            [sys.executable, "-c", PRELUDE + textwrap.dedent(text)], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": home})
        self.pid = self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.process.stdin.close()
        try:
            assert self.process.wait(timeout=300) == 0 or exc[0]
        finally:
            self.process.kill()
            self.process.stdout.close()

    def ask(self, *words):
        print(*words, file=self.process.stdin, flush=True)
        return self.listen()

    def listen(self):
        return self.process.stdout.readline().split()


def new_block(values):
    data = np.array(values, dtype=np.uint8)
    block, ret = acl.rt.malloc(data.nbytes, HUGE_FIRST)
    assert ret == 0
    assert acl.rt.memcpy(block, data.nbytes, data.ctypes.data, data.nbytes, HOST_TO_DEVICE) == 0
    return block


def read_block(block, size):
    data = np.zeros(size, dtype=np.uint8)
    assert acl.rt.memcpy(data.ctypes.data, size, block, size, DEVICE_TO_HOST) == 0
    return data


IMPORTER = """
key = line()
block, ret = acl.rt.ipc_mem_import_by_key(key, 0)
say(ret)
if ret == 0:
    data = np.zeros(4, dtype=np.uint8)
    assert acl.rt.memcpy(data.ctypes.data, 4, block, 4, 2) == 0
    say(*data)
    line()
    data[:] = [5, 6, 7, 8]
    assert acl.rt.memcpy(block, 4, data.ctypes.data, 4, 1) == 0
    say(acl.rt.ipc_mem_import_by_key(key, 0)[1])
    line()
    say(acl.rt.ipc_mem_close(key), acl.rt.ipc_mem_close(key),
        acl.rt.memcpy(data.ctypes.data, 4, block, 4, 2))
"""


def test_another_process_reads_and_writes_exported_memory():
    block = new_block([1, 2, 3, 4])
    key, ret = acl.rt.ipc_mem_get_export_key(block, 4, KEY_BYTES, 0)
    assert ret == 0 and 0 < len(key) < KEY_BYTES
    assert read_block(block, 4).tolist() == [1, 2, 3, 4]
    with Other(IMPORTER) as other:
        assert acl.rt.ipc_mem_set_import_pid(key, [other.pid]) == 0
        assert other.ask(key) == ["0"]
        assert other.listen() == ["1", "2", "3", "4"]
        assert other.ask("write") == [str(PARAM_INVALID)]  # one import per process and key
        assert read_block(block, 4).tolist() == [5, 6, 7, 8]
        assert other.ask("close") == ["0", str(PARAM_INVALID), str(PARAM_INVALID)]
    assert acl.rt.ipc_mem_close(key) == 0
    assert acl.rt.free(block) == 0


def test_a_process_that_was_not_let_in_is_refused():
    block = new_block([1, 2, 3, 4])
    key, ret = acl.rt.ipc_mem_get_export_key(block, 4, KEY_BYTES, 0)
    assert ret == 0
    assert acl.rt.ipc_mem_set_import_pid(key, [1]) == 0
    with Other(IMPORTER) as other:
        assert other.ask(key) == [str(NO_PERMISSION)]
    assert acl.rt.free(block) == 0


def test_without_the_check_every_process_of_the_user_may_import():
    block = new_block([9, 9, 9, 9])
    key, ret = acl.rt.ipc_mem_get_export_key(block, 4, KEY_BYTES, DISABLE_PID_CHECK)
    assert ret == 0
    with Other(IMPORTER) as other:
        assert other.ask(key) == ["0"]
        assert other.listen() == ["9", "9", "9", "9"]
        other.ask("write")
        other.ask("close")
    assert acl.rt.free(block) == 0


def test_a_key_ends_with_close_and_with_free():
    block = new_block([1, 2, 3, 4])
    key, _ = acl.rt.ipc_mem_get_export_key(block, 4, KEY_BYTES, DISABLE_PID_CHECK)
    assert acl.rt.ipc_mem_close(key) == 0
    with Other(IMPORTER) as other:
        assert other.ask(key) == [str(PARAM_INVALID)]
    again, ret = acl.rt.ipc_mem_get_export_key(block, 4, KEY_BYTES, DISABLE_PID_CHECK)
    assert ret == 0 and again != key
    assert acl.rt.free(block) == 0
    with Other(IMPORTER) as other:
        assert other.ask(again) == [str(PARAM_INVALID)]


def test_the_memory_outlives_its_exporter():
    with Other("""
        data = np.array([3, 1, 4, 1], dtype=np.uint8)
        block, ret = acl.rt.malloc(4, 0)
        assert acl.rt.memcpy(block, 4, data.ctypes.data, 4, 1) == 0
        say(acl.rt.ipc_mem_get_export_key(block, 4, 65, 1)[0])
        line()
    """) as other:
        key, = other.listen()
        block, ret = acl.rt.ipc_mem_import_by_key(key, 0)
        assert ret == 0
    assert read_block(block, 4).tolist() == [3, 1, 4, 1]
    assert acl.rt.ipc_mem_close(key) == 0


@pytest.mark.parametrize("key", ["", "x", "anynpu-memory-1-1-1", "anynpu-memory-0-0-0", "k" * 64,
                                 "anynpu-memory-{pid}-0-0000000000000001"])
def test_wrong_keys_are_refused(key):
    key = key.format(pid=os.getpid())
    assert acl.rt.ipc_mem_import_by_key(key, 0)[1] in (PARAM_INVALID, NO_PERMISSION)
    assert acl.rt.ipc_mem_close(key) == PARAM_INVALID
    assert acl.rt.ipc_mem_set_import_pid(key, [1]) == PARAM_INVALID
    assert acl.get_recent_err_msg()


def test_wrong_exports_are_refused():
    block = new_block([1, 2, 3, 4])
    for address, size, room, flags in [(0, 4, 65, 0), (block + 64, 4, 65, 0), (block, 0, 65, 0),
                                       (block, 1 << 40, 65, 0), (block, 4, 64, 0),
                                       (block, 4, 65, 7)]:
        assert acl.rt.ipc_mem_get_export_key(address, size, room, flags)[1] == PARAM_INVALID
    assert acl.rt.free(block) == 0


def test_physical_memory_travels_as_a_number():
    prop = {"handleType": 0, "allocationType": 0, "memAttr": 5,
            "location": {"id": 0, "type": 1}, "reserve": 0}
    handle, ret = acl.rt.malloc_physical(4096, prop, 0)
    assert ret == 0
    address, ret = acl.rt.reserve_mem_address(4096, 0, 0, 0)
    assert ret == 0 and acl.rt.map_mem(address, 4096, 0, handle, 0) == 0
    data = np.arange(4, dtype=np.uint8)
    assert acl.rt.memcpy(address, 4, data.ctypes.data, 4, HOST_TO_DEVICE) == 0
    number, ret = acl.rt.mem_export_to_shareable_handle(handle, 0, 0)
    assert ret == 0
    with Other("""
        number = int(line())
        say(acl.rt.mem_import_from_shareable_handle(number, 0)[1])
        line()
        handle, ret = acl.rt.mem_import_from_shareable_handle(number, 0)
        address, _ = acl.rt.reserve_mem_address(4096, 0, 0, 0)
        assert acl.rt.map_mem(address, 4096, 0, handle, 0) == 0
        data = np.zeros(4, dtype=np.uint8)
        assert acl.rt.memcpy(data.ctypes.data, 4, address, 4, 2) == 0
        say(ret, *data)
        assert acl.rt.unmap_mem(address) == 0 and acl.rt.release_mem_address(address) == 0
        assert acl.rt.free_physical(handle) == 0
    """) as other:
        assert other.ask(number) == [str(NO_PERMISSION)]
        assert acl.rt.mem_set_pid_to_shareable_handle(number, [other.pid]) == 0
        assert other.ask("again") == ["0", "0", "1", "2", "3"]
    assert acl.rt.mem_import_from_shareable_handle(number ^ 1, 0)[1] == PARAM_INVALID
    assert acl.rt.mem_set_pid_to_shareable_handle(number ^ 1, [1]) == PARAM_INVALID
    assert acl.rt.unmap_mem(address) == 0
    assert acl.rt.release_mem_address(address) == 0
    assert acl.rt.free_physical(handle) == 0


def test_streams_of_two_processes_signal_each_other():
    ping, ret = acl.rt.create_notify(0)
    assert ret == 0
    pong, ret = acl.rt.create_notify(0)
    assert ret == 0
    stream, ret = acl.rt.create_stream()
    assert ret == 0
    keys = [acl.rt.notify_get_export_key(n, KEY_BYTES, 0)[0] for n in (ping, pong)]
    with Other("""
        ping, pong = line().split()
        refused = acl.rt.notify_import_by_key(ping, 0)[1]
        say(refused)
        line()
        ping, _ = acl.rt.notify_import_by_key(ping, 0)
        pong, _ = acl.rt.notify_import_by_key(pong, 0)
        stream, _ = acl.rt.create_stream()
        say(acl.rt.wait_and_reset_notify(ping, stream, 10000), acl.rt.record_notify(pong, stream))
        say(acl.rt.synchronize_stream(stream))
    """) as other:
        assert other.ask(*keys) == [str(NO_PERMISSION)]
        for notify in (ping, pong):
            assert acl.rt.notify_set_import_pid(notify, [other.pid]) == 0
        assert other.ask("go") == ["0", "0"]
        assert acl.rt.record_notify(ping, stream) == 0
        assert acl.rt.wait_and_reset_notify(pong, stream, 10000) == 0
        assert acl.rt.synchronize_stream(stream) == 0
        assert other.listen() == ["0"]
    for notify in (ping, pong):
        assert acl.rt.destroy_notify(notify) == 0
    assert acl.rt.destroy_stream(stream) == 0
