# SPDX-License-Identifier: Apache-2.0
"""CRC-32C of the core library: the checksum of chunks."""
import ctypes
import functools

from anynpu import paths


@functools.lru_cache(None)
def _function():
    function = ctypes.CDLL(paths.library()).anynpu_crc32c
    function.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    function.restype = ctypes.c_uint32
    return function


def crc32c(data):
    return _function()(bytes(data), len(data))
