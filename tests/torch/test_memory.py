# SPDX-License-Identifier: Apache-2.0
"""The caching allocator, pinned memory, out of memory."""
import gc

import pytest
import torch

MIB = 1 << 20


def test_blocks_are_counted_and_given_back():
    torch.npu.empty_cache()
    before = torch.npu.memory_allocated()
    x = torch.empty(8 * MIB, dtype=torch.uint8, device="npu")
    assert torch.npu.memory_allocated() - before >= 8 * MIB
    assert torch.npu.memory_reserved() >= torch.npu.memory_allocated()
    assert torch.npu.max_memory_allocated() >= 8 * MIB
    del x
    gc.collect()
    assert torch.npu.memory_allocated() == before


def test_a_freed_block_is_used_again():
    x = torch.empty(4 * MIB, dtype=torch.uint8, device="npu")
    address = x.data_ptr()
    del x
    assert torch.empty(4 * MIB, dtype=torch.uint8, device="npu").data_ptr() == address


def test_the_summary_has_the_allocated_bytes():
    x = torch.empty(MIB, dtype=torch.uint8, device="npu")
    text = torch.npu.memory_summary()
    assert "Allocated memory" in text
    stats = torch.npu.memory_stats()
    assert stats["allocated_bytes.all.current"] >= x.numel()


def test_out_of_memory_is_the_usual_error_and_the_process_goes_on():
    with pytest.raises(torch.OutOfMemoryError, match="out of memory"):
        torch.empty(1 << 50, dtype=torch.uint8, device="npu")
    assert torch.arange(3, device="npu").cpu().tolist() == [0, 1, 2]


def test_pinned_memory_is_copied_without_waiting():
    x = torch.randn(1000).pin_memory()
    assert x.is_pinned()
    y = x.npu(non_blocking=True)
    back = torch.empty(1000).pin_memory()
    back.copy_(y, non_blocking=True)
    torch.npu.synchronize()
    assert torch.equal(back, x)


@pytest.mark.parametrize("setting", ["expandable_segments:True", "max_split_size_mb:64",
                                     "garbage_collection_threshold:0.6"])
def test_settings_of_the_allocator(program, setting):
    printed = program("""
import torch
blocks = [torch.full((1 << 18,), float(i), device="npu") for i in range(40)]
del blocks[::2]
big = torch.ones(6 << 20, device="npu")
print(sum(block[0].item() for block in blocks) + big.sum().item())
""", PYTORCH_NPU_ALLOC_CONF=setting)
    assert float(printed.split()[-1]) == sum(range(1, 40, 2)) + (6 << 20)


def test_without_the_cache(program):
    printed = program("import torch; print((torch.ones(5, device='npu') + 1).sum().item())",
                      PYTORCH_NO_NPU_MEMORY_CACHING="1")
    assert printed.split()[-1] == "10.0"
