// SPDX-License-Identifier: Apache-2.0
#include "api/acl_hccl/errors.h"

#include "base/failure_lines.h"
#include "base/log.h"
#include "base/recent_failure.h"

namespace anynpu::hccl {

namespace {

struct Name {
  HcclResult result;
  const char* text;
};
constexpr Name kNames[] = {
    {HCCL_SUCCESS, "HCCL_SUCCESS"},
    {HCCL_E_PARA, "HCCL_E_PARA"},
    {HCCL_E_PTR, "HCCL_E_PTR"},
    {HCCL_E_MEMORY, "HCCL_E_MEMORY"},
    {HCCL_E_INTERNAL, "HCCL_E_INTERNAL"},
    {HCCL_E_NOT_SUPPORT, "HCCL_E_NOT_SUPPORT"},
    {HCCL_E_NOT_FOUND, "HCCL_E_NOT_FOUND"},
    {HCCL_E_UNAVAIL, "HCCL_E_UNAVAIL"},
    {HCCL_E_SYSCALL, "HCCL_E_SYSCALL"},
    {HCCL_E_TIMEOUT, "HCCL_E_TIMEOUT"},
    {HCCL_E_OPEN_FILE_FAILURE, "HCCL_E_OPEN_FILE_FAILURE"},
    {HCCL_E_TCP_CONNECT, "HCCL_E_TCP_CONNECT"},
    {HCCL_E_ROCE_CONNECT, "HCCL_E_ROCE_CONNECT"},
    {HCCL_E_TCP_TRANSFER, "HCCL_E_TCP_TRANSFER"},
    {HCCL_E_ROCE_TRANSFER, "HCCL_E_ROCE_TRANSFER"},
    {HCCL_E_RUNTIME, "HCCL_E_RUNTIME"},
    {HCCL_E_DRV, "HCCL_E_DRV"},
    {HCCL_E_PROFILING, "HCCL_E_PROFILING"},
    {HCCL_E_CCE, "HCCL_E_CCE"},
    {HCCL_E_NETWORK, "HCCL_E_NETWORK"},
    {HCCL_E_AGAIN, "HCCL_E_AGAIN"},
    {HCCL_E_REMOTE, "HCCL_E_REMOTE"},
    {HCCL_E_SUSPENDING, "HCCL_E_SUSPENDING"},
};

struct CodeMapping {
  Code code;
  HcclResult result;
};
// Causes that are not listed are faults inside: HCCL_E_INTERNAL.
constexpr CodeMapping kCodeMappings[] = {
    {Code::invalid_argument, HCCL_E_PARA},
    {Code::invalid_handle, HCCL_E_PARA},
    {Code::invalid_stream, HCCL_E_PARA},
    {Code::invalid_device, HCCL_E_PARA},
    {Code::invalid_address, HCCL_E_PARA},
    {Code::unaligned_address, HCCL_E_PARA},
    {Code::wrong_context, HCCL_E_PARA},
    {Code::invalid_config, HCCL_E_PARA},
    {Code::parse_error, HCCL_E_PARA},
    {Code::shape_mismatch, HCCL_E_PARA},
    {Code::already_exists, HCCL_E_PARA},
    {Code::no_context, HCCL_E_RUNTIME},
    {Code::not_initialized, HCCL_E_RUNTIME},
    {Code::already_finalized, HCCL_E_RUNTIME},
    {Code::forked_process, HCCL_E_RUNTIME},
    {Code::capture_mode_forbids, HCCL_E_RUNTIME},
    {Code::out_of_memory, HCCL_E_MEMORY},
    {Code::host_out_of_memory, HCCL_E_MEMORY},
    {Code::limit_exceeded, HCCL_E_UNAVAIL},
    {Code::out_of_handles, HCCL_E_UNAVAIL},
    {Code::not_found, HCCL_E_NOT_FOUND},
    {Code::file_not_found, HCCL_E_OPEN_FILE_FAILURE},
    {Code::file_invalid, HCCL_E_OPEN_FILE_FAILURE},
    {Code::io_error, HCCL_E_SYSCALL},
    {Code::permission_denied, HCCL_E_SYSCALL},
    {Code::cancelled, HCCL_E_SYSCALL},
    {Code::version_mismatch, HCCL_E_NOT_SUPPORT},
    {Code::unsupported_feature, HCCL_E_NOT_SUPPORT},
    {Code::unsupported_dtype, HCCL_E_NOT_SUPPORT},
    {Code::timeout, HCCL_E_TIMEOUT},
    {Code::task_failed, HCCL_E_REMOTE},
    {Code::aborted, HCCL_E_SUSPENDING},
};

}  // namespace

HcclResult to_hccl_result(Code code) {
  if (code == Code::ok) return HCCL_SUCCESS;
  for (const CodeMapping& row : kCodeMappings) {
    if (row.code == code) return row.result;
  }
  return HCCL_E_INTERNAL;
}

HcclResult number_of(const char*, const Failure& failure) {
  return failure.code != HCCL_SUCCESS ? failure.code : to_hccl_result(failure.status.code());
}

const char* result_name(HcclResult result) {
  for (const Name& name : kNames) {
    if (name.result == result) return name.text;
  }
  return "unknown result";
}

HcclResult result_named(std::string_view text) {
  for (const Name& name : kNames) {
    if (name.text == text || format("{}", static_cast<int>(name.result)) == text) {
      return name.result;
    }
  }
  return HCCL_SUCCESS;
}

HcclResult report(const char* function, const Failure& failure) {
  const HcclResult result = number_of(function, failure);
  try {
    const std::string message = failure.status.to_string();
    const std::string number = format("{}", static_cast<int>(result));
    show_failure({function, number, result_name(result), message, false});
    std::string text = format("EI{:04}: {} failed with {}: {}", static_cast<int>(result), function,
                              result_name(result), message);
    ANYNPU_LOG(error, "{}", text);
    keep_message(Interface::acl, std::move(text));
  } catch (...) {
    // No memory for a message: only the code is returned.
  }
  return result;
}

}  // namespace anynpu::hccl
