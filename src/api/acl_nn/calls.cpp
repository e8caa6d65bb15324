// SPDX-License-Identifier: Apache-2.0
#include "api/acl_nn/calls.h"

#include "api/acl_nn/entry.h"

namespace anynpu::acl_nn {

service::NnOperator find_operator(std::string_view name, std::span<const char* const> parameters,
                                  std::string_view sides) {
  return {{name, parameters, sides}, aclnn::find_row(name)};
}

aclnnStatus prepare(const char* function, const service::NnOperator& op,
                    std::span<const RawArgument> arguments, uint64_t* workspace_size,
                    aclOpExecutor** executor) {
  return enter(function, [&]() -> Status {
    ANYNPU_TRY(check_pointer(workspace_size, "workspaceSize"));
    ANYNPU_TRY(check_pointer(executor, "executor"));
    ANYNPU_ASSIGN(const service::Prepared prepared, service::prepare_nn(op, arguments));
    *workspace_size = prepared.work_bytes;
    *executor = from_handle<aclOpExecutor*>(prepared.executor);
    return {};
  });
}

aclnnStatus execute(const char* function, const service::NnOperator& op, void* workspace,
                    uint64_t workspace_size, aclOpExecutor* executor, aclrtStream stream) {
  return enter(function, [&] {
    return service::execute_nn(op, {workspace, workspace_size}, to_handle(executor),
                               to_handle(stream));
  });
}

}  // namespace anynpu::acl_nn
