# SPDX-License-Identifier: Apache-2.0
"""The other ways to a profile of anynpu.profiler (the class Profiler, MS_PROFILER_OPTIONS, the
monitor's file), and the domains and streams of mstx."""
import csv
import glob
import json
import os
import subprocess
import sys
import textwrap

import pytest
from build_tree import SUPPORT
from prof_case import make_model, run_model, table

import acl
from anynpu.msprof.recording import read_recording
from anynpu.msprof.work import Work
from anynpu.profiler import (
    AicoreMetrics,
    DynamicProfilerMonitor,
    ExportType,
    Profiler,
    ProfilerActivity,
    ProfilerLevel,
    _ExperimentalConfig,
    mstx,
    profile,
    tensorboard_trace_handler,
)
from anynpu.profiler.options import from_json


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("model"))


def directories(place):
    return sorted(glob.glob(os.path.join(str(place), "*_ascend_ms")))


def kernels(directory):
    path = os.path.join(directory, "ASCEND_PROFILER_OUTPUT", "kernel_details.csv")
    with open(path, newline="", encoding="utf-8") as file:
        return [row["Name"] for row in csv.DictReader(file)]


def stamps(place):
    """(message, domain) of the marks and ranges that were recorded."""
    work = Work(read_recording(glob.glob(os.path.join(directories(place)[-1], "PROF_*"))[0]))
    return [(work.name(s["name"]), work.name(s["d_first"])) for s in work.stamps]


# The class Profiler.

def test_profiler_takes_all_options_side_by_side_and_analyses_itself(device_0, tmp_path, model):
    profiler = Profiler(output_path=str(tmp_path), profiler_level=ProfilerLevel.Level1,
                        aic_metrics=AicoreMetrics.Memory, with_stack=True,
                        export_type=[ExportType.Text, ExportType.Db])
    run_model(model, 2)
    profiler.analyse()  # and stops it
    found = directories(tmp_path)
    assert len(found) == 1 and kernels(found[0]).count("first") == 2
    info = json.load(open(os.path.join(found[0], "profiler_info_0.json")))["profiler_parameters"]
    assert (info["profiler_level"], info["aic_metrics"], info["with_stack"]) \
        == ("Level1", "Memory", True)
    with pytest.raises(RuntimeError, match="not been started"):
        profiler.stop()
    os.remove(os.path.join(found[0], "ASCEND_PROFILER_OUTPUT", "kernel_details.csv"))
    Profiler.offline_analyse(str(tmp_path))
    assert kernels(found[0]).count("first") == 2


def test_profiler_that_has_recorded_nothing_says_so(tmp_path, caplog):
    Profiler(output_path=str(tmp_path), start_profile=False, no_such_option=1).analyse()
    assert "no_such_option is no option" in caplog.text and "nothing was recorded" in caplog.text


# MS_PROFILER_OPTIONS.

PROGRAM = """
    import sys
    sys.path.insert(0, {tests!r})
    import anynpu.mindspore_name as name
    name.install()
    import mindspore
    import acl
    from prof_case import run_model
    assert acl.init() == 0
    assert acl.rt.set_device(0) == 0
    run_model({model!r}, 2)
    assert acl.rt.reset_device(0) == 0
    assert acl.finalize() == 0
    print("ended")
"""


def run_with(options, folder, model):
    text = textwrap.dedent(PROGRAM).format(tests=SUPPORT,
                                           model=model)
    done = subprocess.run([sys.executable, "-c", text], cwd=folder, capture_output=True, text=True,
                          timeout=300, env={**os.environ, "MS_PROFILER_OPTIONS": options})
    assert done.returncode == 0 and done.stdout == "ended\n", done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    return done.stderr


