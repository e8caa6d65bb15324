# SPDX-License-Identifier: Apache-2.0
"""Custom operators: kernels of the device toolchain, chosen by a selector written in Python."""
import shutil
import subprocess

import numpy as np
import pytest
from single_op import Tensor, check

import acl

pytestmark = [
    pytest.mark.skipif(shutil.which("clang-19") is None, reason="clang-19 is not installed"),
    pytest.mark.usefixtures("device_0"),
]

KERNELS = """
#include <npurt.h>
struct Tiling { int count; int step; };
extern "C" {
__global__ void add_halves(__fp16* a, __fp16* b, __fp16* out, struct Tiling* tiling) {
  for (int i = CoreID * tiling->step; i < tiling->count; i += CoreNum * tiling->step)
    for (int j = i; j < i + tiling->step && j < tiling->count; ++j) out[j] = a[j] + b[j];
}
__global__ void through_workspace(float* in, float* out, float* room, int* tiling) {
  if (CoreID == 0) for (int i = 0; i < tiling[0]; ++i) room[i] = in[i] * 2;
  sync();
  if (CoreID == CoreNum - 1) for (int i = 0; i < tiling[0]; ++i) out[i] = room[i] + 1;
}
__global__ void trap(float* in, float* out, int* tiling) { *(volatile int*)0 = 1; }
}
"""


