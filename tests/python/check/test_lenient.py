# SPDX-License-Identifier: Apache-2.0
"""What passes and `anynpu check` reports: copies beyond the end of a block, a missing init, and
calls that a card may refuse."""

import os
import subprocess

from build_tree import BUILD

ASKED, COPIED = 1631232, 1646592  # of a published program: a picture of another height


def test_a_copy_that_ends_in_the_last_page_of_its_block_works_and_is_told(check_text):
    done = check_text(f"""
        import numpy as np
        host = np.arange({COPIED}, dtype=np.uint8)
        block, ret = acl.rt.malloc({ASKED}, 2)
        assert ret == 0
        assert acl.rt.memcpy(block, {COPIED}, acl.util.numpy_to_ptr(host), {COPIED}, 1) == 0
        back = np.zeros_like(host)
        assert acl.rt.memcpy(acl.util.numpy_to_ptr(back), {COPIED}, block, {COPIED}, 2) == 0
        assert (back == host).all()
        assert acl.rt.memcpy(block, 1 << 22, acl.util.numpy_to_ptr(host), 3 << 20, 1) != 0
        assert acl.rt.free(block) == 0
    """)
    assert done.done.returncode == 99, done.done.stderr
    assert set(done.kinds()) >= {"past-the-end"}
    told = [f["message"] for f in done.findings if f["kind"] == "past-the-end"]
    assert any(str(ASKED) in text and str(COPIED) in text for text in told), told


C_PROGRAM = r"""
#include <stdlib.h>
#include "acl/acl.h"
int main(void) {
  void* block = NULL;
  char* host = calloc(1, 1646592);
  if (aclInit(NULL) || aclrtSetDevice(0)) return 1;
  if (aclrtMalloc(&block, 1631232, ACL_MEM_MALLOC_HUGE_FIRST)) return 2;
  if (aclrtMemcpy(block, 1646592, host, 1646592, ACL_MEMCPY_HOST_TO_DEVICE)) return 3;
  if (aclrtMemset(block, 2 << 20, 1, 2 << 20)) return 4;
  if (aclrtMemset(block, 3 << 20, 1, (2 << 20) + 1) == 0) return 5;
  aclrtFree(block);
  free(host);
  aclrtResetDevice(0);
  return aclFinalize();
}
"""


def test_the_same_in_c(tmp_path):
    (tmp_path / "app.c").write_text(C_PROGRAM)
    subprocess.run(["cc", "-I", f"{BUILD}/include", str(tmp_path / "app.c"), "-o",
                    str(tmp_path / "app"), "-L", f"{BUILD}/lib", "-lascendcl"], check=True)
    env = {**os.environ, "LD_LIBRARY_PATH": f"{BUILD}/lib"}
    assert subprocess.run([str(tmp_path / "app")], timeout=300, env=env).returncode == 0


def test_a_missing_init_is_told_once_at_its_line(check, tmp_path):
    app = tmp_path / "app.py"
    app.write_text("import acl\n"
                   "assert acl.rt.set_device(0) == 0\n"
                   "block, ret = acl.rt.malloc(64, 0)\n"
                   "assert acl.rt.free(block) == 0 and acl.rt.reset_device(0) == 0\n")
    done = check(str(app))
    assert done.places() == [("no-init", 2)]
    assert "acl.rt.set_device came before acl.init" in done.findings[0]["message"]


def test_a_late_init_is_told_as_well(check, tmp_path):
    app = tmp_path / "app.py"
    app.write_text("import acl\n"
                   "context, ret = acl.rt.create_context(0)\n"
                   "assert ret == 0 and acl.init() == 0\n"
                   "assert acl.rt.destroy_context(context) == 0 and acl.finalize() == 0\n")
    assert ("no-init", 2) in check(str(app)).places()


def test_calls_that_a_card_may_refuse_are_told_at_their_lines(check_text):
    done = check_text("""
        import numpy as np
        host = np.zeros(8192, np.uint8)
        start = acl.util.numpy_to_ptr(host) // 64 * 64 + 64
        start += 64 * (start % 4096 == 0)
        stream, ret = acl.rt.create_stream()
        _, ret = acl.rt.host_register(start, 64, 0)
        assert ret == 0 and acl.rt.host_unregister(start) == 0
        assert acl.rt.synchronize_stream_with_timeout(stream, 0) == 0
        assert acl.rt.synchronize_stream_with_timeout(stream, 1000) == 0
        can, ret = acl.rt.device_can_access_peer(0, 0)
        assert ret == 0
        address, ret = acl.rt.reserve_mem_address(2 << 20, 4096, 0, 0)
        assert ret == 0 and acl.rt.release_mem_address(address) == 0
        assert acl.rt.destroy_stream(stream) == 0
    """)
    told = [f["message"] for f in done.findings if f["kind"] == "card-may-refuse"]
    assert done.kinds().count("card-may-refuse") == 4, (done.findings, done.done.stderr)
    words = ["host_register", "synchronize_stream_with_timeout", "can_access_peer", "reserve_mem"]
    assert all(word in text for word, text in zip(words, told)), told
