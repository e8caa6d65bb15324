# SPDX-License-Identifier: Apache-2.0
"""Facts about the devices, queried through pyACL as any program would.

CPU devices live inside each process: there is no driver that holds state for all of them. What the
other processes of the user use of them is in pages that they keep (other_processes.py). Of a GPU
the machine knows memory and load for all processes, and more (`health`, src/prof/c_entry.h).
"""
import ctypes
import json

from . import other_processes, paths

CPU_PRODUCT = "AnyNPU CPU device"

ACL_DDR_MEM = 0
ACL_HBM_MEM = 1
ALREADY_INITIALISED = 100002


class RuntimeUnavailable(Exception):
    """The runtime cannot be used; the text says why and what to do."""


# Plain classes: importing dataclasses takes longer than all the rest of npu-smi.
class DeviceFacts:
    def __init__(self, device_id, total_bytes, free_bytes, busy_percent, health=None):
        self.device_id = device_id
        self.total_bytes = total_bytes
        self.free_bytes = free_bytes
        self.busy_percent = busy_percent
        self.processes = []  # ProcessUse, of this device
        health = health or {}
        self.product = health.get("product") or CPU_PRODUCT
        self.bus = health.get("bus")
        self.temperature = health.get("temperature_c")
        self.power = health.get("power_w")
        self.of_all_processes = "memory_used" in health and "memory_total" in health
        if self.of_all_processes:
            self.total_bytes = int(health["memory_total"])
            self.free_bytes = self.total_bytes - int(health["memory_used"])
            self.busy_percent = int(health.get("load_percent", busy_percent))

    def add(self, uses):
        """Other processes: their memory and load count as the device's, where it is not the card
        that tells both."""
        self.processes = uses
        if self.of_all_processes:
            return
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


def health(device_id):
    """What the machine knows about a device: a dictionary, empty for a CPU device."""
    ask = ctypes.CDLL(paths.library()).anynpu_device_health
    ask.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t]
    text = ctypes.create_string_buffer(4096)
    if ask(device_id, text, len(text)) != 0:
        return {}
    told = json.loads(text.value.decode())
    return told if told.get("product") else {}


def _device(acl, device_id):
    _check(acl.rt.set_device(device_id), f"acl.rt.set_device({device_id})", acl)
    try:
        free, total, ret = acl.rt.get_mem_info(ACL_HBM_MEM)
        _check(ret, "acl.rt.get_mem_info", acl)
        load, ret = acl.rt.get_device_utilization_rate(device_id)
        busy = load.get("cube_utilization", 0) if ret == 0 and isinstance(load, dict) else 0
        return DeviceFacts(device_id, total, free, busy, health(device_id))
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
