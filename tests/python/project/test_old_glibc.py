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


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """The program, linked for glibc 2.28 by the compiler of this machine."""
    if not shutil.which("g++") or not shutil.which("ld.lld"):
        pytest.skip("needs g++ and lld")
    folder = tmp_path_factory.mktemp("glibc")
    subprocess.run([sys.executable, os.path.join(ROOT, "cmake", "old_glibc", "make_stubs.py"),
                    "--glibc", "2.28", "--out", folder / "stubs"], check=True, timeout=120)
    (folder / "program.cpp").write_text(PROGRAM)
    subprocess.run(["g++", "-std=c++20", "-O2", "-fuse-ld=lld", folder / "program.cpp", "-o",
                    folder / "program", "-L", folder / "stubs", "-Wl,-z,defs",
                    "-Wl,--exclude-libs,libstdc++.a:libanynpu_compat.a"], check=True, timeout=120)
    return str(folder / "program")


def test_a_program_asks_for_no_version_that_the_older_system_lacks(program):
    listing = subprocess.run(["readelf", "-V", "-W", program], check=True, capture_output=True,
                             text=True).stdout
    asked = set(re.findall(r"Name: (\w+?)_(\d[\d.]*)", listing))
    assert asked
    newest = {"GLIBC": (2, 28), "GLIBCXX": (3, 4, 24), "CXXABI": (1, 3, 11), "GCC": (7, 0, 0)}
    for family, version in asked:
        assert tuple(map(int, version.split("."))) <= newest[family], (family, version)


def test_a_program_linked_for_an_older_system_does_the_same(program):
    done = subprocess.run([program, "1.50"], check=True, capture_output=True, text=True, timeout=60)
    assert done.stdout.split("\n") == ["constructed", "thread", "1 2.25 0", "caught", "destroyed",
                                       ""]
