# SPDX-License-Identifier: Apache-2.0
"""A Loop whose condition never turns false: aborting its stream, a time limit, Ctrl-C and the limit
of iterations end it, each with a sentence; the library goes on afterwards."""
import os
import signal
import subprocess
import sys
import textwrap
import time

import flow_models
import numpy as np
import pytest
from build_tree import SUPPORT
from model_datasets import Model, convert

import acl

STREAM_ABORT, SYNC_TIMEOUT = 107023, 507046
STORAGE_OVER_LIMIT = 300000

pytestmark = pytest.mark.usefixtures("runtime")


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    folder = tmp_path_factory.mktemp("endless")
    return convert(folder, "endless", flow_models.endless_loop())


@pytest.fixture
def model(path):
    model = Model(path)
    yield model
    model.feed(np.zeros(4, np.float32), np.float32(10))
    assert model.execute() == 0, "the library does not go on"
    assert model.read(0, [4])[0] == 10
    model.close()


def start(model):
    model.feed(np.zeros(4, np.float32), np.float32(np.inf))
    stream, ret = acl.rt.create_stream()
    assert ret == 0
    assert acl.mdl.execute_async(model.id, model.inputs, model.outputs, stream) == 0
    return stream


def test_aborting_the_stream_ends_a_loop_that_runs(model):
    message, pause = "dropped", 0.05
    while "dropped" in message:  # it had not started yet
        stream = start(model)
        time.sleep(pause)
        assert acl.rt.stream_abort(stream) == 0
        assert acl.rt.synchronize_stream(stream) == STREAM_ABORT
        message, pause = acl.get_recent_err_msg(), 2 * pause
        assert acl.rt.destroy_stream(stream) == 0
    assert "iteration" in message


def test_a_wait_with_a_time_limit_returns_while_the_loop_runs(model):
    stream = start(model)
    assert acl.rt.synchronize_stream_with_timeout(stream, 100) == SYNC_TIMEOUT
    assert acl.rt.destroy_stream_force(stream) == 0


PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
from model_datasets import Model
import numpy as np
import acl
acl.init()
acl.rt.set_device(0)
model = Model(sys.argv[2])
model.feed(np.zeros(4, np.float32), np.float32(np.inf))
stream, _ = acl.rt.create_stream()
try:
    print("ready", flush=True)
    {call}
    print("returned", acl.get_recent_err_msg(), flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
    {after}
"""


def program(path, call, after="pass", **environment):
    text = textwrap.dedent(PROGRAM).format(call=call, after=after)
    started = subprocess.Popen([sys.executable, "-c", text, SUPPORT, path],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env={**os.environ, **environment})
    assert started.stdout.readline() == "ready\n", started.stderr.read()
    return started


def end_of(started):
    # communicate() would lose what readline() has read ahead.
    out, err = started.stdout.read(), started.stderr.read()
    started.wait()
    return out, err


QUEUED = ("acl.mdl.execute_async(model.id, model.inputs, model.outputs, stream);"
          " acl.rt.synchronize_stream(stream)")


@pytest.mark.parametrize("call, after", [
    ("model.execute()", "print(acl.rt.reset_device(0), acl.finalize())"),
    (QUEUED, "print(acl.rt.destroy_stream_force(stream), acl.finalize())"),
    (QUEUED, "pass")], ids=["execute", "execute_async", "end_of_the_program"])
def test_ctrl_c_ends_the_wait_for_an_endless_loop(path, call, after):
    started = program(path, call, after)
    time.sleep(0.1)
    started.send_signal(signal.SIGINT)
    out, err = end_of(started)
    assert out.startswith("interrupted\n"), out + err
    assert started.returncode == 0
    assert "print" not in after or out.split("\n")[1] == "0 0", out


def test_a_loop_without_a_trip_count_stops_at_the_limit_of_iterations(path):
    started = program(path, "print(model.execute())", ANYNPU_LOOP_LIMIT="1000")
    out, err = end_of(started)
    assert out.startswith(f"{STORAGE_OVER_LIMIT}\n"), out + err
    assert "after 1000 iterations its condition is still true" in out
    assert "raise ANYNPU_LOOP_LIMIT" in out


def test_a_trip_count_beyond_the_limit_of_iterations_stops_there_too(tmp_path):
    path = convert(tmp_path, "counted", flow_models.endless_loop(trips=2**62))
    started = program(path, "print(model.execute())", ANYNPU_LOOP_LIMIT="1000")
    out, err = end_of(started)
    assert out.startswith(f"{STORAGE_OVER_LIMIT}\n"), out + err
    assert f"1000 iterations are done of a trip count of {2**62}" in out
    assert "raise ANYNPU_LOOP_LIMIT" in out
