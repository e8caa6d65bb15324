# SPDX-License-Identifier: Apache-2.0
"""python3 -m ais_bench with --profiler, --dump, --dump_npy and --acl_json_path: what they write."""
import collections
import csv
import glob
import json
import os
import re
import shutil
import sys

import numpy as np
import pytest
from command_files import save
from om_models import image

from ais_bench.infer.interface import InferSession


@pytest.fixture(autouse=True)
def fresh():
    """AscendCL is not up when the command starts: the file of its first session counts."""
    InferSession.finalize()


@pytest.fixture
def acl_json(tmp_path):
    """acl_json({...}): the path of the file."""
    def write(content):
        path = tmp_path / "acl.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        path.chmod(0o640)
        return str(path)

    return write


# -- profiler --------------------------------------------------------------------------------------

def test_the_profiler_without_msprof_uses_an_acl_json(run, models, out, monkeypatch):
    monkeypatch.setenv("MSIT_NO_MSPROF_MODE", "1")
    text = run("--model", models("fixed"), "--output", out, "--profiler", 1)
    assert "find MSIT_NO_MSPROF_MODE set" in text
    with open(f"{out}/acl.json") as file:
        assert json.load(file) == {"profiler": {"switch": "on", "aicpu": "on", "output":
                                                f"{out}/profiler", "aic_metrics": ""}}
    (folder,) = os.listdir(f"{out}/profiler")
    assert re.fullmatch(r"PROF_\d+_\d+_\w+", folder)


