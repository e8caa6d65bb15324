# SPDX-License-Identifier: Apache-2.0
"""anynpu.profiler: mindspore.profiler as documented: errors, the schedule's machine, files."""
import csv
import glob
import json
import os
import sqlite3
import subprocess
import sys

import pytest
from prof_case import make_model, run_model

import acl
from anynpu.profiler import (
    AicoreMetrics,
    DynamicProfilerMonitor,
    ExportType,
    ProfilerActivity,
    ProfilerLevel,
    _ExperimentalConfig,
    analyse,
    mstx,
    profile,
    schedule,
    tensorboard_trace_handler,
)
from anynpu.profiler.plan import ProfilerAction as Action


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("model"))


@pytest.fixture
def place(tmp_path):
    tensorboard_trace_handler(str(tmp_path))
    return tmp_path


def directories(place):
    return sorted(glob.glob(str(place / "*_ascend_ms")))


def rows(directory, name):
    with open(os.path.join(directory, "ASCEND_PROFILER_OUTPUT", name), newline="") as file:
        return list(csv.DictReader(file))


LEVEL1 = {"profiler_level": ProfilerLevel.Level1}


def test_calls_in_the_wrong_order_raise_as_documented(place):
    started = profile()
    with pytest.raises(RuntimeError, match="already"):
        started.start()
    with pytest.raises(RuntimeError, match="schedule"):
        started.step()
    started.stop()
    with pytest.raises(RuntimeError, match="start_profile"):
        started.start()
    with pytest.raises(RuntimeError, match="not been started"):
        started.stop()
    later = profile(start_profile=False, schedule=schedule(wait=0, active=1, warmup=1))
    with pytest.raises(RuntimeError, match="started"):
        later.step()
    later.start()
    with pytest.raises(RuntimeError, match="already"):
        later.start()
    later.step()
    later.stop()


def test_schedule_of_the_document_records_steps_26_to_30_and_46_to_50():
    plan = schedule(skip_first=10, wait=10, warmup=5, active=5, repeat=2)
    recorded = [s + 1 for s in range(80) if plan(s) in (Action.RECORD, Action.RECORD_AND_SAVE)]
    assert recorded == [*range(26, 31), *range(46, 51)]
    assert plan(29) is Action.RECORD_AND_SAVE and plan(20) is Action.WARM_UP
    with pytest.raises(ValueError):
        plan(-1)
    assert schedule(wait=-1, active=0, warmup="x", repeat=True).to_dict() == {
        "wait": 0, "active": 1, "warmup": 0, "repeat": 0, "skip_first": 0}
    with pytest.raises(TypeError):
        schedule(1, 2)


def test_each_repetition_has_its_own_directory_and_steps(device_0, place, model):
    ready = []
    handle = tensorboard_trace_handler(str(place), worker_name="me")
    with profile(schedule=schedule(wait=1, warmup=1, active=2, repeat=2),
                 on_trace_ready=lambda: ready.append(handle()),
                 experimental_config=_ExperimentalConfig(**LEVEL1)) as running:
        for _ in range(9):
            run_model(model, 1)
            running.step()
    assert len(ready) == 2
    found = directories(place)
    assert len(found) == 2 and os.path.basename(found[0]).startswith(f"me_{os.getpid()}_")
    for directory, numbers in zip(found, ([2, 3], [6, 7])):
        steps = rows(directory, "step_trace_time.csv")
        assert [int(r["Step"]) for r in steps] == numbers
        kernels = rows(directory, "kernel_details.csv")
        assert list(kernels[0])[0] == "Step ID"
        assert {int(k["Step ID"]) for k in kernels} == set(numbers)
        for step in steps:
            mine = [float(k["Duration(us)"]) for k in kernels if k["Step ID"] == step["Step"]]
            assert float(step["Computing"]) >= sum(mine) - 0.01 * len(mine)


def test_a_profile_that_ends_while_it_warms_up_leaves_nothing(place, caplog):
    with profile(schedule=schedule(wait=0, warmup=2, active=1)) as running:
        running.step()
    assert directories(place) == [] and running.directory is None
    assert "stopped while recording" in caplog.text


def test_what_on_trace_ready_raises_reaches_the_program(place):
    def ready():
        raise OSError("mine")

    running = profile(on_trace_ready=ready)
    with pytest.raises(OSError, match="mine"):
        running.stop()


