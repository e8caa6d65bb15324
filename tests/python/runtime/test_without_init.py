# SPDX-License-Identifier: Apache-2.0
"""Programs that leave acl.init out, or call it late: devices, memory, streams, contexts, events and
descriptions work as on a card; models, operators and profiling return 100001."""

import os
import subprocess

from build_tree import BUILD
from program import run

UNINITIALIZED = 100001


def test_a_program_without_init_runs():
    assert run("""
        import acl
        import numpy as np
        assert acl.rt.set_device(0) == 0
        context, ret = acl.rt.create_context(0)
        assert ret == 0
        stream, ret = acl.rt.create_stream()
        assert ret == 0
        sent = np.arange(64, dtype=np.float32)
        back = np.zeros_like(sent)
        block, ret = acl.rt.malloc(sent.nbytes, 2)
        assert ret == 0
        assert acl.rt.memcpy(block, sent.nbytes, acl.util.numpy_to_ptr(sent), sent.nbytes, 1) == 0
        event, ret = acl.rt.create_event()
        assert ret == 0 and acl.rt.record_event(event, stream) == 0
        assert acl.rt.memcpy_async(acl.util.numpy_to_ptr(back), back.nbytes, block, back.nbytes,
                                   2, stream) == 0
        assert acl.rt.synchronize_stream(stream) == 0
        assert (back == sent).all()
        desc = acl.create_tensor_desc(0, [2, 3], 2)
        assert acl.get_tensor_desc_size(desc) == 24
        acl.destroy_tensor_desc(desc)
        buffer = acl.create_data_buffer(block, 64)
        dataset = acl.mdl.create_dataset()
        assert acl.mdl.add_dataset_buffer(dataset, buffer)[1] == 0
        assert acl.rt.destroy_event(event) == 0 and acl.rt.destroy_stream(stream) == 0
        assert acl.rt.free(block) == 0 and acl.rt.destroy_context(context) == 0
        assert acl.rt.reset_device(0) == 0
        print("done")
    """) == ["done"]


def test_models_operators_and_profiling_need_it():
    run(f"""
        import acl
        assert acl.rt.set_device(0) == 0
        assert acl.mdl.load_from_file("x.om")[1] == {UNINITIALIZED}
        assert "before aclInit" in acl.get_recent_err_msg()
        assert acl.mdl.execute(1, 0, 0) == {UNINITIALIZED}
        assert acl.op.set_model_dir("x") == {UNINITIALIZED}
        assert acl.prof.init("x") == {UNINITIALIZED}
        assert acl.finalize() == {UNINITIALIZED}
    """)


def test_init_may_come_late_and_what_was_made_stays():
    run("""
        import acl
        assert acl.rt.set_device(1) == 0
        block, ret = acl.rt.malloc(64, 0)
        stream, ret = acl.rt.create_stream()
        assert acl.init() == 0
        assert acl.rt.get_device() == (1, 0)
        assert acl.rt.memset_async(block, 64, 7, 64, stream) == 0
        assert acl.rt.synchronize_stream(stream) == 0
        assert acl.rt.free(block) == 0 and acl.rt.destroy_stream(stream) == 0
        assert acl.rt.reset_device(1) == 0 and acl.finalize() == 0
        assert acl.rt.set_device(0) == 100001
    """)


def test_a_forked_child_is_told_although_nobody_called_init():
    run("""
        import acl, os
        assert acl.rt.set_device(0) == 0
        child = os.fork()
        if child == 0:
            os._exit(0 if acl.rt.malloc(64, 0)[1] == 100001 else 1)
        assert os.waitpid(child, 0)[1] == 0
    """)


def test_the_thread_that_waits_may_start_everything():
    """Questions at import time start no device: a child of such a program is like new."""
    run("""
        import acl, os
        acl.rt.get_run_mode(), acl.get_soc_name(), acl.rt.get_device_count()
        child = os.fork()
        if child == 0:
            os._exit(acl.rt.set_device(0))
        assert os.waitpid(child, 0)[1] == 0
    """)


C_PROGRAM = r"""
#include <string.h>
#include "acl/acl.h"
int main(void) {
  char sent[64], back[64];
  void* block = NULL;
  aclrtContext context;
  aclrtStream stream;
  memset(sent, 5, sizeof sent);
  if (aclrtSetDevice(0)) return 1;
  if (aclrtCreateContext(&context, 0)) return 2;
  if (aclrtCreateStream(&stream)) return 3;
  if (aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST)) return 4;
  if (aclrtMemcpy(block, 64, sent, 64, ACL_MEMCPY_HOST_TO_DEVICE)) return 5;
  if (aclrtMemcpyAsync(back, 64, block, 64, ACL_MEMCPY_DEVICE_TO_HOST, stream)) return 6;
  if (aclrtSynchronizeStream(stream)) return 7;
  if (memcmp(sent, back, 64)) return 8;
  uint32_t model;
  if (aclmdlLoadFromFile("x.om", &model) != ACL_ERROR_UNINITIALIZE) return 9;
  if (aclrtFree(block) || aclrtDestroyStream(stream) || aclrtDestroyContext(context)) return 10;
  return aclrtResetDevice(0);
}
"""


def test_a_program_in_c_without_init_runs(tmp_path):
    (tmp_path / "app.c").write_text(C_PROGRAM)
    subprocess.run(["cc", "-I", f"{BUILD}/include", str(tmp_path / "app.c"), "-o",
                    str(tmp_path / "app"), "-L", f"{BUILD}/lib", "-lascendcl"], check=True)
    env = {**os.environ, "LD_LIBRARY_PATH": f"{BUILD}/lib"}
    assert subprocess.run([str(tmp_path / "app")], timeout=300, env=env).returncode == 0


def test_functions_without_parameters_ignore_what_they_are_given():
    run("""
        import acl
        assert acl.init() == 0 and acl.rt.set_device(0) == 0
        assert acl.rt.synchronize_device(0) == 0
        assert acl.rt.get_run_mode(0) == (1, 0)
        desc = acl.mdl.create_desc(0)
        assert desc != 0 and acl.mdl.destroy_desc(desc) == 0
        stream, ret = acl.rt.create_stream(0)
        assert ret == 0
        try:
            acl.rt.synchronize_stream(stream, 0)
        except TypeError as error:
            assert "takes" in str(error) or "argument" in str(error)
        else:
            raise AssertionError("a function with parameters counts them")
        assert acl.finalize(1) == 0
    """)
