# SPDX-License-Identifier: Apache-2.0
"""The files made from a session: names, columns, and that their numbers are exact."""
import os
import shutil
import sqlite3
import time

import numpy as np
import pytest
from model_datasets import Model
from prof_case import (
    API,
    MEMORY,
    METRICS,
    RUNTIME,
    TASK,
    TX,
    directory,
    exported,
    make_model,
    one,
    session,
    table,
    timeline,
)

import acl

COUNT = 4  # executions


@pytest.fixture(scope="module")
def profile(tmp_path_factory):
    """A session over copies, executions at once and queued, events, memory and marks."""
    folder = tmp_path_factory.mktemp("profile")
    path = make_model(tmp_path_factory.mktemp("model"))
    assert acl.init() == 0
    assert acl.rt.set_device(0) == 0
    calls = {}
    with session(folder, API | TASK | RUNTIME | MEMORY | TX | METRICS, metrics=1):
        def call(name, *arguments):
            function = acl
            for part in name.split("."):
                function = getattr(function, part)
            calls[name] = calls.get(name, 0) + 1
            return function(*arguments)

        stream, ret = call("rt.create_stream")
        assert ret == 0
        model = Model(path)
        model.feed(np.ones([1, 3, 32, 32], np.float32))
        for _ in range(COUNT):
            assert call("mdl.execute", model.id, model.inputs, model.outputs) == 0
            assert call("mdl.execute_async", model.id, model.inputs, model.outputs, stream) == 0
        block, ret = call("rt.malloc", 1 << 20, 0)
        assert ret == 0
        source, ret = acl.rt.malloc_host(1 << 20)
        assert ret == 0
        for _ in range(3):
            assert call("rt.memcpy_async", block, 1 << 20, source, 1 << 20, 1, stream) == 0
        event, ret = acl.rt.create_event()
        assert acl.rt.record_event(event, stream) == 0
        assert acl.prof.mark_ex("half way", stream) == 0
        assert call("rt.synchronize_stream", stream) == 0
        stamp = acl.prof.create_stamp()
        assert acl.prof.set_stamp_trace_message(stamp, "a, \"b\"", 6) == 0
        assert acl.prof.push(stamp) == 0
        assert acl.prof.pop() == 0
        acl.prof.destroy_stamp(stamp)
        assert call("rt.free", block) == 0
        assert acl.rt.free_host(source) == 0
        assert acl.rt.destroy_event(event) == 0
        model.close()
        assert call("rt.destroy_stream", stream) == 0
    assert acl.rt.reset_device(0) == 0
    assert acl.finalize() == 0
    return exported(folder), calls


def test_operators_of_every_execution_are_in_op_summary(profile):
    rows = table(profile[0], "op_summary")
    assert [r["Op Name"] for r in rows].count("first") == 2 * COUNT
    first = next(r for r in rows if r["Op Name"] == "first")
    assert first["OP Type"] == "Conv" and first["Task Type"] == "AI_CORE"
    assert first["Input Shapes"].startswith("1,3,32,32;8,3,3,3")
    assert first["Input Data Types"].startswith("FLOAT;FLOAT")
    assert first["Output Shapes"] == "1,8,32,32"
    assert list(rows[0])[:11] == [
        "Device_id", "Model ID", "Task ID", "Stream ID", "Op Name", "OP Type", "OP State",
        "Task Type", "Task Start Time(us)", "Task Duration(us)", "Task Wait Time(us)"]
    assert rows[0]["mac_ratio"] == "N/A"
    assert all(r["Task Start Time(us)"].endswith("\t") for r in rows)


def test_totals_of_op_statistic_are_those_of_op_summary(profile):
    rows = table(profile[0], "op_summary")
    for kind in table(profile[0], "op_statistic"):
        mine = [float(r["Task Duration(us)"]) for r in rows if r["OP Type"] == kind["OP Type"]]
        assert int(kind["Count"]) == len(mine)
        assert float(kind["Total Time(us)"]) == pytest.approx(sum(mine), abs=0.01)
        assert float(kind["Max Time(us)"]) == max(mine)
    assert sum(float(k["Ratio(%)"]) for k in table(profile[0], "op_statistic")) \
        == pytest.approx(100, abs=0.1)


