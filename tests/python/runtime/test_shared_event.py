# SPDX-License-Identifier: Apache-2.0
"""Events that two processes share, by the C functions; pyACL has none for them."""
import os
import subprocess
import sys

IPC = 64
NOT_READY, COMPLETE = 0, 1

COMMON = """
import ctypes, sys
c = ctypes.CDLL({library!r})
class Handle(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_char * 64)]
c.aclrtIpcOpenEventHandle.argtypes = [Handle, ctypes.POINTER(ctypes.c_void_p)]
def must(code):
    assert code == 0, code
def status(event):
    out = ctypes.c_int(-1)
    must(c.aclrtQueryEventStatus(event, ctypes.byref(out)))
    return out.value
must(c.aclInit(None))
must(c.aclrtSetDevice(0))
stream = ctypes.c_void_p()
must(c.aclrtCreateStream(ctypes.byref(stream)))
event = ctypes.c_void_p()
"""

OPENER = COMMON + """
handle = Handle()
ctypes.memmove(ctypes.byref(handle), bytes.fromhex(sys.stdin.readline()), 64)
must(c.aclrtIpcOpenEventHandle(handle, ctypes.byref(event)))
print("status", status(event), flush=True)
must(c.aclrtStreamWaitEvent(stream, event))
print("waits", flush=True)
must(c.aclrtSynchronizeStream(stream))
print("passed", status(event), flush=True)
sys.stdin.readline()
must(c.aclrtRecordEvent(event, stream))
must(c.aclrtSynchronizeStream(stream))
must(c.aclrtDestroyEvent(event))
print("recorded", flush=True)
sys.stdin.readline()
"""

CREATOR = COMMON + """
must(c.aclrtCreateEventExWithFlag(ctypes.byref(event), {ipc}))
value = ctypes.c_void_p()
must(c.aclrtMalloc(ctypes.byref(value), ctypes.c_size_t(8), 0))
must(c.aclrtMemset(value, ctypes.c_size_t(8), 0, ctypes.c_size_t(8)))
must(c.aclrtValueWait(value, ctypes.c_uint64(1), 1, stream))
must(c.aclrtRecordEvent(event, stream))
handle = Handle()
must(c.aclrtIpcGetEventHandle(event, ctypes.byref(handle)))
print(ctypes.string_at(ctypes.byref(handle), 64).hex(), flush=True)
sys.stdin.readline()
one = ctypes.c_uint64(1)
must(c.aclrtMemcpy(value, ctypes.c_size_t(8), ctypes.byref(one), ctypes.c_size_t(8), 1))
must(c.aclrtSynchronizeStream(stream))
print("done", flush=True)
sys.stdin.readline()
must(c.aclrtStreamWaitEvent(stream, event))
must(c.aclrtSynchronizeStream(stream))
must(c.aclrtSynchronizeEvent(event))
print("seen", status(event), flush=True)
must(c.aclrtDestroyEvent(event))
"""


def start(source):
    library = os.path.join(os.environ["ANYNPU_BUILD_DIR"], "lib", "libascendcl.so")
    return subprocess.Popen([sys.executable, "-c", source.replace("{library!r}", repr(library))
                             .replace("{ipc}", str(IPC))],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def tell(process, text="go"):
    process.stdin.write(text + "\n")
    process.stdin.flush()


def test_one_process_records_and_the_other_waits_and_back():
    creator, opener = start(CREATOR), start(OPENER)
    with creator, opener:
        tell(opener, creator.stdout.readline().strip())
        assert opener.stdout.readline() == f"status {NOT_READY}\n"
        assert opener.stdout.readline() == "waits\n"
        tell(creator)
        assert creator.stdout.readline() == "done\n"
        assert opener.stdout.readline() == f"passed {COMPLETE}\n"
        tell(opener)
        assert opener.stdout.readline() == "recorded\n"
        tell(creator)
        assert creator.stdout.readline() == f"seen {COMPLETE}\n"
        tell(opener)


def test_a_handle_of_a_process_that_ended_cannot_be_opened():
    creator = start(CREATOR)
    handle = creator.stdout.readline().strip()
    creator.kill()
    creator.wait()
    creator.stdin.close()
    creator.stdout.close()
    opener = start(OPENER)
    with opener:
        tell(opener, handle)
        assert "status" not in opener.stdout.read(), "opening fails"
    assert opener.returncode != 0
