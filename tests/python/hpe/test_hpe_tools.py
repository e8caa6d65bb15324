# SPDX-License-Identifier: Apache-2.0
"""stc-smi, stc-prof, and the tools that say they are not there."""
import json
import os
import subprocess
import sys

import pytest
from hpe_programs import kernels

PROGRAM = """
import numpy as np
import hpe.hpert.api as hpe
module = hpe.module("kernels.o")
memory, array = hpe.device_mem(4096), np.zeros(1024, np.int32)
memory.copy_from_host(array)
module.launch_kernel("who", [memory])
module.launch_kernel("nothing", core_num=2)
hpe.synchronize()
memory.copy_to_host(array)
"""


def run(*words, cwd=None, code=0, **env):
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, timeout=300,
                          env={**os.environ, **env})
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_stc_smi_lists_the_clusters():
    lines = run("stc-smi").splitlines()
    assert len(lines) == 5 and "simulated" in lines[0] and "STCP920" in lines[4]
    assert "NPCs Per Cluster        : 8" in run("stc-smi", "-q")
    assert len(run("stc-smi", STC_SET_DEVICES="1,2").splitlines()) == 3
    assert "STC_SET_DEVICES" in run("stc-smi", STC_SET_DEVICES="", code=1)


@pytest.mark.parametrize("name, instead", [("stcc", "stc-clang++"), ("stc-gdb", "-g")])
def test_tools_that_are_not_there_say_what_to_use(name, instead):
    assert instead in run(name, "x.hc", code=1)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recorded")
    (folder / "kernels.o").write_bytes(kernels())
    (folder / "app.py").write_text(PROGRAM)
    run("stc-prof", "record", sys.executable, "app.py", cwd=folder)
    return folder


def test_stc_prof_summary_names_kernels_and_copies(recorded):
    text = run("stc-prof", "summary", cwd=recorded)
    assert "who (8)" in text and "nothing (2)" in text and "modelled" in text
    lines = {line.split()[0]: line.split() for line in text.splitlines() if line}
    assert "who" in run("stc-prof", "summary", "--target-tid", lines["who"][-1], cwd=recorded)
    assert "who" not in run("stc-prof", "summary", "--target-tid", "1", cwd=recorded)
    assert lines["HOST_TO_DEVICE"][1:3] == ["1", "4096"]
    assert lines["DEVICE_TO_HOST"][1:3] == ["1", "4096"]


def test_stc_prof_detail_shows_each_sub_module(recorded):
    modules = {"DEFAULT": "MCU-CYCLE", "VME": "VME-CU INST", "MTE": "MTE INST", "MME": "MME INST",
               "PAL": "PAL(ALL)", "MCU": "MCU INST", "MEMORY": "LLB -> L1",
               "MEMORY-COL": "LLB COLLISION"}
    for module, head in modules.items():
        text = run("stc-prof", "detail", f"--sub-module={module}", cwd=recorded)
        assert head in text and "NPC_07" in text, module
    assert all(head in run("stc-prof", "detail", "--sub-module=" + ",".join(modules), cwd=recorded)
               for head in modules.values())
    assert "DEFAULT" in run("stc-prof", "detail", "--sub-module=NONE", cwd=recorded, code=1)


def test_stc_prof_dump_is_a_trace(recorded):
    events = json.loads(run("stc-prof", "dump", cwd=recorded))["traceEvents"]
    assert [event["name"] for event in events] == ["copy h2d", "who", "nothing", "copy d2h"]
    assert all(event["dur"] >= 0 for event in events)


def test_stc_prof_record_keeps_the_run_before_and_the_exit_code(recorded):
    assert run("stc-prof", "record", sys.executable, "-c", "raise SystemExit(7)", cwd=recorded,
               code=7) == ""
    assert (recorded / "stc-prof.data.old" / "default.opts").exists()
    assert "who" in run("stc-prof", "summary", "--input-dir", "stc-prof.data.old", cwd=recorded)
    os.rename(recorded / "stc-prof.data.old", recorded / "kept")
    run("stc-prof", "record", sys.executable, "app.py", cwd=recorded)


def test_stc_prof_refuses_with_a_sentence(tmp_path):
    assert "record" in run("stc-prof", "summary", cwd=tmp_path, code=1)
    assert "cannot start" in run("stc-prof", "record", "/no/such/program", cwd=tmp_path, code=1)
    assert "no program" in run("stc-prof", "record", cwd=tmp_path, code=1)
    assert "225" in run("stc-prof", "record", "--output-dir", "x" * 230, "true", cwd=tmp_path,
                        code=1)


def test_the_help_of_stc_prof_covers_its_four_commands():
    text = run("stc-prof", "--help")
    for command, words in (("record", "run a program and record"), ("summary", "by name"),
                           ("detail", "counters of every kernel"), ("dump", "the time line")):
        assert words in text, command
        assert "--" in run("stc-prof", command, "--help")
    assert "--sub-module" in text, "an example"
