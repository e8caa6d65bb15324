// SPDX-License-Identifier: Apache-2.0
// The record of executed operators (aclopStartDumpArgs).
#include "service/op/op_record.h"

#include "acl/acl_dump.h"
#include "api/acl/entry.h"

namespace anynpu::acl {

namespace {

Status check_dump_type(uint32_t type) {
  if (type == ACL_OP_DUMP_OP_AICORE_ARGS) return {};
  return fail(Code::invalid_argument, "dumpType is {}; expected {} (ACL_OP_DUMP_OP_AICORE_ARGS)",
              type, ACL_OP_DUMP_OP_AICORE_ARGS);
}

}  // namespace

}  // namespace anynpu::acl

using namespace anynpu;
using namespace anynpu::acl;

extern "C" {

aclError aclopStartDumpArgs(uint32_t dumpType, const char* path) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_dump_type(dumpType));
    ANYNPU_TRY(check_pointer(path, "path"));
    return service::start_op_record(path);
  });
}

aclError aclopStopDumpArgs(uint32_t dumpType) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_dump_type(dumpType));
    return service::stop_op_record();
  });
}

}  // extern "C"
