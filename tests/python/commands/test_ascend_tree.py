# SPDX-License-Identifier: Apache-2.0
"""Libraries and folders under the names that programs, build files and loaders ask for."""
import csv
import ctypes
import os
import platform
import subprocess
import sys

import pytest
from build_tree import BUILD, ROOT

TREE = os.path.join(BUILD, "ascend")
MACHINE = platform.machine()
with open(os.path.join(ROOT, "src", "api", "names.tsv"), encoding="utf-8") as file:
    NAMES = list(csv.DictReader(file, delimiter="\t"))
FUNCTIONS = {"acl_op_executor": "aclopExecuteV2", "acl_rt": "aclrtMalloc",
             "acl_rt_impl": "aclrtSetDevice", "acl_mdl": "aclmdlLoadFromFile",
             "acl_tdt_channel": "acltdtCreateChannelWithCapacity",
             "acl_tdt_queue": "acltdtCreateQueue", "ascend_dump": "acldumpRegCallback",
             "profapi": "MsprofSysCycleTime", "ascend_hal": "halHostRegister",
             "hccl": "HcclGetRootInfo"}


def run(*command, **settings):
    return subprocess.run(command, capture_output=True, text=True, timeout=300, **settings)


def load(name):
    """Loaded as a program does whose symbols are all bound at once, in a process of its own."""
    code = f"import ctypes; ctypes.CDLL({name!r}, mode=2)"
    env = dict(os.environ, LD_LIBRARY_PATH=os.path.join(TREE, "lib64"))
    return run(sys.executable, "-c", code, env=env)


# What programs link or open, beside the names of the table.
ASKED_FOR = {
    "acl_rt", "acl_rt_impl", "acl_mdl", "acl_tdt_channel", "acl_tdt_queue", "profapi",
    "ascend_dump", "runtime", "graph", "ge_compiler", "ge_runner", "opsproto", "hccl", "ascendcl",
    "acl_op_compiler", "acl_op_executor", "acl_dvpp", "acl_dvpp_mpi", "acl_cblas", "acl_retr",
    "msprofiler", "fmk_onnx_parser",
}


@pytest.mark.parametrize("name", sorted(ASKED_FOR | {row["library"] for row in NAMES}))
def test_a_library_is_loaded_by_its_name(name):
    done = load(f"lib{name}.so")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("row", [row for row in NAMES if row["of"]], ids=lambda row: row["library"])
def test_another_name_leads_to_the_same_function(row):
    function = FUNCTIONS[row["library"]]
    code = f"""
import ctypes
def address(library):
    return ctypes.cast(getattr(ctypes.CDLL(library), {function!r}), ctypes.c_void_p).value
assert address("lib{row['library']}.so") == address("lib{row['of']}.so")
"""
    env = dict(os.environ, LD_LIBRARY_PATH=os.path.join(TREE, "lib64"))
    done = run(sys.executable, "-c", code, env=env)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("folder", [
    "lib64", "lib64/stub", "runtime/lib64", "runtime/lib64/stub", f"runtime/lib64/stub/{MACHINE}",
    "acllib/lib64/stub", "compiler/lib64", "compiler/lib64/stub", "devlib", f"devlib/{MACHINE}",
    f"{MACHINE}-linux/lib64", f"{MACHINE}-linux/devlib"])
