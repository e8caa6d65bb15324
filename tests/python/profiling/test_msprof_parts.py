# SPDX-License-Identifier: Apache-2.0
"""msprof on a part of a program: after a delay, for a duration, by hand, and on a process that runs
already; and on the system without a program."""
import glob
import os
import shutil
import subprocess
import sys
import textwrap
import time

import pytest
from build_tree import SUPPORT
from prof_case import make_model, one, table

from anynpu.msprof.recording import read_recording

# Executes a model about every 20 ms until the file `end` is there, or for `seconds`, and notes when
# each execution began and ended.
PROGRAM = """
    import os, sys, time
    sys.path.insert(0, {tests!r})
    import numpy as np
    import acl
    from model_datasets import Model
    assert acl.init() == 0
    assert acl.rt.set_device(0) == 0
    print("init", acl.prof.init("/tmp/nowhere"), flush=True)
    model = Model({model!r})
    model.feed(np.ones([1, 3, 32, 32], np.float32))
    begin, count, notes = time.monotonic(), 0, open({notes!r}, "w")
    while count < 5 or time.monotonic() - begin < {seconds} and not os.path.exists({end!r}):
        count += 1
        called = time.time_ns()
        assert model.execute() == 0
        print(called, time.time_ns(), file=notes, flush=True)
        time.sleep(0.02)
    model.close()
    assert acl.rt.reset_device(0) == 0
    assert acl.finalize() == 0
    print("ended", flush=True)
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("model"))


@pytest.fixture
def app(tmp_path, model):
    def write(seconds=600):
        path = tmp_path / "app.py"
        path.write_text(textwrap.dedent(PROGRAM).format(
            tests=SUPPORT, model=model, seconds=seconds,
            end=str(tmp_path / "end"), notes=str(tmp_path / "notes")))
        return str(path)

    return write


class Msprof:
    """A running msprof, whose lines are waited for."""

    def __init__(self, *arguments):
        self.text = ""
        self.process = subprocess.Popen(["msprof", *arguments], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        text=True)

    def type(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def wait_for(self, words):
        while words not in self.text:
            line = self.process.stdout.readline()
            assert line, f"ended without '{words}':\n{self.text}"
            self.text += line

    def end(self):
        self.text += self.process.communicate(timeout=300)[0]
        return self.process.returncode


def executions(path):
    return table(path, "step_trace")


def noted(folder):
    """(begin, end) of every execution so far, in ns since 1970."""
    try:
        lines = (folder / "notes").read_text().split("\n")[:-1]
    except FileNotFoundError:
        return []
    return [tuple(map(int, line.split())) for line in lines]


def wait_for_executions(folder, count=4):
    """Until so many more have ended."""
    before = len(noted(folder))
    while len(noted(folder)) < before + count:
        time.sleep(0.01)


def profiles(folder):
    return sorted(glob.glob(os.path.join(str(folder), "PROF_*")))


def cut_out(folder, app, duration):
    """Profiles for so many seconds after one; how many executions were recorded."""
    begin = time.time_ns()
    msprof = Msprof("--delay=1", f"--duration={duration}", f"--output={folder}", sys.executable,
                    app())
    msprof.wait_for("is not profiled any more.")
    wait_for_executions(folder)
    (folder / "end").write_text("")
    assert msprof.end() == 0, msprof.text
    assert "init 100042" in msprof.text and "ended" in msprof.text
    [path] = profiles(folder)
    assert not glob.glob(str(folder / "msprof_*"))
    recording = read_recording(path)
    assert recording.begin_ns - begin >= 1e9
    assert recording.end_ns - recording.begin_ns >= duration * 1e9
    calls = recording.of("api")
    calls = calls[[recording.name(n) == "aclmdlExecute" for n in calls["name"]]]
    if len(calls):  # none is missing from the first to the last, and the program went on
        first, last = calls["t"].min(), (calls["t"] + calls["duration"]).max()
        inside = [n for n in noted(folder) if n[1] > first - 1e6 and n[0] < last + 1e6]
        assert len(calls) == len(inside) < len(noted(folder))
    return len(calls)


def test_delay_and_duration_cut_out_a_part(tmp_path, app):
    """A busy machine may have no time for the program while it is profiled; then a longer part is
    cut out."""
    duration = 1
    while cut_out(tmp_path, app, duration) < 4:
        duration *= 2
        assert duration <= 64
        for left in [*profiles(tmp_path), tmp_path / "end", tmp_path / "notes"]:
            shutil.rmtree(left) if os.path.isdir(left) else os.remove(left)


def test_a_delay_longer_than_the_program_is_told(tmp_path, app):
    done = subprocess.run(["msprof", "--delay=60", f"--output={tmp_path}", sys.executable,
                           app(0.1)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 1 and "before the delay of 60 s" in done.stdout
    assert profiles(tmp_path) == []


def test_start_stop_and_quit_by_hand(tmp_path, app):
    msprof = Msprof("--dynamic=on", f"--output={tmp_path}", sys.executable, app())
    msprof.wait_for("type start, stop or quit")
    msprof.type("stop")
    msprof.wait_for("type start first")
    msprof.type("begin")
    msprof.wait_for("'begin' is no command; expected start, stop or quit")
    for number in (1, 2):
        msprof.type("start")
        msprof.wait_for("is being profiled.")
        msprof.type("start")
        msprof.wait_for("type stop first")
        wait_for_executions(tmp_path)
        msprof.text = ""
        msprof.type("stop")
        msprof.wait_for("done.")
        assert len(profiles(tmp_path)) == number
    msprof.type("quit")
    (tmp_path / "end").write_text("")
    assert msprof.end() == 0, msprof.text
    assert "ended" in msprof.text and "Data is saved in" in msprof.text
    assert all(len(executions(path)) > 2 for path in profiles(tmp_path))


def test_a_program_that_ends_while_it_is_collected_keeps_its_data(tmp_path, app):
    msprof = Msprof("--dynamic=on", f"--output={tmp_path}", sys.executable, app())
    msprof.type("start")  # before acl.init: starts with it
    msprof.wait_for("is being profiled.")
    wait_for_executions(tmp_path)
    (tmp_path / "end").write_text("")
    msprof.wait_for("The program ended with 0")
    assert msprof.end() == 0, msprof.text
    [path] = profiles(tmp_path)
    assert executions(path) and "200006" in msprof.text


@pytest.fixture
def running(tmp_path, app):
    process = subprocess.Popen([sys.executable, app()], stdout=subprocess.PIPE, text=True,
                               env={**os.environ, "PROFILING_MODE": "dynamic"})
    assert process.stdout.readline() == "init 200006\n"
    yield process
    (tmp_path / "end").write_text("")
    assert process.wait() == 0


def test_attaches_to_a_process_and_leaves_it_running(tmp_path, running):
    for _ in range(2):
        msprof = Msprof("--dynamic=on", f"--pid={running.pid}", f"--output={tmp_path}")
        msprof.wait_for("type start, stop or quit")
        msprof.type("start")
        msprof.wait_for("is being profiled.")
        second = subprocess.run(["msprof", "--dynamic=on", f"--pid={running.pid}",
                                 f"--output={tmp_path}"], input="", capture_output=True, text=True)
        assert second.returncode == 1 and "by another msprof" in second.stdout
        wait_for_executions(tmp_path)
        msprof.type("quit")
        assert msprof.end() == 0, msprof.text
        assert running.poll() is None
    assert [len(executions(p)) > 2 for p in profiles(tmp_path)] == [True, True]
    assert not glob.glob(str(tmp_path / "msprof_*"))


def test_a_killed_msprof_ends_its_collection_and_not_the_program(tmp_path, running):
    msprof = Msprof("--dynamic=on", f"--pid={running.pid}", f"--output={tmp_path}")
    msprof.type("start")
    msprof.wait_for("is being profiled.")
    msprof.process.kill()
    msprof.process.communicate()
    [own] = glob.glob(str(tmp_path / "msprof_*" / "PROF_*"))
    while not os.path.exists(own + "/host/end_info"):
        time.sleep(0.02)
    assert running.poll() is None


def test_an_output_that_cannot_be_written_is_told_and_the_program_goes_on(tmp_path, running):
    msprof = Msprof("--dynamic=on", f"--pid={running.pid}", f"--output={tmp_path}")
    msprof.wait_for("type start, stop or quit")
    [own] = glob.glob(str(tmp_path / "msprof_*"))
    os.rmdir(own)
    with open(own, "w"):
        pass  # a file in the folder's place
    msprof.type("start")
    msprof.wait_for("is no folder; choose a folder")
    os.remove(own)
    msprof.type("quit")
    msprof.end()
    assert running.poll() is None


def test_processes_that_cannot_be_attached_are_named(tmp_path):
    sleeper = subprocess.Popen(["sleep", "600"])
    try:
        for pid, words in ((4194304, "there is no such process"),
                           (sleeper.pid, "start it with PROFILING_MODE=dynamic")):
            done = subprocess.run(["msprof", "--dynamic=on", f"--pid={pid}",
                                   f"--output={tmp_path}"], input="", capture_output=True,
                                  text=True)
            assert done.returncode == 1 and words in done.stdout
    finally:
        sleeper.kill()
        sleeper.wait()
    assert os.listdir(tmp_path) == []


def test_the_system_is_collected_without_a_program(tmp_path):
    done = subprocess.run(["msprof", "--sys-devices=all", "--sys-period=1", "--sys-profiling=on",
                           "--sys-pid-profiling=on", "--sys-sampling-freq=10",
                           f"--output={tmp_path}"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    [path] = profiles(tmp_path)
    mine = [r for r in table(path, "process_mem") if r["PID"] == str(os.getpid())]
    assert len(mine) == 1 and int(mine[0]["Resident(pages)"]) > 1000
    assert {"Avg", "0"} <= {r["Cpu Type"] for r in table(path, "cpu_usage")}
    shares = [float(r["CPU(%)"]) for r in table(path, "process_cpu_usage")]
    assert all(0 <= s <= 100 for s in shares)
    assert one(path, "sys_mem_*.csv")


def test_one_process_is_sampled(tmp_path):
    done = subprocess.run(["msprof", "--host-sys=mem,cpu", f"--host-sys-pid={os.getpid()}",
                           "--sys-period=1", f"--output={tmp_path}"], capture_output=True,
                          text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    [path] = profiles(tmp_path)
    assert {r["PID"] for r in table(path, "process_mem")} == {str(os.getpid())}