def test_the_environment_profiles_a_program_from_import_to_exit(tmp_path, model):
    text = run_with(json.dumps({"start": True, "output_path": "out", "profiler_level": "Level1",
                                "aic_metrics": "MemoryUB", "activities": ["CPU", "NPU"],
                                "schedule": {"wait": 1}}), tmp_path, model)
    assert "schedule cannot be given here" in text
    found = directories(tmp_path / "out")
    assert len(found) == 1 and kernels(found[0]).count("first") == 2
    info = json.load(open(os.path.join(found[0], "profiler_info_0.json")))["profiler_parameters"]
    assert (info["profiler_level"], info["aic_metrics"]) == ("Level1", "MemoryUB")


@pytest.mark.parametrize("options, words", [
    ('{"start": false}', ""), ('{"start": 1}', ""), ("{", "is ignored"), ("[1]", "is ignored"),
    ('{"start": true, "output_path": "/proc/no"}', "'/proc/no' cannot be used"),
])
def test_an_environment_that_is_off_or_wrong_changes_nothing(tmp_path, model, options, words):
    text = run_with(options, tmp_path, model)
    assert words in text and (words or not text)
    assert os.listdir(tmp_path) == []


def test_the_environment_does_not_profile_our_own_commands(tmp_path):
    options = json.dumps({"start": True, "output_path": str(tmp_path / "out")})
    (tmp_path / "t.json").write_text('[{"ph": "X", "ts": 1, "dur": 1, "name": "a"}]')
    for command in (["anynpu", "report", "t.json", "-o", "r.html"], ["msprof", "--help"],
                    [sys.executable, "-m", "anynpu.profiler.analysis", "nothing"]):
        subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=300,
                       env={**os.environ, "MS_PROFILER_OPTIONS": options})
    assert sorted(os.listdir(tmp_path)) == ["r.html", "t.json"]


# JSON, and the monitor's file.

def test_words_and_numbers_of_json_stand_for_enumerations():
    assert from_json({"profiler_level": -1, "activities": 2, "export_type": 2, "analyse": 0}) == {
        "profiler_level": ProfilerLevel.LevelNone, "activities": [ProfilerActivity.NPU],
        "export_type": [ExportType.Text, ExportType.Db], "analyse": 0}
    assert from_json({"aic_metrics": "AiCoreNone"})["aic_metrics"] is AicoreMetrics.AiCoreNone
    assert from_json({"profiler_level": "x", "activities": ["CPU", 7]}) == {
        "profiler_level": "x", "activities": [ProfilerActivity.CPU, 7]}


@pytest.mark.parametrize("wrong, words", [
    ({"profiler_level": "Level9"}, "profiler_level is 'Level9'"),
    ({"activities": {"a": 1}}, "activities has"),
    ({"export_type": [3]}, "export_type has 3"),
    ({"stop_step": "soon"}, "stop_step is 'soon'"),
    ({"no_such_key": 1}, "no_such_key is no option"),
])
def test_a_wrong_file_of_the_monitor_is_told_and_the_program_goes_on(device_0, tmp_path, caplog,
                                                                     wrong, words):
    path = tmp_path / "profiler_config.json"
    path.write_text(json.dumps({"start_step": 1, "stop_step": 1, **wrong}))
    monitor = DynamicProfilerMonitor(str(tmp_path), str(tmp_path / "out"), poll_interval=0)
    for _ in range(3):
        monitor.step()
    assert words in caplog.text
    path.write_text("{")
    os.utime(path, (1, 1))
    monitor.step()
    assert "cannot be read" in caplog.text
    DynamicProfilerMonitor("/proc/no", str(tmp_path)).step()
    assert "/proc/no/profiler_config.json cannot be made" in caplog.text


# mstx.

