# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C ends a program in whatever call it waits: KeyboardInterrupt, and a quick end."""
import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

# A stream that nothing frees: a blocking callback for a thread that never takes it.
PROGRAM = """
import sys
import threading
import acl
acl.init()
acl.rt.set_device(0)
stream, _ = acl.rt.create_stream()
event, _ = acl.rt.create_event()
memory, _ = acl.rt.malloc(64, 0)
acl.rt.subscribe_report(1, stream)
acl.rt.launch_callback(print, 0, 1, stream)
acl.rt.record_event(event, stream)
acl.rt.memset_async(memory, 64, 0, 64, stream)
never = threading.Event()
try:
    print("ready", flush=True)
    {call}
    print("returned")
except KeyboardInterrupt:
    print("interrupted", flush=True)
    {after}
"""

CALLS = [
    "acl.rt.synchronize_stream(stream)",
    "acl.rt.synchronize_stream_with_timeout(stream, 100000)",
    "acl.rt.synchronize_event(event)",
    "acl.rt.synchronize_event_with_timeout(event, 100000)",
    "acl.rt.synchronize_device()",
    "acl.rt.process_report(-1)",
    "acl.util.stop_thread(acl.util.start_thread(lambda _: never.wait(), [])[0])",
]


def interrupt(call, after="pass"):
    text = textwrap.dedent(PROGRAM).format(call=call, after=after)
    program = subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    assert program.stdout.readline() == "ready\n"
    time.sleep(0.01)  # into the call; a signal before it raises just the same
    program.send_signal(signal.SIGINT)
    line = program.stdout.readline()  # a call that goes on waiting is ended by the tests' time-out
    # communicate() would lose what readline() has read ahead.
    out, err = program.stdout.read(), program.stderr.read()
    assert line == "interrupted\n", line + out + err
    assert program.wait() == 0, f"{program.returncode} {out} {err}"
    return out


@pytest.mark.parametrize("call", CALLS)
def test_ctrl_c_interrupts(call):
    interrupt(call)


def test_the_library_goes_on_after_ctrl_c():
    out = interrupt("acl.rt.synchronize_stream(stream)", after=(
        "print(acl.rt.destroy_stream_force(stream), acl.rt.synchronize_device(),"
        " acl.rt.reset_device(0), acl.finalize())"))
    assert out == "0 0 0 0\n"


def test_a_handler_of_the_program_is_run_and_the_wait_goes_on():
    text = textwrap.dedent("""
        import signal
        import threading
        import acl
        acl.init()
        acl.rt.set_device(0)
        stream, _ = acl.rt.create_stream()
        release = threading.Event()
        seen = []
        signal.signal(signal.SIGUSR1, lambda *_: (seen.append(1), release.set()))
        def serve(_):
            while acl.rt.process_report(1000) != 0:
                pass
        thread, _ = acl.util.start_thread(serve, [])
        acl.rt.subscribe_report(thread, stream)
        acl.rt.launch_callback(lambda _: release.wait(), 0, 1, stream)
        print("ready", flush=True)
        print(acl.rt.synchronize_stream(stream), seen)
        """)
    program = subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True)
    assert program.stdout.readline() == "ready\n"
    os.kill(program.pid, signal.SIGUSR1)
    assert program.stdout.read() == "0 [1]\n" and program.wait() == 0
