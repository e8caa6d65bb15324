# SPDX-License-Identifier: Apache-2.0
"""Addresses that are no memory of the process, where C functions write or follow them: a code, no
crash."""
import os
import subprocess
import sys
import textwrap

import pytest
from build_tree import BUILD, SUPPORT, TESTS

PROGRAM = """
    import ctypes, sys
    acl = ctypes.CDLL({library!r})
    acl.aclGetRecentErrMsg.restype = ctypes.c_char_p
    assert acl.aclInit(None) == 0
    assert acl.aclrtSetDevice(0) == 0
    BAD = [ctypes.c_void_p(number) for number in (1, 0x10, 0xdead0000, 0x7ffffffff000, 1 << 63,
                                                  (1 << 64) - 1)]
    size, none = ctypes.c_size_t, ctypes.c_void_p(0)


    class Config(ctypes.Structure):
        _fields_ = [("attrs", ctypes.c_void_p), ("numAttrs", ctypes.c_size_t)]


    memory = ctypes.c_void_p()
    out = ctypes.byref(memory)
    {calls}
    assert acl.aclrtMalloc(out, size(64), 0) == 0  # it goes on
    assert acl.aclrtFree(memory) == 0
    print("alive")
"""
CALLS = {
    "aclrtMalloc": "[acl.aclrtMalloc(bad, size(64), 0) for bad in BAD]",
    "aclrtMallocHost": "[acl.aclrtMallocHost(bad, size(64)) for bad in BAD]",
    "aclrtCreateStream": "[acl.aclrtCreateStream(bad) for bad in BAD]",
    "aclrtCreateEvent": "[acl.aclrtCreateEvent(bad) for bad in BAD]",
    "aclrtGetDevice": "[acl.aclrtGetDevice(bad) for bad in BAD]",
    "aclrtGetMemInfo": "[acl.aclrtGetMemInfo(0, bad, bad) for bad in BAD]",
    "aclrtGetDeviceCount": "[acl.aclrtGetDeviceCount(bad) for bad in BAD]",
    "aclrtGetRunMode": "[acl.aclrtGetRunMode(bad) for bad in BAD]",
    "aclInit": "[acl.aclInit(bad) for bad in BAD]",
    "aclmdlLoadFromFile": "[acl.aclmdlLoadFromFile(b'/nowhere.om', bad) for bad in BAD]",
    "the configuration": "[acl.aclrtMallocWithCfg(out, size(64), 0, bad) for bad in BAD]",
    "its attributes": "[acl.aclrtMallocWithCfg(out, size(64), 0, "
                      "ctypes.byref(Config(bad, 1))) for bad in BAD]",
    "the number of its attributes": "[acl.aclrtMallocWithCfg(out, size(64), 0, "
                                    "ctypes.byref(Config(ctypes.addressof(memory), count))) "
                                    "for count in (5, 1 << 20, 1 << 62)]",
}


@pytest.mark.parametrize("name", CALLS)
def test_an_address_without_memory_gives_a_code(name):
    text = textwrap.dedent(PROGRAM).format(
        library=f"{BUILD}/lib/libascendcl.so",
        calls=f"codes = {CALLS[name]}\nassert all(codes), codes\n"
              "assert acl.aclGetRecentErrMsg()")
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True,
                          timeout=120)
    assert done.returncode == 0 and done.stdout == "alive\n", done.stderr


def test_every_c_function_answers_addresses_without_memory():
    walk = os.path.join(os.path.dirname(__file__), "address_walk.py")
    folders = [SUPPORT, TESTS, *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run([sys.executable, walk], capture_output=True, text=True, timeout=600,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(folders)})
    *died, called = done.stdout.split("\n")[:-1] or [done.stderr]
    assert died == [] and int(called) > 800, done.stdout + done.stderr


FREED = """
    import acl
    assert acl.init() == 0
    assert acl.rt.set_device(0) == 0
    memory, _ = acl.rt.malloc(4096, 0)
    host, _ = acl.rt.malloc_host(4096)
    assert len(acl.util.ptr_to_bytes(memory, 4096)) == 4096
    assert acl.rt.free(memory) == 0 and acl.rt.free_host(host) == 0
    for address in (memory, host):
        try:
            print(acl.util.ptr_to_bytes(address, 16))
        except Exception as error:
            print(type(error).__name__)
"""


def test_bytes_of_freed_memory_are_refused():
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(FREED)], capture_output=True,
                          text=True, timeout=120)
    words = done.stdout.split()
    assert len(words) == 2 and not any(word.startswith("b'") for word in words), \
        done.stdout + done.stderr