def test_files_of_a_profile_without_a_schedule(device_0, place, model):
    running = profile(profile_memory=True, with_stack=True, hbm_ddr=True, pcie=True,
                      data_process=True, experimental_config=_ExperimentalConfig(
                          profiler_level=ProfilerLevel.Level2, mstx=True,
                          export_type=[ExportType.Text, ExportType.Db]))
    running.add_metadata("who", "me")
    running.add_metadata_json("what", '{"a": 1}')
    running.add_metadata_json("bad", "{")
    number = mstx.range_start("stage", domain="data")
    run_model(model, 2)
    mstx.range_end(number)
    mstx.mark("now")
    running.stop()
    directory = directories(place)[0]
    assert not os.path.exists(os.path.join(directory, "ASCEND_PROFILER_OUTPUT"))
    analyse(str(place), max_process_number=1)
    names = set(os.listdir(os.path.join(directory, "ASCEND_PROFILER_OUTPUT")))
    assert names >= {"trace_view.json", "kernel_details.csv", "step_trace_time.csv",
                     "op_statistic.csv", "api_statistic.csv", "memory_record.csv",
                     "operator_memory.csv", "hbm.csv", "pcie.csv", "dataset.csv",
                     "ascend_mindspore_profiler_0.db"}
    info = json.load(open(os.path.join(directory, "profiler_info_0.json")))
    assert info["profiler_parameters"]["profiler_level"] == "Level2"
    assert info["profiler_parameters"]["aic_metrics"] == "PipeUtilization"
    metadata = json.load(open(os.path.join(directory, "profiler_metadata.json")))
    assert metadata == {"who": "me", "what": {"a": 1}}
    stages = rows(directory, "dataset.csv")
    assert [(s["Operation"], s["Stage"], s["Occurrences"]) for s in stages] \
        == [("stage", "data", "1")]
    events = json.load(open(os.path.join(directory, "ASCEND_PROFILER_OUTPUT", "trace_view.json")))
    assert all(isinstance(e["ts"], str) for e in events if e["ph"] != "M")
    assert all(isinstance(e["dur"], str) for e in events if e["ph"] == "X")
    assert all(e["bp"] == "e" for e in events if e["ph"] in "sf")
    assert any("run_model" in e["name"] for e in events)
    layers = {e["args"]["name"] for e in events if e["name"] == "process_name"}
    assert {"HBM", "PCIe"} <= layers
    sent = [float(e["args"]["Tx(MB/s)"]) for e in events if "Tx(MB/s)" in e.get("args", {})]
    assert sum(sent) / 1000 == pytest.approx(3 * 32 * 32 * 4 / 1e6)  # of milliseconds: MB
    path = os.path.join(directory, "ASCEND_PROFILER_OUTPUT", "ascend_mindspore_profiler_0.db")
    with sqlite3.connect(path) as db:
        assert db.execute("SELECT COUNT(*) FROM COMPUTE_TASK_INFO").fetchone()[0] \
            == len(rows(directory, "kernel_details.csv"))


def test_level0_leaves_shapes_out_and_level1_has_them(device_0, place, model):
    for level in (ProfilerLevel.Level0, ProfilerLevel.Level1):
        with profile(experimental_config=_ExperimentalConfig(profiler_level=level),
                     on_trace_ready=tensorboard_trace_handler(str(place / level.value))):
            run_model(model, 1)
        columns = rows(directories(place / level.value)[0], "kernel_details.csv")[0]
        assert ("Input Shapes" in columns) == (level is ProfilerLevel.Level1)


def test_simplified_data_has_no_files_of_msprof_and_the_strategy_is_empty(device_0, place, model,
                                                                          caplog):
    with profile(parallel_strategy=True):
        run_model(model, 1)
    assert "parallel_strategy: one process has no strategy" in caplog.text
    [directory] = directories(place)
    info = json.load(open(os.path.join(directory, "profiler_info_0.json")))
    assert info["profiler_parameters"]["parallel_strategy"] is True
    msprof = os.path.join(directory, "PROF_*", "mindstudio_profiler_output")
    analyse(directory)
    assert glob.glob(msprof) == []
    analyse(directory, data_simplification=False)
    assert len(glob.glob(msprof)) == 1


def test_a_profile_of_nothing_has_no_files_without_rows(place, caplog):
    """As with MindSpore itself (tests/mindspore/test_profiler.py)."""
    with profile(data_process=True, record_shapes=True, hbm_ddr=True, pcie=True):
        pass
    assert caplog.text.count("the bytes of the program's own copies over time") == 2
    [directory] = directories(place)
    analyse(directory)
    assert set(os.listdir(os.path.join(directory, "ASCEND_PROFILER_OUTPUT"))) \
        == {"trace_view.json", "step_trace_time.csv"}


def test_steps_can_be_chosen_and_several_directories_analysed_at_once(device_0, place, model,
                                                                      caplog):
    tensorboard_trace_handler(str(place), analyse_flag=False)
    with profile(schedule=schedule(wait=0, warmup=1, active=2, repeat=2)) as running:
        for _ in range(7):
            run_model(model, 1)
            running.step()
    found = directories(place)
    assert len(found) == 2
    analyse(str(place), max_process_number=2, pretty=True)
    for directory in found:
        with open(os.path.join(directory, "ASCEND_PROFILER_OUTPUT", "trace_view.json")) as file:
            text = file.read()
        assert text.startswith("[\n  ") and json.loads(text)
    analyse(found[1], max_process_number=0)  # told, and its default is taken
    with open(os.path.join(found[1], "ASCEND_PROFILER_OUTPUT", "trace_view.json")) as file:
        assert len(file.read()) < len(text)
    assert "max_process_number is 0" in caplog.text
    analyse(found[0], step_list=[2])
    assert [r["Step"] for r in rows(found[0], "step_trace_time.csv")] == ["2"]
    analyse(found[0], step_list=[1, 9])  # not consecutive: told, and all are taken
    assert [r["Step"] for r in rows(found[0], "step_trace_time.csv")] == ["1", "2"]


