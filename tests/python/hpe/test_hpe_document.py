# SPDX-License-Identifier: Apache-2.0
"""Every code block of the HPE Python document, in its order. tools/gen_guide_blocks.py reads the
marks for docs/hpe_blocks.md."""
import ast
import inspect
import os
import subprocess
import sys

import numpy
import pytest
from build_tree import ROOT
from hpe_programs import compile_kernels, kernels, shell

import hpe.hpert.api
import hpe.profiler.api
import hpe.profiler.capi_ret

COPY_CC = """\
#include <npurt.h>

extern "C" {
void copy(int *in, int *out, int num) {
    if (CoreID == 0){
        for(int i=0; i<num; i++)
                out[i] = in[i];
    }
}
}
"""

COPY_EXAMPLE = """\
#!/usr/bin/env python
# coding=utf-8

import numpy as np
import hpe.hpert.api as hpe
import hpe.profiler.api as prof

def main():
    '''
    copy 100 integers from host to device and then back to host

    '''
    DATA_NUM = 100
    try:
        print("version", hpe.version())
        hpe.detect()
        print('get device:', hpe.get_device())

        prof.init()
        prof.enable()

        # prepare host memory
        host_in = np.arange(DATA_NUM, dtype=np.int32)
        host_out = np.zeros(DATA_NUM, dtype=np.int32)
        # prepare device memory
        device_in = hpe.device_mem(host_in.nbytes)
        device_out = hpe.device_mem(host_out.nbytes)

        # move 100 integers from host to device
        device_in.copy_from_host(host_in)

        # 'hello' kernel function in hello.o moves 100 integers from device_in to device_out
        mod = hpe.module('copy-fatbin.o')
        mod.launch_kernel('copy', [device_in, device_out, DATA_NUM])
        hpe.synchronize()

        # move 100 integers from device to host
        device_out.copy_to_host(host_out)
        print("host_out:")
        print(host_out)

        prof.disable()
        perf_datas = prof.get_perf_datas()
        print("*************profiler data*************")
        print(perf_datas)
        prof.release()

    except hpe.CruntimeException as e:
        print(e)

if __name__ == "__main__":
    main()
"""


def block(section, first_line, slips=(), note=""):
    """Says which block of the document a test runs. Read from the source: literals only."""
    return lambda test: test


@block("使用流程 2", "$ cat copy.cc")
def test_the_device_program_compiles_and_links_as_printed(tmp_path):
    (tmp_path / "copy.cc").write_text(COPY_CC)
    shell("stc-clang++ --target=riscv32npu -c copy.cc\n"
          "stc-ld.lld -flavor gnu copy.o /usr/local/hpe/riscv32npu/lib/libnpurt_hld.a -r "
          "-o copy-fatbin.o", cwd=tmp_path)
    for name in ("copy.o", "copy-fatbin.o"):
        assert (tmp_path / name).read_bytes()[:5] == b"\x7fELF\x01"  # 32 bits
    assert hpe.hpert.api.module(str(tmp_path / "copy-fatbin.o"))


