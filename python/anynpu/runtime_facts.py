# SPDX-License-Identifier: Apache-2.0
"""Facts about the devices, queried through pyACL as any program would.

Devices live inside each process: there is no driver that holds state for all of them. What the
other processes of the user use of them is in pages that they keep (other_processes.py).
"""
from . import other_processes

ACL_DDR_MEM = 0
ACL_HBM_MEM = 1
ALREADY_INITIALISED = 100002


class RuntimeUnavailable(Exception):
    """The runtime cannot be used; the text says why and what to do."""


# Plain classes: importing dataclasses takes longer than all the rest of npu-smi.
class DeviceFacts:
    def __init__(self, device_id, total_bytes, free_bytes, busy_percent):
        self.device_id = device_id
        self.total_bytes = total_bytes
        self.free_bytes = free_bytes
        self.busy_percent = busy_percent
        self.processes = []  # ProcessUse, of this device

    def add(self, uses):
        """Other processes: their memory and load count as the device's."""
        self.processes = uses
        self.free_bytes = max(self.free_bytes - sum(use.used_bytes for use in uses), 0)
        self.busy_percent = min(self.busy_percent + sum(use.busy_percent for use in uses), 100)


class RuntimeFacts:
    def __init__(self, soc_name, version, devices):
        self.soc_name, self.version, self.devices = soc_name, version, devices


def _check(ret, what, acl):
    if ret != 0:
        reason = acl.get_recent_err_msg() or ""
        raise RuntimeUnavailable(f"{what} failed with {ret}. {reason}".strip())


def load_acl():
    try:
        import acl
    except ImportError as error:
        raise RuntimeUnavailable(f"the module acl cannot be imported: {error}") from error
    return acl


def _device(acl, device_id):
    _check(acl.rt.set_device(device_id), f"acl.rt.set_device({device_id})", acl)
    try:
        free, total, ret = acl.rt.get_mem_info(ACL_HBM_MEM)
        _check(ret, "acl.rt.get_mem_info", acl)
        load, ret = acl.rt.get_device_utilization_rate(device_id)
        busy = load.get("cube_utilization", 0) if ret == 0 and isinstance(load, dict) else 0
        return DeviceFacts(device_id, total, free, busy)
    finally:
        acl.rt.reset_device(device_id)


def read(acl=None):
    """Facts of every visible device. Raises RuntimeUnavailable."""
    acl = acl or load_acl()
    ret = acl.init()
    mine = ret == 0
    if ret not in (0, ALREADY_INITIALISED):
        _check(ret, "acl.init", acl)
    try:
        count, ret = acl.rt.get_device_count()
        _check(ret, "acl.rt.get_device_count", acl)
        devices = [_device(acl, device_id) for device_id in range(count)]
        uses = other_processes.uses()
        for device in devices:
            device.add([use for use in uses if use.device == device.device_id])
        from . import __version__
        return RuntimeFacts(acl.get_soc_name(), __version__, devices)
    finally:
        if mine:
            acl.finalize()
