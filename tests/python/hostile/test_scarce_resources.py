# SPDX-License-Identifier: Apache-2.0
"""A machine that gives no thread, no shared memory, no space for files: each is an error with a
sentence, and the process ends by itself."""
import os
import resource
import signal
import subprocess
import sys
import textwrap

import numpy as np
import onnx
import pytest
from build_tree import BUILD, SUPPORT
from model_datasets import convert
from onnx import TensorProto, helper, numpy_helper

from anynpu.whole_file import MARK

BAD_ALLOC = 200000


# RLIMIT_NPROC does not count for root, so root's program becomes nobody's. Only when all is
# imported: nobody may not be allowed to read the folder of the interpreter.
NO_PROCESSES = """
import os, resource, signal, sys
import acl
resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
"""


def run(text, *arguments, before="", limit=None):
    return subprocess.run([sys.executable, "-c", before + textwrap.dedent(text),
                           *map(str, arguments)], capture_output=True, text=True, timeout=120,
                          preexec_fn=limit)


STREAMS = """
    import signal
    import acl
    assert acl.init() == 0
    assert acl.rt.set_device(0) == 0
    stream, ret = acl.rt.create_stream()
    memory, _ = acl.rt.malloc(64, 0)
    codes = set()
    if ret == 0:
        for _ in range(3):
            codes.add(acl.rt.memset_async(memory, 64, 0, 64, stream))
    else:
        codes.add(ret)
    print(sorted(codes), acl.get_recent_err_msg())
    print("synchronized", acl.rt.synchronize_stream(stream) if ret == 0 else 0)
    print("blocked", len(signal.pthread_sigmask(signal.SIG_BLOCK, [])))
    acl.rt.reset_device(0)
    print("ended", acl.finalize())
"""


def test_a_system_without_threads_is_an_error_and_finalize_returns():
    done = run(STREAMS, before=NO_PROCESSES)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.split("\n")
    assert lines[0].startswith(f"[{BAD_ALLOC}]") and "ulimit -u" in lines[0], lines
    assert "blocked 0" in lines and "ended 0" in lines


PROFILES = """
    import os, signal, sys
    import acl
    assert acl.init() == 0
    assert acl.rt.set_device(0) == 0
    assert acl.prof.init(sys.argv[1]) == 0
    config = acl.prof.create_config([0], 0, 0, 1)
    print(acl.prof.start(config), acl.get_recent_err_msg())
    print("blocked", len(signal.pthread_sigmask(signal.SIG_BLOCK, [])))
    print("left", os.listdir(sys.argv[1]))
    acl.prof.finalize()
    acl.rt.reset_device(0)
    print("ended", acl.finalize())
"""


def test_a_profiler_without_its_thread_says_so_and_blocks_no_signals(tmp_path):
    folder = tmp_path / "prof"
    folder.mkdir()
    for path in (folder, *folder.parents):
        if path.owner() == folder.owner() and str(path).startswith("/tmp/"):
            path.chmod(0o777)
    done = run(PROFILES, folder, before=NO_PROCESSES)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.split("\n")
    assert not lines[0].startswith("0 ") and "the profiler cannot start" in done.stdout, lines
    assert "blocked 0" in lines and "left []" in lines and "ended 0" in lines


SHARED = """
    import os, socket, sys
    sys.path.insert(0, sys.argv[1])
    import numpy as np
    import acl
    from ais_bench.infer.channel import Channel
    assert acl.init() == 0
    assert acl.rt.set_device(0) == 0
    memory, ret = acl.rt.malloc(1 << 20, 0)
    assert ret == 0
    key, ret = acl.rt.ipc_mem_get_export_key(memory, 1 << 20, 65, 0)
    assert ret == 0, acl.get_recent_err_msg()
    ours, theirs = map(Channel, socket.socketpair())
    ours.send({"array": np.arange(100000)})
    assert theirs.receive()["array"][-1] == 99999
    held = [os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd")
            if os.path.exists(f"/proc/self/fd/{fd}")]
    held += [line for line in open("/proc/self/maps")]
    print(sum("/dev/shm" in name for name in held))
"""
FULL = """mount -t tmpfs -o size=4k none /dev/shm || exit 99
          head -c 1000000 /dev/zero > /dev/shm/full 2> /dev/null
          exec "$@" """


def test_nothing_of_ours_lies_in_dev_shm():
    done = run(SHARED, SUPPORT)
    assert done.returncode == 0 and done.stdout == "0\n", done.stdout + done.stderr


def can_mount():
    try:
        command = ["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt"]
        return subprocess.run(command, capture_output=True, timeout=60).returncode == 0
    except OSError:
        return False


if can_mount():
    def test_a_full_dev_shm_matters_to_nothing():
        done = subprocess.run(["unshare", "-rm", "sh", "-c", FULL, "sh", sys.executable, "-c",
                               textwrap.dedent(SHARED), SUPPORT], capture_output=True, text=True,
                              timeout=120)
        assert done.returncode == 0 and done.stdout == "0\n", done.stdout + done.stderr


def small_files():
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))


