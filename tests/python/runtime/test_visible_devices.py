# SPDX-License-Identifier: Apache-2.0
"""ASCEND_RT_VISIBLE_DEVICES: which devices a program sees, and in which order (guide 3.4)."""
import pytest
from program import run

PROGRAM = """
import acl
acl.init()
count = acl.rt.get_device_count()[0]
print(count, *[acl.rt.get_logic_dev_id_by_user_dev_id(i)[0] for i in range(count)])
"""


@pytest.mark.parametrize("value, devices", [
    ("1", "1 1"),
    ("2,3,4", "3 2 3 4"),
    ("4,3,2", "3 4 3 2"),
    ("2,3,-1,5", "2 2 3"),
    ("0,8", "1 0"),
    ("3,three,1", "1 3"),
    ("5,5", "1 5"),
    ("1, 2", "1 1"),
    ("-1", "0"),
    ("9", "0"),
])
def test_the_list_selects_orders_and_is_cut_at_the_first_invalid_entry(value, devices):
    seen = run(PROGRAM, ASCEND_RT_VISIBLE_DEVICES=value, ANYNPU_DEVICES="cpu:8")
    assert " ".join(seen) == devices


def test_devices_past_the_list_cannot_be_set():
    assert run("""
        import acl
        acl.init()
        print(acl.rt.set_device(0), acl.rt.set_device(1), acl.rt.set_device(2))
        """, ASCEND_RT_VISIBLE_DEVICES="4,2") == ["0", "0", "107001"]


def test_without_a_device_the_message_says_why():
    assert "device_is_visible" in "_".join(run("""
        import acl
        acl.init()
        assert acl.rt.set_device(0) == 107001
        print(acl.get_recent_err_msg())
        """, ASCEND_RT_VISIBLE_DEVICES="-1"))


def test_without_the_variable_all_devices_are_visible():
    seen = run(PROGRAM, ASCEND_RT_VISIBLE_DEVICES="", ANYNPU_DEVICES="cpu:3")
    assert seen == ["3", "0", "1", "2"]
