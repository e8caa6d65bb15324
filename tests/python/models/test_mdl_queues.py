# SPDX-License-Identifier: Apache-2.0
"""Models that queues drive (acl.mdl.load_from_file_with_q, load_from_mem_with_q). pyACL makes no
queues, so that a Python program asks the C library for them."""
import ctypes
import os
import subprocess
import sys

import aipp_models
import flow_models
import numpy as np
import pytest
import shape_models
from model_datasets import convert
from onnx import TensorProto, helper
from onnx_models import network

import acl

UNSUPPORTED, INPUT_NOT_MATCH, QUEUE_INVALID = 200006, 100017, 145008
QUEUE_EMPTY, DEPTH = 207013, 1
LARGE = 1 << 18

pytestmark = pytest.mark.usefixtures("runtime")


class Queue:
    """A queue of the C library (acl/acl_tdt_queue.h)."""

    c = ctypes.CDLL("libascendcl.so")
    c.acltdtCreateQueueAttr.restype = ctypes.c_void_p
    c.acltdtDestroyQueueAttr.argtypes = [ctypes.c_void_p]
    c.acltdtSetQueueAttr.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t,
                                     ctypes.c_void_p]
    c.acltdtCreateQueue.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    c.acltdtEnqueueData.argtypes = [ctypes.c_uint32, ctypes.c_void_p, ctypes.c_size_t,
                                    ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int32,
                                    ctypes.c_uint32]
    c.acltdtDequeueData.argtypes = [ctypes.c_uint32, ctypes.c_void_p, ctypes.c_size_t,
                                    ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t,
                                    ctypes.c_int32]

    def __init__(self, depth=2):
        attributes, depth = self.c.acltdtCreateQueueAttr(), ctypes.c_uint32(depth)
        assert self.c.acltdtSetQueueAttr(attributes, DEPTH, 4, ctypes.byref(depth)) == 0
        number = ctypes.c_uint32()
        assert self.c.acltdtCreateQueue(attributes, ctypes.byref(number)) == 0
        assert self.c.acltdtDestroyQueueAttr(attributes) == 0
        self.id = number.value

    def put(self, array, timeout=-1):
        return self.c.acltdtEnqueueData(self.id, array.ctypes.data, array.nbytes, None, 0, timeout,
                                        0)

    def get(self, count=4, timeout=-1):
        """The floats of the next buffer, or the error code."""
        array, size = np.empty(count, np.float32), ctypes.c_size_t()
        ret = self.c.acltdtDequeueData(self.id, array.ctypes.data, array.nbytes,
                                       ctypes.byref(size), None, 0, timeout)
        return ret or array[:size.value // 4]

    def destroy(self):
        return self.c.acltdtDestroyQueue(self.id)


def floats(*values):
    return np.array(values, np.float32)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("queues")


@pytest.fixture(scope="module")
def om(folder):
    """net.om negates four floats, half.om halves them, large.om negates many."""
    negate = [helper.make_node("Neg", ["x"], ["y"])]
    half = [helper.make_node("Constant", [], ["c"], value_float=0.5),
            helper.make_node("Mul", ["x", "c"], ["y"])]
    for name, nodes, count in (("net", negate, 4), ("half", half, 4), ("large", negate, LARGE)):
        convert(folder, name, network(nodes, [("x", TensorProto.FLOAT, [count])],
                                      [("y", TensorProto.FLOAT, [count])]))
    return lambda name: str(folder / f"{name}.om")


def test_two_models_are_a_pipeline_of_queues(om):
    first, between, last = Queue(), Queue(), Queue()
    negate, ret = acl.mdl.load_from_file_with_q(om("net"), [first.id], [between.id])
    assert ret == 0, acl.get_recent_err_msg()
    data = open(om("half"), "rb").read()
    half, ret = acl.mdl.load_from_mem_with_q(acl.util.bytes_to_ptr(data), len(data), [between.id],
                                             [last.id])
    assert ret == 0, acl.get_recent_err_msg()
    for i in range(50):
        assert first.put(floats(i, 2, 4, 6)) == 0
        assert np.array_equal(last.get(), floats(-i / 2, -1, -2, -3))
    assert between.destroy() != 0
    assert "aclmdlUnload" in acl.get_recent_err_msg()
    assert acl.mdl.unload(negate) == 0
    assert first.put(floats(1, 1, 1, 1)) == 0
    assert last.get(timeout=0) == QUEUE_EMPTY
    assert acl.mdl.unload(half) == 0
    assert [queue.destroy() for queue in (first, between, last)] == [0, 0, 0]


def test_a_configuration_loads_with_queues(om):
    first, last = Queue(), Queue()
    ids = np.array([first.id, last.id], np.uint32)
    config = acl.mdl.create_config_handle()
    for attribute, value in ((1, 5), (2, om("net")), (9, 1), (10, ids.ctypes.data), (11, 1),
                             (12, ids.ctypes.data + 4)):
        assert acl.mdl.set_config_opt(config, attribute, value) == 0
    model, ret = acl.mdl.load_with_config(config)
    assert ret == 0, acl.get_recent_err_msg()
    assert acl.mdl.destroy_config_handle(config) == 0
    assert first.put(floats(1, 2, 3, 4)) == 0
    assert np.array_equal(last.get(), floats(-1, -2, -3, -4))
    assert acl.mdl.unload(model) == 0
    assert first.destroy() == last.destroy() == 0


def test_queues_that_do_not_fit_are_refused_and_stay_free(om):
    first, last = Queue(), Queue()
    for inputs, outputs, code in (([], [last.id], INPUT_NOT_MATCH),
                                  ([first.id, last.id], [last.id], INPUT_NOT_MATCH),
                                  ([0], [last.id], QUEUE_INVALID),
                                  ([first.id], [2**32 - 1], QUEUE_INVALID)):
        assert acl.mdl.load_from_file_with_q(om("net"), inputs, outputs)[1] == code
        assert "queue" in acl.get_recent_err_msg()
    assert first.destroy() == last.destroy() == 0


def test_models_whose_runs_need_a_setter_are_refused(folder):
    (folder / "dynamic.cfg").write_text(aipp_models.DYNAMIC % 1000)
    opened = network([helper.make_node("NonZero", ["x"], ["y"])], [("x", TensorProto.FLOAT, [4])],
                     [("y", TensorProto.INT64, [1, None])])
    paths = {
        "gears": convert(folder, "gears", shape_models.net(), "--input_shape=image:-1,3,8,8",
                         "--dynamic_batch_size=1,2"),
        "shapes": convert(folder, "shapes", shape_models.net(), "--input_shape=image:1~4,3,8,8"),
        "dynamic AIPP": convert(folder, "aipp", aipp_models.net(),
                                f"--insert_op_conf={folder}/dynamic.cfg"),
        "outputs whose shape": convert(folder, "open", opened),
    }
    first, last = Queue(), Queue()
    for what, path in paths.items():
        assert acl.mdl.load_from_file_with_q(path, [first.id], [last.id])[1] == UNSUPPORTED
        assert f"has {what}" in acl.get_recent_err_msg()
    assert first.destroy() == last.destroy() == 0


def test_unloading_ends_a_run_that_loops_for_ever(folder):
    path = convert(folder, "endless", flow_models.endless_loop())
    data, limit, last = Queue(), Queue(), Queue()
    model, ret = acl.mdl.load_from_file_with_q(path, [data.id, limit.id], [last.id])
    assert ret == 0, acl.get_recent_err_msg()
    assert data.put(np.zeros(4, np.float32)) == 0
    assert limit.put(floats(np.inf)) == 0
    for _ in range(2):  # room for the third comes when the first has been taken
        assert data.put(np.zeros(4, np.float32)) == 0
    assert acl.mdl.unload(model) == 0
    assert last.get(timeout=0) == QUEUE_EMPTY
    assert data.destroy() == limit.destroy() == last.destroy() == 0


PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np
import acl
acl.init()
acl.rt.set_device(0)
from test_mdl_queues import Queue
first, last = Queue(), Queue()
model, ret = acl.mdl.load_from_file_with_q(sys.argv[2], [first.id], [last.id])
first.put(np.zeros(3, np.float32))
print("floats", len(last.get()))
{end}
print("end")
"""


@pytest.mark.parametrize("end", ["acl.finalize()", "", "acl.rt.reset_device(0); acl.finalize()"],
                         ids=["finalize", "nothing", "reset"])
def test_a_bad_buffer_is_logged_with_its_code_and_a_program_ends_with_the_model_loaded(om, end):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(end=end), os.path.dirname(__file__), om("net")],
        capture_output=True, text=True, timeout=300,
        env=dict(os.environ, ASCEND_SLOG_PRINT_TO_STDOUT="1"))
    assert done.returncode == 0, done.stderr
    assert "floats 0\n" in done.stdout
    assert "end\n" in done.stdout
    assert f"E{INPUT_NOT_MATCH}" in done.stdout
    assert "input 0 ('x') came as a buffer of 12 bytes" in done.stdout


def test_loading_and_unloading_leaks_nothing(om):
    first, last = Queue(), Queue()

    def load_run_and_unload():
        model, _ = acl.mdl.load_from_file_with_q(om("large"), [first.id], [last.id])
        assert first.put(np.ones(LARGE, np.float32)) == 0
        assert last.get(LARGE)[0] == -1
        assert first.put(np.ones(LARGE, np.float32)) == 0  # taken or not
        assert acl.mdl.unload(model) == 0
        first.get(LARGE, timeout=0), last.get(LARGE, timeout=0)

    def resident():
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    free = acl.rt.get_mem_info(0)[0]
    for _ in range(10):
        load_run_and_unload()
    before = resident()
    for _ in range(100):
        load_run_and_unload()
    assert resident() - before < 40 << 20  # of 400 buffers of a MiB
    assert acl.rt.get_mem_info(0)[0] == free
    assert first.destroy() == last.destroy() == 0
