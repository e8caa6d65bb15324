# SPDX-License-Identifier: Apache-2.0
"""summary(), MemorySummary, loop, and the lines on stdout."""
import json
import re
import subprocess
import sys
import time

import numpy as np
import pytest
from om_models import image

import aclruntime
from ais_bench.infer.interface import InferSession, MemorySummary


def test_summary_is_a_list_of_milliseconds_in_order(make):
    session, x = make("fixed"), image(1, 3, 8, 8)
    for _ in range(3):
        session.infer([x])
    summary = session.summary()
    assert isinstance(summary, list) and len(summary) == 3
    assert all(isinstance(time, float) and time > 0 for time in summary)
    assert summary.exec_time_list == summary
    assert isinstance(session.summary().exec_time_list[-1], float)


def test_entries_serve_scripts_that_want_floats_and_scripts_that_want_pairs(make):
    session, x = make("fixed"), image(1, 3, 8, 8)
    for _ in range(4):
        session.infer([x])
    times = session.summary().exec_time_list
    durations = [end - start for start, end in times]
    assert durations == [float(time) for time in times]
    assert times[0][1] - times[0][0] == times[0] and len(times[0]) == 2
    assert times[1][0] >= times[0][1], "in order of execution"
    assert np.mean(times) == pytest.approx(sum(durations) / 4)
    assert np.array(times).shape == (4,) and max(times) == max(durations)
    assert f"{times[0]:.6f}" == f"{durations[0]:.6f}"


def test_the_summary_grows_with_later_runs_and_can_be_emptied(make):
    session, x = make("fixed"), image(1, 3, 8, 8)
    summary = session.summary()
    session.infer([x])
    assert len(summary) == 1
    session.reset_summaryinfo()
    assert summary == [] and session.summary().exec_time_list == []


def test_names_of_earlier_versions_work(make):
    session = make("fixed")
    session.infer([image(1, 3, 8, 8)])
    assert session.sumary() is session.summary()
    session.reset_sumaryinfo()
    assert session.summary() == []
    assert MemorySummary.get_H2D_time_list() == MemorySummary.get_h2d_time_list()
    assert MemorySummary.get_D2H_time_list() == MemorySummary.get_d2h_time_list()
    session.free_device()


def test_loop_repeats_every_run_and_shows_it(make, capfd):
    session, x = make("fixed", loop=5), image(1, 3, 8, 8)
    first = session.infer([x])
    assert len(session.summary()) == 5
    assert "\rloop inference exec: (5/5)" in capfd.readouterr().out
    session.set_loop_count(1)
    assert np.array_equal(session.infer([x])[0], first[0])
    assert len(session.summary()) == 6


def test_a_long_loop_says_how_fast_it_is_and_what_is_left(make, capfd):
    session, x = make("range"), image(8, 3, 40, 800)
    count, lasted = 20, 0
    while lasted < 2.5:  # however busy the machine is
        count = int(count * 3 / lasted) + 1 if lasted else count
        session.set_loop_count(min(count, 100_000))
        capfd.readouterr()
        begin = time.monotonic()
        session.infer([x], mode="dymshape", custom_sizes=5_000_000)
        lasted = time.monotonic() - begin
    assert re.search(r"\rloop inference exec: \(\d+/\d+\), [\d.e+]+ a second, \d+ s left",
                     capfd.readouterr().out)


def test_memory_summary_has_an_entry_for_each_tensor_copied(make):
    session, a = make("step"), image(4, 8)
    MemorySummary.reset()
    session.infer([a, a])
    assert len(MemorySummary.get_h2d_time_list()) == 2
    assert len(MemorySummary().get_d2h_time_list()) == 2
    outputs = session.infer([a, a], out_array=False)
    assert len(MemorySummary.get_d2h_time_list()) == 2
    outputs[0].to_host()
    assert len(MemorySummary.get_d2h_time_list()) == 3
    outputs[0].to_device(0)
    assert len(MemorySummary.get_h2d_time_list()) == 5
    assert all(time >= 0 for time in aclruntime.MemorySummary().H2D_time_list)
    MemorySummary.reset()
    assert MemorySummary.get_h2d_time_list() == MemorySummary.get_d2h_time_list() == []


