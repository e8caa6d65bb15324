# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: F841
"""Wrong on purpose: what `anynpu check` finds. The comments name the finding of their line.

    anynpu check wrong.py
"""
import numpy as np

import acl

H2D, D2H = 1, 2
SIZE = 8192

ret = acl.init()  # found: not-finalized
ret = acl.rt.set_device(0)  # found: not-reset
stream, ret = acl.rt.create_stream()
second, ret = acl.rt.create_stream()
event, ret = acl.rt.create_event()
memory, ret = acl.rt.malloc(SIZE, 0)
host, ret = acl.rt.malloc_host(SIZE)


def leaks():
    """Nothing of this is ever given back."""
    acl.rt.malloc(100, 0)  # found: leak-device-memory
    acl.rt.malloc_host(100)  # found: leak-host-memory
    acl.rt.create_event()  # found: leak-event
    acl.rt.create_context(0)  # found: leak-context
    acl.rt.create_stream()  # found: leak-stream
    acl.mdl.create_dataset()  # found: leak-dataset
    acl.mdl.create_desc()  # found: leak-model-desc
    acl.create_data_buffer(memory, SIZE)  # found: leak-data-buffer
    acl.create_tensor_desc(0, [2, 3], 2)  # found: leak-tensor-desc


def wrong_copies():
    small, ret = acl.rt.malloc(100, 0)
    ret = acl.rt.memcpy(small, 128, host, 128, H2D)  # found: past-the-end
    ret = acl.rt.memcpy(memory, SIZE, host, SIZE, D2H)  # found: copy-kind
    ret = acl.rt.memcpy_async(memory, 64, host + 8, 64, H2D, stream)  # found: unaligned-async-copy
    ret = acl.rt.synchronize_stream(stream)
    ret = acl.rt.free(small)
    ret = acl.rt.memset(small, 100, 0, 100)  # found: use-after-free
    ret = acl.rt.free(small)  # found: double-free


def too_early():
    ret = acl.rt.memcpy_async(host, SIZE, memory, SIZE, D2H, stream)
    first = acl.util.ptr_to_bytes(host, 16)  # found: read-before-synchronize
    ret = acl.rt.synchronize_stream(stream)

    ret = acl.rt.memset_async(memory, SIZE, 1, SIZE, stream)
    answer = np.zeros(SIZE, np.uint8)
    to = answer.ctypes.data
    ret = acl.rt.memcpy(to, SIZE, memory, SIZE, D2H)  # found: read-before-synchronize
    ret = acl.rt.memcpy(memory, SIZE, host, SIZE, H2D)  # found: write-before-synchronize
    ret = acl.rt.memset_async(memory, SIZE, 2, SIZE, second)  # found: race
    ret = acl.rt.synchronize_device()
    return first


def after_the_end():
    ret = acl.rt.destroy_event(event)
    ret = acl.rt.record_event(event, stream)  # found: use-after-destroy
    ret = acl.rt.destroy_event(event)  # found: double-free
    acl.rt.set_device(99)  # found: ignored-error
    ret = acl.rt.memset_async(memory, SIZE, 1, SIZE, second)
    ret = acl.rt.free(memory)  # found: free-before-synchronize
    return ret


def both_media():
    picture = acl.media.dvpp_create_pic_desc()
    acl.media.dvpp_destroy_pic_desc(picture)
    acl.himpi.sys_init()  # found: mixed-media
    acl.himpi.sys_exit()


leaks()
wrong_copies()
too_early()
after_the_end()
both_media()
ret = acl.rt.free_host(host)
ret = acl.rt.destroy_stream(second)
ret = acl.rt.destroy_stream(stream)
