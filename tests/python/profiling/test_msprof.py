# SPDX-License-Identifier: Apache-2.0
"""The command msprof: collecting from outside, and working on PROF_* directories, good and bad."""
import glob
import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import time

import pytest
from build_tree import SUPPORT
from prof_case import make_model, one, table, timeline

PROGRAM = """
    import sys
    sys.path.insert(0, {tests!r})
    import acl
    from prof_case import run_model
    assert acl.init() == 0
    assert acl.rt.set_device(0) == 0
    code = acl.prof.init("/nowhere")
    assert code == 100042, code
    run_model({model!r}, {times})
    assert acl.rt.reset_device(0) == 0
    {end}
"""


def msprof(*arguments, **options):
    return subprocess.run(["msprof", *arguments], capture_output=True, text=True, timeout=300,
                          **options)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("model"))


def program(folder, model, times=3, end="assert acl.finalize() == 0"):
    path = folder / "app.py"
    path.write_text(textwrap.dedent(PROGRAM).format(
        tests=SUPPORT, model=model, times=times, end=end))
    return str(path)


@pytest.fixture(scope="module")
def collected(tmp_path_factory, model):
    folder = tmp_path_factory.mktemp("collected")
    app = program(folder, model)
    done = msprof(f"--application={sys.executable} {app}", f"--output={folder}",
                  "--host-sys=cpu,mem,disk,network", "--task-memory=on", "--runtime-api=on",
                  "--l2=on")
    assert done.returncode == 0, done.stdout + done.stderr
    return glob.glob(str(folder / "PROF_*"))[0], done.stdout


def test_collects_exports_and_tells_what_it_has(collected):
    path, text = collected
    assert "Start export data in PROF_" in text and "done." in text
    assert "--l2 asks a card" in text
    row = next(line for line in text.splitlines() if "PROF_" in line and "Iteration" not in line
               and "[INFO]" not in line)
    assert row.split()[-3] == "3"  # iterations
    assert [r["Op Name"] for r in table(path, "op_summary")].count("first") == 3
    assert os.path.isdir(os.path.join(path, "device_0"))


def test_program_on_the_command_line_and_its_exit_code(tmp_path, model):
    app = program(tmp_path, model, end="sys.exit(7)")  # and no finalize: what was recorded is there
    done = msprof(sys.executable, app, cwd=tmp_path)
    assert done.returncode == 7, done.stdout
    path = glob.glob(str(tmp_path / "PROF_*"))[0]
    assert table(path, "op_statistic")


def test_program_that_uses_no_npu_is_told(tmp_path):
    done = msprof(f"--output={tmp_path}", "true")
    assert done.returncode == 1 and "never initialised" in done.stdout
    assert os.listdir(tmp_path) == []


def test_two_collections_at_once_do_not_mix(tmp_path, model):
    apps = []
    for times in (2, 5):
        (tmp_path / str(times)).mkdir()
        apps.append(subprocess.Popen(
            ["msprof", f"--output={tmp_path}", sys.executable,
             program(tmp_path / str(times), model, times)], stdout=subprocess.PIPE, text=True))
    for app in apps:
        assert app.communicate(timeout=300) and app.returncode == 0
    found = sorted(len(table(p, "step_trace")) for p in glob.glob(str(tmp_path / "PROF_*")))
    assert found == [2, 5]


def test_host_files_are_written(collected):
    path, _ = collected
    for name in ("cpu_usage", "host_cpu_usage", "host_mem_usage", "host_disk_usage",
                 "host_network_usage", "npu_mem", "npu_module_mem", "memory_record"):
        assert table(path, name), name
    usage = table(path, "host_mem_usage")[0]
    assert int(usage["Total Memory(KB)"]) > int(usage["Peak Used Memory(KB)"]) > 0


def test_one_iteration_can_be_exported(collected, tmp_path):
    import shutil
    path = shutil.copytree(collected[0], tmp_path / os.path.basename(collected[0]))
    shutil.rmtree(path / "mindstudio_profiler_output")
    assert msprof("--export=on", f"--output={path}", "--iteration-id=2").returncode == 0
    assert [r["Op Name"] for r in table(str(path), "op_summary")].count("first") == 1
    done = msprof("--export=on", f"--output={path}", "--iteration-id=9")
    assert done.returncode == 1 and "no iteration 9" in done.stdout


