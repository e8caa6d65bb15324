# SPDX-License-Identifier: Apache-2.0
"""Subscriptions to operators, profiling by acl.json, and how the ways exclude each other."""
import ctypes
import glob
import json
import os
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
from build_tree import SUPPORT
from model_datasets import Model
from prof_case import make_model, run_model

import acl

CONFLICT, ALREADY_RUN, REPEAT, NO_MODEL = 148047, 100042, 148046, 100011
NONE = 0xFF


@pytest.fixture(scope="module")
def model_path(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("model"))


@pytest.fixture
def model(device_0, model_path):
    model = Model(model_path)
    model.feed(np.ones([1, 3, 32, 32], np.float32))
    yield model
    model.close()


class Reader:
    """Reads a pipe to its end in a thread of its own, whole records at a time."""

    def __init__(self):
        self.read_end, self.write_end = os.pipe()
        self.records = []
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        size, _ = acl.prof.get_op_desc_size()
        while data := os.read(self.read_end, 7 * size):
            assert len(data) % size == 0
            pointer = acl.util.bytes_to_ptr(data)
            self.raw = data
            count, ret = acl.prof.get_op_num(pointer, len(data))
            assert ret == 0
            for i in range(count):
                name, ret = acl.prof.get_op_name_v2(pointer, len(data), i)
                assert ret == 0
                kind, ret = acl.prof.get_op_type_v2(pointer, len(data), i)
                assert ret == 0
                self.records.append((acl.prof.get_model_id(pointer, len(data), i), name, kind,
                                     acl.prof.get_op_start(pointer, len(data), i),
                                     acl.prof.get_op_end(pointer, len(data), i)))

    def end(self):
        self.thread.join()
        os.close(self.read_end)
        return self.records


def test_operators_stream_while_the_model_runs(model):
    reader = Reader()
    config = acl.prof.create_subscribe_config(1, NONE, reader.write_end)
    assert acl.prof.model_subscribe(model.id, config) == 0
    for _ in range(5):
        assert model.execute() == 0
    while not reader.records:  # before the end of the subscription
        time.sleep(0.01)
    for _ in range(45):
        assert model.execute() == 0
    assert acl.prof.model_unsubscribe(model.id) == 0
    records = reader.end()
    assert acl.prof.destroy_subscribe_config(config) == 0
    assert [r[1] for r in records].count("first") == 50
    assert {r[0] for r in records} == {model.id}
    assert {r[2] for r in records if r[1] == "first"} == {"Conv"}
    starts = [r[3] for r in records]
    assert starts == sorted(starts) and all(r[4] >= r[3] for r in records)


def test_a_record_names_its_thread(model):
    """C only: aclprofGetOpAttriValue and aclprofGetOpFlag."""
    library = ctypes.CDLL(os.path.join(os.environ["ANYNPU_BUILD_DIR"], "lib", "libmsprofiler.so"))
    library.aclprofGetOpAttriValue.restype = ctypes.c_char_p
    reader = Reader()
    config = acl.prof.create_subscribe_config(1, NONE, reader.write_end)
    assert acl.prof.model_subscribe(model.id, config) == 0
    assert model.execute() == 0
    assert acl.prof.model_unsubscribe(model.id) == 0
    reader.end()
    assert acl.prof.destroy_subscribe_config(config) == 0
    record = (reader.raw, ctypes.c_size_t(len(reader.raw)), 0)
    thread = int(library.aclprofGetOpAttriValue(*record, 0))
    assert os.path.exists(f"/proc/self/task/{thread}")
    assert library.aclprofGetOpAttriValue(*record, 1) is None
    assert "expected 0" in acl.get_recent_err_msg()
    assert library.aclprofGetOpFlag(*record) == 0
    pointer, size = acl.util.bytes_to_ptr(reader.raw), len(reader.raw)
    beyond, ret = acl.prof.get_op_num(pointer, size)
    assert ret == 0
    for get in (acl.prof.get_op_name_len, acl.prof.get_op_type_len):
        assert get(pointer, size, beyond)[1] == 100000
    assert acl.prof.get_op_name(pointer, size, beyond, 275)[1] == 100000
    assert acl.prof.get_op_name_v2(pointer, size, beyond) == (None, 100000)
    for get in (acl.prof.get_op_start, acl.prof.get_op_end, acl.prof.get_op_duration):
        assert get(pointer, size, beyond) == 0


