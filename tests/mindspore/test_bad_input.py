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


def test_a_device_that_is_full(program):
    printed = program(START + "tried(lambda: mint.zeros((1 << 42,), dtype=ms.float32))" + ALIVE,
                      errors=True)
    assert "Error" in printed and "alive 12.0" in printed


def test_an_operator_that_is_not_there(program):
    printed = program(START + "tried(lambda: ops.Primitive)\ntried(lambda: ops.NMSWithMask(0.5)("
                      "Tensor(np.ones((4, 5), np.float32))))" + ALIVE, ok=False)
    assert "NMSWithMask" in printed


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


def test_a_second_framework_in_the_process(program):
    assert program("""
import acl
print(acl.init())
import mindspore as ms, numpy as np
ms.set_device("Ascend")
print((ms.Tensor(np.ones(3, np.float32)) + 1).asnumpy().sum())
print(acl.rt.get_device_count())
""").split("\n")[0:2] == ["0", "6.0"]