def test_wrong_arguments_warn_and_take_the_default(place, caplog):
    running = profile(activities=["NPU", 7], with_stack=1, schedule="x", on_trace_ready=3,
                      experimental_config=4)
    running.stop()
    words = caplog.text
    for word in ("activities has 7", "with_stack is 1", "schedule is 'x'", "on_trace_ready is 3",
                 "experimental_config is 4"):
        assert word in words
    config = _ExperimentalConfig(profiler_level=ProfilerLevel.LevelNone)
    assert config.profiler_level is ProfilerLevel.Level0
    assert _ExperimentalConfig(**LEVEL1).aic_metrics is AicoreMetrics.PipeUtilization
    profile(activities=[ProfilerActivity.CPU, ProfilerActivity.GPU]).stop()
    assert "no GPU device" in caplog.text


@pytest.mark.parametrize("options, words", [
    ({"profile_memory": True, "activities": [ProfilerActivity.NPU]},
     "profile_memory needs the activities CPU and NPU"),
    ({"with_stack": True, "activities": [ProfilerActivity.NPU]},
     "with_stack needs the activity CPU"),
    ({"data_process": True, "schedule": schedule(wait=0, warmup=1, active=1)},
     "data_process does not go with a schedule"),
])
def test_options_that_need_others_are_told_and_off(place, caplog, options, words):
    with profile(**options) as running:
        for _ in range(3 if "schedule" in options else 0):
            running.step()
    assert words in caplog.text
    info = json.load(open(os.path.join(directories(place)[0], "profiler_info_0.json")))
    assert info["profiler_parameters"][next(iter(options))] is False


def test_only_one_party_profiles_at_a_time(device_0, place):
    assert acl.prof.init(str(place)) == 0
    with pytest.raises(RuntimeError, match="aclprofInit"):
        profile()
    assert acl.prof.finalize() == 0
    running = profile()
    assert acl.prof.init(str(place)) == 100042
    running.stop()


def test_nothing_to_analyse_is_told(tmp_path, caplog):
    analyse(str(tmp_path))
    assert "nothing to analyse" in caplog.text
    (tmp_path / "FRAMEWORK").mkdir()
    with pytest.raises(ValueError, match="profiler_info"):
        analyse(str(tmp_path))


def test_dynamic_monitor_profiles_the_steps_its_file_names(device_0, tmp_path, model):
    monitor = DynamicProfilerMonitor(str(tmp_path), str(tmp_path / "out"), poll_interval=0)
    path = tmp_path / "profiler_config.json"
    config = json.loads(path.read_text())
    path.write_text(json.dumps({**config, "start_step": 2, "stop_step": 3, "analyse": True}))
    for _ in range(4):
        monitor.step()
        run_model(model, 1)
    found = directories(tmp_path / "out" / "rank0_start2_stop3")
    assert len(found) == 1
    names = [k["Name"] for k in rows(found[0], "kernel_details.csv")]
    assert names.count("first") == 2


def run_python(text, *path, **env):
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=300,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(
                              [*path, os.environ["PYTHONPATH"]]), **env})


HOOK = "import anynpu.mindspore_name as m; m.install()\n"


def test_mindspore_profiler_resolves_where_mindspore_is_absent(tmp_path):
    done = run_python(HOOK + "from mindspore.profiler import profile, schedule\n"
                      "from mindspore.profiler.profiler import analyse\n"
                      "import mindspore, anynpu.profiler as mine\n"
                      "assert mindspore.profiler is mine and profile is mine.profile\n"
                      "assert mine.__spec__.name == 'anynpu.profiler'\n"
                      "try:\n    import mindspore.nn\nexcept ImportError:\n    print('no nn')")
    assert done.stdout == "no nn\n", done.stderr


def test_a_real_mindspore_is_left_untouched(tmp_path):
    package = tmp_path / "mindspore"
    package.mkdir()
    (package / "__init__.py").write_text("real = True\n")
    done = run_python(HOOK + "import mindspore\nassert mindspore.real\n"
                      "try:\n    import mindspore.profiler\nexcept ImportError:\n    print('none')",
                      str(tmp_path))
    assert done.stdout == "none\n", done.stderr


def test_the_name_can_be_left_out():
    done = run_python(HOOK + "import mindspore", ANYNPU_NO_SHIM="1")
    assert "No module named 'mindspore'" in done.stderr
