# SPDX-License-Identifier: Apache-2.0
"""msprof --host-sys=osrt on threads that begin all at once: recording that a thread waited for a
lock may not wait for that lock."""
import glob
import os
import subprocess

from prof_case import table

ROUNDS, THREADS = 50, 50
PROGRAM = f"""
#include <pthread.h>
#include "acl/acl.h"
static pthread_barrier_t ready;
static void* work(void* unused) {{
  int32_t device;
  (void)unused;
  pthread_barrier_wait(&ready);
  aclrtGetDevice(&device);
  return NULL;
}}
int main(void) {{
  if (aclInit(NULL) || aclrtSetDevice(0)) return 1;
  for (int round = 0; round < {ROUNDS}; ++round) {{
    pthread_t threads[{THREADS}];
    pthread_barrier_init(&ready, NULL, {THREADS});
    for (int i = 0; i < {THREADS}; ++i) pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < {THREADS}; ++i) pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&ready);
  }}
  return aclrtResetDevice(0) || aclFinalize();
}}
"""


def test_threads_that_begin_at_once_record_their_calls_and_end(tmp_path):
    build = os.environ["ANYNPU_BUILD_DIR"]
    (tmp_path / "app.c").write_text(PROGRAM)
    subprocess.run(
        ["gcc", "-std=gnu99", "-Wall", "-Werror", "-pthread", "app.c", "-o", "app",
         f"-I{build}/include", f"-L{build}/lib", "-lascendcl", f"-Wl,-rpath,{build}/lib"],
        cwd=tmp_path, check=True, timeout=300)
    done = subprocess.run(["msprof", f"--output={tmp_path}", "--host-sys=osrt", "./app"],
                          cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    [path] = glob.glob(str(tmp_path / "PROF_*"))
    [calls] = [r for r in table(path, "api_statistic") if r["API Name"] == "aclrtGetDevice"]
    assert int(calls["Count"]) == ROUNDS * THREADS
    joins = [int(r["Count"]) for r in table(path, "os_runtime_statistic")
             if r["Name"] == "pthread_join"]
    assert sum(joins) == ROUNDS * THREADS