def model():
    weight = numpy_helper.from_array(np.ones((1, 4096), np.float32), "w")
    node = helper.make_node("Add", ["x", "w"], ["y"], name="add")
    info = helper.make_tensor_value_info
    graph = helper.make_graph([node], "net", [info("x", TensorProto.FLOAT, [1, 4096])],
                              [info("y", TensorProto.FLOAT, [1, 4096])], [weight])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def test_atc_says_that_a_file_may_not_grow(tmp_path):
    onnx.save(model(), tmp_path / "net.onnx")
    done = subprocess.run(["atc", f"--model={tmp_path}/net.onnx", "--framework=5",
                           f"--output={tmp_path}/net", "--soc_version=Ascend310P3"],
                          capture_output=True, text=True, timeout=120, preexec_fn=small_files)
    assert done.returncode == 1 and "File too large" in done.stderr, done.stderr
    assert sorted(os.listdir(tmp_path)) == ["net.onnx"]


DUMPS = """
    import sys
    sys.path.insert(0, sys.argv[1])
    import numpy as np
    import acl
    from model_datasets import Model
    assert acl.init(sys.argv[3]) == 0
    assert acl.rt.set_device(0) == 0
    model = Model(sys.argv[2])
    model.feed(np.zeros((1, 4096), np.float32))
    print(model.execute(), acl.get_recent_err_msg())
"""


@pytest.mark.parametrize("limited", [False, True], ids=["free", "limited"])
def test_a_dump_that_may_not_grow_leaves_no_half_file(tmp_path, limited):
    om = convert(tmp_path, "net", model())
    config = tmp_path / "acl.json"
    config.write_text('{"dump": {"dump_path": "%s", "dump_list": [{"model_name": "net"}], '
                      '"dump_mode": "all"}}' % (tmp_path / "dumps"))
    done = run(DUMPS, SUPPORT, om, config, limit=small_files if limited else None)
    assert done.returncode == 0, done.stdout + done.stderr
    files = [os.path.join(folder, name) for folder, _, names in os.walk(tmp_path / "dumps")
             for name in names]
    assert not any(MARK in name for name in files), files
    assert (len(files) > 0) != limited and all(os.path.getsize(name) > 16384 for name in files)


# Python ignores SIGXFSZ and SIGPIPE; both end a program in C.
C_PROGRAM = r"""
#include <stdio.h>
#include <sys/resource.h>
#include "acl/acl.h"
int main(int count, char** words) {
  struct rlimit few = {2000, 2000};
  void* block = NULL;
  char key[65];
  aclrtStream stream;
  setrlimit(RLIMIT_FSIZE, &few);
  if (aclInit(words[1]) || aclrtSetDevice(0) || aclrtCreateStream(&stream)) return 1;
  if (aclrtMalloc(&block, 4 << 20, ACL_MEM_MALLOC_HUGE_FIRST)) return 2;
  for (int i = 0; i < 3000; ++i) {
    if (aclrtMemsetAsync(block, 4096, 1, 4096, stream)) return 3;
    aclrtMalloc(NULL, 0, ACL_MEM_MALLOC_HUGE_FIRST); /* a line on stderr, and in the log */
  }
  if (aclrtSynchronizeStream(stream)) return 4;
  printf("share %d\n", aclrtIpcMemGetExportKey(block, 4 << 20, key, sizeof key, 0) != 0);
  aclrtDestroyStream(stream);
  aclrtFree(block);
  aclrtResetDevice(0);
  printf("end %d\n", aclFinalize());
  return 0;
}
"""


@pytest.fixture(scope="module")
def c_program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("limited")
    (folder / "app.c").write_text(C_PROGRAM)
    subprocess.run(["cc", "-I", f"{BUILD}/include", "app.c", "-o", "app", "-L", f"{BUILD}/lib",
                    "-lascendcl", f"-Wl,-rpath,{BUILD}/lib"], check=True, cwd=folder)
    return str(folder / "app")


@pytest.mark.parametrize("config", ["{}", '{"profiler": {"switch": "on", "output": "%s"}}'])
def test_a_program_in_c_outlives_files_that_may_not_grow(tmp_path, c_program, config):
    path = tmp_path / "acl.json"
    path.write_text(config.replace("%s", str(tmp_path)))
    env = dict(os.environ, ASCEND_PROCESS_LOG_PATH=str(tmp_path), ASCEND_GLOBAL_LOG_LEVEL="0",
               ANYNPU_ERRORS="all")
    with open(tmp_path / "stderr", "w", encoding="utf-8") as full:
        done = subprocess.run([c_program, str(path)], stdout=subprocess.PIPE, stderr=full,
                              text=True, timeout=120, env=env)
    assert done.returncode == 0 and done.stdout.endswith("end 0\n"), (done.returncode, done.stdout)


def test_a_program_in_c_outlives_a_reader_of_its_errors(tmp_path, c_program):
    path = tmp_path / "acl.json"
    path.write_text("{}")
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([c_program, str(path)], stdout=subprocess.PIPE, stderr=writer, text=True,
                          timeout=120, env=dict(os.environ, ANYNPU_ERRORS="all"),
                          preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_DFL))
    os.close(writer)
    assert done.returncode == 0 and done.stdout.endswith("end 0\n"), done.returncode
