# SPDX-License-Identifier: Apache-2.0
"""What torch.npu says about the devices of this machine."""
import pytest
import torch


def test_importing_torch_brings_the_devices():
    assert torch.npu.is_available()
    assert torch.npu.device_count() >= 1
    assert torch.accelerator.current_accelerator().type == "npu"


def test_the_name_is_the_chip_that_anynpu_stands_in_for(program):
    code = "import torch; print(torch.npu.get_device_name(0))"
    assert program(code, ANYNPU_SOC="Ascend910B2").strip().endswith("Ascend910B2")
    assert program(code, ANYNPU_SOC="Ascend950PR_9599").strip().endswith("Ascend950PR_9599")


def test_properties_have_memory_and_cores():
    properties = torch.npu.get_device_properties(0)
    free, total = torch.npu.mem_get_info()
    assert 0 < free <= total
    assert properties.total_memory == total
    assert properties.cube_core_num > 0 and properties.vector_core_num > 0


def test_devices_are_chosen_by_number_and_by_with():
    if torch.npu.device_count() < 2:
        pytest.skip("one device")
    first = torch.npu.current_device()
    with torch.npu.device(1):
        assert torch.npu.current_device() == 1
        assert torch.ones(2, device="npu").device.index == 1
    assert torch.npu.current_device() == first
    assert torch.ones(3, device="npu:1").cpu().sum() == 3


def test_a_device_that_is_not_there_is_refused_and_the_next_call_works():
    with pytest.raises(RuntimeError):
        torch.ones(1, device="npu:99")
    assert torch.ones(1, device="npu").item() == 1


def test_tensors_go_there_and_back():
    for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32,
                  torch.int8, torch.uint8, torch.bool):
        x = (torch.arange(24) % 5).to(dtype).reshape(2, 3, 4)
        assert torch.equal(x.npu().cpu(), x)
        assert torch.equal(x.transpose(0, 2).npu().cpu(), x.transpose(0, 2))
        assert torch.equal(x[:, 1:, ::2].npu().cpu(), x[:, 1:, ::2])
        assert torch.equal(x.npu()[:, 1:, ::2].cpu(), x[:, 1:, ::2])
    assert torch.equal(torch.empty(0, 3).npu().cpu(), torch.empty(0, 3))


def test_tensors_go_from_device_to_device():
    if torch.npu.device_count() < 2:
        pytest.skip("one device")
    x = torch.arange(1000.)
    assert torch.equal(x.to("npu:0").to("npu:1").cpu(), x)


def test_tensors_are_printed():
    assert "npu" in repr(torch.arange(4., device="npu"))
    assert "1.5000" in repr(torch.tensor([1.5, -2.25], device="npu"))