def test_api_statistic_counts_every_call_of_the_program(profile):
    path, calls = profile
    counted = {r["API Name"]: int(r["Count"]) for r in table(path, "api_statistic")
               if r["Level"] == "acl"}
    assert counted["aclmdlExecute"] == calls["mdl.execute"]
    assert counted["aclmdlExecuteAsync"] == calls["mdl.execute_async"]
    assert counted["aclrtMemcpyAsync"] == calls["rt.memcpy_async"]
    assert counted["aclrtDestroyStream"] == calls["rt.destroy_stream"]


def spans(events, **args):
    return [e for e in events if e["ph"] == "X"
            and all(e["args"].get(k) == v for k, v in args.items())]


def begin_end(event):
    begin = round(float(event["ts"].split(".")[0][-9:] + "." + event["ts"].split(".")[1]) * 1000)
    return begin, begin + round(event["dur"] * 1000)


def test_every_task_has_exactly_one_call_and_lies_behind_its_start(profile):
    events = timeline(profile[0])
    calls = {e["args"]["connection_id"]: e for e in spans(events, level="acl")}
    tasks = [e for e in spans(events) if "Task Type" in e["args"]
             and e["args"]["Subtask Id"] == 4294967295]
    assert len(tasks) >= 2 * COUNT + 3 + 2
    for task in tasks:
        call = calls[task["args"]["connection_id"]]
        assert begin_end(call)[0] <= begin_end(task)[0]
    flows = [e for e in events if e.get("cat") == "HostToDevice"]
    assert len(flows) == 2 * len(tasks)
    assert len({e["id"] for e in flows}) == len(tasks)


def test_tasks_end_before_the_call_that_waits_for_them_returns(profile):
    from anynpu.msprof.recording import read_recording
    from anynpu.msprof.work import Work
    work = Work(read_recording(profile[0]))
    calls = {}
    for call in work.apis:
        calls.setdefault(work.name(call["name"]), []).append(call["t"] + call["duration"])
    [waited] = calls["aclrtSynchronizeStream"]
    tasks = work.tasks[work.tasks["t"] < waited]
    assert len(tasks) >= 2 * COUNT + 3 and (tasks["t"] + tasks["duration"] <= waited).all()
    direct = work.api_of(work.tasks)
    for task, call in zip(work.tasks, work.apis[direct]):
        if work.name(call["name"]) == "aclmdlExecute":
            assert call["t"] <= task["t"]
            assert task["t"] + task["duration"] <= call["t"] + call["duration"]


def test_operators_lie_inside_their_execution_and_do_not_overlap(profile):
    events = timeline(profile[0])
    executions = spans(events, **{"Task Type": "MODEL_EXECUTE"})
    assert len(executions) == 2 * COUNT
    operators = spans(events, **{"Task Type": "AI_CORE"})
    for execution in executions:
        begin, end = begin_end(execution)
        inside = sorted(begin_end(o) for o in operators if o["tid"] == execution["tid"]
                        and begin <= begin_end(o)[0] < end)
        assert len(inside) >= 3
        assert all(b[1] <= end + 1 for b in inside)
        assert all(a[1] <= b[0] + 1 for a, b in zip(inside, inside[1:]))
        assert sum(b - a for a, b in inside) <= end - begin + len(inside)


def test_times_since_1970_are_exact_to_the_nanosecond(profile):
    from anynpu.msprof.recording import read_recording
    from anynpu.msprof.timeline import us
    from anynpu.msprof.work import Work

    def ns(text):
        whole, _, rest = text.strip().partition(".")
        assert len(rest) == 3
        return int(whole) * 1000 + int(rest)

    work = Work(read_recording(profile[0]))
    recorded = {(int(t), int(t + d)) for t, d in zip(work.tasks["t"], work.tasks["duration"])}
    rows = table(profile[0], "task_time")
    assert rows
    for row in rows:
        begin, end = ns(row["task_start(us)"]), ns(row["task_stop(us)"])
        assert end - begin == ns(row["task_time(us)"])
    assert recorded <= {(ns(r["task_start(us)"]), ns(r["task_stop(us)"])) for r in rows}
    assert us(1794756871349819512) == "1794756871349819.512"
    assert (us(-1500), us(0), us(7), us(1500.4)) == ("-1.500", "0.000", "0.007", "1.500")


