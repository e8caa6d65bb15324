# SPDX-License-Identifier: Apache-2.0
"""What could not be recorded is counted, and everyone who shows a profile says how many events
are missing. At most 256 threads can record at once: a crowd of more loses the rest for certain."""
import os
import re
import subprocess
import sys
import textwrap

from build_tree import SUPPORT
from prof_case import API, directory, make_model, one, session

import acl

MOST_THREADS = 256
CROWD = 300

HEAD = f"""
    import os, threading
    import acl
    import numpy as np

    def crowd(work):
        '''Calls work in {CROWD} threads, which all live until the last has done it.'''
        done = threading.Barrier({CROWD})
        def one():
            work()
            done.wait()
        threads = [threading.Thread(target=one) for _ in range({CROWD})]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert acl.init() == 0
    assert acl.rt.set_device(0) == 0
"""
TAIL = """
    assert acl.rt.reset_device(0) == 0
    assert acl.finalize() == 0
"""


def run(folder, body, *before):
    """Runs a program with its log on stderr."""
    (folder / "app.py").write_text(textwrap.dedent(HEAD + body + TAIL))
    done = subprocess.run(
        [*before, sys.executable, str(folder / "app.py")], cwd=folder, capture_output=True,
        text=True, timeout=300,
        env={**os.environ, "PYTHONPATH": os.environ["PYTHONPATH"] + os.pathsep + SUPPORT,
             "ANYNPU_VERBOSE": "log", "ASCEND_GLOBAL_LOG_LEVEL": "2"})
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def calls_in(path, name):
    from anynpu.msprof.recording import read_recording
    recording = read_recording(path)
    return [recording.name(n) for n in recording.of("api")["name"]].count(name), recording.lost


def test_msprof_and_the_log_say_how_many_events_were_lost(tmp_path):
    done = run(tmp_path, "    crowd(acl.rt.get_device)\n", "msprof", f"--output={tmp_path}")
    path = directory(tmp_path)
    kept, lost = calls_in(path, "aclrtGetDevice")
    assert lost == CROWD - kept >= CROWD - MOST_THREADS
    assert f"profiling: {lost} events were lost, because " in done.stderr
    assert f"{lost} events were lost while recording, because " in done.stdout
    readme = open(one(path, "README.txt")).read()
    assert f"lost while recording: {lost}." in readme and f"{lost} events were lost" in readme
    done = subprocess.run(["msprof", "--parse=on", f"--output={path}"], capture_output=True,
                          text=True, timeout=300)
    assert f" events, {lost} lost." in done.stdout
    from anynpu.report.lanes import open_source
    from anynpu.report.page import page_data
    assert page_data(open_source(path))["lost"] == lost


def test_the_profiler_of_mindspore_says_how_many_events_were_lost(tmp_path):
    done = run(tmp_path, """
    from anynpu.profiler import (ProfilerLevel, _ExperimentalConfig, profile,
                                 tensorboard_trace_handler)
    calls = _ExperimentalConfig(profiler_level=ProfilerLevel.Level1)
    with profile(experimental_config=calls, on_trace_ready=tensorboard_trace_handler("data")):
        crowd(acl.rt.get_device)
""")
    [path] = (tmp_path / "data").glob("*_ascend_ms")
    kept, lost = calls_in(directory(path), "aclrtGetDevice")
    assert lost == CROWD - kept >= CROWD - MOST_THREADS
    assert f"profiling: {lost} events were lost, because " in done.stderr
    assert f"{lost} events were lost while recording, because " in done.stderr


SUBSCRIBED = """
    from model_datasets import Model
    model = Model({model!r})
    model.feed(np.ones([1, 3, 32, 32], np.float32))
    lock = threading.Lock()
    size, _ = acl.prof.get_op_desc_size()
    def execute():
        assert acl.rt.set_device(0) == 0
        with lock:
            assert model.execute() == 0
    def subscribed(write_end, work):
        config = acl.prof.create_subscribe_config(1, 0xFF, write_end)
        assert acl.prof.model_subscribe(model.id, config) == 0
        work()
        assert acl.prof.model_unsubscribe(model.id) == 0
        assert acl.prof.destroy_subscribe_config(config) == 0
    read_end, write_end = os.pipe()
    subscribed(write_end, execute)
    operators = len(os.read(read_end, 100 * size)) // size
    os.close(read_end)
    read_end, write_end = os.pipe()
"""


def test_a_subscription_says_how_many_events_were_lost(tmp_path):
    done = run(tmp_path, SUBSCRIBED.format(model=make_model(tmp_path)) + """
    records = []
    def read():
        while data := os.read(read_end, size):
            records.append(data)
    reader = threading.Thread(target=read)
    reader.start()
    subscribed(write_end, lambda: crowd(execute))
    reader.join()
    print("counted", len(records), operators)
    model.close()
""")
    records, operators = map(int, re.search(r"counted (\d+) (\d+)", done.stdout).groups())
    missing = CROWD - records // operators
    told = sum(map(int, re.findall(r"model subscriptions miss (\d+) events of threads beyond the "
                                   "256 that", done.stderr)))
    assert records % operators == 0 and missing >= CROWD - MOST_THREADS
    assert told % missing == 0 and told // missing > operators  # those and the execution


def test_a_subscription_whose_reader_has_gone_says_how_many_operators_were_not_written(tmp_path):
    done = run(tmp_path, SUBSCRIBED.format(model=make_model(tmp_path)) + """
    os.close(read_end)
    subscribed(write_end, lambda: [execute() for _ in range(5)])
    print("counted", operators)
    model.close()
""")
    operators = int(re.search(r"counted (\d+)", done.stdout)[1])
    assert "is given up: it has no reader" in done.stderr
    assert f"was closed without {5 * operators} operators" in done.stderr


def test_nothing_is_said_where_nothing_was_lost(device_0, tmp_path):
    with session(tmp_path, API):
        acl.rt.get_device()
    path = directory(tmp_path)
    done = subprocess.run(["msprof", "--export=on", f"--output={path}"], capture_output=True,
                          text=True, check=True, timeout=300)
    assert "lost" not in done.stdout
    readme = open(one(path, "README.txt")).read()
    assert "lost while recording: 0." in readme and "events were lost" not in readme
