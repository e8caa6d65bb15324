# SPDX-License-Identifier: Apache-2.0
"""MultiDeviceSession: a worker process for each entry, results in order, errors by name."""
import os
import queue
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
from om_models import image

from ais_bench.infer import worker_process
from ais_bench.infer.interface import MultiDeviceSession


@pytest.fixture(scope="module")
def step(models):
    session = MultiDeviceSession(models("step"))
    yield session
    session.close()


def same(got, want):
    return len(got) == len(want) and all(np.array_equal(a, b) for a, b in zip(got, want))


def pair(i):
    return [image(4, 8) + i, image(4, 8) * (i + 1)]


def test_every_way_gives_the_bytes_of_one_session(step, make):
    session = make("step")
    feeds = [pair(i) for i in range(4)]
    want = [session.infer(one) for one in feeds]
    got = step.infer({0: feeds[:1], 1: feeds[1:3], 7: feeds[3:]})
    assert list(got) == [0, 1, 7] and [len(v) for v in got.values()] == [1, 2, 1]
    assert all(same(a, b) for a, b in zip(got[0] + got[1] + got[7], want))
    lists = step.infer_pipeline({0: [feeds], 1: [feeds[::-1], feeds]})
    assert all(same(a, b) for a, b in zip(lists[0][0], want))
    assert all(same(a, b) for a, b in zip(lists[1][0], want[::-1]))
    turns = step.infer_iteration({0: [feeds[0]], 1: [feeds[1]]}, [1, 0], 5)
    for device in (0, 1):
        assert same(turns[device][0], session.infer_iteration(feeds[device], [1, 0], 5))


@pytest.mark.parametrize("count", [1, 3, 8])
def test_any_number_of_devices_gives_the_bytes_of_infer_pipeline_and_iteration(models, make, count):
    local, feeds = make("fixed"), [[image(1, 3, 8, 8) + i] for i in range(8)]
    want = [[array.tobytes() for array in local.infer(one)] for one in feeds]
    session = MultiDeviceSession(models("fixed"))
    shares = {device: feeds[device::count] for device in range(count)}
    got = {"infer": session.infer(shares),
           "pipeline": {device: lists[0] for device, lists in session.infer_pipeline(
               {device: [share] for device, share in shares.items()}).items()},
           "iteration": session.infer_iteration(shares, None, 2)}
    session.close()
    for way, results in got.items():
        for device in range(count):
            assert [[array.tobytes() for array in outputs] for outputs in results[device]] == \
                want[device::count], (way, device)


def test_one_entry_can_run_in_the_calling_process(step, make):
    session, feeds, answers = make("step"), [pair(i) for i in range(3)], queue.Queue()
    step.subprocess_infer(answers, 1, feeds[0])
    step.subprocess_infer_pipeline(answers, 2, feeds)
    step.subprocess_infer_iteration(answers, 3, feeds[1], [1, 0], 4)
    device, outputs, taken = answers.get_nowait()
    assert device == 1 and taken > 0 and same(outputs, session.infer(feeds[0]))
    device, lists, _ = answers.get_nowait()
    assert device == 2 and all(same(a, session.infer(b)) for a, b in zip(lists, feeds))
    device, outputs, _ = answers.get_nowait()
    assert device == 3 and same(outputs, session.infer_iteration(feeds[1], [1, 0], 4))
    with pytest.raises(RuntimeError, match="was given 112 bytes"):
        step.subprocess_infer(answers, 0, [feeds[0][0], image(4, 7)])
    assert answers.empty()


