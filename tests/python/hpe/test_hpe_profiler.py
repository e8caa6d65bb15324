# SPDX-License-Identifier: Apache-2.0
"""hpe.profiler.api: the order of calls, and what a profile holds."""
import csv
import io
import re

import pytest
from hpe_programs import compile_kernels, kernels

import hpe.hpert.api as hpe
import hpe.profiler.api as prof
from hpe.profiler.capi_ret import STC_PROFILER_ERROR, STC_PROFILER_SUCCESS

STEPS = {"init": prof.init, "enable": prof.enable, "disable": prof.disable,
         "release": prof.release}


@pytest.fixture(autouse=True)
def no_context():
    yield
    prof.disable()
    prof.release()


def collect(work):
    assert prof.init() == STC_PROFILER_SUCCESS
    assert prof.enable() == STC_PROFILER_SUCCESS
    work()
    hpe.synchronize()
    assert prof.disable() == STC_PROFILER_SUCCESS
    result = prof.get_perf_datas()
    assert prof.release() == STC_PROFILER_SUCCESS
    return result


@pytest.mark.parametrize("before, wrong", [
    ([], ["enable", "disable", "release"]),
    (["init"], ["init", "disable"]),
    (["init", "enable"], ["init", "enable", "release"]),
    (["init", "enable", "disable"], ["init", "disable"]),
    (["init", "enable", "disable", "release"], ["enable", "disable", "release"])])
def test_calls_out_of_order_return_an_error(before, wrong):
    for step in before:
        assert STEPS[step]() == STC_PROFILER_SUCCESS
    for step in wrong:
        assert STEPS[step]() == STC_PROFILER_ERROR, step


def test_data_before_enable_is_an_error():
    assert prof.get_perf_datas() == STC_PROFILER_ERROR
    prof.init()
    assert prof.get_perf_datas() == STC_PROFILER_ERROR


def test_a_profile_without_kernels_is_empty():
    result = collect(lambda: None)
    assert isinstance(result, prof.ProfilingResult)
    assert len(result) == 0 and list(result) == [] and "no kernels" in str(result)


def test_kernels_between_enable_and_disable_are_collected():
    module = hpe.module(kernels())
    out = hpe.device_mem(64)
    module.launch_kernel("who", [out])
    hpe.synchronize()

    def work():
        module.launch_kernel("who", [out])
        module.launch_kernel("nothing", core_num=3)

    result = collect(work)
    module.launch_kernel("nothing")
    hpe.synchronize()
    assert [kernel.name for kernel in result] == ["who", "nothing"]
    assert [len(kernel.npc) for kernel in result.kernels] == [8, 3]
    assert isinstance(result[0], prof.KernelFunction)
    for events in result[0]:
        assert len(events) == 37 and events["MCU_CYCLE"] > 0
    assert len(result[0].dma) == 16


def test_more_work_takes_more_cycles():
    module = hpe.module(kernels())
    out = hpe.device_mem(64)

    def work():
        module.launch_kernel("work", [out, 100], core_num=1)
        module.launch_kernel("work", [out, 10000], core_num=1)

    small, large = (kernel[0]["MCU_CYCLE"] for kernel in collect(work))
    assert 50 < large / small < 200


EVERY_UNIT = """
#include <npurt.h>
__local__ __fp16 own[64], next[64];
__shared__ __fp16 all[64];
extern "C" void busy(__fp16 *data, float *out) {
    memcpy(own, data, 128);                                    // pld
    cpy_config_t give = {1, 64, 0, DTYPE_BYTE_2, (CoreID + 1) % CoreNum};
    memcpy(next, own, give);                                   // icmov
    memcpy(all, own, 128);                                     // local to shared
    memcpy(own, all, 128);                                     // shared to local
    memcpy(all, data, 128);                                    // system DMA, channel 0
    memcpy(data + 64, all, 128);                               // system DMA, channel 1
    npu_vadd(own, own, next, 64);
    npu_mmul(out, own, own, 8, 8, 8);
    for (volatile int i = 0; i < 100 * CoreID; i = i + 1) {}   // core 0 waits
    sync();
}
"""
# docs/npc_cycles.md: "Always 0, because only silicon has them"
OF_SILICON = (r"VEC_.*|PAL_.*|.*_SLOT_WAIT_CYCLE|MIF_.*_CONFLICT_CYCLE|.*_LLB_CONFLICT_CYCLE"
              r"|MCU_EVENT\dH?_TYPE_CNT|MCU_MCOUNTER_OVERFLOW")


def test_every_event_counts_but_those_that_only_silicon_has(tmp_path):
    module = hpe.module(compile_kernels(EVERY_UNIT, tmp_path, options="-O1"))
    data, out = hpe.device_mem(256), hpe.device_mem(256)
    data.copy_from_host(bytes(256))
    (kernel,) = collect(lambda: module.launch_kernel("busy", [data, out]))
    events = {**kernel[0], **kernel.dma}
    assert len(events) == 53
    silent = {name for name in events if re.fullmatch(OF_SILICON, name)}
    assert {name for name in silent if events[name]} == set()
    assert {name for name in events if not events[name]} - silent == {"SYSDMA0_DMA_ID"}
    assert kernel.dma["SYSDMA1_DMA_ID"] == 1
    assert kernel[0]["MTE_PLD_BYTE"] == kernel[0]["MTE_ICMOV_BYTE"] == 128
    assert kernel.dma["SYSDMA0_DMA_C0_BYTE"] == kernel.dma["SYSDMA1_DMA_C1_BYTE"] == 4 * 128


def test_data_before_disable():
    module = hpe.module(kernels())
    prof.init()
    prof.enable()
    module.launch_kernel("nothing")
    hpe.synchronize()
    assert len(prof.get_perf_datas()) == 1
    prof.disable()
    assert len(prof.get_perf_datas()) == 1


def test_enable_starts_from_nothing():
    module = hpe.module(kernels())
    prof.init()
    for _ in range(2):
        prof.enable()
        module.launch_kernel("nothing")
        hpe.synchronize()
        prof.disable()
        assert len(prof.get_perf_datas()) == 1


def test_a_profile_prints_a_table_and_gives_dicts_and_csv(tmp_path):
    module = hpe.module(kernels())
    result = collect(lambda: module.launch_kernel("nothing", core_num=2))
    text = str(result)
    assert "nothing (2 NPCs)" in text and "NPC_01" in text and "sysdma_1" in text
    assert "modelled" in text
    data = result.to_dict()
    assert data["kernels"][0]["npc"][1] == result[0][1]
    result.to_csv(tmp_path / "profile.csv")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "profile.csv").read_text())))
    assert [row["unit"] for row in rows] == ["NPC_00", "NPC_01", "sysdma"]
    assert int(rows[0]["MCU_CYCLE"]) == result[0][0]["MCU_CYCLE"]
    assert result.to_csv() == (tmp_path / "profile.csv").read_text()
    assert result[0].to_csv().splitlines()[0] == result.to_csv().splitlines()[0]


def test_a_failed_kernel_is_collected_too(capfd):
    module = hpe.module(kernels())
    prof.init()
    prof.enable()
    module.launch_kernel("stop")
    with pytest.raises(hpe.CruntimeException):
        hpe.synchronize()
    assert [kernel.name for kernel in prof.get_perf_datas()] == ["stop"]
