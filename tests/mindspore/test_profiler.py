# SPDX-License-Identifier: Apache-2.0
"""mindspore.profiler of the package itself: its files, and the same program under our stand-in."""
import csv
import glob
import json
import os

import pytest

PROGRAM = """
import sys, mindspore as ms, numpy as np
from mindspore import Tensor, nn, ops
from mindspore.profiler import ProfilerLevel, ProfilerActivity, AicoreMetrics, ExportType
import mindspore.profiler as prof
SETTINGS = {settings}
ms.set_device("Ascend")
ms.set_context(mode=ms.{mode})
net = nn.SequentialCell(nn.Dense(16, 32), nn.ReLU(), nn.Dense(32, 4))
x = Tensor(np.ones((8, 16), np.float32))
update = nn.SGD(net.trainable_params(), 0.01)
def total(a):
    return net(a).sum()
slopes = ms.value_and_grad(total, None, update.parameters)
def step():
    loss, gradients = slopes(x)
    update(gradients)
    return loss.asnumpy()
config = prof._ExperimentalConfig(**SETTINGS.pop("config", {{}}))
handler = prof.tensorboard_trace_handler(sys.argv[1])
with prof.profile(activities=[ProfilerActivity.CPU, ProfilerActivity.NPU],
                  schedule=prof.schedule(wait=1, warmup=1, active=2, repeat=1, skip_first=0),
                  on_trace_ready=handler, experimental_config=config, **SETTINGS) as profiler:
    profiler.add_metadata("owner", "a test")
    for _ in range(6):
        step()
        profiler.step()
print("done")
"""


def profiled(program, tmp_path, mode="PYNATIVE_MODE", settings="{}", **environment):
    printed = program(PROGRAM.format(mode=mode, settings=settings),
                      arguments=[str(tmp_path / "out")], errors=True, **environment)
    assert "done" in printed, printed[-3000:]
    folders = glob.glob(str(tmp_path / "out" / "*_ascend_ms"))
    assert len(folders) == 1, (folders, printed[-3000:])
    return folders[0], printed


