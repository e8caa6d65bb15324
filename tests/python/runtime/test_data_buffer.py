# SPDX-License-Identifier: Apache-2.0
"""Data buffers, versions, attributes and compile options."""
import os
import subprocess
import sys

import numpy as np
import pytest

import acl

INVALID_PARAM = 100000
INVALID_FILE = 100003
INVALID_DEVICE = 200002

pytestmark = pytest.mark.usefixtures("initialised")


def test_a_buffer_is_an_address_and_a_size():
    data = np.zeros(16, dtype=np.uint8)
    buffer = acl.create_data_buffer(data.ctypes.data, data.nbytes)
    assert buffer > 0
    assert acl.get_data_buffer_addr(buffer) == data.ctypes.data
    assert acl.get_data_buffer_size(buffer) == 16
    assert acl.get_data_buffer_size_v2(buffer) == 16
    assert acl.update_data_buffer(buffer, data.ctypes.data + 4, 12) == 0
    assert acl.get_data_buffer_addr(buffer) == data.ctypes.data + 4
    assert acl.destroy_data_buffer(buffer) == 0


def test_an_empty_buffer_is_allowed_and_a_huge_one_not():
    empty = acl.create_data_buffer(0, 0)
    assert empty > 0 and acl.get_data_buffer_size_v2(empty) == 0
    assert acl.destroy_data_buffer(empty) == 0
    assert acl.create_data_buffer(0, 2**64 - 1) == 0
    assert "is it a negative number?" in acl.get_recent_err_msg()


def test_the_old_size_is_cut_to_32_bits():
    buffer = acl.create_data_buffer(0, 2**32 + 5)
    assert acl.get_data_buffer_size(buffer) == 5
    assert acl.get_data_buffer_size_v2(buffer) == 2**32 + 5
    acl.destroy_data_buffer(buffer)


def test_a_destroyed_buffer_is_told():
    buffer = acl.create_data_buffer(0, 0)
    assert acl.destroy_data_buffer(buffer) == 0
    assert acl.destroy_data_buffer(buffer) == INVALID_PARAM
    message = acl.get_recent_err_msg()
    assert "aclDestroyDataBuffer" in message and "destroyed already" in message
    assert acl.get_recent_err_msg() == "", "a message is given once"
    assert acl.get_data_buffer_addr(buffer) == 0
    assert acl.update_data_buffer(buffer, 0, 0) == INVALID_PARAM


def test_many_buffers_do_not_grow_memory():
    def resident_kib():
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024
    for _ in range(2000):
        acl.destroy_data_buffer(acl.create_data_buffer(0, 0))
    before = resident_kib()
    for _ in range(50000):
        acl.destroy_data_buffer(acl.create_data_buffer(0, 0))
    assert resident_kib() - before < 1024


def test_versions():
    *version, ret = acl.get_version()
    assert ret == 0 and all(isinstance(part, int) for part in version)
    package, ret = acl.get_cann_version(0)
    assert ret == 0 and package["version"].startswith(package["majorVersion"] + ".")
    assert acl.get_cann_version(7)[-1] == INVALID_FILE, "there is no driver"
    assert acl.get_cann_version(99)[-1] == INVALID_PARAM
    assert acl.get_version_str("runtime") == (package["version"], 0)
    assert acl.get_version_str("nothing")[-1] == INVALID_PARAM


def test_the_chip_name_can_be_chosen():
    assert acl.get_soc_name() == os.environ.get("ANYNPU_SOC", "Ascend310P3")
    home = os.path.dirname(os.path.dirname(os.path.abspath(acl.__file__)))
    for name, expected in [("Ascend910B4", "Ascend910B4"), ("Ascend42", "Ascend310P3")]:
        done = subprocess.run([sys.executable, "-c", "import acl; print(acl.get_soc_name())"],
                              capture_output=True, text=True, timeout=300, check=True,
                              env={**os.environ, "PYTHONPATH": home, "ANYNPU_SOC": name})
        assert done.stdout.strip() == expected


def test_attributes_and_capabilities():
    attributes, count, ret = acl.get_cann_attribute_list()
    assert ret == 0 and len(attributes) == count > 0
    assert all(acl.get_cann_attribute(attribute) == (1, 0) for attribute in attributes)
    assert acl.get_cann_attribute(55)[-1] == INVALID_PARAM
    cores, ret = acl.get_device_capability(0, 0)
    assert ret == 0 and cores >= 1
    assert acl.get_device_capability(10000, 0)[-1] == INVALID_DEVICE
    assert acl.get_device_capability(0, 99)[-1] == INVALID_PARAM


def test_compile_options():
    assert acl.set_compile_opt(0, "force_fp16") == 0
    size = acl.get_compile_opt_size(0)
    assert acl.get_compile_opt(0, size) == ("force_fp16", 0)
    assert acl.get_compile_opt(0, 3)[-1] == INVALID_PARAM
    assert acl.set_compile_opt(0, "fast") == INVALID_PARAM
    assert "expected one of" in acl.get_recent_err_msg()
    assert acl.set_compile_opt(99, "x") == INVALID_PARAM