@pytest.mark.parametrize("filters, expected", [
    ({}, ["default", "load", "other"]),
    ({"mstx_domain_include": ["load", "default"]}, ["default", "load"]),
    ({"mstx_domain_exclude": ["load"]}, ["default", "other"]),
    ({"mstx_domain_include": ["load"], "mstx_domain_exclude": ["load"]}, ["load"]),
])
def test_domains_of_mstx_are_included_and_excluded(device_0, tmp_path, filters, expected):
    tensorboard_trace_handler(str(tmp_path))
    with profile(experimental_config=_ExperimentalConfig(mstx=True, **filters)):
        for domain in ("default", "load", "other"):
            mstx.mark("mark", domain=domain)
            number = mstx.range_start("range", domain=domain)
            assert bool(number) == (domain in expected)
            mstx.range_end(number, domain=domain)
    assert sorted(stamps(tmp_path)) == sorted(
        (word, domain) for domain in expected for word in ("mark", "range"))


def test_a_filter_of_domains_ends_with_its_profile(device_0, tmp_path):
    tensorboard_trace_handler(str(tmp_path))
    with profile(experimental_config=_ExperimentalConfig(mstx=True, mstx_domain_include=["a"])):
        mstx.mark("one", domain="b")
    assert stamps(tmp_path) == []
    with profile(experimental_config=_ExperimentalConfig(mstx=True)):
        mstx.mark("two", domain="b")
    assert stamps(tmp_path) == [("two", "b")]


@pytest.mark.parametrize("option, expected", [
    ("--mstx-domain-include=load,default", ["default", "load"]),
    ("--mstx-domain-exclude=load,default", ["other"]),
])
def test_msprof_filters_domains(tmp_path, option, expected):
    app = tmp_path / "app.py"
    app.write_text("import acl\nfrom anynpu.profiler import mstx\nassert acl.init() == 0\n"
                   "[mstx.mark('mark', domain=d) for d in ('default', 'load', 'other')]\n"
                   "assert acl.finalize() == 0\n")
    done = subprocess.run(["msprof", f"--output={tmp_path}", "--msproftx=on", option,
                           sys.executable, str(app)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout
    rows = table(glob.glob(str(tmp_path / "PROF_*"))[0], "msprof_tx")
    assert [r["domain"] for r in rows] == expected


def test_a_mark_with_a_stream_passes_through_it(device_0, tmp_path, caplog):
    tensorboard_trace_handler(str(tmp_path))
    stream, ret = acl.rt.create_stream()
    assert ret == 0
    with profile(experimental_config=_ExperimentalConfig(mstx=True)):
        mstx.mark("here", stream=stream, domain="load")
        assert acl.rt.synchronize_stream(stream) == 0
        mstx.mark("nowhere", stream="x")
        assert "stream is 'x'" in caplog.text
        mstx.mark("nowhere", stream=12345)
        assert "nothing is marked: " in caplog.text
    assert acl.rt.destroy_stream(stream) == 0
    assert stamps(tmp_path) == [("here", "load")]
    work = Work(read_recording(glob.glob(os.path.join(directories(tmp_path)[0], "PROF_*"))[0]))
    assert "mark_ex" in work.kinds.tolist()


def test_a_profile_without_a_handler_does_not_write_into_the_folder_of_an_earlier_one(
        device_0, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with profile(on_trace_ready=tensorboard_trace_handler("first", analyse_flag=False)):
        pass
    before = sorted(os.listdir("first"))
    assert len(before) == 1
    with profile():
        pass
    assert sorted(os.listdir("first")) == before
    assert len(os.listdir("data")) == 1, "the default"


def test_what_stands_in_for_mindspore_says_so(tmp_path):
    for text in ("import mindspore\nmindspore.Tensor", "from mindspore import Tensor"):
        done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True,
                              timeout=60, cwd=tmp_path)
        last = done.stderr.splitlines()[-1]
        assert done.returncode == 1 and "Tensor" in last, done.stderr
        assert "MindSpore is not installed" in last and "mindspore.profiler" in last
    done = subprocess.run([sys.executable, "-c", "import mindspore.profiler as p; p.profile; "
                           "import mindspore; print(hasattr(mindspore, 'Tensor'))"],
                          capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert done.stdout.split() == ["False"], done.stderr
