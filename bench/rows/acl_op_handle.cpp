// SPDX-License-Identifier: Apache-2.0
// A small Add by handle, synchronous: the whole way through the C interface, with nothing to
// compute.
#include "../acl_session.h"
#include "../harness.h"
#include "acl/acl_op_compiler.h"

namespace anynpu::bench {

ANYNPU_BENCH(op_handle_add) {
  AclSession session;
  aclrtStream stream = nullptr;
  ANYNPU_MUST(aclrtCreateStream(&stream));
  const int64_t dims[] = {8, 16};
  aclTensorDesc* desc = aclCreateTensorDesc(ACL_FLOAT, 2, dims, ACL_FORMAT_ND);
  const aclTensorDesc* inputs[] = {desc, desc};
  const aclTensorDesc* outputs[] = {desc};
  ANYNPU_MUST(
      aclopCompile("Add", 2, inputs, 1, outputs, nullptr, ACL_ENGINE_SYS, ACL_COMPILE_SYS, ""));
  aclopHandle* handle = nullptr;
  ANYNPU_MUST(aclopCreateHandle("Add", 2, inputs, 1, outputs, nullptr, &handle));
  aclDataBuffer* buffers[3];
  for (auto& buffer : buffers) {
    void* data = nullptr;
    ANYNPU_MUST(aclrtMalloc(&data, 512, ACL_MEM_MALLOC_NORMAL_ONLY));
    ANYNPU_MUST(aclrtMemset(data, 512, 0, 512));
    buffer = aclCreateDataBuffer(data, 512);
  }
  const aclDataBuffer* given[] = {buffers[0], buffers[1]};
  const auto once = [&] {
    ANYNPU_MUST(aclopExecWithHandle(handle, 2, given, 1, &buffers[2], stream));
    ANYNPU_MUST(aclrtSynchronizeStream(stream));
  };
  report.add({"Add of 8x16 floats by handle, synchronous", 3, "us",
              value_of([&] { return ns_per_call(1000, once) / 1e3; }), ""});
  aclopDestroyHandle(handle);
  aclDestroyTensorDesc(desc);
  aclrtDestroyStream(stream);
}

}  // namespace anynpu::bench
