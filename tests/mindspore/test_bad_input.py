# SPDX-License-Identifier: Apache-2.0
"""What is wrong becomes MindSpore's own exception with AnyNPU's sentence in it, never a crash."""
import pytest

START = """
import mindspore as ms, numpy as np
from mindspore import Tensor, mint, ops
ms.set_device("Ascend")
x = Tensor(np.ones((2, 3), np.float32))
def tried(call):
    try:
        out = call()
        ms.runtime.synchronize()
        print("made", out)
    except Exception as error:
        print(type(error).__name__, error)
"""
ALIVE = "\nprint('alive', (x + 1).asnumpy().sum())\n"


@pytest.mark.parametrize("call", [
    "mint.matmul(x, Tensor(np.ones((4, 5), np.float32)))", "x + Tensor(np.ones(4, np.float32))",
    "mint.cat([x, Tensor(np.ones((2, 4), np.float32))], 0)", "mint.reshape(x, (4, 2))",
    "mint.nn.functional.conv2d(mint.reshape(x, (1, 1, 2, 3)), "
    "Tensor(np.ones((1, 2, 1, 1), np.float32)))",
], ids=["matmul", "add", "cat", "reshape", "conv"])
def test_shapes_that_do_not_fit(program, call):
    printed = program(START + f"tried(lambda: {call})" + ALIVE)
    assert "Error" in printed and "made" not in printed and "alive 12.0" in printed


def test_more_memory_than_the_device_has(program):
    """MindSpore compares with what the device says it has, and does not ask for it."""
    printed = program(START + "tried(lambda: mint.zeros((1 << 42,), dtype=ms.float32))" + ALIVE,
                      errors=True)
    assert "RuntimeError Allocate memory failed" in printed and "alive 12.0" in printed


def test_memory_that_is_refused(program):
    """The device cannot give what it said it had."""
    printed = program(START + "tried(lambda: x + 1)\nprint('alive')",
                      ANYNPU_FAULT="aclrtMallocPhysical=207001")
    assert "RuntimeError Allocate memory failed" in printed and "alive" in printed
    assert "E207001: aclrtMallocPhysical failed with ACL_ERROR_RT_MEMORY_ALLOCATION" in printed


@pytest.mark.parametrize("name, call", [
    ("NMSWithMask", "ops.NMSWithMask(0.5)(Tensor(np.ones((4, 5), np.float32)))"),
    ("CTCGreedyDecoder", "ops.CTCGreedyDecoder()(Tensor(np.ones((2, 2, 3), np.float32)), "
     "Tensor(np.array([2, 2], np.int32)))"),
])
def test_an_operator_that_is_not_there(program, name, call):
    printed = program(START + f"tried(lambda: {call})" + ALIVE)
    assert "RuntimeError" in printed and "made" not in printed and "alive 12.0" in printed
    assert f"no operator is called '{name}'; docs/operator_names.md lists" in printed


def test_a_folder_without_the_libraries(program):
    printed = program(START, ok=False, LD_LIBRARY_PATH="/nonexistent")
    assert "Unsupported device target Ascend" in printed


@pytest.mark.parametrize("library", ["libgraph.so", "libopapi.so", "libascendcl.so"])
def test_a_damaged_library_is_named(program, tmp_path, library):
    """All libraries but one, which is no library."""
    import os
    folder = tmp_path / "latest" / "lib64"
    folder.mkdir(parents=True)
    whole = os.path.join(os.environ["ASCEND_HOME_PATH"], "lib64")
    for name in os.listdir(whole):
        (folder / name).symlink_to(os.path.realpath(os.path.join(whole, name)))
    (folder / library).unlink()
    (folder / library).write_text("no library")
    printed = program(START + "tried(lambda: mint.erf(x))", ok=False, LD_LIBRARY_PATH=str(folder))
    assert "Error" in printed and library in printed and "made" not in printed


SECOND = """
import acl
def computed():
    descs = [acl.create_tensor_desc(0, [4], 2) for _ in range(3)]
    memory = [acl.rt.malloc(16, 2)[0] for _ in range(3)]
    for address in memory[:2]:
        data = np.full(4, 3, np.float32)
        assert acl.rt.memcpy(address, 16, data.ctypes.data, 16, 1) == 0
    buffers = [acl.create_data_buffer(address, 16) for address in memory]
    assert acl.op.compile_and_execute("Add", descs[:2], buffers[:2], descs[2:], buffers[2:],
                                      acl.op.create_attr(), 0, 0, "", 0) == 0
    assert acl.rt.synchronize_stream(0) == 0
    made = np.zeros(4, np.float32)
    assert acl.rt.memcpy(made.ctypes.data, 16, memory[2], 16, 2) == 0
    return made.sum()
"""


def test_a_second_framework_before_it(program):
    assert program("import acl\nprint(acl.init(), acl.rt.set_device(0))\n" + START + SECOND
                   + "print(computed(), (x + 1).asnumpy().sum(), computed())") \
        == "0 0\n24.0 12.0 24.0\n"


def test_a_second_framework_after_it(program):
    assert program(START + "print((x + 1).asnumpy().sum())\n" + SECOND
                   + "print(acl.init() in (0, 100002), acl.rt.set_device(0))\n"
                   "print(computed(), (x + 1).asnumpy().sum())") == "12.0\nTrue 0\n24.0 12.0\n"


def test_a_second_framework_that_ends_the_library(program):
    """What follows is MindSpore's exception, or goes on; the process lives."""
    printed = program(START + "print((x + 1).asnumpy().sum())\n" + SECOND
                      + "acl.rt.set_device(0); computed(); acl.rt.reset_device(0)\n"
                      "print('ended', acl.finalize())\n"
                      "tried(lambda: (x + 1).asnumpy().sum())\nprint('alive')", ok=False)
    assert "ended" in printed and "alive" in printed
