// SPDX-License-Identifier: Apache-2.0
// Options of operator compilation.
#include "acl/acl_op_compiler.h"
#include "api/acl/entry.h"
#include "service/op/compile_options.h"

using namespace anynpu;
using namespace anynpu::acl;

static_assert(ACL_PRECISION_MODE == 0 && ACL_OP_DEBUG_OPTION == 16);

extern "C" {

aclError aclSetCompileopt(aclCompileOpt opt, const char* value) {
  return enter(__func__, [&] { return service::set_compile_option(opt, value); });
}

size_t aclGetCompileoptSize(aclCompileOpt opt) {
  return enter_value(__func__, size_t{0}, [&]() -> Result<size_t> {
    ANYNPU_ASSIGN(const std::string value, service::need_compile_option(opt));
    return value.size() + 1;  // with the final zero
  });
}

aclError aclGetCompileopt(aclCompileOpt opt, char* value, size_t length) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(value, "value"));
    return service::copy_compile_option(opt, value, length);
  });
}

}  // extern "C"
