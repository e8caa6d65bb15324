# SPDX-License-Identifier: Apache-2.0
"""acl_prof.h and libmsprofiler.so from C: a session with marks, as a C program writes it."""
import glob
import os
import subprocess

PROGRAM = r"""
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "acl/acl.h"
#include "acl/acl_prof.h"

#define CHECK(call) do { aclError e = (call); \
  if (e != ACL_SUCCESS) { printf("%s: %d %s\n", #call, e, aclGetRecentErrMsg()); return 1; } \
  } while (0)

int main(int argc, char** argv) {
  uint32_t devices[] = {0};
  CHECK(aclInit(NULL));
  CHECK(aclrtSetDevice(0));
  if (aclprofInit(argv[1], strlen(argv[1]) + 1) != ACL_ERROR_INVALID_PARAM) return 2;
  if (aclprofInit(NULL, 4) != ACL_ERROR_INVALID_PARAM) return 3;
  CHECK(aclprofInit(argv[1], strlen(argv[1])));
  aclprofConfig* config = aclprofCreateConfig(devices, 1, ACL_AICORE_NONE, NULL,
      ACL_PROF_ACL_API | ACL_PROF_TASK_TIME | ACL_PROF_MSPROFTX);
  if (!config || aclprofCreateConfig(NULL, 1, ACL_AICORE_NONE, NULL, ACL_PROF_ACL_API)) return 4;
  if (aclprofSetConfig(ACL_PROF_SYS_HARDWARE_MEM_FREQ, "15", 3) == ACL_SUCCESS) return 5;
  CHECK(aclprofSetConfig(ACL_PROF_SYS_HARDWARE_MEM_FREQ, "15", 2));
  if (aclprofWarmup(NULL) != ACL_ERROR_INVALID_PARAM) return 14;
  CHECK(aclprofWarmup(config));
  if (access(argv[1], W_OK) != 0) return 15; /* the folder is there before the start */
  CHECK(aclprofStart(config));
  if (aclprofWarmup(config) != ACL_ERROR_PROF_ALREADY_RUN) return 13;
  void* stamp = aclprofCreateStamp();
  uint32_t range = 0;
  CHECK(aclprofSetStampTraceMessage(stamp, "from C", 6));
  CHECK(aclprofMark(stamp));
  CHECK(aclprofSetCategoryName(7, "loading"));
  CHECK(aclprofSetStampCategory(stamp, 7));
  CHECK(aclprofRangeStart(stamp, &range));
  CHECK(aclprofRangeStop(range));
  CHECK(aclprofSetStampCategory(stamp, 8)); /* has no name */
  CHECK(aclprofPush(stamp));
  CHECK(aclprofPop());
  if (aclprofSetCategoryName(7, "") != -1) return 16;
  if (aclprofSetCategoryName(7, NULL) != ACL_ERROR_INVALID_PARAM) return 17;
  if (aclprofSetStampCategory(NULL, 7) != ACL_ERROR_INVALID_PARAM) return 18;
  if (aclprofStr2Id("x") != aclprofStr2Id("x")) return 6;
  aclprofDestroyStamp(stamp);
  aclrtStream stream;
  void* memory;
  CHECK(aclrtCreateStream(&stream));
  CHECK(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  aclprofTensor tensors[2] = {{0, ACL_FORMAT_ND, ACL_FLOAT, 2, {4, 4}},
                              {1, ACL_FORMAT_ND, ACL_FLOAT16, 1, {16}}};
  aclprofTensorInfo info = {aclprofStr2Id("my_kernel"), aclprofStr2Id("MyType"), 0, 2, 0, 1,
                            stream, tensors};
  aclprofEventAttributes attr = {1, sizeof attr, ACL_PROF_MESSAGE_TYPE_TENSOR_INFO, {&info}};
  CHECK(aclprofRangePushEx(&attr));
  CHECK(aclrtMemsetAsync(memory, 64, 0, 64, stream));
  CHECK(aclprofRangePop());
  CHECK(aclrtMemsetAsync(memory, 64, 0, 64, stream));
  if (aclprofRangePop() != -1) return 7;
  if (aclprofRangePushEx(NULL) != ACL_ERROR_INVALID_PARAM) return 8;
  attr.messageType = 9;
  if (aclprofRangePushEx(&attr) != ACL_ERROR_INVALID_PARAM) return 9;
  attr.messageType = ACL_PROF_MESSAGE_TYPE_TENSOR_INFO;
  tensors[1].shapeDim = 9;
  if (aclprofRangePushEx(&attr) != ACL_ERROR_INVALID_PARAM) return 10;
  tensors[1].shapeDim = 1;
  info.opNameId = UINT64_MAX;
  if (aclprofRangePushEx(&attr) != ACL_ERROR_INVALID_PARAM) return 11;
  if (aclprofGetOpAttriValue(NULL, 0, 0, ACL_SUBSCRIBE_ATTRI_THREADID)) return 12;
  CHECK(aclrtSynchronizeStream(stream));
  CHECK(aclrtFree(memory));
  CHECK(aclrtDestroyStream(stream));
  CHECK(aclprofStop(config));
  CHECK(aclprofDestroyConfig(config));
  CHECK(aclprofFinalize());
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  return 0;
}
"""


def test_a_c_program_profiles_itself(tmp_path):
    build = os.environ["ANYNPU_BUILD_DIR"]
    (tmp_path / "app.c").write_text(PROGRAM)
    subprocess.run(
        ["gcc", "-std=gnu99", "-Wall", "-Werror", "app.c", "-o", "app", f"-I{build}/include",
         f"-L{build}/lib", "-lmsprofiler", "-lascendcl", f"-Wl,-rpath,{build}/lib"],
        cwd=tmp_path, check=True, timeout=300)
    done = subprocess.run(["./app", str(tmp_path / "out")], cwd=tmp_path, capture_output=True,
                          text=True, timeout=300)
    assert done.returncode == 0, done.stdout
    from anynpu.msprof.recording import read_recording
    from anynpu.msprof.work import Work
    work = Work(read_recording(glob.glob(str(tmp_path / "out" / "PROF_*"))[0]))
    assert [work.name(n) for n in work.stamps["name"]] == ["from C"] * 3
    assert work.stamp_categories == ["0", "loading", "8"]
    from anynpu.msprof import tables
    header, rows = tables.msprof_tx(work)
    assert [row[header.index("category")] for row in rows] == ["0", "loading", "8"]
    assert len(work.ops) == 1 and work.name(work.ops[0]["name"]) == "my_kernel"
    text = work.text(work.ops[0]["arg"])
    assert (text.type, text.inputs, text.outputs) == (
        "MyType", ("4,4", "FLOAT", "ND"), ("16", "FLOAT16", "ND"))
    assert "aclprofRangeStart" in {work.name(n) for n in work.apis["name"]}
