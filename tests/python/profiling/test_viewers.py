# SPDX-License-Identifier: Apache-2.0
"""Files for viewers keep the rules of the viewers (viewer_rules.py), which can be broken."""
import copy
import glob
import json
import os
import shutil
import subprocess

import numpy as np
import pytest
from model_datasets import Model
from prof_case import API, MEMORY, RUNTIME, TASK, TX, exported, make_model, one, report, session
from viewer_rules import SAFE_ID, check_tables, check_timeline, events_of

import acl


def work(path):
    """Calls, copies, executions at once and queued, memory, marks on host and device."""
    stream, ret = acl.rt.create_stream()
    assert ret == 0
    model = Model(path)
    model.feed(np.ones([1, 3, 32, 32], np.float32))
    assert model.execute() == 0
    for _ in range(3):
        assert acl.mdl.execute_async(model.id, model.inputs, model.outputs, stream) == 0
    memory, ret = acl.rt.malloc(4096, 0)
    assert ret == 0
    assert acl.rt.memset_async(memory, 4096, 7, 4096, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert acl.rt.free(memory) == 0
    model.close()
    return stream


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """With a profile of acl.prof, exported, and one of anynpu.profiler, analysed."""
    from anynpu.profiler import (
        ProfilerLevel,
        _ExperimentalConfig,
        mstx,
        profile,
        tensorboard_trace_handler,
    )
    place = tmp_path_factory.mktemp("viewers")
    model = make_model(place)
    assert acl.init() == 0
    assert acl.rt.set_device(0) == 0
    with session(place / "acl", API | TASK | RUNTIME | MEMORY | TX):
        stream = work(model)
        assert acl.prof.mark_ex("a mark\twith a tab", stream) == 0
        assert acl.rt.synchronize_stream(stream) == 0
        assert acl.rt.destroy_stream(stream) == 0
    everything = _ExperimentalConfig(profiler_level=ProfilerLevel.Level2, mstx=True)
    with profile(with_stack=True, profile_memory=True, hbm_ddr=True, pcie=True,
                 experimental_config=everything,
                 on_trace_ready=tensorboard_trace_handler(str(place / "mindspore"))):
        number = mstx.range_start("range")
        assert acl.rt.destroy_stream(work(model)) == 0
        mstx.range_end(number)
    assert acl.rt.reset_device(0) == 0
    assert acl.finalize() == 0
    exported(place / "acl")
    return place


def events_in(path):
    with open(path, encoding="utf-8", newline="") as file:
        return events_of(file.read())


@pytest.fixture(scope="module")
def msprof(folder):
    [path] = glob.glob(str(folder / "acl" / "PROF_*"))
    return path


@pytest.fixture(scope="module")
def mindspore(folder):
    [path] = glob.glob(str(folder / "mindspore" / "*_ascend_ms"))
    return os.path.join(path, "ASCEND_PROFILER_OUTPUT")


def test_the_timelines_of_msprof(msprof):
    events = events_in(one(msprof, "msprof_[0-9]*.json"))
    assert check_timeline(events) >= 6
    for name in ("msprof_tx", "step_trace"):
        arrows = check_timeline(events_in(one(msprof, f"{name}_[0-9]*.json")))
        assert arrows == (name == "msprof_tx")


def test_the_timeline_of_mindspore_profiler(mindspore):
    events = events_in(os.path.join(mindspore, "trace_view.json"))
    assert check_timeline(events) >= 5
    layers = {e["args"]["name"] for e in events if e["name"] == "process_name"}
    assert {"Python", "CANN", "Ascend Hardware", "Overlap Analysis"} <= layers


def test_the_tables_of_both(msprof, mindspore):
    both = {"operator_memory", "memory_record", "static_op_mem", "npu_module_mem"}
    assert check_tables(os.path.join(msprof, "mindstudio_profiler_output")) == both | {"op_summary"}
    assert check_tables(mindspore) == both | {"kernel_details"}


def test_the_trace_for_perfetto(msprof, mindspore, tmp_path):
    for number, source in enumerate((msprof, os.path.dirname(mindspore))):
        path = tmp_path / f"{number}.json"
        assert report(source, "--perfetto", path).returncode == 0
        events = events_in(path)
        assert check_timeline(events, first_us=0, most_id=SAFE_ID) >= 5
        assert all(isinstance(e["ts"], (int, float)) for e in events if e["ph"] != "M")


def test_a_timeline_of_some_layers_has_no_arrows_to_the_others(msprof, tmp_path):
    (tmp_path / "reports.json").write_text(json.dumps({"json_process": {"ascend": False}}))
    path = tmp_path / os.path.basename(msprof)
    shutil.copytree(msprof, path)
    shutil.rmtree(path / "mindstudio_profiler_output")
    done = subprocess.run(["msprof", "--export=on", f"--output={path}",
                           f"--reports={tmp_path}/reports.json"], capture_output=True, timeout=300)
    assert done.returncode == 0, done.stdout
    events = events_in(one(str(path), "msprof_[0-9]*.json"))
    assert check_timeline(events) == 0 and "msproftx" in {
        e["args"]["name"] for e in events if e["name"] == "process_name"}


def broken(events):
    """(what is wrong, the events with it)."""
    def with_change(phase, **change):
        changed = copy.deepcopy(events)
        next(e for e in changed if e["ph"] == phase).update(change)
        return changed

    yield "a phase that Insight ignores", with_change("X", ph="i")
    yield "a time of 0", with_change("X", ts="0.000")
    yield "a time without decimals", with_change("X", ts="1718180918997185")
    yield "a negative duration", with_change("X", dur=-1.0)
    yield "a thread without a name", with_change("X", tid=123456)
    yield "an arrow from nowhere", with_change("s", ts="1718180918997185.800")
    yield "an arrow without its start", [e for e in events if e["ph"] != "s"]
    yield "two arrows of one id", events + [e for e in events if e["ph"] == "s"]
    yield "processes without names", [e for e in events if e["name"] != "process_name"]
    first = next(e for e in events if e["ph"] == "X" and float(e["dur"]) > 1)
    middle = f"{float(first['ts']) + float(first['dur']) / 2:.3f}"
    yield "slices that overlap", [*events, {**first, "ts": middle}]


def test_the_rules_can_be_broken(msprof):
    events = events_in(one(msprof, "msprof_[0-9]*.json"))
    for what, wrong in broken(events):
        try:
            check_timeline(wrong)
        except (AssertionError, KeyError, ValueError):
            continue
        raise AssertionError(what)
    with pytest.raises(AssertionError):
        events_of('[{"name": "a\tb"}]')
