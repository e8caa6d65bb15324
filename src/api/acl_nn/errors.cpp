// SPDX-License-Identifier: Apache-2.0
#include "api/acl_nn/errors.h"

#include "aclnn/acl_meta.h"
#include "base/failure_lines.h"
#include "base/log.h"
#include "base/recent_failure.h"

namespace anynpu::acl_nn {

namespace {

struct Number {
  aclError code;
  std::string_view name, advice;
};
constexpr Number kNull{ACLNN_ERR_PARAM_NULLPTR, "ACLNN_ERR_PARAM_NULLPTR",
                       "Pass an object that its create function returned."};
constexpr Number kInvalid{ACLNN_ERR_PARAM_INVALID, "ACLNN_ERR_PARAM_INVALID",
                          "Correct the argument that is named above."};
constexpr Number kRuntime{ACLNN_ERR_RUNTIME_ERROR, "ACLNN_ERR_RUNTIME_ERROR",
                          "See the cause above; the stream or device could not take the work."};
constexpr Number kInner{ACLNN_ERR_INNER, "ACLNN_ERR_INNER", "Please report it."};

const Number& number_of(Code code) {
  switch (code) {
    case Code::invalid_handle:
      return kNull;
    case Code::no_context:
    case Code::not_initialized:
    case Code::forked_process:
    case Code::invalid_stream:
    case Code::out_of_memory:
    case Code::host_out_of_memory:
    case Code::out_of_handles:
    case Code::task_failed:
    case Code::aborted:
      return kRuntime;
    case Code::internal:
    case Code::unexpected_exception:
      return kInner;
    default:
      return kInvalid;
  }
}

}  // namespace

aclError number_of(const acl::Failure& failure) {
  return failure.code != 0 ? failure.code : number_of(failure.status.code()).code;
}

aclError report(const char* function, const acl::Failure& failure) {
  const aclError code = number_of(failure);
  keep_last_number(Interface::acl, code);
  try {
    const Number& known = number_of(failure.status.code());
    const std::string message = failure.status.to_string(), number = format("{}", code);
    const std::string_view name = known.code == code ? known.name : acl::error_name(code);
    show_failure({function, number, name, message});
    std::string text = format("E{}: {} failed with {}: {}\n        Solution: {}", number, function,
                              name, message, known.advice);
    ANYNPU_LOG(error, "{}", text);
    keep_message(Interface::acl, std::move(text));
  } catch (...) {
    // No memory for a message: only the code is returned.
  }
  return code;
}

}  // namespace anynpu::acl_nn
