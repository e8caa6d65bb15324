# SPDX-License-Identifier: Apache-2.0
"""Every column of every file of msprof and mindspore.profiler, by tests/data/profile_columns.tsv.

The headers exactly, and each cell by its kind. Also what fusions, stages and times say.
"""
import csv
import glob
import os
import re
import subprocess
import sys
import textwrap
from decimal import Decimal

import numpy as np
import pytest
from build_tree import DATA, SUPPORT
from model_datasets import convert
from onnx import TensorProto, helper, numpy_helper
from prof_case import one, run_model, table, timeline

import acl
from anynpu.msprof.recording import read_recording

KINDS = {"int": r"\d+", "dec": r"-?\d+\.\d{3}", "time": r"\d+\.\d{3}\t", "na": "N/A",
         "npu": r"NPU:\d", "host": "host", "text": r"[^\0]+", "empty": ""}


def documented():
    columns = {}
    with open(os.path.join(DATA, "profile_columns.tsv"), encoding="utf-8") as file:
        for line in file:
            if not line.startswith(("#", "file\t")):
                name, column, kind = line.rstrip("\n").split("\t")
                columns.setdefault(name, []).append((column, kind))
    return columns


COLUMNS = documented()
MSPROF = [name for name in COLUMNS if not name.endswith(".csv")]
MINDSPORE = [name for name in COLUMNS if name.endswith(".csv")]


def check(path, columns):
    with open(path, newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    if "pipeline_summary" in path:  # a key and its values in each row
        lists = [header, *rows]
        header, rows = [row[0] for row in lists], []
        for row, column in zip(lists, columns):
            rows += [([cell], [column]) for cell in row[1:]]
    else:
        rows = [(row, columns) for row in rows]
    assert header == [c for c, _ in columns]
    assert rows
    for row, kinds in rows:
        assert len(row) == len(kinds)
        for cell, (column, kind) in zip(row, kinds):
            pattern = "|".join(KINDS[k] for k in kind.split("|"))
            assert re.fullmatch(pattern, cell), (column, kind, cell)


@pytest.fixture(scope="module")
def fused(tmp_path_factory):
    """A convolution, a normalisation and a Relu, which become one operator."""
    random = np.random.RandomState(3)
    sizes = {"w": [8, 3, 3, 3], "s": [8], "b": [8], "m": [8], "v": [8]}
    weights = [numpy_helper.from_array(random.rand(*s).astype(np.float32), n)
               for n, s in sizes.items()]
    nodes = [helper.make_node("Conv", ["x", "w"], ["a"], name="conv", pads=[1] * 4),
             helper.make_node("BatchNormalization", ["a", "s", "b", "m", "v"], ["n"], name="norm"),
             helper.make_node("Relu", ["n"], ["r"], name="relu"),
             helper.make_node("Sigmoid", ["r"], ["y"], name="end")]
    graph = helper.make_graph(
        nodes, "fused", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 32, 32])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 8, 32, 32])], weights)
    return convert(tmp_path_factory.mktemp("fused"), "fused",
                   helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]))


PROGRAM = """
    import sys, time
    sys.path.insert(0, {here!r})
    import acl
    from media_programs import NV12, Picture, nv12_bytes, ok
    from prof_case import run_model
    ok(acl.init())
    ok(acl.rt.set_device(0))
    run_model({model!r}, 2)
    stream = ok(acl.rt.create_stream())
    stamp = acl.prof.create_stamp()
    ok(acl.prof.set_stamp_trace_message(stamp, "a", 1))
    ok(acl.prof.mark(stamp))
    ok(acl.prof.mark_ex("both", stream))
    channel = acl.media.dvpp_create_channel_desc()
    ok(acl.media.dvpp_create_channel(channel))
    source, target = Picture(NV12, 64, 64, nv12_bytes(64, 64)), Picture(NV12, 32, 32)
    config = acl.media.dvpp_create_resize_config()
    ok(acl.media.dvpp_vpc_resize_async(channel, source.desc, target.desc, config, stream))
    ok(acl.rt.synchronize_stream(stream))
    time.sleep(0.25)
    ok(acl.media.dvpp_destroy_channel(channel))
    ok(acl.rt.destroy_stream(stream))
    ok(acl.rt.reset_device(0))
    ok(acl.finalize())
"""


