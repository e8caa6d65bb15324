# SPDX-License-Identifier: Apache-2.0
"""stc-clang, stc-clang++ and stc-ld.lld on the command lines that the HPE documents print."""

import os
import re
import shutil
import subprocess

import pytest

pytestmark = pytest.mark.skipif(
    shutil.which("clang-19") is None, reason="clang-19 is not installed"
)

LIBRARY = "/usr/local/hpe/riscv32npu/lib/libnpurt_hld.a"

COPY = """#include <npurt.h>
extern "C" {
void copy(int *in, int *out, int num) {
    if (CoreID == 0){
        for(int i=0; i<num; i++)
                out[i] = in[i];
    }
}
}
"""

EVERYTHING_IN_C = """
#include <assert.h>
#include <math.h>
#include <npurt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
__shared__ int shared[8];
__local__ __fp16 local[64];
__imb__ float buffer[64];
__mutable__ int counter;
__device__ static int twice(int x) { return 2 * x; }
__global__ void kernel(float* out, const __fp16* a, int n, float scale, char c) {
  cpy_config_t rows = {2, 4, 8, DTYPE_BYTE_2, -1};
  npurtError_t error = memcpy(local, a, n);
  error = memcpy(local, a, rows);
  assert(error == npurtSuccess);
  npu_vadd(local, a, a, n);
  npu_vrelu(buffer, out, n);
  npu_mmul(out, a, a, 4, 4, 4);
  shared[CoreID] = twice(n) + get_npu_idx() + get_npu_nr() + CoreNum;
  sync();
  out[0] = sqrtf(scale) + expf(scale) + (float)local[0] + (float)((double)scale * 3.0) + c;
  printf("%d %f %s\\n", n, scale, "text");
  if (n < 0) abort();
  if (n == 0) exit((int)strlen("x") / (int)(int64_t)n);
  ++counter;
}
"""


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "copy.cc").write_text(COPY)
    (tmp_path / "all.c").write_text(EVERYTHING_IN_C)
    return tmp_path


def test_the_two_commands_of_the_document_make_a_device_image():
    done = run("stc-clang++", "--target=riscv32npu", "-c", "copy.cc")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    done = run("stc-ld.lld", "-flavor", "gnu", "copy.o", LIBRARY, "-r", "-o", "copy-fatbin.o")
    assert (done.returncode, done.stderr) == (0, "")
    header = run("readelf", "-h", "copy-fatbin.o").stdout
    assert "RISC-V" in header and "REL (Relocatable file)" in header
    assert " copy\n" in run("readelf", "-sW", "copy-fatbin.o").stdout
    listing = run("llvm-objdump-19", "-d", "copy-fatbin.o").stdout
    assert "elf32-littleriscv" in listing and "<copy>:" in listing
    assert re.search(r"\bcsrr\s+\w+, mhartid\b", listing) and "<unknown>" not in listing


