# SPDX-License-Identifier: Apache-2.0
"""Sessions of the core library, through its C functions (src/prof/c_entry.h)."""
import ctypes
import functools
import json

from anynpu import paths

API, TASK_L0, TASK_L1, TASK_L2 = 0x1, 0x800, 0x2, 0x2000
METRICS, L2, TX, RUNTIME, MEMORY = 0x4, 0x10, 0x80, 0x100, 0x1000
NO_METRICS = 0xFF


@functools.lru_cache(None)
def library():
    core = ctypes.CDLL(paths.library())
    core.anynpu_prof_start.restype = ctypes.c_uint64
    core.anynpu_prof_start.argtypes = [ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint32,
                                       ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t]
    core.anynpu_prof_path.restype = ctypes.c_char_p
    core.anynpu_prof_path.argtypes = [ctypes.c_uint64]
    core.anynpu_prof_stop.argtypes = [ctypes.c_uint64, ctypes.c_char_p, ctypes.c_size_t]
    core.anynpu_prof_mark.argtypes = [ctypes.c_char_p, ctypes.c_char_p]
    core.anynpu_prof_mark.restype = None
    core.anynpu_prof_mark_ex.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint64,
                                         ctypes.c_char_p, ctypes.c_size_t]
    core.anynpu_prof_range_start.argtypes = [ctypes.c_char_p, ctypes.c_char_p]
    core.anynpu_prof_range_start.restype = ctypes.c_uint32
    core.anynpu_prof_range_stop.argtypes = [ctypes.c_uint32]
    return core


class SessionError(RuntimeError):
    """A session that cannot start, or whose data is incomplete."""


class TakenError(SessionError):
    """Profiling is controlled elsewhere."""


class Session:
    """A native session; raises SessionError with the error message."""

    def __init__(self, output, bits, metrics=NO_METRICS, settings=None):
        message = ctypes.create_string_buffer(2048)
        self.number = library().anynpu_prof_start(
            output.encode(), bits, metrics, json.dumps(settings or {}).encode(), message,
            len(message))
        if not self.number:
            kind = TakenError if library().anynpu_prof_taken() else SessionError
            raise kind(f"profiling cannot start: {message.value.decode()}")
        self.path = library().anynpu_prof_path(self.number).decode()

    def stop(self):
        message = ctypes.create_string_buffer(2048)
        number, self.number = self.number, 0
        if number and library().anynpu_prof_stop(number, message, len(message)) != 0:
            raise SessionError(f"the profile is not whole: {message.value.decode()}")
