# SPDX-License-Identifier: Apache-2.0
"""Libraries of a wheel are linked for an older glibc (cmake/old_glibc/make_stubs.py)."""
import os
import re
import shutil
import subprocess
import sys

import pytest
from build_tree import ROOT

PROGRAM = """
#include <charconv>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <sys/stat.h>
#include <thread>

struct Global {
  Global() { std::puts("constructed"); }
  ~Global() { std::puts("destroyed"); }
} global;

int main(int count, char** arguments) {
  std::mutex mutex;
  std::condition_variable changed;
  std::unique_lock lock(mutex);
  const auto begin = std::chrono::steady_clock::now();
  changed.wait_for(lock, std::chrono::milliseconds(20));  // pthread_cond_clockwait: 2.30
  const auto waited = std::chrono::steady_clock::now() - begin;
  std::thread([] { std::puts("thread"); }).join();         // moved into libc by 2.34
  double number = 0;
  std::from_chars(arguments[1], arguments[1] + 4, number); // libstdc++ of GCC 11
  struct stat facts;                                       // stat: 2.33, pow: 2.29
  std::printf("%d %g %d\\n", waited >= std::chrono::milliseconds(20), std::pow(number, count),
              stat(arguments[0], &facts));
  try {
    std::filesystem::directory_iterator("/no/such/folder");
  } catch (const std::filesystem::filesystem_error&) {
    std::puts("caught");
  }
}
"""


# Of a compiler: what runs its programs here.
QEMU = shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64")
RUNNERS = {"g++": [], "aarch64-linux-gnu-g++": [QEMU, "-L", "/usr/aarch64-linux-gnu"]}


@pytest.fixture(scope="module", params=sorted(RUNNERS, reverse=True))
def program(request, tmp_path_factory):
    """The program as a command, linked for glibc 2.28 by a compiler of this machine."""
    runner = RUNNERS[request.param]
    if not shutil.which(request.param) or not shutil.which("ld.lld") or None in runner:
        pytest.skip(f"needs {request.param}, lld, and qemu for ARM (packages-arm-wheel.apt)")
    folder = tmp_path_factory.mktemp("glibc")
    subprocess.run([sys.executable, os.path.join(ROOT, "cmake", "old_glibc", "make_stubs.py"),
                    "--glibc", "2.28", "--cxx", request.param, "--out", folder / "stubs"],
                   check=True, timeout=120)
    (folder / "program.cpp").write_text(PROGRAM)
    (folder / "ld.lld").symlink_to(shutil.which("ld.lld"))  # cross compilers look nowhere else
    subprocess.run([request.param, "-std=c++20", "-O2", "-fuse-ld=lld", f"-B{folder}",
                    folder / "program.cpp", "-o", folder / "program", "-L", folder / "stubs",
                    "-Wl,-z,defs", "-Wl,--exclude-libs,libstdc++.a:libanynpu_compat.a"],
                   check=True, timeout=120)
    return [*runner, str(folder / "program")]


def test_a_program_asks_for_no_version_that_the_older_system_lacks(program):
    listing = subprocess.run(["readelf", "-V", "-W", program[-1]], check=True, capture_output=True,
                             text=True).stdout
    asked = set(re.findall(r"Name: (\w+?)_(\d[\d.]*)", listing))
    assert asked
    newest = {"GLIBC": (2, 28), "GLIBCXX": (3, 4, 24), "CXXABI": (1, 3, 11), "GCC": (7, 0, 0)}
    for family, version in asked:
        assert tuple(map(int, version.split("."))) <= newest[family], (family, version)


def test_a_program_linked_for_an_older_system_does_the_same(program):
    done = subprocess.run([*program, "1.50"], check=True, capture_output=True, text=True,
                          timeout=60)
    assert done.stdout.split("\n") == ["constructed", "thread", "1 2.25 0", "caught", "destroyed",
                                       ""]