def test_copies_carry_their_bytes(profile):
    copies = spans(timeline(profile[0]), **{"Task Type": "MEMCPY_ASYNC"})
    assert [c["args"]["size(B)"] for c in copies] == [1 << 20] * 3
    assert {c["args"]["operation"] for c in copies} == {"host to device"}


def test_memory_adds_up(profile):
    records = table(profile[0], "memory_record")
    blocks = table(profile[0], "operator_memory")
    mine = [b for b in blocks if int(float(b["Size(KB)"])) == 2048]  # 1 MiB and its page
    assert [b["Name"] for b in mine] == ["aclrtMalloc"]
    assert float(mine[0]["Duration(us)"]) > 0
    assert float(records[0]["Total Allocated(KB)"]) >= 0
    in_use = [float(r["Total Allocated(KB)"]) for r in records]
    assert max(in_use) - min(in_use) >= 1024


def test_static_memory_of_a_loaded_model_names_its_operators(profile):
    rows = table(profile[0], "static_op_mem")
    assert rows[-1]["Op Name"] == "TOTAL" and rows[-1]["Node Index End"] == "4294967295"
    first = [r for r in rows if r["Op Name"] == "first"]
    # 8 channels of 32 x 32 floats, perhaps in blocks of 16 channels.
    assert any(float(r["Size(KB)"]) in (32.0, 64.0) for r in first)
    assert float(rows[-1]["Size(KB)"]) >= max(float(r["Size(KB)"]) for r in rows[:-1])
    assert all(int(r["Node Index Start"]) <= int(r["Node Index End"]) for r in rows)


def test_marks_are_in_msprof_tx_with_both_sides(profile):
    rows = table(profile[0], "msprof_tx")
    assert [(r["message"], r["event_type"]) for r in rows] \
        == [("half way", "marker_ex"), ('a, "b"', "push/pop")]
    assert rows[0]["Device Start_time(us)"] != "N/A"
    assert rows[1]["Device Start_time(us)"] == "N/A"


def test_steps_of_a_model_are_its_executions(profile):
    rows = table(profile[0], "step_trace")
    assert [int(r["Iteration ID"]) for r in rows] == list(range(1, 2 * COUNT + 1))
    assert list(rows[0])[1] == "Iteration ID" and list(rows[0])[9] == "Model ID"


def test_database_has_the_same_tasks(profile):
    path = profile[0]
    name = next(n for n in os.listdir(path) if n.startswith("msprof_") and n.endswith(".db"))
    with sqlite3.connect(os.path.join(path, name)) as db:
        operators = db.execute("SELECT s.value, t.endNs - t.startNs FROM TASK t "
                               "JOIN COMPUTE_TASK_INFO c USING (globalTaskId) "
                               "JOIN STRING_IDS s ON s.id = c.name").fetchall()
        assert len(operators) == len(table(path, "op_summary"))
        assert db.execute("SELECT SUM(size) FROM MEMCPY_INFO").fetchone()[0] == 3 << 20
        assert db.execute("SELECT COUNT(*) FROM CANN_API").fetchone()[0] \
            == sum(int(r["Count"]) for r in table(path, "api_statistic") if r["Level"] == "acl")


def test_readme_says_what_is_missing_and_why(profile):
    text = open(one(profile[0], "README.txt")).read()
    assert "lost while recording: 0" in text and "l2_cache" in text


