# SPDX-License-Identifier: Apache-2.0
"""Guide 3.4 and 9.5.1: the variables of the environment and set_env.sh."""
import os
import sys

import pytest
from blocks import block, shell

BUILD = os.environ["ANYNPU_BUILD_DIR"]
SET_ENV = os.path.join(BUILD, "ascend", "set_env.sh")
COUNT_AND_FIRST = f"""{sys.executable} -c '
import acl
acl.init()
count, _ = acl.rt.get_device_count()
acl.rt.set_device(0)
print(count, *acl.rt.get_phy_dev_id_by_logic_dev_id(acl.rt.get_logic_dev_id_by_user_dev_id(0)[0]))'
"""


def visible(export):
    """(number of devices, physical device behind index 0) after an export, out of eight devices."""
    count, first, ret = shell(export + "\n" + COUNT_AND_FIRST, ANYNPU_DEVICES="cpu:8").split()
    assert ret == "0"
    return int(count), int(first)


@block("3.4", "export ASCEND_RT_VISIBLE_DEVICES = 1",
       slips=["`export NAME = value`: a shell allows no spaces around ="])
def test_3_4_one_device_is_visible():
    assert visible("export ASCEND_RT_VISIBLE_DEVICES=1") == (1, 1)


@block("3.4", "export ASCEND_RT_VISIBLE_DEVICES = 2,3,4",
       slips=["`export NAME = value`: a shell allows no spaces around ="])
def test_3_4_three_devices_are_visible():
    assert visible("export ASCEND_RT_VISIBLE_DEVICES=2,3,4") == (3, 2)


@block("3.4", "export ASCEND_RT_VISIBLE_DEVICES = 4,3,2",
       slips=["`export NAME = value`: a shell allows no spaces around ="])
def test_3_4_the_order_of_devices_is_kept():
    assert visible("export ASCEND_RT_VISIBLE_DEVICES=4,3,2") == (3, 4)


@block("3.4", "export ASCEND_RT_VISIBLE_DEVICES = 2,3,-1,5",
       slips=["`export NAME = value`: a shell allows no spaces around ="])
def test_3_4_devices_before_an_invalid_entry_count():
    assert visible("export ASCEND_RT_VISIBLE_DEVICES=2,3,-1,5") == (2, 2)


@block("3.4", "export ASCEND_CACHE_PATH=/repo/task001/cache",
       slips=["/repo is taken as a folder below the test's own"])
def test_3_4_files_of_a_run_go_to_the_work_path(tmp_path):
    shell(f"""
        export ASCEND_CACHE_PATH={tmp_path}/repo/task001/cache
        export ASCEND_WORK_PATH={tmp_path}/repo/task001/172.16.1.12_01_03
        {sys.executable} -c 'import acl; acl.init(); acl.rt.set_device(-1); acl.finalize()'
        """, ASCEND_GLOBAL_LOG_LEVEL="0")
    work = tmp_path / "repo" / "task001" / "172.16.1.12_01_03"
    assert list((work / "log").rglob("plog-*.log")), "the log lies below the work path"


def import_acl_after(script):
    path = os.pathsep.join(p for p in os.environ["PATH"].split(os.pathsep)
                           if p != os.path.join(BUILD, "bin"))
    return shell(f"""
        unset PYTHONPATH
        . {script}
        {sys.executable} -c 'import acl; print(acl.init(), acl.finalize())'
        npu-smi info -l > /dev/null
        """, PATH=path)


@pytest.fixture
def installed(tmp_path):
    """Lays set_env.sh where a package of the vendor would have put it, in the test's folder."""
    def at(path):
        script = tmp_path / path.lstrip("/")
        script.parent.mkdir(parents=True)
        script.symlink_to(SET_ENV)
        return script
    return at


@block("3.4", "./usr/local/Ascend/ascend-toolkit/set_env.sh",
       slips=["the space between `.` and the path is lost",
              "/usr/local is below the test's folder"])
@block("9.5.1.3", "./usr/local/Ascend/ascend-toolkit/set_env.sh",
       slips=["the space between `.` and the path is lost",
              "/usr/local is below the test's folder"])
@pytest.mark.parametrize("home", ["usr/local", "home/user"])
def test_3_4_import_acl_after_the_toolkits_set_env(installed, home):
    assert import_acl_after(installed(home + "/Ascend/ascend-toolkit/set_env.sh")) == "0 0\n"


@block("3.4", "./usr/local/Ascend/nnrt/set_env.sh",
       slips=["the space between `.` and the path is lost",
              "/usr/local is below the test's folder"])
@block("9.5.1.3", "./usr/local/Ascend/nnrt/set_env.sh",
       slips=["the space between `.` and the path is lost",
              "/usr/local is below the test's folder"])
@pytest.mark.parametrize("home", ["usr/local", "home/user"])
def test_3_4_import_acl_after_the_nnrt_set_env(installed, home):
    assert import_acl_after(installed(home + "/Ascend/nnrt/set_env.sh")) == "0 0\n"


@block("3.4", "./usr/local/Ascend/nnae/set_env.sh",
       slips=["the space between `.` and the path is lost",
              "/usr/local is below the test's folder"])
@block("9.5.1.3", "./usr/local/Ascend/nnae/set_env.sh",
       slips=["the space between `.` and the path is lost",
              "/usr/local is below the test's folder"])
@pytest.mark.parametrize("home", ["usr/local", "home/user"])
def test_3_4_import_acl_after_the_nnae_set_env(installed, home):
    assert import_acl_after(installed(home + "/Ascend/nnae/set_env.sh")) == "0 0\n"


@block("9.5.1.3", "./opt/ascend/nprt/set_env.sh",
       slips=["the space between `.` and the path is lost", "/opt is below the test's folder"])
def test_9_5_1_3_import_acl_after_the_set_env_of_a_small_station(installed):
    assert import_acl_after(installed("/opt/ascend/nprt/set_env.sh")) == "0 0\n"


@block("9.5.1.3", "export PYTHONPATH=/home/data/miniD/driver/lib64:$PYTHONPATH",
       slips=["the driver's folder is a link to the folder of this build"])
def test_9_5_1_3_import_acl_through_pythonpath(tmp_path):
    (tmp_path / "lib64").symlink_to(os.path.join(BUILD, "ascend", "python", "site-packages"))
    assert shell(f"""
        unset PYTHONPATH
        export PYTHONPATH={tmp_path}/lib64:$PYTHONPATH
        {sys.executable} -c 'import acl; print(acl.init(), acl.finalize())'
        """) == "0 0\n"


@block("9.5.1.3", "export LD_LIBRARY_PATH=/home/data/miniD/driver/lib64:$LD_LIBRARY_PATH",
       slips=["the driver's folder is a link to the folder of this build"])
def test_9_5_1_3_libraries_are_found_through_ld_library_path(tmp_path):
    (tmp_path / "lib64").symlink_to(os.path.join(BUILD, "ascend", "lib64"))
    assert shell(f"""
        export LD_LIBRARY_PATH={tmp_path}/lib64:$LD_LIBRARY_PATH
        {sys.executable} -c 'import ctypes
        acl = ctypes.CDLL("libascendcl.so")
        print(acl.aclInit(None), acl.aclFinalize())'
        """.replace("\n        acl", "\nacl").replace("\n        print", "\nprint")) == "0 0\n"
