# SPDX-License-Identifier: Apache-2.0
"""The levels of graph mode: O0 runs operator by operator, O1 like it, O2 is refused."""
import pytest

PROGRAM = """
import os, sys
if "without" in sys.argv:
    del os.environ["MS_DEV_GRAPH_KERNEL_FLAGS"]
import mindspore as ms, numpy as np
from mindspore import Tensor, nn
ms.set_device("Ascend")
ms.set_context(mode=ms.GRAPH_MODE, jit_config={"jit_level": sys.argv[1]})
net = nn.SequentialCell(nn.Dense(4, 8, "ones", "zeros"), nn.ReLU(), nn.Dense(8, 2, "ones", "zeros"))
x = Tensor(np.ones((3, 4), np.float32))
try:
    print("made", net(x).asnumpy().sum())
except Exception as error:
    print("raised", type(error).__name__, error)
ms.set_context(mode=ms.PYNATIVE_MODE)
print("alive", (x + 1).asnumpy().sum())
"""


@pytest.mark.parametrize("level", ["O0", "O1"])
def test_operators_run_one_by_one(program, level):
    printed = program(PROGRAM, arguments=[level], MS_DEV_GRAPH_KERNEL_FLAGS="--opt_level=0")
    assert "made 192.0" in printed and "alive 24.0" in printed


def test_set_env_turns_fused_kernels_off(program):
    import os
    assert os.environ["MS_DEV_GRAPH_KERNEL_FLAGS"] == "--opt_level=0"


def test_fused_kernels_become_an_exception_that_names_o0(program):
    printed = program(PROGRAM, arguments=["O1", "without"])
    assert "raised RuntimeError" in printed and "jit_level O0" in printed
    assert "alive 24.0" in printed


def test_whole_graphs_become_an_exception_that_names_o0(program):
    printed = program(PROGRAM, arguments=["O2"])
    assert "raised RuntimeError" in printed and '"jit_level": "O0"' in printed
    assert "alive 24.0" in printed