def test_reports_filter_layers(collected, tmp_path):
    import shutil
    path = shutil.copytree(collected[0], tmp_path / os.path.basename(collected[0]))
    shutil.rmtree(path / "mindstudio_profiler_output")
    (tmp_path / "r.json").write_text(json.dumps({"json_process": {"cann": False}}))
    assert msprof("--export=on", f"--output={path}",
                  f"--reports={tmp_path}/r.json").returncode == 0
    names = {e["args"]["name"] for e in timeline(str(path)) if e["name"] == "process_name"}
    assert "CANN" not in names and "Ascend Hardware" in names


@pytest.mark.parametrize("arguments, words", [
    (["--task-time=maybe", "true"], "expected one of on, off"),
    (["--nonsense=1", "true"], "no option of msprof"),
    (["--host-sys=gpu", "true"], "comma list"),
    (["--sys-cpu-freq=51", "true"], "from 1 to 50"),
    (["--storage-limit=10MB", "true"], "200MB"),
    (["--storage-limit=4294967296MB", "true"], "4294967295MB"),
    (["--output=a;b", "true"], "not allowed"),
    (["--application=true", "true"], "both name a program"),
    (["--dynamic=on"], "needs a program"),
    (["--pid=1"], "--pid needs --dynamic=on"),
    (["--dynamic=on", "--pid=1", "true"], "--pid and a program exclude each other"),
    (["--dynamic=on", "--delay=1", "true"], "exclude each other"),
    (["--duration=1"], "need a program"),
    (["--delay=0", "true"], "from 1 to 4294967295"),
    (["--aicore-shape=on", "true"], "needs --task-time=l0"),
    (["--mstx-domain-include=a", "--mstx-domain-exclude=b", "--msproftx=on", "true"],
     "exclude each other"),
    (["--mstx-domain-include=a", "true"], "need --msproftx=on"),
    (["--llc-profiling=read", "true"], "needs --sys-hardware-mem=on"),
    (["--iteration-id=1", "true"], "need --export=on"),
    (["--rule=communication", "true"], "needs --analyze=on"),
    (["--export=on", "true"], "exclude each other"),
    (["--host-sys=cpu"], "need a program, or --host-sys-pid"),
    (["--host-sys-pid=1", "true"], "--host-sys-pid names a process"),
    (["--host-sys-pid=4194304", "--host-sys=cpu", "--sys-period=1"], "no such process"),
    (["--sys-profiling=on"], "need --sys-devices"),
    (["--sys-devices=all", "--sys-profiling=on"], "--sys-period"),
    (["--sys-devices=all", "--sys-period=1"], "needs something to collect"),
    (["--sys-period=1", "true"], "--sys-period goes with"),
    (["--python-path=/bin/false", "true"], "expected Python 3.7.5"),
    (["--python-path=/nowhere/python", "true"], "No such file"),
    (["--export"], "needs a value"),
    (["--output=."], "nothing to do"),
    (["--export=on", "--output=/nowhere"], "cannot be read"),
    (["./no-such-program"], "cannot be started"),
])
def test_bad_command_lines_are_explained(arguments, words, tmp_path, monkeypatch, capfd):
    from anynpu.msprof.command import main
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 1
    out, err = capfd.readouterr()
    assert out.startswith("[") and words in out and err == ""
    assert os.listdir(tmp_path) == []


