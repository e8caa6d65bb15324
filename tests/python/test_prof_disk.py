# SPDX-License-Identifier: Apache-2.0
"""Profiles that cannot be written: a full disk (a limit on the size of files stands for it), a path
that is too long, a folder that goes away. The program goes on, the code and the sentence are the
documented ones, and no half-written file is left."""
import glob
import os
import resource
import shutil
import signal
import subprocess
import sys
import textwrap

import pytest
from prof_case import API, TX, directory, session

import acl

PROGRAM = """
    import resource, signal, sys
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
    import acl
    assert acl.init() == 0
    assert acl.rt.set_device(0) == 0
    assert acl.prof.init({folder!r}) == 0
    config = acl.prof.create_config([0], 0, 0, 0x81)
    started = acl.prof.start(config)
    sentence, stopped = acl.get_recent_err_msg(), None
    if started == 0:
        stamp = acl.prof.create_stamp()
        acl.prof.set_stamp_trace_message(stamp, "mark", 4)
        for _ in range({marks}):
            assert acl.prof.mark(stamp) == 0
        acl.prof.destroy_stamp(stamp)
        stopped = acl.prof.stop(config)
        sentence = acl.get_recent_err_msg()
    memory, ret = acl.rt.malloc(64, 0)
    assert ret == 0  # the program goes on
    assert acl.prof.finalize() == 0
    assert acl.rt.reset_device(0) == 0
    assert acl.finalize() == 0
    print(started, stopped, sentence)
"""


def run(folder, limit, marks=60000):
    text = textwrap.dedent(PROGRAM).format(folder=str(folder), limit=limit, marks=marks)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_disk_that_fills_up_is_told_at_stop_and_what_was_written_exports(tmp_path):
    from anynpu.msprof.export import export
    from anynpu.msprof.recording import read_recording
    text = run(tmp_path, 3 << 20)
    assert text.startswith("0 500005 ") and "File too large" in text and "free space" in text
    path = directory(tmp_path)
    recording = read_recording(path)
    assert recording.problems == [] and 1000 < len(recording.events) < 120000
    export(path)
    assert glob.glob(os.path.join(path, "**", "*.partial"), recursive=True) == []


def test_a_disk_that_is_full_is_told_at_start_and_nothing_is_left(tmp_path):
    text = run(tmp_path, 16)
    assert text.startswith("100003 None ") and "cannot be written" in text
    assert os.listdir(tmp_path) == []


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recorded")
    assert acl.init() == 0
    assert acl.rt.set_device(0) == 0
    with session(folder, API | TX):
        stamp = acl.prof.create_stamp()
        for _ in range(2000):
            assert acl.prof.mark(stamp) == 0
        acl.prof.destroy_stamp(stamp)
    assert acl.rt.reset_device(0) == 0
    assert acl.finalize() == 0
    return directory(folder)


def limit_files():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))


@pytest.mark.parametrize("command", [
    ["msprof", "--export=on", "--output={path}"],
    ["msprof", "--export=on", "--type=db", "--output={path}"],
    ["anynpu", "report", "{path}", "-o", "{out}/report.html"],
    ["anynpu", "report", "{path}", "--perfetto", "{out}/trace.json"],
])
def test_an_export_onto_a_full_disk_leaves_no_half_written_file(recorded, tmp_path, command):
    path = tmp_path / os.path.basename(recorded)
    shutil.copytree(recorded, path)
    before = {p: os.path.getsize(p) for p in glob.glob(str(path / "*" / "data" / "*"))}
    done = subprocess.run([part.format(path=path, out=tmp_path) for part in command],
                          capture_output=True, text=True, timeout=60, preexec_fn=limit_files)
    assert done.returncode == 1
    assert str(tmp_path) in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    for pattern in ("*.html*", "trace.json*", "PROF_*/*.db*",
                    "PROF_*/mindstudio_profiler_output/msprof_*.json*"):
        assert glob.glob(str(tmp_path / pattern)) == []
    assert before == {p: os.path.getsize(p) for p in before}


def test_a_path_that_is_too_long_is_told(device_0, tmp_path):
    assert acl.prof.init(str(tmp_path / ("x" * 300))) == 0
    config = acl.prof.create_config([0], 0, 0, API)
    assert acl.prof.start(config) == 100003
    assert "File name too long" in acl.get_recent_err_msg()
    assert acl.prof.finalize() == 0
    assert acl.prof.init("/" + "y" * 4096) == 100000


def test_a_folder_that_goes_away_under_mindspore_profiler_is_told(device_0, tmp_path):
    from anynpu.profiler import profile, tensorboard_trace_handler
    tensorboard_trace_handler(str(tmp_path / "data"))
    running = profile()
    shutil.rmtree(tmp_path / "data")
    with pytest.raises(RuntimeError, match="vanished"):
        running.stop()
    again = profile()  # the next one is not affected
    again.stop()
    assert len(os.listdir(tmp_path / "data")) == 1


def test_a_folder_that_goes_away_under_msprof_is_told(tmp_path):
    app = tmp_path / "app.py"
    app.write_text("import acl, glob, shutil\nassert acl.init() == 0\n"
                   f"[shutil.rmtree(p) for p in glob.glob('{tmp_path}/msprof_*')]\n"
                   "assert acl.finalize() == 0\nprint('ended')\n")
    done = subprocess.run(["msprof", f"--output={tmp_path}", sys.executable, str(app)],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "ended" in done.stdout
    assert "vanished" in done.stderr and "Traceback" not in done.stderr
