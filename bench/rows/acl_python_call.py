# SPDX-License-Identifier: Apache-2.0
"""What a pyACL call costs over the C call that it makes, for calls with none to four arguments."""

import ctypes
import os

from harness import difference_of, ns_per_call

import acl

CALLS = 20000


def rows(report):
    calls = ctypes.CDLL(os.path.join(report.build, "bench", "libanynpu_bench_calls.so"))
    assert acl.init() == 0
    assert acl.rt.set_device(0) == 0
    stream, ret = acl.rt.create_stream()
    assert ret == 0
    memory, ret = acl.rt.malloc(64, 0)
    assert ret == 0
    buffer = acl.create_data_buffer(memory, 64)

    def c_side(name, *args):
        function = getattr(calls, name)
        function.restype = ctypes.c_double
        converted = [ctypes.c_void_p(a) for a in args]
        return lambda: function(ctypes.c_size_t(CALLS), *converted)

    for what, python, c in [
        ("acl.rt.get_device()", (acl.rt.get_device,), c_side("bench_get_device")),
        ("acl.get_data_buffer_size_v2(buffer)", (acl.get_data_buffer_size_v2, buffer),
         c_side("bench_get_data_buffer_size", buffer)),
        ("acl.rt.stream_query(stream)", (acl.rt.stream_query, stream),
         c_side("bench_stream_query", stream)),
        ("acl.rt.memset(ptr, 64, 0, 64)", (acl.rt.memset, memory, 64, 0, 64),
         c_side("bench_memset", memory, 64)),
    ]:
        c()
        note = f"C call: {min(c() for _ in range(5)):.0f} ns"
        measured = difference_of(lambda call=python: ns_per_call(CALLS, *call), c)
        report.add(f"pyACL over C: {what}", 150, "ns", measured, note)

    acl.destroy_data_buffer(buffer)
    acl.rt.free(memory)
    acl.rt.destroy_stream(stream)
    acl.rt.reset_device(0)
    acl.finalize()