def test_no_msprof_is_said(run, models, out, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv("ASCEND_TOOLKIT_HOME", "/nowhere")
    text = run("--model", models("fixed"), "--output", out, "--profiler", 1)
    assert "[INFO] find no msprof continue use acl.json mode" in text


MSPROF = """#!{python}
import os, subprocess, sys
words = dict(word.split("=", 1) for word in sys.argv[1:])
folder = words["--output"] + "/PROF_000001_20240101000000000_ABCDEFGHIJKLMNOPQ/mindstudio"
os.makedirs(folder)
open(folder + "/op_summary.csv", "w").close()
print("Process profiling data " + folder.split("/")[-2], flush=True)
print(sorted(words), flush=True)
sys.exit(subprocess.call(words["--application"].split()))
"""


def test_the_profiler_runs_the_command_again_under_msprof(run, models, out, tmp_path,
                                                          monkeypatch):
    tool = tmp_path / "home" / "bin" / "msprof"
    tool.parent.mkdir(parents=True)
    tool.write_text(MSPROF.format(python=sys.executable))
    tool.chmod(0o750)
    monkeypatch.setenv("ASCEND_TOOLKIT_HOME", str(tmp_path / "home"))
    text = run("--model", models("fixed"), "--output", out, "--profiler", 1, "--loop", 2)
    assert "Performance Summary" in text and "warm up" not in text
    assert all(f"'--{name}'" in text for name in ("model-execution", "sys-hardware-mem", "aicpu"))
    names = [name for _, _, files in os.walk(f"{out}/profiler") for name in files]
    assert names == ["op_summary_fixed_ABCDEFGHIJKLMNOPQ.csv"]
    text = run("--model", models("fixed"), "--output", out + "2", "--profiler", 1,
               "--profiler_rename", 0)
    names = [name for _, _, files in os.walk(f"{out}2/profiler") for name in files]
    assert names == ["op_summary.csv"]


def rows_of(pattern):
    (path,) = glob.glob(pattern)
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_a_profile_has_the_operators_of_the_model(run, models, out):
    text = run("--model", models("fixed"), "--output", out, "--profiler", 1, "--loop", 3)
    assert re.search(r"\[INFO\] msprof cmd:\S*msprof --output=\S+/profiler --model-execution=on "
                     r"--sys-hardware-mem=on --sys-cpu-profiling=off --sys-profiling=off "
                     r"--sys-pid-profiling=off --dvpp-profiling=on --runtime-api=on --task-time=on "
                     r"--aicpu=on --application=", text), text
    (folder,) = os.listdir(f"{out}/profiler")
    assert re.fullmatch(r"PROF_.{41}", folder) and folder in text
    tables = f"{out}/profiler/{folder}/mindstudio_profiler_output"
    rows = rows_of(f"{tables}/op_summary_*_fixed_{folder.rsplit('_', 1)[1]}.csv")
    names = collections.Counter(row["Op Name"] for row in rows)
    assert [names[name] for name in ("conv", "pool", "fc")] == [3, 3, 3], "no warm-up"
    calls = {row["API Name"]: row for row in rows_of(f"{tables}/api_statistic_*.csv")}
    assert int(calls["aclmdlExecute"]["Count"]) == 3


def test_a_run_that_fails_under_msprof_ends_with_its_status(run, models, out):
    text = run("--model", models("fixed"), "--output", out, "--profiler", 1, "--dymBatch", 3,
               code=1)
    assert "msprof cmd:" in text and "3 is no batch gear" in text


def test_profiling_with_inputs_leaves_the_warm_up_out(run, models, out, tmp_path, monkeypatch):
    monkeypatch.setenv("MSIT_NO_MSPROF_MODE", "1")
    (path,) = save(str(tmp_path / "in"), x=image(1, 3, 8, 8))
    text = run("--model", models("fixed"), "--input", path, "--output", out, "--profiler", 1,
               "--warmup_count", 5)
    assert "[INFO] profiler mode with input: warmup_count is set to 0" in text
    assert "warm up 5 done" not in text


def test_a_profile_of_several_devices_has_a_folder_for_each(run, models, out):
    run("--model", models("fixed"), "--output", out, "--profiler", 1, "--device", "0,1")
    found = glob.glob(f"{out}/profiler/PROF_*/device_*")
    assert sorted(os.path.basename(path) for path in found) == ["device_0", "device_1"]


def test_the_keys_of_an_acl_json_become_options_of_msprof(run, models, out, tmp_path, acl_json):
    section = {"switch": "on", "output": f"{tmp_path}/prof", "aic_metrics": "PipeUtilization",
               "sys_hardware_mem_freq": 50, "wrong": "on", "task_time": "on"}
    text = run("--model", models("fixed"), "--output", out, "--acl_json_path",
               acl_json({"profiler": section}))
    assert (f"--output={tmp_path}/prof --task-time=on --aic-metrics=PipeUtilization "
            "--sys-hardware-mem-freq=50 --sys-hardware-mem=on --application=") in text
    assert "wrong" not in text
    (folder,) = os.listdir(f"{tmp_path}/prof")
    tables = f"{tmp_path}/prof/{folder}/mindstudio_profiler_output"
    rows = rows_of(f"{tables}/op_summary_" + "[0-9]" * 14 + ".csv")  # no renaming
    assert {"conv", "pool", "fc"} <= {row["Op Name"] for row in rows}


# -- dump ------------------------------------------------------------------------------------------

FOLDERS = re.compile(r"\d{14}/(\d)/fixed/\d+/(\d+)")


def dumped(folder):
    """(device, execution, operator) of every dumped file."""
    found = set()
    for where, _, names in os.walk(folder):
        match = FOLDERS.search(where)
        found |= {(int(match[1]), int(match[2]), name.split(".")[1]) for name in names if match}
    return found


def test_a_dump_has_every_operator_of_every_execution(run, models, out):
    run("--model", models("fixed"), "--output", out, "--dump", 1)
    with open(f"{out}/acl.json") as file:
        assert json.load(file) == {"dump": {"dump_path": f"{out}/dump", "dump_mode": "all",
                                            "dump_list": [{"model_name": "fixed"}]}}
    assert dumped(f"{out}/dump") == {(0, execution, name) for execution in (0, 1)
                                     for name in ("conv", "fc", "pool")}


@pytest.mark.parametrize("content, sentence", [
    ("{", "is no JSON"),
    ({"dump": {"dump_list": [{"model_name": "other"}], "dump_path": "x"}}, "names the model"),
    ({"dump": {"dump_path": "x"}}, "has no 'dump_list'"),
    ({"dump": {"dump_list": [{"model_name": "fixed"}]}}, "has no 'dump_path'"),
    ({"dump": {"dump_list": [{"model_name": "fixed"}], "dump_path": "x", "dump_mode": "some"}},
     "dump_mode"),
    ({"dump": {"dump_list": [{"model_name": "fixed"}], "dump_path": "x", "dump_op_switch": 1}},
     "'dump_op_switch' in"),
    ([], r"holds [], an object {...} is needed"), ("null", "holds null, an object"),
    pytest.param("[" * 8000, "is no JSON", id="deep"),
    ({"dump": 5}, "holds 5, an object {...} is needed"),
    ({"dump": {"dump_list": 5, "dump_path": "x"}}, "holds 5, a list [...] is needed"),
    ({"dump": {"dump_list": ["x"], "dump_path": "x"}}, 'holds "x", an object {...} is needed'),
    ({"profiler": "on"}, "the section is string; expected an object"),
])
def test_an_acl_json_that_cannot_work_is_named(run, models, tmp_path, content, sentence):
    path = tmp_path / "acl.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    path.chmod(0o640)
    assert sentence in run("--model", models("fixed"), "--acl_json_path", path, code=1)


def test_dump_npy_converts_what_was_dumped(run, models, make, tmp_path, out):
    x = image(1, 3, 8, 8)
    (path,) = save(str(tmp_path / "in"), x=x)
    run("--model", models("fixed"), "--input", path, "--output", out, "--dump", 1, "--dump_npy", 1,
        "--warmup_count", 0)
    assert dumped(f"{out}/dump") == {(0, 0, name) for name in ("conv", "fc", "pool")}
    raw, converted = sorted(os.listdir(f"{out}/dump"))
    assert converted == f"{raw}_npy", "nothing temporary is left"
    def folders(top):
        return {os.path.relpath(where, top) for where, _, names in os.walk(top) if names}

    assert folders(f"{out}/dump/{converted}") == folders(f"{out}/dump/{raw}"), "the same tree"
    (first,) = glob.glob(f"{out}/dump/{converted}/**/*.conv.*.input.0.npy", recursive=True)
    (last,) = glob.glob(f"{out}/dump/{converted}/**/*.fc.*.output.0.npy", recursive=True)
    np.testing.assert_array_equal(np.load(first), x)
    want = make("fixed").infer([x])
    assert np.load(last).tobytes() in {array.tobytes() for array in want}


def test_dump_npy_without_the_tool_is_said_and_the_dump_stays(run, models, out, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    text = run("--model", models("fixed"), "--output", out, "--dump", 1, "--dump_npy", 1)
    assert "[ERROR] msaccucmp.py was not found" in text
    assert len(dumped(f"{out}/dump")) == 6


def test_dump_npy_without_a_dump_is_said(run, models, out):
    text = run("--model", models("fixed"), "--output", out, "--dump_npy", 1)
    assert "[WARNING] --dump_npy converts a dump, and nothing is dumped; add --dump" in text


def test_the_dump_of_an_acl_json_has_the_operators_it_names(run, models, tmp_path, acl_json):
    section = {"dump_path": f"{tmp_path}/dump", "dump_mode": "output",
               "dump_list": [{"model_name": "fixed", "layer": ["conv"]}]}
    run("--model", models("fixed"), "--acl_json_path", acl_json({"dump": section}), "--dump_npy", 1,
        "--warmup_count", 0)
    assert dumped(f"{tmp_path}/dump") == {(0, 0, "conv")}
    (path,) = glob.glob(f"{tmp_path}/dump/*_npy/**/*.npy", recursive=True)
    assert path.endswith(".output.0.npy")


def test_a_dump_of_a_renamed_model_file_says_why_it_is_empty(run, models, tmp_path, out):
    path = tmp_path / "renamed.om"
    shutil.copy(models("fixed"), path)
    text = run("--model", path, "--output", out, "--dump", 1)
    assert f"[WARNING] nothing was dumped to {out}/dump: no model with the name of" in text


def test_several_devices_dump_under_their_numbers(run, models, out):
    run("--model", models("fixed"), "--output", out, "--dump", 1, "--dump_npy", 1, "--device",
        "0,1", "--warmup_count", 0)
    assert dumped(f"{out}/dump") == {(device, 0, name) for device in (0, 1)
                                     for name in ("conv", "fc", "pool")}
    assert len(glob.glob(f"{out}/dump/*_npy/**/*.output.0.npy", recursive=True)) == 6


def test_dumps_of_two_devices_with_one_name_both_become_npy(run, models, out):
    from ais_bench.infer.profiling import _convert
    run("--model", models("fixed"), "--output", out, "--dump", 1, "--warmup_count", 0)
    (time,) = os.listdir(f"{out}/dump")
    shutil.copytree(f"{out}/dump/{time}/0", f"{out}/dump/{time}/1")
    _convert(f"{out}/dump")
    found = glob.glob(f"{out}/dump/{time}_npy/**/*.output.0.npy", recursive=True)
    assert len(found) == 6 and len({os.path.basename(path) for path in found}) == 3
