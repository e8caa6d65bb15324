# SPDX-License-Identifier: Apache-2.0
"""An installation without the translator (ANYNPU_TRANSLATOR=OFF, or no LLVM 19 when it was built):
kernels run in the interpreter, and `anynpu doctor` says why."""
import os
import shutil
import subprocess
import sys

import pytest
from build_tree import BUILD
from hpe_programs import KERNELS, compile_kernels

PLUGIN = "libanynpu_npc.so"

PROGRAM = """
import sys
import numpy as np
import hpe.hpert.api as hpe
module = hpe.module(sys.argv[1])
memory = hpe.device_mem(32)
module.launch_kernel("who", [memory])
hpe.synchronize()
out = np.zeros(8, np.int32)
memory.copy_to_host(out)
print(out.tolist())
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The libraries and packages of the build without the plug-in."""
    def link(source, target):
        try:
            os.link(source, target)
        except OSError:  # another file system
            shutil.copy2(source, target)

    root = tmp_path_factory.mktemp("without")
    without = shutil.ignore_patterns("CMakeFiles", "__pycache__", PLUGIN)
    for name, copy in (("lib", link), ("python", shutil.copy2)):
        shutil.copytree(os.path.join(BUILD, name), root / name, copy_function=copy, ignore=without)
    return root


def run(installed, *words, **more):
    env = dict(os.environ, PYTHONPATH=str(installed / "python"), **more)
    return subprocess.run([sys.executable, *map(str, words)], capture_output=True, text=True,
                          timeout=300, env=env)


def test_kernels_run_in_the_interpreter(installed, tmp_path):
    image = compile_kernels(KERNELS, str(tmp_path))
    done = run(installed, "-c", PROGRAM, image, ANYNPU_VERBOSE="dispatch")
    assert done.stdout == f"{[800 + core for core in range(8)]}\n", done.stderr
    where = "print('anynpu_npc' in open('/proc/self/maps').read())"
    assert run(installed, "-c", PROGRAM + where, image).stdout.endswith("False\n")


def test_doctor_says_that_they_are_interpreted_and_why(installed):
    done = run(installed, "-m", "anynpu", "doctor")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"interpreted: this build has no plug-in for it ({PLUGIN})" in done.stdout