# Every option with a good value, in command lines that belong together.
GOOD = [
    "--output=out --storage-limit=4294967295MB --environment=A=1 --type=db --ascendcl=on "
    "--task-time=l0 --aicore-shape=on --ge-api=l1 --runtime-api=on --task-memory=on --task-tsfw=on "
    "--task-trace=on --model-execution=on --ai-core=on --aic-mode=sample-based --aic-freq=100 "
    "--aic-metrics=MemoryUB --ai-vector-core=on --aiv-mode=task-based --aiv-freq=1 "
    "--aiv-metrics=L2Cache --aicpu=on --l2=on --hccl=on --msproftx=on --mstx-domain-include=a "
    "--instr-profiling=on --instr-profiling-freq=30000 --sys-hardware-mem=on "
    "--sys-hardware-mem-freq=100 --llc-profiling=write --sys-cpu-profiling=on --sys-cpu-freq=50 "
    "--sys-profiling=on --sys-sampling-freq=10 --sys-pid-profiling=on --sys-pid-sampling-freq=10 "
    "--sys-io-profiling=on --sys-io-sampling-freq=100 --sys-interconnection-profiling=on "
    "--sys-interconnection-freq=50 --dvpp-profiling=on --dvpp-freq=100 "
    "--host-sys=cpu,mem,disk,network,osrt --host-sys-usage=cpu,mem --host-sys-usage-freq=50 "
    "--sys-lp=on --sys-lp-freq=100 --delay=1 --duration=2 true",
    "--application=true --msproftx=on --mstx-domain-exclude=a --python-path=python3",
    "--dynamic=on --pid=1", "--sys-devices=all --sys-period=1 --sys-profiling=on",
    "--host-sys-pid=1 --host-sys=cpu --sys-period=1",
    "--parse=on --query=on --export=on --iteration-id=1 --model-id=0 --summary-format=json "
    "--reports=r.json --clear=on --analyze=on --rule=communication,communication_matrix",
]


def test_every_documented_option_is_understood():
    from anynpu.msprof import options
    used = set()
    for line in GOOD:
        given, _ = options.parse(line.split())
        used |= given.keys()
    assert used == options.OPTIONS.keys()


def test_formats_of_the_export_can_be_chosen(collected, tmp_path):
    import shutil
    path = shutil.copytree(collected[0], tmp_path / os.path.basename(collected[0]))
    output = path / "mindstudio_profiler_output"
    shutil.rmtree(output)
    for database in path.glob("msprof_*.db"):
        database.unlink()
    (path / "host" / "sqlite").mkdir()
    assert msprof("--export=on", "--type=db", f"--output={path}").returncode == 0
    assert len(list(path.glob("msprof_*.db"))) == 1 and not output.exists()
    done = msprof("--export=on", "--summary-format=json", "--clear=on", f"--output={path}")
    assert done.returncode == 0 and not list(output.glob("*.csv"))
    assert not (path / "host" / "sqlite").exists()
    [name] = output.glob("op_summary_*.json")
    assert [row["Op Name"] for row in json.loads(name.read_text())].count("first") == 3


