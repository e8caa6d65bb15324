# SPDX-License-Identifier: Apache-2.0
"""What the programs share: checked calls, a device with a stream, printed stages."""
import sys
from contextlib import contextmanager

import acl

HOST_TO_DEVICE, DEVICE_TO_HOST = 1, 2
MALLOC_NORMAL_ONLY = 2


def check(call, ret):
    if ret != 0:
        raise SystemExit(f"{call} failed with {ret}: {acl.get_recent_err_msg()}")


def checked(call, result):
    """The values of a call without its code, which must be 0."""
    check(call, result[-1])
    return result[0] if len(result) == 2 else result[:-1]


def say(*words):
    """A whole line at once: callbacks print from another thread."""
    sys.stdout.write(" ".join(map(str, words)) + "\n")


@contextmanager
def stage(name):
    say(f"{name}:")
    yield
    say(f"{name} success")


class Session:
    """A device, a context and a stream from here to release()."""

    def __init__(self, device_id):
        self.device_id = device_id
        check("acl.init", acl.init())
        check("acl.rt.set_device", acl.rt.set_device(device_id))
        self.context = checked("acl.rt.create_context", acl.rt.create_context(device_id))
        self.stream = checked("acl.rt.create_stream", acl.rt.create_stream())

    def wait(self):
        check("acl.rt.synchronize_stream", acl.rt.synchronize_stream(self.stream))

    def release(self):
        check("acl.rt.destroy_stream", acl.rt.destroy_stream(self.stream))
        check("acl.rt.destroy_context", acl.rt.destroy_context(self.context))
        check("acl.rt.reset_device", acl.rt.reset_device(self.device_id))
        check("acl.finalize", acl.finalize())


def to_device(data):
    """Memory of the media units that holds `data`."""
    address = checked("acl.media.dvpp_malloc", acl.media.dvpp_malloc(len(data)))
    check("acl.rt.memcpy", acl.rt.memcpy(address, len(data), acl.util.bytes_to_ptr(data),
                                         len(data), HOST_TO_DEVICE))
    return address


def to_host(address, size):
    data = bytes(size)
    check("acl.rt.memcpy", acl.rt.memcpy(acl.util.bytes_to_ptr(data), size, address, size,
                                         DEVICE_TO_HOST))
    return data
