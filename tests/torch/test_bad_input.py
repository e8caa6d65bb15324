# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: E501
"""What is wrong becomes torch's usual error with AnyNPU's sentence in it, and the process goes on."""
import pytest
import torch
import torch_npu
from torch.nn import functional as F


def still_works():
    x = torch.arange(4., device="npu")
    return (x + 1).sum().item() == 10


@pytest.mark.parametrize("call", [
    lambda x: x @ torch.ones(4, 5, device="npu"),
    lambda x: x + torch.ones(4, device="npu"),
    lambda x: torch.cat([x, torch.ones(2, 4, device="npu")], 0),
    lambda x: F.conv2d(x.reshape(1, 1, 2, 3), torch.ones(1, 2, 1, 1, device="npu")),
    lambda x: x.reshape(4, 2),
], ids=["matmul", "add", "cat", "conv", "reshape"])
def test_shapes_that_do_not_fit(call):
    with pytest.raises(RuntimeError):
        call(torch.ones(2, 3, device="npu"))
    assert still_works()


def test_a_tensor_of_the_cpu_among_those_of_the_device():
    with pytest.raises(RuntimeError, match="same device|expected.*npu|Expected all tensors"):
        torch.ones(2, 3, device="npu") + torch.ones(2, 3)
    assert still_works()


def test_a_type_that_an_operator_does_not_take():
    with pytest.raises(RuntimeError):
        torch.linalg.inv(torch.ones(2, 2, dtype=torch.int64, device="npu"))
    with pytest.raises(RuntimeError, match="aclnnMaxPool2dWithMask.*int64"):
        F.max_pool2d(torch.ones(1, 1, 4, 4, dtype=torch.int64, device="npu"), 2)
    assert still_works()


def test_a_device_that_is_full():
    with pytest.raises(torch.OutOfMemoryError, match="NPU out of memory"):
        torch.empty(1 << 50, dtype=torch.uint8, device="npu")
    assert still_works()


def test_a_format_that_is_not_there_is_refused_and_private_ones_change_nothing():
    x = torch.arange(32., device="npu").reshape(2, 16)
    with pytest.raises(RuntimeError, match="999"):
        torch_npu.npu_format_cast(x, 999)
    assert torch.equal(torch_npu.npu_format_cast(x, 29).cpu(), x.cpu())  # NZ
    assert still_works()


BLOCKING = """
import os
os.environ["ASCEND_LAUNCH_BLOCKING"] = "1"
import torch
x = torch.ones(2, 3, device="npu")
"""


def test_an_index_outside_names_index_and_extent_at_the_operator(program):
    printed = program(BLOCKING + """
try:
    torch.nn.functional.embedding(torch.tensor([1, 7], device="npu"), x)
    torch.npu.synchronize()
except RuntimeError as error:
    print("caught:", error)
""", ok=False)
    assert "caught:" in printed
    assert "7" in printed and "2" in printed
    assert "aclnnEmbedding" in printed


def test_an_operator_that_is_not_there_is_named(program):
    printed = program(BLOCKING + """
import torch_npu
try:
    torch_npu.npu_ciou(torch.ones(4, 2, device="npu"), torch.ones(4, 2, device="npu"), True, False, 0, True)
except (RuntimeError, AttributeError) as error:
    print("caught:", error)
print((x + 1).sum().item())
""", ok=False)
    assert "caught:" in printed and "no operator is called 'CIoU'" in printed
    assert "12.0" in printed, "the process goes on"


def test_a_failure_in_the_queue_comes_up_at_the_next_synchronisation(program):
    """The queue drops what follows a failure; the sentence is that of the operator that failed."""
    printed = program("""
import torch
x = torch.ones(2, 3, device="npu")
y = torch.nn.functional.embedding(torch.tensor([1, 7], device="npu"), x)
z = y + 1
try:
    torch.npu.synchronize()
    print(z.cpu())
except RuntimeError as error:
    print("caught:", error)
print("goes on")
""", ok=False)
    assert "caught:" in printed and "goes on" in printed
    assert "7" in printed and "Embedding" in printed
