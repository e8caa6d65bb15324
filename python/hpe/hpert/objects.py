# SPDX-License-Identifier: Apache-2.0
"""The objects of hpe.hpert.api. Python may drop them in any order: queued requests keep what they
use alive."""
import enum
import os

from hpe import _hpe
from hpe.hpert.arguments import POINTER, device_number, integer, parameter_word
from hpe.hpert.errors import CruntimeException, refuse


class KernelFlag(enum.IntEnum):
    """Data cache behaviour of NPCs around a kernel. Caches are coherent here, so the flags
    change nothing."""
    stcKernelFlagNone = 0
    stcKernelFlagInputDataBypassDcache = 1
    stcKernelFlagOutputDataBypassDache = 2
    stcKernelFlagIODataBypassDache = 3


def _encodes(text):
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a pair
        return False
    return True


def _own_device(device_id):
    """The device an object belongs to from now on."""
    number = device_number(device_id)
    return _hpe.get_device() if number == -1 else number


def _stream_handle(stream, device):
    """The handle of a Stream for work on `device`; 0 for 0."""
    if isinstance(stream, Stream):
        if stream.device_id != device:
            raise refuse("stcErrorInvalidStream",
                         f"the stream belongs to device {stream.device_id}, the work to device "
                         f"{device}; create a stream there")
        return stream._handle
    if isinstance(stream, int) and stream == 0:
        return 0
    raise refuse("stcErrorInvalidStream", f"stream is {stream!r}; expected a Stream or 0")


class DeviceMem:
    """Memory of a device between 0 and 3 GiB."""

    _free = staticmethod(_hpe.free_device)  # kept for the interpreter's end
    _address = None

    def __init__(self, size, device_id=None):
        self.size = integer(size, "size", low=1)
        self.device_id = _own_device(device_id)
        self._address = _hpe.malloc_device(self.device_id, self.size)

    def __del__(self):
        if self._address is not None:
            try:
                self._free(self.device_id, self._address)
            except Exception:  # a forked child owns nothing
                pass

    def __repr__(self):
        return f"<DeviceMem {self.size} bytes at {self._address:#x} of device {self.device_id}>"

    def offset_address(self, offset):
        """The device address `offset` bytes behind the start."""
        return self._address + integer(offset, "offset", high=self.size)

    def copy_from_host(self, host_array, device_offset=0, host_offset=0, size=None, stream=0):
        """Copies `host_array` to the device; returns at once when a stream is given."""
        self._copy(host_array, device_offset, host_offset, size, stream, False)

    def copy_to_host(self, host_array, device_offset=0, host_offset=0, size=None, stream=0):
        """Copies from the device into `host_array`; returns at once when a stream is given."""
        self._copy(host_array, device_offset, host_offset, size, stream, True)

    def _copy(self, array, device_offset, host_offset, size, stream, to_host):
        try:
            view = memoryview(array)
        except (TypeError, ValueError):
            raise refuse("stcErrorInvalidValue",
                         f"host_array is a {type(array).__name__}; expected a numpy.ndarray"
                         ) from None
        if not view.c_contiguous:
            raise refuse("stcErrorInvalidValue",
                         "host_array is not contiguous; pass numpy.ascontiguousarray(host_array)")
        if to_host and view.readonly:
            raise refuse("stcErrorInvalidValue", "host_array is read-only; pass one to write to")
        host_offset = integer(host_offset, "host_offset", high=view.nbytes)
        device_offset = integer(device_offset, "device_offset", high=self.size)
        room = view.nbytes - host_offset
        size = room if size is None else integer(size, "size", high=room)
        if size > self.size - device_offset:
            raise refuse("stcErrorInvalidValue",
                         f"the copy has {size} bytes at device offset {device_offset}, the device "
                         f"memory {self.size}; copy less or allocate more")
        handle = _stream_handle(stream, self.device_id)
        _hpe.copy(self.device_id, self._address + device_offset, array, host_offset, size, to_host,
                  handle)