@block("使用流程 3", "$ cat copy-example.py")
def test_the_host_program_runs_as_printed(tmp_path):
    compile_kernels(COPY_CC, tmp_path, name="copy")
    (tmp_path / "copy-example.py").write_text(COPY_EXAMPLE)
    done = subprocess.run([sys.executable, "copy-example.py"], cwd=tmp_path, capture_output=True,
                          text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    head, profile = done.stdout.split("*************profiler data*************\n")
    assert "version" in head and "get device: 0" in head
    assert str(numpy.arange(100, dtype=numpy.int32)) in head
    assert "copy (8 NPCs)" in profile and "NPC_07" in profile
    assert "stcError" not in done.stdout and done.stderr == ""


@block("主机端运行时接口 接口调用要求", "import hpe.hpert.api")
@block("性能数据采集接口 接口调用要求", "import hpe.profiler.api")
@pytest.mark.parametrize("line", ["import hpe.hpert.api", "import hpe.profiler.api"])
def test_the_imports(line):
    shell(f"{sys.executable} -c '{line}'")


# A definition as printed, and a call of it.
DEFINITIONS = [
    ("hpe.hpert.api.detect()", "hpe.hpert.api.detect()", True),
    ("hpe.hpert.api.set_device(device_id)", "hpe.hpert.api.set_device(device_id)", None),
    ("hpe.hpert.api.get_device()", "hpe.hpert.api.get_device()", 0),
    ("hpe.hpert.api.synchronize(device_id=None)",
     "hpe.hpert.api.synchronize(device_id=None)", None),
    ("hpe.hpert.api.device_mem(size, device_id=None)",
     "hpe.hpert.api.device_mem(size, device_id=None)", hpe.hpert.api.DeviceMem),
    ("hpe.hpert.api.host_mem(shape, dtype=numpy.float16)",
     "hpe.hpert.api.host_mem(shape, dtype=numpy.float16)", numpy.ndarray),
    ("hpe.hpert.api.host_pinned(array)", "hpe.hpert.api.host_pinned(array)", None),
    ("hpe.hpert.api.DeviceMem.offset_address(offset)", "memory.offset_address(offset)", int),
    ("hpe.hpert.api.DeviceMem.copy_from_host(host_array, device_offset=0, host_offset=0, "
     "size=None, stream=0)",
     "memory.copy_from_host(host_array, device_offset=0, host_offset=0, size=None, stream=0)",
     None),
    ("hpe.hpert.api.DeviceMem.copy_to_host(host_array, device_offset=0, host_offset=0, "
     "size=None, stream=0)",
     "memory.copy_to_host(host_array, device_offset=0, host_offset=0, size=None, stream=0)", None),
    ("hpe.hpert.api.module(image, device_id=None)",
     "hpe.hpert.api.module(image, device_id=None)", hpe.hpert.api.Module),
    ("hpe.hpert.api.Module.launch_kernel(kernel_name, kernel_params=[], stream=0, core_num=8, "
     "flag=KernelFlag.stcKernelFlagNone)",
     "module.launch_kernel(kernel_name, kernel_params=[], stream=0, core_num=8, "
     "flag=KernelFlag.stcKernelFlagNone)", None),
    ("hpe.hpert.api.stream(device_id=None)", "hpe.hpert.api.stream(device_id=None)",
     hpe.hpert.api.Stream),
    ("hpe.hpert.api.Stream.synchronize()", "stream.synchronize()", None),
    ("hpe.hpert.api.event(device_id=None)", "hpe.hpert.api.event(device_id=None)",
     hpe.hpert.api.Event),
    ("hpe.hpert.api.Event.record(stream=0)", "event.record(stream=0)", None),
    ("hpe.hpert.api.Event.synchronize()", "event.synchronize()", None),
    ("hpe.hpert.api.Stream.wait(event)", "stream.wait(event)", None),
    ("hpe.profiler.api.init()", "hpe.profiler.api.init()",
     hpe.profiler.capi_ret.STC_PROFILER_SUCCESS),
    ("hpe.profiler.api.enable()", "hpe.profiler.api.enable()",
     hpe.profiler.capi_ret.STC_PROFILER_SUCCESS),
    ("hpe.profiler.api.get_perf_datas()", "hpe.profiler.api.get_perf_datas()",
     hpe.profiler.api.ProfilingResult),
    ("hpe.profiler.api.disable()", "hpe.profiler.api.disable()",
     hpe.profiler.capi_ret.STC_PROFILER_SUCCESS),
    ("hpe.profiler.api.release()", "hpe.profiler.api.release()",
     hpe.profiler.capi_ret.STC_PROFILER_SUCCESS),
]


@block("hpe.hpert.api.detect", "hpe.hpert.api.detect()")
@block("hpe.hpert.api.set_device", "hpe.hpert.api.set_device(device_id)",
       note="without a number: cluster 0, as the table says")
@block("hpe.hpert.api.get_device", "hpe.hpert.api.get_device()")
@block("hpe.hpert.api.synchronize", "hpe.hpert.api.synchronize(device_id=None)")
@block("hpe.hpert.api.device_mem", "hpe.hpert.api.device_mem(size, device_id=None)")
@block("hpe.hpert.api.host_mem", "hpe.hpert.api.host_mem(shape, dtype=numpy.float16)")
@block("hpe.hpert.api.host_pinned", "hpe.hpert.api.host_pinned(array)")
@block("hpe.hpert.api.DeviceMem.offset_address",
       "hpe.hpert.api.DeviceMem.offset_address(offset)", note="called on an object")
@block("hpe.hpert.api.DeviceMem.copy_from_host",
       "hpe.hpert.api.DeviceMem.copy_from_host(host_array, ...)", note="called on an object")
@block("hpe.hpert.api.DeviceMem.copy_to_host",
       "hpe.hpert.api.DeviceMem.copy_to_host(host_array, ...)", note="called on an object")
@block("hpe.hpert.api.module", "hpe.hpert.api.module(image, device_id=None)")
@block("hpe.hpert.api.Module.launch_kernel",
       "hpe.hpert.api.Module.launch_kernel(kernel_name, ...)",
       note="the table calls `flag` `flags`: both names are taken")
@block("hpe.hpert.api.stream", "hpe.hpert.api.stream(device_id=None)")
@block("hpe.hpert.api.Stream.synchronize", "hpe.hpert.api.Stream.synchronize()",
       note="called on an object")
@block("hpe.hpert.api.event", "hpe.hpert.api.event(device_id=None)")
@block("hpe.hpert.api.Event.synchronize", "hpe.hpert.api.Event.synchronize()",
       note="called on an object")
@block("hpe.hpert.api.Event.record", "hpe.hpert.api.Event.record(stream=0)",
       note="called on an object")
@block("hpe.hpert.api.Stream.wait", "hpe.hpert.api.Stream.wait(event)",
       note="called on an object")
@block("hpe.profiler.api.init", "hpe.profiler.api.init()")
@block("hpe.profiler.api.enable", "hpe.profiler.api.enable()")
@block("hpe.profiler.api.get_perf_datas", "hpe.profiler.api.get_perf_datas()")
@block("hpe.profiler.api.disable", "hpe.profiler.api.disable()")
@block("hpe.profiler.api.release", "hpe.profiler.api.release()")
def test_definitions_have_the_printed_arguments_and_run():
    api = hpe.hpert.api
    names = {
        "hpe": hpe, "numpy": numpy, "KernelFlag": api.KernelFlag, "device_id": 0, "size": 64,
        "shape": (4, 2), "array": numpy.zeros(100), "memory": api.device_mem(64), "offset": 8,
        "host_array": numpy.zeros(16, numpy.float32), "image": kernels(), "stream": api.stream(),
        "module": api.module(kernels()), "kernel_name": "nothing", "event": api.event(),
    }
    for definition, call, expected in DEFINITIONS:
        check_arguments(definition, names)
        result = eval(call, names)  # noqa: S307
        if isinstance(expected, type):
            assert isinstance(result, expected), definition
        else:
            assert result == expected, definition


def check_arguments(definition, names):
    """Names, order and defaults of the function are those of the printed definition."""
    call = ast.parse(definition, mode="eval").body
    function = eval(ast.unparse(call.func), names)  # noqa: S307
    printed = [(argument.id, inspect.Parameter.empty) for argument in call.args]
    printed += [(keyword.arg, eval(ast.unparse(keyword.value), names))  # noqa: S307
                for keyword in call.keywords]
    real = [(p.name, p.default) for p in inspect.signature(function).parameters.values()
            if p.name != "self" and p.kind != inspect.Parameter.KEYWORD_ONLY]
    if definition.endswith("set_device(device_id)"):
        real = [("device_id", inspect.Parameter.empty)]  # optional, as its table says
    assert real == printed, definition


@block("class hpe.hpert.api.KernelFlag", "(枚举值)")
def test_kernel_flags_have_the_printed_values():
    flags = hpe.hpert.api.KernelFlag
    assert {flag.name: flag.value for flag in flags} == {
        "stcKernelFlagNone": 0, "stcKernelFlagInputDataBypassDcache": 1,
        "stcKernelFlagOutputDataBypassDache": 2, "stcKernelFlagIODataBypassDache": 3}


@block("class hpe.hpert.api.CruntimeException", "(Error Code, Error Message)",
       note="every row: test_hpe_errors.py")
def test_the_exception_can_be_caught_under_both_names():
    for name in ("CruntimeException", "RuntimeAPIError"):
        with pytest.raises(getattr(hpe.hpert.api, name), match="stcErrorInvalidDevice"):
            hpe.hpert.api.set_device(99)


def test_the_table_of_blocks_is_up_to_date():
    done = subprocess.run([sys.executable, os.path.join(ROOT, "tools", "gen_guide_blocks.py"),
                           "--check"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def test_the_example_multiplies_as_numpy_does():
    done = subprocess.run([sys.executable, f"{ROOT}/examples/hpe/product.py"], capture_output=True,
                          text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert float(lines[0].rsplit(" ", 1)[1]) < 1e-4
    most, of = lines[1].split(": ")[1].split(" of ")
    assert most == of
    assert sum(": 1 matrix instructions" in line for line in lines) == 8
    assert "parameter 5 ('n') of kernel 'product'" in lines[-1]
