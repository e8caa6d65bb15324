# SPDX-License-Identifier: Apache-2.0
"""acl.util.start_thread and stop_thread."""
import os
import signal
import subprocess
import sys
import threading

import pytest

import acl
from acl import util


def test_thread_runs_the_function_with_the_list_as_its_one_argument():
    seen = []
    thread, ret = util.start_thread(lambda arguments: seen.append(arguments), [1, "two"])
    assert ret == 0 and thread > 0
    assert util.stop_thread(thread) == 0
    assert seen == [[1, "two"]]


def test_thread_id_is_that_of_the_running_thread():
    seen = []
    thread, _ = util.start_thread(lambda _: seen.append(threading.get_ident()), [])
    util.stop_thread(thread)
    assert seen == [thread]


def test_stop_waits_for_the_end_and_lets_other_threads_run():
    go, done = threading.Event(), []
    thread, _ = util.start_thread(lambda _: (go.wait(), done.append(1)), [])
    threading.Timer(0.02, go.set).start()
    assert util.stop_thread(thread) == 0
    assert done == [1]


def test_unknown_stopped_and_own_threads_are_refused():
    assert util.stop_thread(0) != 0
    assert "acl.util.stop_thread" in acl.get_recent_err_msg()
    assert util.stop_thread(12345) != 0
    thread, _ = util.start_thread(lambda _: None, [])
    assert util.stop_thread(thread) == 0
    assert util.stop_thread(thread) != 0
    seen = []
    thread, _ = util.start_thread(lambda _: seen.append(util.stop_thread(threading.get_ident())), 0)
    assert util.stop_thread(thread) == 0
    assert seen[0] != 0


def test_exception_in_the_function_is_reported_and_ends_the_thread(monkeypatch):
    reported = []
    monkeypatch.setattr(sys, "unraisablehook", lambda info: reported.append(info.exc_value))

    def fail(_):
        raise ValueError("from the thread")

    thread, _ = util.start_thread(fail, [])
    assert util.stop_thread(thread) == 0
    assert [str(e) for e in reported] == ["from the thread"]


def test_references_are_dropped_when_the_thread_ends():
    class Marker:
        pass

    marker = Marker()
    before = sys.getrefcount(marker)
    for _ in range(20):
        thread, _ = util.start_thread(lambda _: None, marker)
        util.stop_thread(thread)
    assert sys.getrefcount(marker) == before


def test_wrong_arguments_are_refused_in_the_words_of_pyacl():
    with pytest.raises(TypeError, match="^parameter must be callable$"):
        util.start_thread(5, [])
    for arguments in ([], [print], [print, [], 0]):
        with pytest.raises(TypeError) as error:
            util.start_thread(*arguments)
        assert str(error.value) == ("function takes exactly 2 arguments "
                                    f"({len(arguments)} given)")


def test_ctrl_c_ends_stop_thread_and_the_thread_can_be_stopped_again():
    go = threading.Event()
    thread, _ = util.start_thread(lambda _: go.wait(), [])
    with pytest.raises(KeyboardInterrupt):
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
        util.stop_thread(thread)
    go.set()
    assert util.stop_thread(thread) == 0


def test_process_ends_while_a_thread_still_runs():
    program = """
import threading, time
from acl import util
runs = threading.Event()
def loop(_):
    while True:
        runs.set()
        time.sleep(0.001)
util.start_thread(loop, [])
runs.wait()
print("end")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=300)
    assert done.returncode == 0 and done.stdout == b"end\n", done.stderr
