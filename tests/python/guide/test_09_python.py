# SPDX-License-Identifier: Apache-2.0
"""Guide 2, 8 and 9.5.1.1: the commands around a program: arch, pip, python3."""
import os
import platform
import sys

import pytest
from blocks import block, run_program, shell

TOOLS = os.path.dirname(sys.executable)


def pip(text, program):
    """Runs a pip command of this Python. PIP_NO_INDEX: what is installed has to be enough."""
    if not os.path.exists(os.path.join(TOOLS, program)):
        pytest.skip(f"this Python has no {program} beside it")
    return shell(text, PATH=TOOLS + os.pathsep + os.environ["PATH"], PIP_NO_INDEX="1",
                 PIP_DISABLE_PIP_VERSION_CHECK="1", PIP_ROOT_USER_ACTION="ignore")


@block("2", "pip3 install pillow numpy",
       note="offline: the packages of requirements.txt are enough")
def test_2_pillow_and_numpy_are_there():
    assert "Requirement already satisfied: pillow" in pip("pip3 install pillow numpy", "pip3")


@block("2", "arch")
def test_2_arch_names_the_architecture():
    assert shell("arch").strip() == platform.machine()


@block("8", "python3 main.py")
def test_8_a_program_runs_from_its_folder(tmp_path):
    (tmp_path / "acl.json").write_text("{}")
    assert run_program(tmp_path / "main.py", """
        import acl
        ret = acl.init("./acl.json")
        ret = acl.rt.set_device(0)
        print(acl.rt.get_device())
        ret = acl.rt.reset_device(0)
        ret = acl.finalize()
        """) == "(0, 0)\n"


@block("9.5.1.1", "pip -V")
@block("9.5.1.1", "pip 20.2.3 from /usr/local/lib/python3.7/.../pip (python 3.7)",
       slips=["the version and the place are those of the Python that runs the tests"])
def test_9_5_1_1_pip_names_its_version():
    version = f"(python {sys.version_info.major}.{sys.version_info.minor})"
    out = pip("pip -V", "pip")
    assert out.startswith("pip ") and out.strip().endswith(version)


@block("9.5.1.1", "pip install numpy", note="offline: the packages of requirements.txt are enough")
def test_9_5_1_1_numpy_and_pillow_are_there():
    out = pip("pip install numpy\npip install pillow", "pip")
    assert out.count("Requirement already satisfied") >= 2
    shell(f"{sys.executable} -c 'import numpy; from PIL import Image'")
