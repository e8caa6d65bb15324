# SPDX-License-Identifier: Apache-2.0
"""Profiles that cannot be written: a full disk (a small one of memory, and a limit on the size of
files, which needs no rights), a path that is too long, a folder that goes away. The program goes
on, the code and the sentence are the documented ones, and no half-written file is left."""
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
from anynpu.whole_file import MARK

# $1 bytes, $2 the disk, $3 where what is on it stays, then the command
MOUNTED = """room=$1; disk=$2; kept=$3; shift 3
             cp -a "$disk/." "$kept" && mount -t tmpfs -o size="$room" none "$disk" || exit 99
             cp -a "$kept/." "$disk" || exit 99
             "$@"; code=$?; rm -rf "$kept"; cp -a "$disk" "$kept"; exit $code"""


def can_mount():
    try:
        command = ["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt"]
        return subprocess.run(command, capture_output=True, timeout=300).returncode == 0
    except OSError:
        return False


DISKS = ["limit", "tmpfs"] if can_mount() else ["limit"]
ROOM = 1 << 20  # less than may wait to be written: fills up however seldom that is done
REASONS = {"limit": "File too large", "tmpfs": "No space left on device"}


def run_on(kind, disk, room, command):
    """Runs a command while the folder `disk` is a disk with `room` bytes (or no file may become
    larger); what it left there is in the folder afterwards."""
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

    if kind == "limit":
        return subprocess.run(command, capture_output=True, text=True, timeout=300,
                              preexec_fn=limit)
    kept = f"{disk}.kept"
    os.makedirs(kept)
    done = subprocess.run(["unshare", "-rm", "sh", "-c", MOUNTED, "sh", str(room), str(disk), kept,
                           *command], capture_output=True, text=True, timeout=300)
    assert done.returncode != 99, done.stderr
    shutil.rmtree(disk)
    os.rename(kept, disk)
    return done


PROGRAM = """
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


def run(kind, disk, room, marks=60000):
    text = textwrap.dedent(PROGRAM).format(folder=str(disk), marks=marks)
    done = run_on(kind, disk, room, [sys.executable, "-c", text])
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def disk(tmp_path):
    (tmp_path / "disk").mkdir()
    return tmp_path / "disk"


@pytest.mark.parametrize("kind", DISKS)
def test_a_disk_that_fills_up_is_told_at_stop_and_what_was_written_exports(disk, kind):
    from anynpu.msprof.export import export
    from anynpu.msprof.recording import read_recording
    text = run(kind, disk, ROOM)
    assert text.startswith("0 500005 ") and REASONS[kind] in text and "free space" in text
    path = directory(disk)
    recording = read_recording(path)
    assert recording.problems == [] and 1000 < len(recording.events) < 120000
    export(path)
    assert glob.glob(os.path.join(path, "**", f"*{MARK}*"), recursive=True) == []


@pytest.mark.parametrize("kind", DISKS)
def test_a_disk_that_is_full_is_told_at_start_and_nothing_is_left(disk, kind):
    room = 16
    if kind == "tmpfs":
        room = 64 << 10
        (disk / "full").write_bytes(bytes(room))
    text = run(kind, disk, room)
    assert text.startswith("100003 None ") and "cannot write" in text and REASONS[kind] in text
    assert set(os.listdir(disk)) <= {"full"}


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


@pytest.mark.parametrize("kind", DISKS)
@pytest.mark.parametrize("command", [
    ["msprof", "--export=on", "--output={path}"],
    ["msprof", "--export=on", "--type=db", "--output={path}"],
    ["anynpu", "report", "{path}", "-o", "{out}/report.html"],
    ["anynpu", "report", "{path}", "--perfetto", "{out}/trace.json"],
    ["anynpu", "report", "{path}", "--speedscope", "{out}/stacks.json"],
    ["anynpu", "report", "{path}", "--csv", "{out}/tables"],
])
def test_an_export_onto_a_full_disk_leaves_no_half_written_file(recorded, disk, command, kind):
    path = disk / os.path.basename(recorded)
    shutil.copytree(recorded, path)
    before = {p: os.path.getsize(p) for p in glob.glob(str(path / "**"), recursive=True)}
    used = sum(os.path.getsize(p) + 4095 & ~4095 for p in before if os.path.isfile(p))
    small = "--csv" in command or "--speedscope" in command
    room = {"limit": 20 if small else 100000, "tmpfs": used + (0 if small else 32 << 10)}[kind]
    done = run_on(kind, disk, room, [part.format(path=path, out=disk) for part in command])
    assert done.returncode == 1, done.stdout + done.stderr
    assert str(disk) in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    after = {p: os.path.getsize(p) for p in glob.glob(str(disk / "**"), recursive=True)
             if os.path.isfile(p)}
    made = set(after) - set(before)
    assert not [p for p in made if p.endswith((".html", ".db", "trace.json")) or MARK in p], made
    assert all(after[p] > 0 for p in made)
    assert {p: after[p] for p in before if p in after} == {p: before[p] for p in before
                                                          if p in after}


MINDSPORE = """
    from anynpu.profiler import profile, tensorboard_trace_handler
    ready = tensorboard_trace_handler({folder!r})
    with profile(on_trace_ready=ready, profile_memory=True):
        import acl
        assert acl.init() == 0
        assert acl.rt.set_device(0) == 0
        for _ in range(40000):
            memory, ret = acl.rt.malloc(64, 0)
            assert ret == 0 and acl.rt.free(memory) == 0
        assert acl.rt.reset_device(0) == 0
        assert acl.finalize() == 0
    print("ended")
