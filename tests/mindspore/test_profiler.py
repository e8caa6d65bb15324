# SPDX-License-Identifier: Apache-2.0
"""mindspore.profiler of the package itself: its files, and the same program under our stand-in."""
import csv
import glob
import json
import os
import sqlite3

import pytest
from conftest import run_in

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


def tables_of(folder):
    """Names and columns of the tables of the database, where there is one."""
    found = {}
    for path in glob.glob(os.path.join(folder, "ASCEND_PROFILER_OUTPUT", "*.db")):
        with sqlite3.connect(path) as base:
            names = [n for n, in base.execute("SELECT name FROM sqlite_master WHERE type='table'")]
            found.update({n: list(base.execute(f"PRAGMA table_info({n})")) for n in names})
    return found


# The same calls without MindSpore: our stand-in answers, and the program computes with acl.
STAND_IN = """
import sys
from anynpu.profiler import (ProfilerActivity, ProfilerLevel,  # what mindspore.profiler is without
                             AicoreMetrics, ExportType)        # MindSpore
import anynpu.profiler as prof, acl, numpy as np
SETTINGS = {settings}
acl.init(); acl.rt.set_device(0)
stream, _ = acl.rt.create_stream()
handler = prof.tensorboard_trace_handler(sys.argv[1])
def desc():
    return acl.create_tensor_desc(0, [4, 4], 2)
memory, x = [acl.rt.malloc(64, 2)[0] for _ in range(3)], np.ones(16, np.float32)
def step():
    acl.rt.memcpy(memory[0], 64, x.ctypes.data, 64, 1)
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
    assert set(ours) == set(theirs)
    assert tables_of(glob.glob(str(tmp_path / "ours" / "*_ascend_ms"))[0]) == tables_of(real)


# Each parameter by itself.
PARAMETERS = {
    "plain": "", "cpu": "activities=[CPU]", "npu": "activities=[NPU]",
    "with_stack": "with_stack=True", "profile_memory": "profile_memory=True",
    "data_process": "data_process=True", "parallel_strategy": "parallel_strategy=True",
    "hbm_ddr": "hbm_ddr=True", "pcie": "pcie=True", "sync_enable": "sync_enable=False",
    "record_shapes": "record_shapes=True", "start_profile": "start_profile=False",
    "schedule": "schedule=prof.schedule(wait=0, active=2, repeat=1)",
    "level_none": "config=dict(profiler_level=prof.ProfilerLevel.LevelNone, mstx=True)",
    "level1": "config=dict(profiler_level=prof.ProfilerLevel.Level1)",
    "level2": "config=dict(profiler_level=prof.ProfilerLevel.Level2)",
    "l2_cache": "config=dict(l2_cache=True)", "sys_io": "config=dict(sys_io=True)",
    "sys_interconnection": "config=dict(sys_interconnection=True)",
    "database": "config=dict(export_type=[prof.ExportType.Db])",
    "host_sys": "start_profile=False, config=dict(host_sys=[prof.HostSystem.CPU])",
}
ONE_BY_ONE = """
CPU, NPU = prof.ProfilerActivity.CPU, prof.ProfilerActivity.NPU
step()
for name, given in PARAMETERS.items():
    if "config" in given:
        given["experimental_config"] = prof._ExperimentalConfig(**given.pop("config"))
    handler = prof.tensorboard_trace_handler(os.path.join(sys.argv[1], name))
    profiler = prof.profile(on_trace_ready=handler, **given)
    if given.get("start_profile") is False:
        profiler.start()
    for _ in range(4):
        step()
        if "schedule" in given:
            profiler.step()
    if given.get("data_process"):
        read_data()
    profiler.stop()
print("done")
""".replace("PARAMETERS", f"dict({', '.join(f'{n}=dict({t})' for n, t in PARAMETERS.items())})")
OF_MINDSPORE = """
import os, sys, mindspore as ms, numpy as np, mindspore.profiler as prof
ms.set_device("Ascend")
net, x = ms.nn.Dense(16, 4), np.ones((8, 16), np.float32)
def step():
    net(ms.Tensor(x)).asnumpy()
def read_data():
    data = ms.dataset.GeneratorDataset([(x,)] * 4, ["x"]).map(lambda a: a * 2, ["x"]).batch(2)
    assert len(list(data.create_tuple_iterator(num_epochs=1))) == 2
""" + ONE_BY_ONE
OF_OURS = """
import os, sys, time, numpy as np, anynpu.profiler as prof, acl
acl.init(); acl.rt.set_device(0)
stream, _ = acl.rt.create_stream()
memory, x = [acl.rt.malloc(64, 2)[0] for _ in range(3)], np.ones(16, np.float32)
def desc():
    return acl.create_tensor_desc(0, [4, 4], 2)
def step():
    acl.rt.memcpy(memory[0], 64, x.ctypes.data, 64, 1)
    acl.op.compile_and_execute("MatMulV2", [desc(), desc()],
                               [acl.create_data_buffer(m, 64) for m in memory[:2]], [desc()],
                               [acl.create_data_buffer(memory[2], 64)], acl.op.create_attr(), 0, 0,
                               "", stream)
    acl.rt.synchronize_stream(stream)
    acl.rt.memcpy(x.ctypes.data, 64, memory[2], 64, 2)
    acl.rt.free(acl.rt.malloc(1 << 20, 2)[0])
def read_data():
    for name in ("batch", "map", "read"):
        number = prof.mstx.range_start(name, domain="ais_bench")
        prof.mstx.range_end(number, domain="ais_bench")
""" + ONE_BY_ONE


@pytest.fixture(scope="module")
def one_by_one(tmp_path_factory):
    """Folders of both, by parameter."""
    found = []
    for code in (OF_MINDSPORE, OF_OURS):
        folder = tmp_path_factory.mktemp("parameters")
        printed = run_in(folder, code, 900, [str(folder / "out")], errors=True)
        assert "done" in printed, printed[-3000:]
        found.append({name: glob.glob(str(folder / "out" / name / "*_ascend_ms"))[0]
                      for name in os.listdir(folder / "out")})
    return found


def parameters_of(folder):
    with open(os.path.join(folder, "profiler_info_0.json"), encoding="utf-8") as file:
        found = json.load(file)["profiler_parameters"]
    del found["output_path"]
    return {**found, "activities": sorted(found["activities"])}


@pytest.mark.parametrize("name", PARAMETERS)
def test_each_parameter_gives_the_same_files(one_by_one, name):
    real, ours = (folders[name] for folders in one_by_one)
    names = [sorted(os.listdir(os.path.join(f, "ASCEND_PROFILER_OUTPUT"))) for f in (ours, real)]
    assert names[0] == names[1]
    assert columns_of(ours) == columns_of(real)
    assert tables_of(ours) == tables_of(real)
    assert parameters_of(ours) == parameters_of(real)


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
profiler.add_metadata_json("numbers", "[1, 2]")
profiler.step()  # the folder is completed here
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