@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2", "-O3"])
def test_c_has_everything_of_the_device_run_time(level):
    done = run(
        "stc-clang", "--target=riscv32npu", level, "-Wall", "-Werror", "-c", "all.c", "-o", "all.o"
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert (
        run("stc-ld.lld", "-flavor", "gnu", "all.o", LIBRARY, "-r", "-o", "all-fat.o").returncode
        == 0
    )
    undefined = [
        line
        for line in run("readelf", "-sW", "all-fat.o").stdout.splitlines()
        if " UND " in line and line.split()[-1] != "UND"
    ]
    assert undefined == []


def test_cplusplus_finds_the_headers_of_c_in_namespace_std(folder):
    names = ("cassert", "cmath", "cstddef", "cstdint", "cstdio", "cstdlib", "cstring")
    (folder / "std.cc").write_text(
        "".join(f"#include <{name}>\n" for name in names)
        + """
        extern "C" void k(std::uint32_t* out, float x, const char* text) {
          std::size_t length = std::strlen(text);
          assert(length < 100);
          std::printf("%f\\n", std::sqrt(x) + std::exp(x) + std::pow(x, 2.0f));
          if constexpr (sizeof(std::ptrdiff_t) == 4)
            std::memcpy(out, text, static_cast<int>(length));
        }"""
    )
    done = run("stc-clang++", "-Wall", "-Werror", "-O2", "-c", "std.cc")
    assert (done.returncode, done.stderr) == (0, "")
    assert run("stc-ld.lld", "std.o", LIBRARY, "-r", "-o", "std-fat.o").returncode == 0


def test_defines_include_folders_and_debug_lines(folder):
    (folder / "more").mkdir()
    (folder / "more" / "size.h").write_text("#define SIZE (NCORE * 2)\n")
    (folder / "sized.cc").write_text(
        '#include "size.h"\nextern "C" void k(int* o) { *o = SIZE; }\n'
    )
    done = run("stc-clang++", "-DNCORE=8", "-Imore", "-g", "-O1", "-c", "sized.cc", "-o", "out.o")
    assert done.returncode == 0, done.stderr
    assert "sized.cc" in run("readelf", "--debug-dump=rawline", "out.o").stdout


@pytest.mark.parametrize("arguments", [  # the first as printed
    ["-DNCORE=8", "--shc-device-only", "x.hc", "-c", "-o", "x.o"],
    ["-c", "x.hc", "-DNCORE=8", "--shc-device-only"]])
def test_the_device_half_of_a_single_source_file(folder, arguments):
    (folder / "x.hc").write_text(
        'extern "C" __global__ void k(int* out) { static_assert(NCORE == 8); out[CoreID] = 1; }\n')
    done = run("stc-clang", *arguments)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    assert " k\n" in run("readelf", "-sW", "x.o").stdout


def test_mistakes_are_said_in_words():
    done = run("stc-clang++", "--target=x86_64", "-c", "copy.cc")
    assert done.returncode != 0 and "--target=riscv32npu" in done.stderr
    done = run("stc-ld.lld", "-flavor", "darwin", "copy.o")
    assert done.returncode != 0 and "expected gnu" in done.stderr


@pytest.mark.parametrize("compiler, suffix", [("stc-clang", "c"), ("stc-clang++", "cc")])
@pytest.mark.parametrize("name", ["memcpy_p2p", "memcpy_p2p_wait", "wait_flag"])
def test_functions_between_cards_are_refused_with_the_reason(folder, compiler, suffix, name):
    (folder / f"p.{suffix}").write_text(f"void k(int *a) {{ {name}(a, a, 4); }}\n")
    done = run(compiler, "--target=riscv32npu", "-c", f"p.{suffix}")
    assert done.returncode == 1
    reason = "it works between cards, and this machine has one simulated card"
    assert f"'{name}' is unavailable: {reason}" in done.stderr


def test_a_program_that_declares_one_itself_is_told_at_the_load(folder):
    (folder / "p.cc").write_text('int wait_flag(int);\nextern "C" void k() { wait_flag(1); }\n')
    assert run("stc-clang++", "--target=riscv32npu", "-c", "p.cc").returncode == 0
    linked = run("stc-ld.lld", "-flavor", "gnu", "p.o", LIBRARY, "-r", "-o", "p-fat.o")
    assert linked.returncode == 0, linked.stderr
    import hpe.hpert.api as hpe
    with pytest.raises(hpe.CruntimeException, match="wait_flag") as caught:
        hpe.module("p-fat.o")
    assert caught.value.name == "stcErrorLinkFailure"


def test_a_prefix_of_ones_own_is_used_where_it_exists(folder):
    assert run("stc-clang++", "-c", "copy.cc").returncode == 0
    here = os.path.join(os.environ["ANYNPU_BUILD_DIR"], "riscv32npu", "lib", "libnpurt_hld.a")
    assert run("stc-ld.lld", "copy.o", here, "-r", "-o", "x.o").returncode == 0
    missing = run("stc-ld.lld", "copy.o", "/usr/local/hpe/lib/nothing.a", "-r", "-o", "x.o")
    assert missing.returncode != 0 and "nothing.a" in missing.stderr