@pytest.fixture(scope="module")
def collected(tmp_path_factory, fused):
    folder = tmp_path_factory.mktemp("columns")
    app = folder / "app.py"
    app.write_text(textwrap.dedent(PROGRAM).format(here=SUPPORT, model=fused))
    done = subprocess.run(
        ["msprof", f"--output={folder}", "--msproftx=on", "--task-memory=on", "--runtime-api=on",
         "--sys-hardware-mem=on", "--dvpp-profiling=on", "--host-sys=cpu,mem,disk,network,osrt",
         "--host-sys-usage-freq=20", sys.executable, str(app)],
        capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return glob.glob(str(folder / "PROF_*"))[0]


@pytest.mark.parametrize("name", MSPROF)
def test_columns_of_msprof(collected, name):
    check(one(collected, f"{name}_[0-9]*.csv"), COLUMNS[name])


def test_no_file_of_msprof_is_undocumented(collected):
    names = {re.sub(r"_\d{14}\.csv$", "", os.path.basename(p)) for p in
             glob.glob(os.path.join(collected, "mindstudio_profiler_output", "*.csv"))}
    # The facts name these two without their columns.
    assert names - set(MSPROF) == {"host_disk_usage", "host_network_usage"}


def test_fusions_name_the_operators_of_the_source(collected):
    [row] = table(collected, "fusion_op")
    assert row["Model Name"] == "fused" and row["Original Ops"] == "conv;norm;relu"
    assert float(row["Memory Input(KB)"]) == 3 * 32 * 32 * 4 / 1024
    assert float(row["Memory Output(KB)"]) == 8 * 32 * 32 * 4 / 1024
    parts = [float(row[f"Memory {p}(KB)"]) for p in ("Input", "Output", "Weight", "Workspace")]
    assert abs(float(row["Memory Total(KB)"]) - sum(parts)) < 0.01
    assert row["Model ID"] == table(collected, "step_trace")[0]["Model ID"]


def test_calls_of_the_operating_system_are_counted_and_drawn(collected):
    rows = {r["Name"]: r for r in table(collected, "os_runtime_statistic")}
    sleep = rows["clock_nanosleep"]  # time.sleep(0.25) of the program
    assert sleep["Count"] == "1" and float(sleep["Time(us)"]) >= 250000
    shares = [float(r["Time(%)"]) for r in table(collected, "os_runtime_statistic")]
    assert abs(sum(shares) - 100) < 0.1
    events = timeline(collected)
    layer = next(e["pid"] for e in events if e["name"] == "process_name"
                 and e["args"]["name"] == "OS Runtime API")
    drawn = [e for e in events if e["pid"] == layer and e["ph"] == "X"]
    assert len(drawn) == sum(int(r["Count"]) for r in table(collected, "os_runtime_statistic"))
    assert len([e for e in drawn if e["name"] == "clock_nanosleep"]) == 1


def test_times_of_calls_are_those_of_the_timeline(collected):
    events = [e for e in timeline(collected) if e["ph"] == "X"]
    rows = [r for r in table(collected, "api_statistic") if r["Level"] == "acl"]
    assert len(rows) > 10
    for row in rows:
        times = np.array([e["dur"] for e in events if e["name"] == f"AscendCL@{row['API Name']}"])
        assert int(row["Count"]) == len(times), row
        for column, value in (("Time(us)", times.sum()), ("Avg(us)", times.mean()),
                              ("Min(us)", times.min()), ("Max(us)", times.max()),
                              ("Variance", times.var())):
            assert float(row[column]) == pytest.approx(value, rel=1e-3, abs=2e-3), (row, column)


def test_media_engines_are_counted_by_their_tasks(collected):
    [engine] = table(collected, "dvpp")
    [task] = [t for t in table(collected, "task_time") if "VPC" in t["kernel_type"]]
    assert engine["Engine Type"] == "VPC" and engine["All Frame"] == "1"
    assert engine["All Time(us)"] == task["task_time(us)"]
    recording = read_recording(collected)
    wall = (recording.end_ns - recording.begin_ns) / 1000
    assert float(engine["All Utilization(%)"]) == pytest.approx(
        100 * float(task["task_time(us)"]) / wall, abs=0.001)


def test_every_task_lasts_from_its_start_to_its_stop(collected):
    for task in table(collected, "task_time"):
        begin, end = (Decimal(task[c].strip()) for c in ("task_start(us)", "task_stop(us)"))
        assert end - begin == Decimal(task["task_time(us)"])


def test_the_load_of_the_host_is_a_share_of_what_it_has(collected):
    for row in table(collected, "cpu_usage"):
        shares = [float(v) for k, v in row.items() if k.endswith("(%)")]
        assert all(s >= 0 for s in shares) and sum(shares) <= 100.01
    [cpus] = table(collected, "host_cpu_usage")
    assert int(cpus["Total Cpu Numbers"]) == os.cpu_count()
    assert 0 <= float(cpus["Occupied Cpu Numbers"]) <= os.cpu_count()
    [memory] = table(collected, "host_mem_usage")
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1024
    assert int(memory["Total Memory(KB)"]) == pytest.approx(total, rel=0.01)
    assert 0 < int(memory["Peak Used Memory(KB)"]) < int(memory["Total Memory(KB)"])


def profile_of(folder, fused, work=None, **options):
    from anynpu.profiler import (
        ProfilerLevel,
        _ExperimentalConfig,
        analyse,
        profile,
        tensorboard_trace_handler,
    )
    tensorboard_trace_handler(str(folder))
    running = profile(experimental_config=_ExperimentalConfig(
        profiler_level=ProfilerLevel.Level1, mstx=True), **options)
    try:
        (work or (lambda _: run_model(fused, 2)))(running)
    finally:
        running.stop()
    analyse(str(folder))
    return glob.glob(str(folder / "*_ascend_ms" / "ASCEND_PROFILER_OUTPUT"))[0]


@pytest.fixture(scope="module")
def analysed(tmp_path_factory, fused):
    """Two outputs: one with steps, one with the stages of ais_bench, which go with no schedule."""
    from ais_bench.infer.interface import InferSession
    from anynpu.profiler import schedule
    assert acl.init() == 0
    assert acl.rt.set_device(0) == 0

    def steps(running):
        for _ in range(3):
            run_model(fused, 2)
            running.step()

    def stages(_):
        session = InferSession(0, fused)
        for _ in range(3):
            session.infer([np.ones([1, 3, 32, 32], np.float32)])
        session.free_resource()

    found = [profile_of(tmp_path_factory.mktemp("steps"), fused, steps,
                        schedule=schedule(wait=0, warmup=1, active=2, repeat=1),
                        profile_memory=True, record_shapes=True, hbm_ddr=True, pcie=True),
             profile_of(tmp_path_factory.mktemp("stages"), fused, stages, data_process=True)]
    assert acl.rt.reset_device(0) == 0
    assert acl.finalize() == 0
    return found


@pytest.mark.parametrize("name", MINDSPORE)
def test_columns_of_mindspore_profiler(analysed, name):
    of_data = name.startswith(("dataset", "minddata"))
    check(os.path.join(analysed[of_data], name), COLUMNS[name])


def test_no_file_of_mindspore_profiler_is_undocumented(analysed):
    for folder in analysed:
        assert {n for n in os.listdir(folder) if n.endswith(".csv")} <= set(MINDSPORE)


def test_stages_of_ais_bench_are_a_pipeline(analysed):
    with open(os.path.join(analysed[1], "dataset.csv"), newline="") as file:
        rows = {r["Operation"]: r for r in csv.DictReader(file)}
    assert {"host to device", "compute", "device to host"} <= set(rows)
    assert rows["compute"]["Stage"] == "ais_bench" and rows["compute"]["Occurrences"] == "3"
    with open(os.path.join(analysed[1], "minddata_pipeline_raw_0.csv"), newline="") as file:
        ops = list(csv.DictReader(file))
    assert [o["op_type"] for o in ops] == ["device to host", "compute", "host to device"]
    assert [(o["parent_id"], o["children_id"]) for o in ops] \
        == [("", "[1]"), ("0", "[2]"), ("1", "")]
    with open(os.path.join(analysed[1], "minddata_pipeline_summary_0.csv"), newline="") as file:
        summary = {row[0]: row[1:] for row in csv.reader(file)}
    assert summary["op_ids"] == ["0", "1", "2"] and summary["parent_id"] == ["-1", "0", "1"]
    assert summary["children_ids"] == ["[1]", "[2]", "[]"]
    assert summary["op_names"] == [o["op_type"] for o in ops]


def durations(folder):
    with open(os.path.join(folder, "kernel_details.csv"), newline="") as file:
        return [float(r["Duration(us)"]) for r in csv.DictReader(file)]


def test_sync_enable_chooses_between_running_and_sending(device_0, tmp_path, fused):
    running = durations(profile_of(tmp_path / "a", fused))
    sending = durations(profile_of(tmp_path / "b", fused, sync_enable=False))
    assert len(running) == len(sending) and all(running)
    # Two executions are sent; what comes with the first operator takes no time of its own.
    assert len([s for s in sending if s > 0]) == 2