def rows_of(folder, name):
    with open(os.path.join(folder, "ASCEND_PROFILER_OUTPUT", name), newline="",
              encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("mode", ["PYNATIVE_MODE", "GRAPH_MODE"])
def test_the_files_of_two_steps(program, tmp_path, mode):
    folder, printed = profiled(program, tmp_path, mode)
    kernels = rows_of(folder, "kernel_details.csv")
    assert len({row["Step ID"] for row in kernels}) == 2, printed[-2000:]
    assert any("MatMul" in row["Name"] or "MatMul" in row["Type"] for row in kernels)
    assert all(float(row["Duration(us)"]) >= 0 for row in kernels)
    steps = rows_of(folder, "step_trace_time.csv")
    assert len(steps) == 2 and all(float(row["Computing"]) > 0 for row in steps)
    with open(os.path.join(folder, "ASCEND_PROFILER_OUTPUT", "trace_view.json"),
              encoding="utf-8") as file:
        events = json.load(file)
    names = {e["args"]["name"] for e in events if e.get("ph") == "M"
             and e["name"] == "process_name"}
    assert {"MindSpore", "CANN", "Ascend Hardware"} <= names
    arrows = {e.get("cat") for e in events if e.get("ph") == "s"}
    assert {"HostToDevice", "async_npu"} <= arrows
    with open(os.path.join(folder, "profiler_metadata.json"), encoding="utf-8") as file:
        assert json.load(file)["owner"] == "a test"
    assert "[ERROR] PROFILER" not in printed, printed[-3000:]


def test_memory_and_shapes(program, tmp_path):
    folder, _ = profiled(program, tmp_path, settings='dict(profile_memory=True, data_process=True, '
                         'config=dict(profiler_level=ProfilerLevel.Level1, '
                         'aic_metrics=AicoreMetrics.PipeUtilization, l2_cache=True))')
    assert {row["Device Type"][:3] for row in rows_of(folder, "memory_record.csv")} == {"NPU"}
    operators = rows_of(folder, "operator_memory.csv")
    assert operators and all(row["Name"] for row in operators)
    assert rows_of(folder, "op_statistic.csv") and rows_of(folder, "api_statistic.csv")


def test_a_database(program, tmp_path):
    folder, _ = profiled(program, tmp_path,
                         settings="dict(config=dict(export_type=[ExportType.Db]))")
    assert glob.glob(os.path.join(folder, "ASCEND_PROFILER_OUTPUT",
                                  "ascend_mindspore_profiler*.db"))


def columns_of(folder):
    found = {}
    for path in glob.glob(os.path.join(folder, "ASCEND_PROFILER_OUTPUT", "*.csv")):
        with open(path, newline="", encoding="utf-8") as file:
            found[os.path.basename(path)] = next(csv.reader(file))
    return found


# The same calls without MindSpore: our stand-in answers, and the program computes with acl.
STAND_IN = """
import sys
from anynpu.profiler import (ProfilerActivity, ProfilerLevel,  # what mindspore.profiler is without
                             AicoreMetrics, ExportType)        # MindSpore
import anynpu.profiler as prof, acl
SETTINGS = {settings}
acl.init(); acl.rt.set_device(0)
stream, _ = acl.rt.create_stream()
handler = prof.tensorboard_trace_handler(sys.argv[1])
def desc():
    return acl.create_tensor_desc(0, [4, 4], 2)
memory = [acl.rt.malloc(64, 2)[0] for _ in range(3)]
def step():
    acl.op.compile_and_execute("MatMulV2", [desc(), desc()],
                               [acl.create_data_buffer(m, 64) for m in memory[:2]], [desc()],
                               [acl.create_data_buffer(memory[2], 64)], acl.op.create_attr(), 0, 0,
                               "", stream)
    acl.rt.synchronize_stream(stream)
    acl.rt.free(acl.rt.malloc(1 << 20, 2)[0])
with prof.profile(activities=[ProfilerActivity.CPU, ProfilerActivity.NPU],
                  schedule=prof.schedule(wait=1, warmup=1, active=2, repeat=1, skip_first=0),
                  on_trace_ready=handler, experimental_config=prof._ExperimentalConfig(
                      **SETTINGS.pop("config", {{}})), **SETTINGS) as profiler:
    for _ in range(6):
        step()
        profiler.step()
print("done")
"""
EVERYTHING = """dict(with_stack=True, profile_memory=True, data_process=True,
    parallel_strategy=True, hbm_ddr=True, pcie=True, sync_enable=False,
    config=dict(profiler_level=ProfilerLevel.Level2,
    aic_metrics=AicoreMetrics.Memory, l2_cache=True, mstx=True, data_simplification=False,
    sys_io=True, sys_interconnection=True,
    export_type=[ExportType.Text, ExportType.Db]))"""


@pytest.mark.parametrize("settings", ["dict(config=dict(profiler_level=ProfilerLevel.Level0))",
                                      "dict(config=dict(profiler_level=ProfilerLevel.Level1))",
                                      EVERYTHING],
                         ids=["level0", "level1", "everything"])
def test_our_stand_in_writes_the_same_columns(program, tmp_path, settings):
    real, printed = profiled(program, tmp_path, settings=settings)
    assert "done" in program(STAND_IN.format(settings=settings), arguments=[str(tmp_path / "ours")])
    ours = columns_of(glob.glob(str(tmp_path / "ours" / "*_ascend_ms"))[0])
    theirs = columns_of(real)
    assert {"kernel_details.csv", "step_trace_time.csv",
            "op_statistic.csv"} <= set(theirs), printed[-2000:]
    for name in sorted(set(ours) & set(theirs)):
        assert ours[name] == theirs[name], name
    # What only ours has: the stages of a program's data, which MindSpore writes for its own
    # datasets, and rates that MindSpore takes from counters of a card.
    assert set(ours) ^ set(theirs) <= {"dataset.csv", "hbm.csv", "pcie.csv"}


START_AND_STOP = """
import sys, mindspore as ms, numpy as np
from mindspore import Tensor, mint
import mindspore.profiler as prof
from mindspore.profiler.profiler import analyse
ms.set_device("Ascend")
x = Tensor(np.ones((8, 8), np.float32))
profiler = prof.profile(start_profile=False, on_trace_ready=prof.tensorboard_trace_handler(
    sys.argv[1], analyse_flag=False), schedule=prof.schedule(wait=0, active=1, repeat=1))
mint.matmul(x, x).asnumpy()
profiler.start()
mint.matmul(x, x).asnumpy()
profiler.step()
profiler.add_metadata_json("numbers", "[1, 2]")
profiler.stop()
analyse(sys.argv[1], max_process_number=1, pretty=True, data_simplification=False)
print("done")
"""


def test_a_program_starts_stops_and_analyses_later(program, tmp_path):
    printed = program(START_AND_STOP, arguments=[str(tmp_path / "out")], errors=True)
    folders = glob.glob(str(tmp_path / "out" / "*_ascend_ms"))
    assert len(folders) == 1, printed[-2000:]
    assert len([row for row in rows_of(folders[0],
                                       "kernel_details.csv") if "aclnnMatmul" in row["Name"]]) == 1
    with open(os.path.join(folders[0], "ASCEND_PROFILER_OUTPUT", "trace_view.json"),
              encoding="utf-8") as file:
        assert json.load(file)
    with open(os.path.join(folders[0], "profiler_metadata.json"), encoding="utf-8") as file:
        assert json.load(file)["numbers"] == [1, 2]
