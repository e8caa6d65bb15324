# SPDX-License-Identifier: Apache-2.0
"""The memory of a cluster as kernels find it: all of the shared, local and stack memory that the
card has, no more, each core with its own, and none of the host's before it is used."""
import numpy as np
import pytest
from hpe_programs import compile_kernels, output

import hpe.hpert.api as hpe

MIB = 1 << 20
FILL = """
#include <npurt.h>
__shared__ unsigned shared[SHARED / 4];
__local__ unsigned own[LOCAL / 4];
extern "C" void fill(unsigned *out) {
    volatile unsigned stack[STACK / 4];
    for (int i = CoreID; i < SHARED / 4; i += CoreNum) shared[i] = i * 7;
    for (int i = 0; i < LOCAL / 4; i++) own[i] = i * 8 + CoreID;
    for (int i = 0; i < STACK / 4; i++) stack[i] = i * 5 + CoreID;
    sync();
    unsigned sums[3] = {};
    for (int i = 0; i < SHARED / 4; i++) sums[0] += shared[i];
    for (int i = 0; i < LOCAL / 4; i++) sums[1] += own[i];
    for (int i = 0; i < STACK / 4; i++) sums[2] += stack[i];
    for (int i = 0; i < 3; i++) out[3 * CoreID + i] = sums[i];
}
"""
WHOLE = {"SHARED": 8 * MIB, "LOCAL": 5 * MIB // 4, "STACK": 60 << 10}


def build(folder, **sizes):
    defines = " ".join(f"-D{name}={size}" for name, size in {**WHOLE, **sizes}.items())
    return compile_kernels(FILL, folder, options="-O2 " + defines)


def test_kernels_use_all_shared_and_local_memory_and_each_core_its_own_stack(tmp_path):
    module, out = hpe.module(build(tmp_path)), hpe.device_mem(3 * 8 * 4)
    module.launch_kernel("fill", [out])
    hpe.synchronize()
    got = np.zeros((8, 3), np.uint32)
    out.copy_to_host(got)
    counts = [WHOLE[name] // 4 for name in ("SHARED", "LOCAL", "STACK")]
    expected = [[(sum(range(count)) * by + count * own) % 2**32
                 for count, by, own in zip(counts, (7, 8, 5), (0, core, core))]
                for core in range(8)]
    assert got.tolist() == expected


@pytest.mark.parametrize("memory", ["SHARED", "LOCAL"])
def test_a_module_with_more_than_there_is_is_refused(memory, tmp_path):
    path = build(tmp_path, **{memory: WHOLE[memory] + 4})
    with pytest.raises(hpe.CruntimeException) as caught:
        hpe.module(path)
    assert caught.value.name == "stcErrorInvalidImageDataSection"
    assert str(WHOLE[memory]) in str(caught.value) and memory.lower() in str(caught.value)


def test_a_stack_of_more_than_64_kib_is_an_exception_of_the_device(tmp_path, capfd):
    module, out = hpe.module(build(tmp_path, STACK=(64 << 10) + 64)), hpe.device_mem(96)
    module.launch_kernel("fill", [out])
    with pytest.raises(hpe.CruntimeException) as caught:
        hpe.synchronize()
    assert caught.value.name == "stcErrorDeviceImageException"
    assert "stack overflow" in capfd.readouterr().err


def test_device_memory_lies_below_3_gib_and_a_null_pointer_is_none():
    blocks = [hpe.device_mem(700 * MIB) for _ in range(4)]
    for block in blocks:
        assert 1 << 16 <= block.offset_address(0) < block.offset_address(700 * MIB) <= 3 << 30


def test_four_clusters_take_address_space_but_no_memory_before_they_use_it():
    size, resident = map(int, output("""
        def status():
            with open('/proc/self/status') as file:
                lines = dict(line.split(':', 1) for line in file)
            return [int(lines[name].split()[0]) >> 10 for name in ('VmSize', 'VmRSS')]  # MiB
        before = status()
        keep = []
        for device in range(4):
            module, out = hpe.module(IMAGE, device), hpe.device_mem(1 << 30, device)
            module.launch_kernel('who', [out])
            hpe.synchronize(device)
            keep += [module, out]
        print(*(after - first for first, after in zip(before, status())))
    """).split())
    assert size > 4 * 4096  # 4 GiB of each
    assert resident < 400  # most of it the compiler; 4 GiB are allocated
