# SPDX-License-Identifier: Apache-2.0
"""`anynpu check` on what pyACL does not have, from C: memory of pools, channels of tensors, blocks
of media pools. What is left over is found at its line; what is given back is not."""
import os
import subprocess

import pytest
from build_tree import BUILD
from conftest import marked

SOURCE = r"""
#include <acl/acl.h>
#include <acl/acl_rt_memory_soma.h>
#include <acl/acl_tdt.h>
#include <acl/dvpp/hi_dvpp.h>
#define CHECK(call) do { if ((call) != 0) return __LINE__; } while (0)

static int memory_of_pools(int forget) {
  aclrtMemPoolProps props = {ACL_MEM_ALLOCATION_TYPE_PINNED, ACL_MEM_HANDLE_TYPE_NONE,
                             {0, ACL_MEM_LOCATION_TYPE_DEVICE}, 0, {0}};
  aclrtMemPool pool;
  void *kept, *freed;
  CHECK(aclrtMemPoolCreate(&pool, &props));
  CHECK(aclrtMemPoolMallocAsync(&kept, 4096, pool, NULL));  // found: leak-pool-memory
  CHECK(aclrtMemPoolMallocAsync(&freed, 4096, pool, NULL));
  CHECK(aclrtMemsetAsync(freed, 4096, 1, 4096, NULL));
  CHECK(aclrtMemPoolFreeAsync(freed, NULL));
  CHECK(aclrtSynchronizeStream(NULL));
  if (!forget) CHECK(aclrtMemPoolFreeAsync(kept, NULL));
  return aclrtMemPoolDestroy(pool);
}

static int channels(int forget) {
  acltdtChannelHandle* kept = acltdtCreateChannelWithCapacity(0, "kept", 2);  // found: leak-channel
  acltdtChannelHandle* ended = acltdtCreateChannelWithCapacity(0, "ended", 2);
  if (kept == NULL || ended == NULL || acltdtCreateChannel(0, "refused") != NULL) return 1;
  if (!forget) CHECK(acltdtDestroyChannel(kept));
  return acltdtDestroyChannel(ended);
}

static int blocks(int forget) {
  hi_vb_pool_config config = {1000, 2, VB_REMAP_MODE_NONE, ""};
  hi_vb_pool pool = hi_mpi_vb_create_pool(&config);  // found: leak-block-pool
  hi_vb_pool ended = hi_mpi_vb_create_pool(&config);
  hi_vb_blk kept = hi_mpi_vb_get_block(pool, 1000, NULL);  // found: leak-block
  hi_vb_blk shared = hi_mpi_vb_get_block(pool, 1000, NULL);
  if (hi_mpi_vb_get_block(pool, 1000, NULL) != (hi_vb_blk)HI_VB_INVALID_HANDLE) return 1;
  if (hi_mpi_vb_create_pool(NULL) != (hi_vb_pool)HI_VB_INVALID_POOLID) return 1;
  CHECK(hi_mpi_vb_block_copyref(shared));
  CHECK(hi_mpi_vb_release_block(shared));
  CHECK(hi_mpi_vb_release_block(shared));
  CHECK(hi_mpi_vb_destroy_pool(ended));
  if (forget) return 0;
  CHECK(hi_mpi_vb_release_block(kept));
  return hi_mpi_vb_destroy_pool(pool);
}

int main(int count, char** arguments) {
  const int forget = count > 1;
  CHECK(aclInit(NULL));
  CHECK(aclrtSetDevice(0));
  CHECK(hi_mpi_sys_init());
  CHECK(memory_of_pools(forget));
  CHECK(channels(forget));
  CHECK(blocks(forget));
  CHECK(hi_mpi_sys_exit());
  CHECK(aclrtResetDevice(0));
  return aclFinalize();
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pools")
    source = folder / "pools.c"
    source.write_text(SOURCE)
    tree = os.path.join(BUILD, "ascend")
    subprocess.run(["gcc", "-g", "-O0", source, f"-I{tree}/include", f"-L{tree}/lib64",
                    f"-Wl,-rpath,{tree}/lib64", "-lascendcl", "-lacl_dvpp_mpi", "-o",
                    folder / "pools"], check=True)
    return source, str(folder / "pools")


def test_what_a_program_leaves_of_pools_and_channels_is_a_leak_at_its_line(check, program):
    source, binary = program
    checked = check(binary, "forget")
    assert checked.done.returncode == 99, checked.done.stderr
    assert checked.places() == marked(source)
    block = next(f for f in checked.findings if f["kind"] == "leak-pool-memory")
    assert block["bytes"] == 4096 and "aclrtMemPoolFreeAsync" in block["message"]


def test_pools_and_channels_that_are_given_back_are_no_findings(check, program):
    checked = check(program[1])
    assert checked.done.returncode == 0, checked.done.stderr
    assert checked.kinds() == []
