// SPDX-License-Identifier: Apache-2.0
// A small Add, by handle and by name, synchronous: the whole way through the C interface, with
// nothing to compute.
#include "../acl_session.h"
#include "../harness.h"
#include "acl/acl_op_compiler.h"

namespace anynpu::bench {
namespace {

// An Add of two matrices of 8 x 16 floats that is compiled and has its buffers.
struct Addition {
  AclSession session;
  aclrtStream stream = nullptr;
  aclTensorDesc* desc = nullptr;
  aclDataBuffer* buffers[3] = {};

  Addition() {
    ANYNPU_MUST(aclrtCreateStream(&stream));
    const int64_t dims[] = {8, 16};
    desc = aclCreateTensorDesc(ACL_FLOAT, 2, dims, ACL_FORMAT_ND);
    const aclTensorDesc* inputs[] = {desc, desc};
    const aclTensorDesc* outputs[] = {desc};
    ANYNPU_MUST(
        aclopCompile("Add", 2, inputs, 1, outputs, nullptr, ACL_ENGINE_SYS, ACL_COMPILE_SYS, ""));
    for (auto& buffer : buffers) {
      void* data = nullptr;
      ANYNPU_MUST(aclrtMalloc(&data, 512, ACL_MEM_MALLOC_NORMAL_ONLY));
      ANYNPU_MUST(aclrtMemset(data, 512, 0, 512));
      buffer = aclCreateDataBuffer(data, 512);
    }
  }
  ~Addition() {
    for (auto* buffer : buffers) {
      aclrtFree(aclGetDataBufferAddr(buffer));
      aclDestroyDataBuffer(buffer);
    }
    aclDestroyTensorDesc(desc);
    aclrtDestroyStream(stream);
  }
  Addition(const Addition&) = delete;
  Addition& operator=(const Addition&) = delete;
};

template <typename Once>
double us_per_call(Once once) {
  return ns_per_call(1000, once) / 1e3;
}

}  // namespace

ANYNPU_BENCH(op_handle_add) {
  Addition add;
  const aclTensorDesc* inputs[] = {add.desc, add.desc};
  const aclTensorDesc* outputs[] = {add.desc};
  aclopHandle* handle = nullptr;
  ANYNPU_MUST(aclopCreateHandle("Add", 2, inputs, 1, outputs, nullptr, &handle));
  const aclDataBuffer* given[] = {add.buffers[0], add.buffers[1]};
  const auto once = [&] {
    ANYNPU_MUST(aclopExecWithHandle(handle, 2, given, 1, &add.buffers[2], add.stream));
    ANYNPU_MUST(aclrtSynchronizeStream(add.stream));
  };
  report.add({"Add of 8x16 floats by handle, synchronous", 3, "us",
              value_of([&] { return us_per_call(once); }), ""});
  aclopDestroyHandle(handle);
}

ANYNPU_BENCH(op_name_add) {
  Addition add;
  aclTensorDesc* inputs[] = {add.desc, add.desc};
  aclTensorDesc* outputs[] = {add.desc};
  const auto once = [&] {
    ANYNPU_MUST(aclopExecuteV2("Add", 2, inputs, add.buffers, 1, outputs, &add.buffers[2], nullptr,
                               add.stream));
    ANYNPU_MUST(aclrtSynchronizeStream(add.stream));
  };
  report.add({"Add of 8x16 floats by name (aclopExecuteV2), synchronous", 5, "us",
              value_of([&] { return us_per_call(once); }), ""});
}

}  // namespace anynpu::bench