def test_a_program_is_linked_and_runs_with_the_libraries_of_a_folder(folder, tmp_path):
    (tmp_path / "app.c").write_text("""#include "acl/acl.h"
    int main(void) {
      void* memory = 0;
      if (aclInit(0) != 0 || aclrtSetDevice(0) != 0) return 1;
      if (aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST) != 0) return 2;
      return aclrtFree(memory) != 0 || aclrtResetDevice(0) != 0 || aclFinalize() != 0;
    }""")
    libraries = os.path.join(TREE, folder)
    built = run("cc", "app.c", "-o", "app", f"-I{TREE}/compiler/include", f"-L{libraries}",
                "-lacl_rt", f"-Wl,-rpath,{libraries}", cwd=tmp_path)
    assert built.returncode == 0, built.stderr
    done = run("./app", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("place", [
    "version.info", "runtime/version.info", "compiler/version.info", "opp/version.info",
    "ascend_toolkit_install.info", f"{MACHINE}-linux/include/acl/acl.h",
    "compiler/include/acl/acl_op_compiler.h", "toolkit/version.info", "bin/setenv.bash",
    f"opp/built-in/op_proto/lib/linux/{MACHINE}/libopsproto.so",
    "compiler/tikcpp/ascendc_kernel_cmake/ascendc.cmake",
    "tools/tikcpp/ascendc_kernel_cmake/ascendc.cmake", "latest/compiler/bin/atc"])
def test_the_tree_has_a_place_that_build_files_name(place):
    assert os.path.exists(os.path.join(TREE, place))


def test_the_version_files_say_what_the_library_says():
    library = ctypes.CDLL(os.path.join(TREE, "lib64", "libascendcl.so"))
    text = ctypes.create_string_buffer(128)
    assert library.aclsysGetVersionStr(b"runtime", text) == 0
    with open(os.path.join(TREE, "version.info"), encoding="utf-8") as file:
        assert f"Version={text.value.decode()}\n" in file.read()


def test_setenv_bash_is_set_env_sh():
    script = f'. {TREE}/bin/setenv.bash && echo "$ASCEND_HOME_PATH" && atc --help > /dev/null'
    done = run("bash", "-c", script)
    assert done.stdout.strip() == TREE and done.returncode == 0, done.stderr


def test_ascendc_cmake_says_what_it_cannot_do(tmp_path):
    path = os.path.join(TREE, "compiler", "tikcpp", "ascendc_kernel_cmake", "ascendc.cmake")
    (tmp_path / "included.cmake").write_text(f'include("{path}")\n')
    (tmp_path / "called.cmake").write_text(
        f'include("{path}")\nascendc_library(kernels SHARED add.cpp)\n')
    assert run("cmake", "-P", "included.cmake", cwd=tmp_path).returncode == 0
    called = run("cmake", "-P", "called.cmake", cwd=tmp_path)
    assert called.returncode != 0 and "cannot compile Ascend C kernels" in called.stderr


def test_functions_that_published_binaries_link_refuse_with_the_documented_code():
    # In a process of its own: after another test's acl.finalize every call is refused as too late.
    done = run(sys.executable, "-c", f"""
import ctypes
runtime = ctypes.CDLL({os.path.join(TREE, "lib64", "libruntime.so")!r})
handle = ctypes.c_void_p(1)
assert runtime.rtDevBinaryRegister(None, ctypes.byref(handle)) == 107000
assert handle.value is None
# Clients that register while they are loaded end the process if that fails; launches are refused.
assert runtime.rtDevBinaryRegister(bytes(32), ctypes.byref(handle)) == 0 and handle.value
assert runtime.rtFunctionRegister(handle, None, b"f", None, 0) == 0
assert runtime.rtDevBinaryUnRegister(handle) == 0
assert runtime.rtKernelLaunch(None, 1, None, 0, None, None) == 207000
assert runtime.rtGetC2cCtrlAddr(None, None) == 207000
hccl = ctypes.CDLL({os.path.join(TREE, "lib64", "libhccl.so")!r})
assert hccl.HcclGetRootInfo(None) == 1
runtime.MsprofGetHashId.restype = runtime.MsprofSysCycleTime.restype = ctypes.c_uint64
first, second = (runtime.MsprofGetHashId(text, 3) for text in (b"abc", b"abd"))
assert first != second and first == runtime.MsprofGetHashId(b"abc", 3) != 0
assert runtime.MsprofSysCycleTime() <= runtime.MsprofSysCycleTime()
assert runtime.MsprofReportApi(0, None) == runtime.MsprofRegisterCallback(1, None) == 0
""")
    assert done.returncode == 0, done.stderr


def test_hccl_after_finalize_is_refused_as_a_runtime_fault():
    done = run(sys.executable, "-c", f"""
import ctypes
acl = ctypes.CDLL({os.path.join(TREE, "lib64", "libascendcl.so")!r})
hccl = ctypes.CDLL({os.path.join(TREE, "lib64", "libhccl.so")!r})
assert acl.aclInit(None) == acl.aclFinalize() == 0
assert hccl.HcclGetRootInfo(None) == 15  # HCCL_E_RUNTIME
acl.aclGetRecentErrMsg.restype = ctypes.c_char_p
assert b"after aclFinalize" in acl.aclGetRecentErrMsg()
""")
    assert done.returncode == 0, done.stderr
