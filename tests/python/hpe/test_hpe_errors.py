# SPDX-License-Identifier: Apache-2.0
"""Every row of the document's error table, by name, message and, for what needs hardware, by fault
injection; and what a child of fork is told."""
import os
import subprocess
import sys

import pytest

import hpe.hpert.api as hpe

TABLE = {
    "stcErrorInvalidValue": (1, "parameters is not within an acceptable range of values"),
    "stcErrorInvalidDevice": (2, "invalid NPC Cluster device ID"),
    "stcErrorHostMemoryAllocation": (3, "fail to allocate host memory"),
    "stcErrorDeviceMemoryAllocation": (4, "fail to allocate device memory"),
    "stcErrorInvalidDevicePointer": (5, "invalid device memory pointer"),
    "stcErrorLinkFailure": (6, "fail to link device image"),
    "stcErrorInvalidKernel": (7, "invalid kernel name"),
    "stcErrorInvalidImage": (8, "invalid device image"),
    "stcErrorNoImage": (9, "no device image"),
    "stcErrorInvalidModule": (10, "invalid module"),
    "stcErrorNoModule": (11, "no module"),
    "stcErrorInvalidStream": (12, "invalid stream"),
    "stcErrorInvalidEvent": (13, "invalid event"),
    "stcErrorInvalidFifo": (14, "invalid fifo"),
    "stcErrorDeviceImageException": (15, "device image run into exception"),
    "stcErrorSyscallFailure": (16, "system call failure"),
    "stcErrorForkForbidden":
        (17, "forbid to call runtime API, if parent process called runtime API"),
    "stcErrorInvalidCoreNum": (18, "invalid core number"),
    "stcErrorGDBFailure": (19, "stcgdb can't trace current process"),
    "stcErrorDriverMismatch": (20, "mismatch between version of hpert and version of stc-drv"),
    "stcErrorDeviceBreakdown": (21, "device break down"),
    "stcErrorNoFreeNpu": (22, "no free NPU device"),
    "stcErrorNpuNotAcquired": (23, "the npu is not acquired"),
    "stcErrorInvalidNpuTask": (24, "invalid NPU task"),
    "stcErrorInvalidImageDataSection": (25, "too many data section in device image"),
    "stcErrorNpuTaskRunning": (26, "NPU task is running with the active NPU module"),
    "stcErrorDriverFailure": (99, "PCIe driver internal failure"),
}


@pytest.mark.parametrize("name", TABLE)
def test_an_exception_has_the_code_name_and_message_of_the_table(name):
    code, message = TABLE[name]
    error = hpe.CruntimeException(code)
    assert (error.code, error.name, error.message) == (code, name, message)
    assert str(error) == f"{name}: {message}"


def test_the_two_exception_names_catch_each_other():
    for raised, caught in ((hpe.CruntimeException, hpe.RuntimeAPIError),
                           (hpe.RuntimeAPIError, hpe.CruntimeException)):
        with pytest.raises(caught):
            raise raised(1)
    with pytest.raises(hpe.RuntimeAPIError) as error:
        hpe.set_device(9)
    assert "9" in error.value.detail and str(error.value).startswith("stcErrorInvalidDevice: ")


def test_every_error_can_be_injected():
    text = ("import hpe.hpert.api as hpe\n"
            f"for call in range({len(TABLE) + 1}):\n"
            "    try:\n"
            "        hpe.device_mem(8)\n"
            "        print('allocated')\n"
            "    except hpe.CruntimeException as error:\n"
            "        print(error.name, error.code)\n"
            "hpe.get_device()\n")
    faults = ",".join(f"stcMalloc={name}@{i}" for i, name in enumerate(TABLE, 1))
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True,
                          timeout=300, env={**os.environ, "ANYNPU_HPE_FAULT": faults})
    assert done.returncode == 0, done.stderr
    expected = [str(x) for name in TABLE for x in (name, TABLE[name][0])]
    assert done.stdout.split() == [*expected, "allocated"]


def run(text, **env):
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=300,
                          env={**os.environ, **env})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_child_of_fork_is_told_and_does_not_hang():
    text = ("import os\nimport hpe.hpert.api as hpe\n"
            "memory = hpe.device_mem(8)\nstream = hpe.stream()\nevent = hpe.event()\n"
            "child = os.fork()\n"
            "if child == 0:\n"
            "    for call in (hpe.get_device, hpe.detect, hpe.stream, stream.synchronize,\n"
            "                 event.record, lambda: hpe.device_mem(8),\n"
            "                 lambda: memory.copy_from_host(b'x')):\n"
            "        try:\n"
            "            call()\n"
            "            print('no error')\n"
            "        except hpe.CruntimeException as error:\n"
            "            print(error.name)\n"
            "    del memory, stream, event\n"
            "else:\n"
            "    assert os.waitpid(child, 0)[1] == 0\n"
            "    memory.copy_from_host(b'x')\n")
    assert run(text).split() == ["stcErrorForkForbidden"] * 7


def test_a_child_of_a_program_that_only_imported_hpe_is_like_new():
    assert run("import os\nimport hpe.hpert.api as hpe\n"
               "child = os.fork()\n"
               "if child == 0:\n"
               "    hpe.device_mem(8).copy_from_host(b'x')\n"
               "    print('fine')\n"
               "else:\n"
               "    assert os.waitpid(child, 0)[1] == 0\n").split() == ["fine"]


DETECT = "import hpe.hpert.api as hpe\nprint(hpe.detect())\n"


def test_without_devices_detect_is_false_and_calls_find_no_npu():
    text = DETECT + ("try:\n    hpe.device_mem(8)\n"
                     "except hpe.CruntimeException as error:\n    print(error.name)\n")
    lines = run(text, STC_SET_DEVICES="").splitlines()
    assert lines[-2:] == ["False", "stcErrorNoFreeNpu"]


@pytest.mark.parametrize("value, count", [("2,0", 2), ("1", 3), ("3", 1), ("0,1,2,3", 4)])
def test_stc_set_devices_chooses_clusters(value, count):
    lines = run(DETECT, STC_SET_DEVICES=value).splitlines()
    assert len(lines) == count + 1 and lines[-1] == "True"


def test_hpe_imports_without_numpy():
    text = ("import sys\nsys.modules['numpy'] = None\nimport hpe.hpert.api as hpe\n"
            "import hpe.profiler.api as prof\n"
            "memory = hpe.device_mem(4)\nmemory.copy_from_host(b'abcd')\n"
            "back = bytearray(4)\nmemory.copy_to_host(back)\nprint(back.decode())\n")
    assert run(text).split() == ["abcd"]