OWN_PROCESSES = """
import multiprocessing, sys
import numpy as np
from ais_bench.infer import worker_process
from ais_bench.infer.interface import MultiDeviceSession

def main():
    kind = multiprocessing.get_context(sys.argv[2])
    session, answers = MultiDeviceSession(sys.argv[1]), kind.Queue()
    feeds = [np.ones((4, 8), np.float32)] * 2
    children = [kind.Process(target=session.subprocess_infer, args=(answers, device, feeds))
                for device in (0, 1)]
    for child in children:
        child.start()
    got = sorted((device, float(outputs[0].sum()))
                 for device, outputs, _ in [answers.get(timeout=300) for _ in children])
    for child in children:
        child.join()
    print(got, flush=True)

if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize("kind", ["fork", "spawn"])
def test_scripts_that_start_processes_themselves_work(models, tmp_path, kind):
    script = tmp_path / "script.py"
    script.write_text(OWN_PROCESSES)
    done = subprocess.run([sys.executable, script, models("step"), kind], capture_output=True,
                          text=True, timeout=300)
    assert done.stdout.endswith("[(0, 64.0), (1, 64.0)]\n"), done.stdout + done.stderr


def test_the_summary_is_a_dict_and_can_be_called(step):
    step.infer({0: [pair(0), pair(1)], 1: [pair(2)]})
    assert step.summary() is step.summary
    assert {device: len(times) for device, times in step.summary().items()} == {0: 2, 1: 1}
    assert all(time > 0 for times in step.summary.values() for time in times)
    step.reset_summaryinfo()
    assert step.summary() == {}


def test_an_error_in_a_worker_is_raised_with_its_traceback_and_the_next_call_works(step):
    good = pair(1)
    with pytest.raises(RuntimeError) as caught:
        step.infer({0: [good], 1: [[good[0], image(4, 7)]]})
    text = str(caught.value)
    assert "device 1, feeds 0" in text and "Traceback" in text
    assert "input 1 ('b') was given 112 bytes, the model needs 128" in text
    assert len(step.infer({0: [good], 1: [good]})) == 2


def test_bad_devices_and_models_are_named(step, tmp_path):
    with pytest.raises(RuntimeError, match="device 100 does not exist"):
        step.infer({100: [pair(0)]})
    with pytest.raises(RuntimeError, match="none.om"):
        MultiDeviceSession(str(tmp_path / "none.om")).infer({0: [pair(0)]})
    for wrong in ({}, [pair(0)], {0: []}, {0: pair(0)[0]}, {300: [pair(0)]},
                  {i: [pair(0)] for i in range(33)}, {i: [pair(0)] * 22 for i in range(3)}):
        with pytest.raises(ValueError):
            step.infer(wrong)
    with pytest.raises(TypeError):
        step.infer({"0": [pair(0)]})


def test_a_worker_that_is_killed_is_named_and_replaced(models, monkeypatch):
    session = MultiDeviceSession(models("step"))
    feeds = pair(3)
    want = session.infer({0: [feeds], 1: [feeds]})
    victim = session._workers[1, 0].pid
    os.kill(victim, signal.SIGSTOP)  # it cannot answer before it dies
    answer = worker_process.Worker.answer

    def kill_and_answer(worker):  # the task was sent
        if worker.pid == victim:
            os.kill(victim, signal.SIGKILL)
        return answer(worker)

    monkeypatch.setattr(worker_process.Worker, "answer", kill_and_answer)
    with pytest.raises(RuntimeError, match=rf"device 1, feeds 0: the worker process {victim} ended "
                                           r"by signal 9 \(SIGKILL\)"):
        session.infer({0: [feeds], 1: [feeds]})
    again = session.infer({0: [feeds], 1: [feeds]})
    assert same(again[1][0], want[1][0])
    session.close()


def test_a_worker_that_is_stopped_does_not_hold_up_the_end(models):
    session = MultiDeviceSession(models("step"))
    session.infer({0: [pair(0)]})
    victim = session._workers[0, 0]
    os.kill(victim.pid, signal.SIGSTOP)
    session.close()
    assert not victim.alive()


def test_an_interrupted_call_leaves_no_old_answers(models, monkeypatch, make):
    session, answer = MultiDeviceSession(models("step")), worker_process.Worker.answer

    def interrupted(worker):
        raise KeyboardInterrupt

    monkeypatch.setattr(worker_process.Worker, "answer", interrupted)
    with pytest.raises(KeyboardInterrupt):
        session.infer({0: [pair(0)]})
    monkeypatch.setattr(worker_process.Worker, "answer", answer)
    with pytest.raises(Exception, match="pickle|serialize"):
        session.infer({0: [pair(0), [lambda: None, None]]})
    assert same(session.infer({0: [pair(1)]})[0][0], make("step").infer(pair(1)))
    session.close()


UNGUARDED = """
import sys
import numpy as np
from ais_bench.infer.interface import InferSession, MultiDeviceSession
print("once", flush=True)
session = InferSession(0, sys.argv[1])
a = np.ones((4, 8), np.float32)
many = MultiDeviceSession(sys.argv[1])
got = many.infer({0: [[a, a]], 1: [[a, a]]})
assert np.array_equal(got[1][0][0], session.infer([a, a])[0])
got[0][0][0][:] = 3  # results are the caller's to change
"""


def test_a_script_without_a_guard_runs_once_and_leaves_nobody_behind(models):
    script = subprocess.Popen([sys.executable, "-c", UNGUARDED, models("step")], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              start_new_session=True)
    out, err = script.communicate(timeout=300)
    assert script.returncode == 0, err
    assert out.count("once") == 1 and err == ""
    left = subprocess.run(["ps", "-eo", "sid,args"], capture_output=True, text=True).stdout
    assert [line for line in left.splitlines() if line.split()[0] == str(script.pid)] == []


def test_the_parent_may_hold_a_session_with_threads_running(models, make):
    session, feeds = make("step"), pair(2)
    stop = threading.Event()

    def work():
        while not stop.is_set():
            session.infer(feeds)

    thread = threading.Thread(target=work)
    thread.start()
    many = MultiDeviceSession(models("step"))
    try:
        assert same(many.infer({3: [feeds]})[3][0], session.infer(feeds))
    finally:
        stop.set()
        thread.join()
        many.close()


def test_values_of_a_wrong_type_are_described_and_not_printed():
    from ais_bench.infer.multi_device import described
    assert described([1] * 1000) == "list of 1000 entries" and described([]) == "an empty list"
    assert described(np.zeros((2, 3))) == "ndarray of shape (2, 3)"
    assert described(None) == "NoneType (None)"