def test_long_tables_are_cut_into_slices(collected, tmp_path, monkeypatch):
    import shutil

    from anynpu.msprof import export
    path = shutil.copytree(collected[0], tmp_path / os.path.basename(collected[0]))
    whole = table(str(path), "task_time")
    shutil.rmtree(path / "mindstudio_profiler_output")
    monkeypatch.setattr(export, "SLICE_ROWS", len(whole) // 2 + 1)
    export.export(str(path))
    parts = [row for n in (0, 1) for row in table(str(path), f"task_time_slice_{n}")]
    assert parts == whole


# The columns of the facts' key tables.
DATABASE = {
    "SESSION_TIME_INFO": "startTimeNs,endTimeNs", "NPU_INFO": "id,name",
    "HOST_INFO": "hostUid,hostName", "RANK_DEVICE_MAP": "rankId,deviceId",
    "STRING_IDS": "id,value", "META_DATA": "name,value",
    "TASK": "startNs,endNs,deviceId,connectionId,globalTaskId,globalPid,taskType,contextId,"
            "streamId,taskId,modelId",
    "COMPUTE_TASK_INFO": "name,globalTaskId,blockNum,mixBlockNum,taskType,opType,inputFormats,"
                         "inputDataTypes,inputShapes,outputFormats,outputDataTypes,outputShapes,"
                         "attrInfo,opState,hf32Eligible",
    "CANN_API": "startNs,endNs,type,globalTid,connectionId,name",
    "MEMCPY_INFO": "globalTaskId,size,memcpyOperation",
    "MSTX_EVENTS": "startNs,endNs,eventType,rangeId,category,message,globalTid,endGlobalTid,"
                   "domainId,connectionId",
}


def test_the_database_has_the_documented_columns(collected):
    import sqlite3
    [path] = glob.glob(os.path.join(collected[0], "msprof_*.db"))
    with sqlite3.connect(path) as db:
        for name, columns in DATABASE.items():
            found = [row[1] for row in db.execute(f"PRAGMA table_info({name})")]
            assert found == columns.split(","), name
        assert dict(db.execute("SELECT * FROM ENUM_API_TYPE"))[20000] == "acl"
        begin, end = db.execute("SELECT * FROM SESSION_TIME_INFO").fetchone()
        assert db.execute("SELECT COUNT(*) FROM TASK WHERE startNs < ? OR endNs > ?",
                          (begin, end)).fetchone()[0] == 0


def test_what_was_flushed_before_a_kill_is_exported(tmp_path, model):
    app = program(tmp_path, model, end="import time; print('ready', flush=True); time.sleep(600)")
    config = {"switch": "on", "output": str(tmp_path)}
    process = subprocess.Popen([sys.executable, app], stdout=subprocess.PIPE, text=True,
                               env={**os.environ, "PROFILER_SAMPLECONFIG": json.dumps(config)})
    assert process.stdout.readline() == "ready\n"
    events = glob.glob(str(tmp_path / "PROF_*/host/data/anynpu.events"))[0]
    while os.path.getsize(events) < 1000:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = msprof("--export=on", f"--output={tmp_path}")
    assert done.returncode == 0, done.stdout
    assert table(glob.glob(str(tmp_path / "PROF_*"))[0], "api_statistic")


def test_query_parse_and_analyze_tell_what_a_directory_has(collected, tmp_path):
    import shutil
    path = shutil.copytree(collected[0], tmp_path / os.path.basename(collected[0]))
    before = sorted(glob.glob(str(path / "**"), recursive=True))
    done = msprof("--query=on", f"--output={tmp_path}")
    assert done.returncode == 0 and "Iteration Number" in done.stdout
    assert os.path.basename(path) in done.stdout
    done = msprof("--parse=on", f"--output={path}")
    assert done.returncode == 0 and re.search(r": \d+ events, 0 lost\.", done.stdout)
    done = msprof("--analyze=on", f"--output={path}")
    assert done.returncode == 0 and "no communication to analyze" in done.stdout
    assert sorted(glob.glob(str(path / "**"), recursive=True)) == before


def test_damaged_data_is_named_and_the_rest_exported(collected, tmp_path):
    import shutil
    path = shutil.copytree(collected[0], tmp_path / os.path.basename(collected[0]))
    shutil.rmtree(path / "mindstudio_profiler_output")
    events = path / "host" / "data" / "anynpu.events"
    data = bytearray(events.read_bytes())
    data[-20] ^= 1
    events.write_bytes(data)
    done = msprof("--parse=on", "--export=on", f"--output={path}")
    assert done.returncode == 0 and "wrong checksum" in done.stdout
    assert "wrong checksum" in open(one(str(path), "README.txt")).read()
    events.write_bytes(b"not a profile, but long enough to be one")
    done = msprof("--export=on", f"--output={path}")
    assert done.returncode == 1 and "expected b'ANYPROF1'" in done.stdout
    events.unlink()
    assert "cannot be read" in msprof("--export=on", f"--output={path}").stdout


def test_random_bytes_never_crash_the_reader(collected, tmp_path):
    import random
    import shutil

    from anynpu.msprof.recording import RecordingError, read_recording
    from anynpu.msprof.work import Work
    path = shutil.copytree(collected[0], tmp_path / os.path.basename(collected[0]))
    events = path / "host" / "data" / "anynpu.events"
    good = events.read_bytes()
    dice = random.Random(5)
    for _ in range(int(os.environ.get("ANYNPU_FUZZ_ROUNDS", "150"))):  # more in `make fuzz`
        data = bytearray(good)
        for _ in range(dice.randint(1, 20)):
            data[dice.randrange(len(data))] = dice.randrange(256)
        events.write_bytes(data[:dice.randint(0, len(data))])
        try:
            work = Work(read_recording(str(path)))
            assert len(work.ops) >= 0 and work.iterations is not None
        except RecordingError:
            pass