class Module:
    """A program loaded to a device."""

    _drop = staticmethod(_hpe.module_drop)
    _handle = 0

    def __init__(self, image, device_id=None):
        if isinstance(image, (str, os.PathLike)):
            try:
                with open(image, "rb") as file:
                    image = file.read()
            except (OSError, ValueError) as error:
                raise refuse("stcErrorNoImage", f"cannot read {image!r}: {error}") from None
        elif not isinstance(image, (bytes, bytearray, memoryview)):
            raise refuse("stcErrorInvalidValue",
                         f"image is a {type(image).__name__}; expected a path or bytes")
        self.device_id = _own_device(device_id)
        self._handle = _hpe.module_load(self.device_id, image)

    def __del__(self):
        if self._handle:
            self._drop(self._handle)

    def __repr__(self):
        return f"<Module {self._handle:#x} of device {self.device_id}>"

    def launch_kernel(self, kernel_name, kernel_params=[], stream=0, core_num=8,  # noqa: B006
                      flag=KernelFlag.stcKernelFlagNone, *, flags=None):
        """Queues a kernel and returns. `flags` is another name for `flag`."""
        if not isinstance(kernel_name, str) or "\0" in kernel_name or not _encodes(kernel_name):
            raise refuse("stcErrorInvalidKernel", f"the kernel name is {kernel_name!r}")
        if not isinstance(kernel_params, (list, tuple)):
            raise refuse("stcErrorInvalidValue",
                         f"kernel_params is a {type(kernel_params).__name__}; expected a list or "
                         "tuple")
        core_num = integer(core_num, "core_num", low=-2**31, high=2**31 - 1)
        flag = integer(flag if flags is None else flags, "flag", high=2**32 - 1)
        words = [self._word(value, index) for index, value in enumerate(kernel_params)]
        handle = _stream_handle(stream, self.device_id)
        _hpe.launch(self._handle, kernel_name, words, handle, core_num, flag)

    def _word(self, value, index):
        if not isinstance(value, DeviceMem):
            return parameter_word(value, f"kernel parameter {index}")
        if value.device_id != self.device_id:
            raise refuse("stcErrorInvalidDevicePointer",
                         f"kernel parameter {index} is memory of device {value.device_id}, the "
                         f"module is on device {self.device_id}")
        return value._address, POINTER


class Stream:
    """A queue of requests that run in order."""

    _drop = staticmethod(_hpe.stream_drop)
    _handle = 0

    def __init__(self, device_id=None):
        self.device_id = _own_device(device_id)
        self._handle = _hpe.stream_create(self.device_id)

    def __del__(self):
        if self._handle:
            self._drop(self._handle)

    def __repr__(self):
        return f"<Stream {self._handle:#x} of device {self.device_id}>"

    def synchronize(self):
        """Waits for everything in this stream. Prints the call stack of a kernel that failed."""
        _hpe.stream_synchronize(self._handle)

    def wait(self, event):
        """Requests submitted from now on wait until `event` is complete."""
        if not isinstance(event, Event):
            raise refuse("stcErrorInvalidEvent", f"event is {event!r}; expected an Event")
        _hpe.stream_wait(self._handle, event._handle)


class Event:
    """A mark in one stream or in all streams of a device."""

    _drop = staticmethod(_hpe.event_drop)
    _handle = 0

    def __init__(self, device_id=None):
        self.device_id = _own_device(device_id)
        self._handle = _hpe.event_create(self.device_id)

    def __del__(self):
        if self._handle:
            try:
                self._drop(self._handle)
            except CruntimeException:  # a forked child owns nothing
                pass

    def __repr__(self):
        return f"<Event {self._handle:#x} of device {self.device_id}>"

    def record(self, stream=0):
        """Marks the present end of `stream`; 0: of every stream."""
        _hpe.event_record(self._handle, _stream_handle(stream, self.device_id))

    def synchronize(self):
        """Waits until the mark is passed."""
        _hpe.event_synchronize(self._handle)