"""


@pytest.mark.parametrize("kind", DISKS)
def test_a_disk_that_fills_up_under_mindspore_profiler_does_not_end_the_program(disk, kind):
    text = textwrap.dedent(MINDSPORE).format(folder=str(disk))
    done = run_on(kind, disk, 1 << 20, [sys.executable, "-c", text])
    assert done.returncode == 0 and done.stdout == "ended\n", done.stderr
    assert REASONS[kind] in done.stderr and "the program goes on" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("kind", DISKS)
def test_a_disk_that_fills_up_under_msprof_does_not_end_the_program(disk, kind):
    text = "import acl\nassert acl.init() == 0\nassert acl.rt.set_device(0) == 0\n" \
        "for _ in range(60000):\n    acl.rt.get_device()\n" \
        "assert acl.rt.reset_device(0) == 0\nassert acl.finalize() == 0\nprint('ended')\n"
    done = run_on(kind, disk, 1 << 20, ["msprof", f"--output={disk}", sys.executable, "-c", text])
    assert "ended" in done.stdout and "Traceback" not in done.stderr, done.stdout + done.stderr
    assert f"the profile is not whole: '{disk}" in done.stderr and REASONS[kind] in done.stderr


def test_a_path_that_is_too_long_is_told(device_0, tmp_path):
    assert acl.prof.init(str(tmp_path / ("x" * 300))) == 0
    config = acl.prof.create_config([0], 0, 0, API)
    assert acl.prof.start(config) == 100003
    assert "File name too long" in acl.get_recent_err_msg()
    assert acl.prof.finalize() == 0
    assert acl.prof.init("/" + "y" * 4096) == 100000


@pytest.mark.parametrize("command", [
    ["msprof", "--output={path}", "true"],
    ["anynpu", "report", "{recorded}", "-o", "{path}.html"],
    ["anynpu", "report", "{recorded}", "--csv", "{path}"],
])
@pytest.mark.parametrize("path, reason", [("{tmp}/" + "x" * 300, "File name too long"),
                                          ("{tmp}/file/below", "Not a directory"),
                                          ("/proc/nowhere/x", "No such file")])
def test_commands_say_where_they_cannot_write(recorded, tmp_path, command, path, reason):
    (tmp_path / "file").write_text("")
    path = path.format(tmp=tmp_path)
    done = subprocess.run([c.format(recorded=recorded, path=path) for c in command],
                          capture_output=True, text=True, timeout=300)
    text = done.stdout + done.stderr
    assert done.returncode == 1 and reason in text and "; check the " in text, text
    assert os.path.dirname(path) in text and "Errno" not in text and "Traceback" not in text
    assert os.listdir(tmp_path) == ["file"]


def test_a_folder_that_goes_away_under_mindspore_profiler_is_told(device_0, tmp_path, caplog):
    from anynpu.profiler import profile, tensorboard_trace_handler
    tensorboard_trace_handler(str(tmp_path / "data"))
    running = profile()
    shutil.rmtree(tmp_path / "data")
    running.stop()
    assert "vanished" in caplog.text and "the program goes on" in caplog.text
    again = profile()  # the next one is not affected
    again.stop()
    assert len(os.listdir(tmp_path / "data")) == 1


@pytest.mark.parametrize("place, reason", [
    ("/proc/no/x", "No such file or directory"), ("{tmp}/file/below", "Not a directory"),
    ("{tmp}/" + "x" * 300, "File name too long"), ("/" + "y" * 5000, "File name too long")])
@pytest.mark.parametrize("steps", [False, True])
def test_a_folder_of_mindspore_profiler_that_cannot_be_written_is_told(
        device_0, tmp_path, caplog, place, reason, steps):
    from anynpu.profiler import profile, schedule, tensorboard_trace_handler
    (tmp_path / "file").write_text("")
    ready = tensorboard_trace_handler(place.format(tmp=tmp_path))
    plan = schedule(wait=0, warmup=1, active=1, repeat=2) if steps else None
    with profile(on_trace_ready=ready, with_stack=True, schedule=plan) as running:
        for _ in range(5):
            assert acl.rt.get_device()[1] == 0  # the program goes on
            if steps:
                running.step()
    assert running.directory is None
    assert reason in caplog.text and "; the program goes on" in caplog.text
    assert os.listdir(tmp_path) == ["file"]
    tensorboard_trace_handler(str(tmp_path / "good"))
    with profile():
        pass
    assert len(os.listdir(tmp_path / "good")) == 1


@pytest.mark.parametrize("kind", DISKS)
def test_a_disk_that_is_full_does_not_end_a_program_under_mindspore_profiler(disk, kind):
    room = 16
    if kind == "tmpfs":
        room = 64 << 10
        (disk / "full").write_bytes(bytes(room))
    text = textwrap.dedent(MINDSPORE).format(folder=str(disk))
    done = run_on(kind, disk, room, [sys.executable, "-c", text])
    assert done.returncode == 0 and done.stdout == "ended\n", done.stderr
    assert REASONS[kind] in done.stderr and "the program goes on" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_folder_that_goes_away_under_msprof_is_told(tmp_path):
    app = tmp_path / "app.py"
    app.write_text("import acl, glob, shutil\nassert acl.init() == 0\n"
                   f"[shutil.rmtree(p) for p in glob.glob('{tmp_path}/msprof_*')]\n"
                   "assert acl.finalize() == 0\nprint('ended')\n")
    done = subprocess.run(["msprof", f"--output={tmp_path}", sys.executable, str(app)],
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 1 and "ended" in done.stdout
    assert "vanished" in done.stderr and "Traceback" not in done.stderr