@pytest.mark.parametrize("mem_copy", [True, False])
def test_data_stays_on_the_device_between_iterations(make, mem_copy):
    session, a = make("step"), image(4, 8)
    MemorySummary.reset()
    session.infer_iteration([a, a], [1, 0], 10, mem_copy=mem_copy)
    assert len(MemorySummary.get_h2d_time_list()) == 2
    assert len(MemorySummary.get_d2h_time_list()) == 2


def test_lines_on_stdout(models):
    code = ("import sys, numpy as np\n"
            "from ais_bench.infer.interface import InferSession\n"
            "s = InferSession(device_id=0, model_path=sys.argv[1], debug=True, loop=2)\n"
            "s.infer([np.zeros((1, 3, 8, 8), 'f4')])\n"
            "print([float(t) for t in s.summary()])\n"
            "s.free_resource()\nInferSession.finalize()\n")
    path = models("fixed")
    done = subprocess.run([sys.executable, "-u", "-c", code, path], capture_output=True, text=True,
                          timeout=300, check=True)
    lines = done.stdout.splitlines()
    assert lines[:4] == ["[INFO] acl init success", "[INFO] open device 0 success",
                         f"[INFO] load model {path} success",
                         "[INFO] create model description success"]
    costs = re.findall(r"\[DEBUG\] model aclExec cost : (\d+\.\d{6})", done.stdout)
    times = json.loads(next(line for line in lines if re.match(r"\[\d", line)))
    assert [float(cost) for cost in costs] == pytest.approx(times, abs=1e-6) and len(costs) == 2
    assert re.fullmatch(r"\[INFO\] unload model success, model Id is \d+", lines[-3])
    assert lines[-2:] == ["[INFO] end to reset device 0", "[INFO] end to finalize acl"]


@pytest.mark.parametrize("options, error, name", [
    ({"device_id": "0"}, TypeError, "device_id"), ({"device_id": -1}, ValueError, "device_id"),
    ({"device_id": 256}, ValueError, "device_id"), ({"loop": 0}, ValueError, "loop"),
    ({"loop": 1.5}, TypeError, "loop"), ({"model_path": ""}, RuntimeError, "model_path"),
])
def test_arguments_of_a_session_are_checked(models, options, error, name):
    with pytest.raises(error, match=name):
        InferSession(**{"device_id": 0, "model_path": models("fixed"), **options})


def test_a_bad_model_device_or_json_is_named_and_nothing_stays_broken(models, tmp_path):
    (tmp_path / "bad.om").write_bytes(b"not a model")
    whole = open(models("fixed"), "rb").read()
    (tmp_path / "half.om").write_bytes(whole[:len(whole) // 2])
    for arguments, sentence in [
        ((0, str(tmp_path / "none.om")), r"\[1\]\[ACL: invalid parameter\] .*none.om"),
        ((0, str(tmp_path / "bad.om")), r"\[1\]\[ACL: invalid parameter\] .*bad.om"),
        ((0, str(tmp_path / "half.om")), r"\[1\]\[ACL: invalid parameter\] .*half.om"),
        ((100, models("fixed")), r"\[107001\].*device 100 does not exist"),
    ]:
        with pytest.raises(RuntimeError, match=sentence):
            InferSession(*arguments)
    session = InferSession(0, models("fixed"))
    assert len(session.infer([image(1, 3, 8, 8)])) == 2
    session.free_resource()


def test_the_json_of_the_first_session_counts(models, tmp_path):
    (tmp_path / "bad.json").write_text("{")
    code = ("import sys\nfrom ais_bench.infer.interface import InferSession\n"
            "InferSession(0, sys.argv[1], sys.argv[2])\n")
    for name in ("bad.json", "none.json"):
        done = subprocess.run([sys.executable, "-c", code, models("fixed"), str(tmp_path / name)],
                              capture_output=True, text=True, timeout=300)
        assert done.returncode == 1 and name in done.stderr, done.stderr


def test_sessions_come_and_go_a_hundred_times(models):
    x = image(1, 3, 8, 8)
    for _ in range(100):
        session = InferSession(0, models("fixed"))
        session.infer([x])
        session.free_resource()