def test_two_models_can_share_a_pipe_that_the_last_closes(model, model_path):
    other = Model(model_path)
    reader = Reader()
    config = acl.prof.create_subscribe_config(1, NONE, reader.write_end)
    assert acl.prof.model_subscribe(model.id, config) == 0
    assert acl.prof.model_subscribe(other.id, config) == 0
    assert model.execute() == 0 and other.execute() == 0
    assert acl.prof.model_un_subscribe(model.id) == 0
    assert other.execute() == 0
    assert acl.prof.model_unsubscribe(other.id) == 0
    records = reader.end()
    assert [r[0] for r in records if r[1] == "last"] == [model.id, other.id, other.id]
    assert acl.prof.model_subscribe(model.id, config) == 100000  # its pipe is closed
    assert acl.prof.destroy_subscribe_config(config) == 0
    other.close()


def test_violations_give_their_codes(model, model_path, tmp_path):
    other = Model(model_path)
    reader = Reader()
    config = acl.prof.create_subscribe_config(1, NONE, reader.write_end)
    assert acl.prof.create_subscribe_config(2, NONE, reader.write_end) == 0
    assert acl.prof.create_subscribe_config(1, NONE, 0) == 0
    assert acl.prof.create_subscribe_config(1, NONE, reader.read_end) == 0
    nothing = acl.prof.create_subscribe_config(0, NONE, reader.write_end)
    different = acl.prof.create_subscribe_config(1, 1, reader.write_end)
    assert acl.prof.model_subscribe(4711, config) == NO_MODEL
    assert acl.prof.model_subscribe(model.id, 0) == 100000
    assert acl.prof.model_subscribe(model.id, nothing) == 100000
    assert acl.prof.model_unsubscribe(model.id) == NO_MODEL
    assert acl.prof.model_unsubscribe(4711) == NO_MODEL
    assert acl.prof.init(str(tmp_path)) == 0
    assert acl.prof.model_subscribe(model.id, config) == CONFLICT
    assert acl.prof.finalize() == 0
    assert acl.prof.model_subscribe(model.id, config) == 0
    assert acl.prof.model_subscribe(model.id, config) == REPEAT
    assert acl.prof.model_subscribe(other.id, different) == 100010
    assert acl.prof.init(str(tmp_path)) == CONFLICT
    calls = acl.prof.create_config([0], 0, 0, 1)
    assert acl.prof.start(calls) == CONFLICT
    assert acl.prof.destroy_config(calls) == 0
    assert acl.prof.model_unsubscribe(model.id) == 0
    assert acl.prof.init(str(tmp_path)) == 0
    assert acl.prof.finalize() == 0
    reader.end()
    for one in (config, nothing, different):
        assert acl.prof.destroy_subscribe_config(one) == 0
    other.close()


def test_a_pipe_without_a_reader_does_not_stop_the_model(model):
    read_end, write_end = os.pipe()
    os.close(read_end)
    config = acl.prof.create_subscribe_config(1, NONE, write_end)
    assert acl.prof.model_subscribe(model.id, config) == 0
    for _ in range(3):
        assert model.execute() == 0
    assert acl.prof.model_unsubscribe(model.id) == 0
    assert acl.prof.destroy_subscribe_config(config) == 0


def test_damaged_records_are_refused(model):
    size, _ = acl.prof.get_op_desc_size()
    for data in (bytes(size), bytes(size - 1)):
        pointer = acl.util.bytes_to_ptr(data)
        assert acl.prof.get_op_name(pointer, len(data), 0, 100)[1] == 100000
        assert acl.prof.get_op_start(pointer, len(data), 0) == 0
    pointer = acl.util.bytes_to_ptr(bytes(size))
    assert acl.prof.get_op_type(pointer, size, 0, 4097)[1] == 100000
    assert acl.prof.get_op_num(0, size)[1] == 100000


def program(text, folder, config):
    (folder / "acl.json").write_text(json.dumps(config))
    (folder / "app.py").write_text(textwrap.dedent(text))
    return subprocess.run(
        [sys.executable, "app.py"], cwd=folder, capture_output=True, text=True, timeout=300,
        env={**os.environ, "PYTHONPATH": os.environ["PYTHONPATH"] + os.pathsep + SUPPORT})


CONFIGURED = """
    import acl
    from prof_case import run_model
    assert acl.init("acl.json") == 0, acl.get_recent_err_msg()
    assert acl.rt.set_device(0) == 0
    run_model({model!r}, 2)
    import os
    loaded, ret = acl.mdl.load_from_file({model!r})
    assert ret == 0
    pipe = acl.prof.create_subscribe_config(1, 0xFF, os.pipe()[1])
    subscribed = acl.prof.model_subscribe(loaded, pipe)
    assert subscribed == {subscribed}, subscribed
    if subscribed == 0:
        assert acl.prof.model_unsubscribe(loaded) == 0
    assert acl.prof.destroy_subscribe_config(pipe) == 0
    assert acl.mdl.unload(loaded) == 0
    config = acl.prof.create_config([0], 0, 0, 1)
    codes = [acl.prof.init("x"), acl.prof.start(config), acl.prof.stop(config),
             acl.prof.finalize()]
    assert codes == [100042] * 4, codes
    assert acl.prof.destroy_config(config) == 0
    assert acl.rt.reset_device(0) == 0
    assert acl.finalize() == 0
"""