@pytest.fixture(scope="module")
def kernel_object(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kernels")
    (folder / "k.cc").write_text(KERNELS)
    for command in (["stc-clang++", "--target=riscv32npu", "-O2", "-c", "k.cc"],
                    ["stc-ld.lld", "-flavor", "gnu", "k.o",
                     "/usr/local/hpe/riscv32npu/lib/libnpurt_hld.a", "-r", "-o", "k-fat.o"]):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    return np.frombuffer((folder / "k-fat.o").read_bytes(), np.uint8)


def register(kernel_object, op, kernel, selector, kernel_id="k0"):
    check(acl.op.register_compile_func(op, selector))
    check(acl.op.create_kernel(op, kernel_id, kernel, acl.util.numpy_to_ptr(kernel_object),
                               kernel_object.nbytes, 1, 0))


def execute(op, inputs, outputs):
    made, out = [Tensor(x) for x in inputs], [Tensor(x) for x in outputs]
    attr = acl.op.create_attr()
    descs = [t.desc for t in made], [t.desc for t in out]
    check(acl.op.update_params(op, *descs, attr))
    check(acl.op.execute_v2(op, descs[0], [t.buffer for t in made], descs[1],
                            [t.buffer for t in out], attr, 0))
    check(acl.rt.synchronize_stream(0))
    return [t.read() for t in out]


def tiling_selector(seen, kernel_id="k0", cores=4):
    def select(in_num, in_desc, out_num, out_desc, op_attr, op_kernel_desc):
        count = int(np.prod([acl.get_tensor_desc_dim_v2(in_desc[0], i)[0]
                             for i in range(acl.get_tensor_desc_num_dims(in_desc[0]))]))
        seen.append((in_num, len(in_desc), out_num, len(out_desc), count))
        tiling = np.array([count, 8], np.int32)
        return acl.op.set_kernel_args(op_kernel_desc, kernel_id, cores,
                                      acl.util.numpy_to_ptr(tiling), tiling.nbytes)
    return select


def test_a_selector_chooses_for_every_shape(kernel_object):
    seen = []
    register(kernel_object, "add", "add_halves", tiling_selector(seen))
    for shape in ((2, 1), (11, 33), (1000,)):
        a, b = (np.random.default_rng(i).random(shape).astype(np.float16) for i in (1, 2))
        np.testing.assert_array_equal(execute("add", [a, b], [a])[0], a + b)
    assert seen == [(2, 2, 1, 1, 2), (2, 2, 1, 1, 363), (2, 2, 1, 1, 1000)]
    check(acl.op.unregister_compile_func("add"))


@pytest.mark.parametrize("blocks", [9, 40, 1000])
def test_more_blocks_than_cores_take_turns(kernel_object, blocks):
    register(kernel_object, "add", "add_halves", tiling_selector([], cores=blocks))
    a, b = (np.random.default_rng(i).random(5000).astype(np.float16) for i in (1, 2))
    np.testing.assert_array_equal(execute("add", [a, b], [a])[0], a + b)
    check(acl.op.unregister_compile_func("add"))


@pytest.mark.parametrize("spelling", ["set_kernel_workspace_sizes", "set_kernel_workspaces_sizes"])
def test_a_kernel_has_its_workspaces(kernel_object, spelling):
    def select(in_num, in_desc, out_num, out_desc, op_attr, op_kernel_desc):
        tiling = np.array([16], np.int32)
        assert getattr(acl.op, spelling)(op_kernel_desc, 1, [64]) == 0
        return acl.op.set_kernel_args(op_kernel_desc, "k0", 8, acl.util.numpy_to_ptr(tiling), 4)

    register(kernel_object, "twice", "through_workspace", select)
    x = np.arange(16, dtype=np.float32)
    np.testing.assert_array_equal(execute("twice", [x], [x])[0], x * 2 + 1)
    check(acl.op.unregister_compile_func("twice"))


def test_a_trap_is_an_exception_with_the_operator_and_its_tensors(kernel_object, capfd):
    register(kernel_object, "bad", "trap", tiling_selector([]))
    told = []

    def callback(info):
        ids = (acl.rt.get_device_id_from_exception_info(info),
               acl.rt.get_stream_id_from_exception_info(info),
               acl.rt.get_task_id_from_exception_info(info))
        name, inputs, count, _, outputs, ret = acl.mdl.create_and_get_op_desc(*ids, 256)
        desc = acl.get_tensor_desc_by_index(inputs, 0)
        told.append((name, count, outputs, acl.get_tensor_desc_address(desc), ret))

    check(acl.rt.set_exception_info_callback(callback))
    x, out = Tensor(np.zeros(4, np.float32)), Tensor(np.zeros(4, np.float32))
    attr = acl.op.create_attr()
    check(acl.op.update_params("bad", [x.desc], [out.desc], attr))
    check(acl.op.execute_v2("bad", [x.desc], [x.buffer], [out.desc], [out.buffer], attr, 0))
    assert acl.rt.synchronize_stream(0) != 0
    assert told == [("bad", 1, 1, x.address, 0)]
    acl.rt.set_exception_info_callback(None)
    check(acl.op.unregister_compile_func("bad"))
    assert "trap" in capfd.readouterr().err


def test_without_update_nothing_is_chosen(kernel_object):
    register(kernel_object, "add", "add_halves", tiling_selector([]))
    x = Tensor(np.zeros(4, np.float16))
    assert acl.op.execute_v2("add", [x.desc] * 2, [x.buffer] * 2, [x.desc], [x.buffer],
                             acl.op.create_attr(), 0) == 100024
    assert "aclopUpdateParams" in acl.get_recent_err_msg()
    check(acl.op.unregister_compile_func("add"))


@pytest.mark.parametrize("answer, words", [
    (lambda desc: 7, "returned 7"), (lambda desc: None, "chose no kernel"),
    (lambda desc: acl.op.set_kernel_args(desc, "other", 1, 0, 0), "'other'"),
    (lambda desc: acl.op.set_kernel_args(desc, "k0", 65536, 0, 0), "returned 100000")])
def test_what_a_selector_does_wrong_is_told(kernel_object, answer, words):
    register(kernel_object, "odd", "add_halves", lambda *arguments: answer(arguments[5]))
    x = Tensor(np.zeros(4, np.float16))
    assert acl.op.update_params("odd", [x.desc] * 2, [x.desc], acl.op.create_attr()) != 0
    assert words in acl.get_recent_err_msg()
    check(acl.op.unregister_compile_func("odd"))


def test_bytes_that_are_no_kernel_are_refused(kernel_object):
    junk = np.frombuffer(b"\x7fELF" + bytes(100), np.uint8)
    for data, name in ((junk, "k"), (np.zeros(8, np.uint8), "k"), (kernel_object, "absent"),
                       (kernel_object[:200], "add_halves")):
        assert acl.op.create_kernel("junk", "k0", name, acl.util.numpy_to_ptr(data), data.nbytes, 1,
                                    0) != 0
        assert acl.get_recent_err_msg()


def test_copies_into_and_out_of_the_cluster_show_in_the_trace(kernel_object, tmp_path):
    from prof_case import exported, session, timeline
    register(kernel_object, "add", "add_halves", tiling_selector([]))
    x = np.ones(1000, np.float16)
    with session(tmp_path):
        execute("add", [x, x], [x])
    names = [event.get("name") for event in timeline(exported(tmp_path))]
    assert names.count("Runtime@stage into NPC memory") == 4  # inputs, output, tiling
    assert names.count("Runtime@stage out of NPC memory") == 1
    check(acl.op.unregister_compile_func("add"))
