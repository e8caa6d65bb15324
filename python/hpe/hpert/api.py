# SPDX-License-Identifier: Apache-2.0
"""The host run-time of Stream Computing NPUs: devices, memory, kernels, streams and events.

Failed calls raise CruntimeException (RuntimeAPIError is the same class).
"""
import atexit
import sys

from hpe import _hpe
from hpe.hpert.arguments import device_number
from hpe.hpert.errors import CruntimeException, RuntimeAPIError
from hpe.hpert.host_memory import host_mem, host_pinned
from hpe.hpert.objects import DeviceMem, Event, KernelFlag, Module, Stream

__all__ = [
    "CruntimeException", "DeviceMem", "Event", "KernelFlag", "Module", "RuntimeAPIError", "Stream",
    "detect", "device_mem", "event", "get_device", "host_mem", "host_pinned", "module",
    "set_device", "stream", "synchronize", "version",
]

_PCI_BUS, _PCI_DEVICE = 7, 8  # stcDevAttr


def version():
    """The version of the HPE interface that this package follows."""
    return "1.4.0"


def detect():
    """Prints id, name and PCI information of every NPC cluster. False when there is none."""
    count = _hpe.device_count()
    for device in range(count):
        bus = _hpe.device_attribute(_PCI_BUS, device)
        pci = _hpe.device_attribute(_PCI_DEVICE, device)
        print(f"NPC Cluster {device}: {_hpe.device_name(device)}, "
              f"PCI bus {bus:#04x}, device {pci:#x} (simulated)")
    if count == 0:
        print("no NPC Cluster found")
    return count > 0


def set_device(device_id=0):
    """Makes a cluster the default of this thread."""
    _hpe.set_device(device_number(0 if device_id is None else device_id))


def get_device():
    """The default cluster of this thread."""
    return _hpe.get_device()


def synchronize(device_id=None):
    """Waits for all work of a cluster. Prints the call stack of a kernel that failed."""
    _hpe.synchronize(device_number(device_id))


def device_mem(size, device_id=None):
    """Allocates `size` bytes of device memory."""
    return DeviceMem(size, device_id)


def module(image, device_id=None):
    """Loads a program: the path of an object file, or its bytes."""
    return Module(image, device_id)


def stream(device_id=None):
    """Creates a stream."""
    return Stream(device_id)


def event(device_id=None):
    """Creates an event."""
    return Event(device_id)




def _drain():
    """What was queued still runs and prints; not where Ctrl-C ended the program, whose kernels may
    never end."""
    last = getattr(sys, "last_type", None)
    if last is None or not issubclass(last, KeyboardInterrupt):
        _hpe.drain()


atexit.register(_drain)
