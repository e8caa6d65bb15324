# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: E501
"""torch_npu.profiler as its documentation uses it: collects, exports, and the files say what ran."""
import csv
import glob
import json
import os
import subprocess
import sys

import pytest

PROGRAM = """
import sys
import torch, torch_npu
from torch import nn
model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4)).npu()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(8, 16, device="npu")
config = torch_npu.profiler._ExperimentalConfig(
    export_type=[torch_npu.profiler.ExportType.Text],
    profiler_level=torch_npu.profiler.ProfilerLevel.Level1)
with torch_npu.profiler.profile(
        activities=[torch_npu.profiler.ProfilerActivity.CPU, torch_npu.profiler.ProfilerActivity.NPU],
        schedule=torch_npu.profiler.schedule(wait=0, warmup=1, active=2, repeat=1),
        on_trace_ready=torch_npu.profiler.tensorboard_trace_handler(sys.argv[1]),
        record_shapes=True, profile_memory=True, experimental_config=config) as profiler:
    for _ in range(4):
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()
        profiler.step()
print("done")
"""


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    folder = tmp_path_factory.mktemp("profile")
    programs = os.path.join(os.environ["ASCEND_HOME_PATH"], "bin")  # as set_env.sh has it
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(folder)], capture_output=True, text=True,
                          timeout=300, env={**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"})
    assert done.returncode == 0 and "done" in done.stdout, done.stdout + done.stderr
    assert "[ERROR]" not in done.stdout + done.stderr, done.stdout + done.stderr
    found = glob.glob(str(folder / "*_ascend_pt" / "ASCEND_PROFILER_OUTPUT"))
    assert len(found) == 1, done.stdout + done.stderr
    return found[0]


def rows(exported, name):
    with open(os.path.join(exported, name), newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def events(exported):
    with open(os.path.join(exported, "trace_view.json"), encoding="utf-8") as file:
        return json.load(file)


def names_of(events, layer):
    processes = {e["pid"] for e in events if e["ph"] == "M" and e["name"] == "process_name"
                 and e["args"]["name"] == layer}
    return {e["name"] for e in events if e["ph"] == "X" and e["pid"] in processes}


def test_the_timeline_has_the_program_the_calls_and_the_device(events):
    assert {"aten::linear", "aten::relu"} <= names_of(events, "Python")
    assert {"AscendCL@aclnnAddmm", "AscendCL@aclnnRelu", "AscendCL@aclnnReluGetWorkspaceSize"} <= names_of(
        events, "CANN")
    assert {"aclnnAddmm", "aclnnRelu", "aclnnMm"} <= names_of(events, "Ascend Hardware")


def test_operators_of_the_program_point_to_their_kernels(events):
    starts = {e["id"] for e in events if e["ph"] == "s" and e.get("cat") == "async_npu"}
    ends = {e["id"] for e in events if e["ph"] == "f" and e.get("cat") == "async_npu"}
    assert starts and starts == ends


def test_clocks_of_the_program_and_of_the_device_agree(events):
    at = {}
    for event in events:
        if event["ph"] == "X" and event["name"] in ("Dequeue@aclnnRelu", "AscendCL@aclnnRelu"):
            at.setdefault(event["name"], []).append(float(event["ts"]))
    queued, called = (sorted(at[name]) for name in ("Dequeue@aclnnRelu", "AscendCL@aclnnRelu"))
    assert len(queued) == len(called)
    apart = [b - a for a, b in zip(queued, called)]
    # The thread may be interrupted between the two: on a busy machine for longer than clocks may differ.
    assert min(apart) >= 0 and min(apart) < 5000, f"{apart} microseconds"


def test_kernels_have_names_shapes_and_steps(exported):
    kernels = rows(exported, "kernel_details.csv")
    by_name = {row["Name"]: row for row in kernels}
    assert by_name["aclnnRelu"]["Input Shapes"].strip('"') == "8,32"
    assert {row["Step Id"] for row in kernels} == {"1", "2"}
    assert all(float(row["Duration(us)"]) >= 0 for row in kernels)


def test_operators_have_their_device_time(exported):
    relu = [row for row in rows(exported, "operator_details.csv") if row["Name"] == "aten::relu"]
    assert len(relu) == 2
    assert all(float(row["Device Total Duration(us)"]) > 0 for row in relu)


def test_steps_have_their_parts(exported):
    steps = rows(exported, "step_trace_time.csv")
    assert [row["Step"] for row in steps] == ["1", "2"]
    assert all(float(row["Computing"]) > 0 for row in steps)


def test_memory_of_operators_and_of_the_process(exported):
    assert any(row["Name"] == "aten::addmm" and float(row["Size(KB)"]) > 0
               for row in rows(exported, "operator_memory.csv"))
    assert any(float(row["Total Reserved(MB)"]) > 0 for row in rows(exported, "memory_record.csv"))


def test_statistics_of_kernels_and_calls(exported):
    assert any(row["OP Type"] == "Relu" and int(row["Count"]) == 2 for row in rows(exported, "op_statistic.csv"))
    assert any(row["API Name"] == "aclnnRelu" for row in rows(exported, "api_statistic.csv"))