def test_the_innermost_range_says_what_a_launch_is():
    """And a hundred thousand ranges are no work of hours."""
    from anynpu.msprof.recording import ROW
    from anynpu.msprof.work import ANY_STREAM, _innermost

    def rows(spans):
        made = np.zeros(len(spans), ROW)
        for row, (t, duration, stream) in zip(made, spans):
            row["t"], row["duration"], row["d_arg"] = t, duration, stream
        return made

    ranges = rows([(0, 100, ANY_STREAM), (10, 20, 1), (12, 5, 2), (50, 10, ANY_STREAM)])
    calls = rows([(13, 2, 0), (13, 2, 0), (20, 5, 0), (55, 30, 0), (70, 5, 0), (200, 5, 0)])
    found = _innermost(ranges, np.arange(4), calls, np.arange(6), np.array([1, 2, 1, 3, 3, 3]))
    assert found == {0: 1, 1: 2, 2: 1, 3: 0, 4: 0}
    many = rows([(10 * i, 8, ANY_STREAM) for i in range(100_000)])
    calls = rows([(10 * i + 2, 3, 0) for i in range(100_000)])
    found = _innermost(many, np.arange(100_000), calls, np.arange(100_000), np.zeros(100_000, int))
    assert found == {i: i for i in range(100_000)}


SECONDS = float(os.environ.get("ANYNPU_SOAK_SECONDS", "20"))
MARKS_A_SECOND = 26000  # each is two events, the mark and its call; some more than are asked for
MOST_WAITING_MB = 68  # trace::kPoolBytes


def resident_mb():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def counts_of(path):
    """(marks, aclprofMark calls, lost, problems), chunk by chunk: minutes do not fit in memory."""
    import mmap

    from anynpu.msprof import recording as raw
    marks = calls = lost = 0
    last, names, problems = 0, [""], []
    with open(os.path.join(path, raw.EVENTS_FILE), "rb") as file, \
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        for kind, _, payload in raw._chunks(mapped, problems, path):
            if kind == raw._NAMES:
                raw._take_names(payload, names)
            elif kind == raw._LOST:
                lost += int.from_bytes(payload, "little")
            elif kind == raw._EVENTS:
                events = np.frombuffer(payload, raw._EVENT, offset=8)
                category = events["bits"] >> np.uint64(48) & np.uint64(0xFF)
                phase = events["bits"] >> np.uint64(56)
                ticks = events[(category == raw.CATEGORIES.index("user"))
                               & (phase == raw.INSTANT)]["t"]
                assert (np.diff(ticks.astype(np.int64)) >= 0).all()
                assert not len(ticks) or ticks[0] >= last
                last = ticks[-1] if len(ticks) else last
                marks += len(ticks)
                called = events[(category == 0) & (phase == raw.SLICE)]["name"]
                calls += int((called == names.index("aclprofMark")).sum()) \
                    if "aclprofMark" in names else 0
    return marks, calls, lost, problems


def test_nothing_is_lost_at_fifty_thousand_events_a_second(tmp_path):
    """For 20 seconds, and for ten minutes in `make soak`, which has the machine for itself and so
    asserts the rate by the clock. The program keeps a count of its own, and catches up where the
    machine had no time for it. What waits to be written takes a bounded memory."""
    assert acl.init() == 0
    assert acl.rt.set_device(0) == 0
    marked, most, memory = 0, int(SECONDS * MARKS_A_SECOND), None
    cpu = time.process_time()
    with session(tmp_path, API | TX):
        stamp = acl.prof.create_stamp()
        assert acl.prof.set_stamp_trace_message(stamp, "tick", 4) == 0
        begin = time.monotonic()
        while marked < most:
            due = min(int((time.monotonic() - begin) * MARKS_A_SECOND), most)
            while marked < due:
                assert acl.prof.mark(stamp) == 0
                marked += 1
            if memory is None and marked > most / 4:
                memory = resident_mb()
            time.sleep(0.002)
        took = time.monotonic() - begin
        assert resident_mb() - memory < MOST_WAITING_MB + 16
        acl.prof.destroy_stamp(stamp)
    cpu = time.process_time() - cpu
    assert acl.rt.reset_device(0) == 0
    assert acl.finalize() == 0
    assert counts_of(directory(tmp_path)) == (marked, marked, 0, [])
    # Recording and writing together: one core would be enough.
    assert 2 * marked / cpu > 50000
    if "ANYNPU_SOAK_SECONDS" in os.environ:
        assert 2 * marked / took >= 50000, \
            f"{2 * marked} events took {took:.1f} s, which is fewer than 50,000 a second: run it " \
            "on a machine that has nothing else to do"
    shutil.rmtree(tmp_path)  # a gigabyte after ten minutes