def test_profiler_section_of_acl_json(tmp_path, model_path):
    done = program(CONFIGURED.format(model=model_path, subscribed=100042), tmp_path,
                   {"profiler": {"switch": "on", "output": "out", "task_time": "l1",
                                 "msproftx": "on", "host_sys": "cpu", "host_sys_usage_freq": 50}})
    assert done.returncode == 0, done.stderr
    # The calls that are refused say so, and nothing else is printed.
    assert all("100042 (ACL_ERROR_PROF_ALREADY_RUN)" in line
               for line in done.stderr.splitlines()), done.stderr
    path = glob.glob(str(tmp_path / "out" / "PROF_*"))[0]
    from anynpu.msprof.recording import read_recording
    from anynpu.msprof.work import Work
    work = Work(read_recording(path))
    assert [work.name(n) for n in work.ops["name"]].count("first") == 2
    assert os.path.exists(os.path.join(path, "device_0", "end_info.0"))


# Every key of the section, with a value that is not its default.
KEYS = {"switch": "on", "output": "out", "aic_metrics": "Memory", "aicpu": "on", "l2": "on",
        "hccl": "on", "msproftx": "on", "ascendcl": "off", "runtime_api": "off", "task_time": "l0",
        "task_tsfw": "on", "ge_api": "l1", "task_memory": "on", "storage_limit": "200MB",
        "instr_profiling": "on", "sys_hardware_mem_freq": 100, "llc_profiling": "write",
        "sys_io_sampling_freq": 100, "sys_interconnection_freq": 50, "sys_cpu_freq": 50,
        "dvpp_freq": 100, "host_sys": "cpu,mem,disk,network,osrt,numa", "host_sys_usage": "cpu,mem",
        "host_sys_usage_freq": 50, "sys_mem_serviceflow": "x", "sys_lp_freq": 100, "optype": "Conv"}


def test_every_key_of_the_section_is_taken_and_switches_switch(tmp_path, model_path):
    done = program(CONFIGURED.format(model=model_path, subscribed=100042), tmp_path,
                   {"profiler": KEYS})
    assert done.returncode == 0, done.stderr
    path = glob.glob(str(tmp_path / "out" / "PROF_*"))[0]
    sample = json.load(open(os.path.join(path, "host", "sample.json")))
    for key in KEYS.keys() - {"switch", "output"}:
        assert sample[key] == str(KEYS[key]), key
    assert (sample["ascendcl"], sample["taskTime"], sample["opShapes"], sample["taskMemory"],
            sample["ai_core_metrics"]) == ("off", "on", "off", "on", "Memory")
    from anynpu.msprof.recording import read_recording
    from anynpu.msprof.work import Work
    work = Work(read_recording(path))
    assert len(work.apis) == 0 and len(work.ops) > 0 and len(work.memory) > 0
    assert {"/proc/stat", "/proc/meminfo", "/proc/diskstats", "/proc/net/dev", "npu_mem"} \
        <= {s["kind"] for s in work.recording.samples}
    done = program("import acl\nassert acl.init('acl.json') == 0, acl.get_recent_err_msg()\n"
                   "assert acl.finalize() == 0\n", tmp_path,
                   {"profiler": {"switch": "on", "output": "more", "instr_profiling": "on",
                                 "instr_profiling_freq": 300, "task_trace": "on"}})
    assert done.returncode == 0, done.stderr


def test_switch_off_profiles_nothing_and_unwritable_output_takes_the_default(tmp_path, model_path):
    text = CONFIGURED.format(model=model_path, subscribed=100042)
    quiet = CONFIGURED.format(model=model_path, subscribed=0).replace(
        "assert codes == [100042] * 4, codes", "assert 100042 not in codes")
    done = program(quiet, tmp_path, {"profiler": {"switch": "off", "output": "out"}})
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "out").exists()
    (tmp_path / "file").write_text("")
    done = program(text, tmp_path, {"profiler": {"switch": "on", "output": "file/below"}})
    assert done.returncode == 0, done.stderr
    assert len(glob.glob(str(tmp_path / "PROF_*"))) == 1  # the folder of the program


def test_nothing_is_left_behind(device_0, model_path):
    run_model(model_path, 1)  # after everything above, nothing is left behind
    assert acl.prof.finalize() == 100043
