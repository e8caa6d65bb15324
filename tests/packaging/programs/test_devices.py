# SPDX-License-Identifier: Apache-2.0
"""A test as a project of a user has it."""
import acl


def test_two_devices_are_there():
    assert acl.init() == 0
    assert acl.rt.get_device_count() == (2, 0)
    assert acl.finalize() == 0
