// SPDX-License-Identifier: Apache-2.0
#include "api/hpe/errors.h"

#include "base/log.h"
#include "base/recent_failure.h"

namespace anynpu::hpe {

namespace {

struct Named {
  stcError_t error;
  const char* name;
  const char* message;
};
#define NAMED(error, message) \
  { error, #error, message }
constexpr Named kErrors[] = {
    NAMED(stcSuccess, "success"),
    NAMED(stcErrorInvalidValue, "parameters is not within an acceptable range of values"),
    NAMED(stcErrorInvalidDevice, "invalid NPC Cluster device ID"),
    NAMED(stcErrorHostMemoryAllocation, "fail to allocate host memory"),
    NAMED(stcErrorDeviceMemoryAllocation, "fail to allocate device memory"),
    NAMED(stcErrorInvalidDevicePointer, "invalid device memory pointer"),
    NAMED(stcErrorLinkFailure, "fail to link device image"),
    NAMED(stcErrorInvalidKernel, "invalid kernel name"),
    NAMED(stcErrorInvalidImage, "invalid device image"),
    NAMED(stcErrorNoImage, "no device image"),
    NAMED(stcErrorInvalidModule, "invalid module"),
    NAMED(stcErrorNoModule, "no module"),
    NAMED(stcErrorInvalidStream, "invalid stream"),
    NAMED(stcErrorInvalidEvent, "invalid event"),
    NAMED(stcErrorInvalidFifo, "invalid fifo"),
    NAMED(stcErrorDeviceImageException, "device image run into exception"),
    NAMED(stcErrorSyscallFailure, "system call failure"),
    NAMED(stcErrorForkForbidden,
          "forbid to call runtime API, if parent process called runtime API"),
    NAMED(stcErrorInvalidCoreNum, "invalid core number"),
    NAMED(stcErrorGDBFailure, "stcgdb can't trace current process"),
    NAMED(stcErrorDriverMismatch, "mismatch between version of hpert and version of stc-drv"),
    NAMED(stcErrorDeviceBreakdown, "device break down"),
    NAMED(stcErrorNoFreeNpu, "no free NPU device"),
    NAMED(stcErrorNpuNotAcquired, "the npu is not acquired"),
    NAMED(stcErrorInvalidNpuTask, "invalid NPU task"),
    NAMED(stcErrorInvalidImageDataSection, "too many data section in device image"),
    NAMED(stcErrorNpuTaskRunning, "NPU task is running with the active NPU module"),
    // The document has no message for the next three.
    NAMED(stcErrorOutOfHostMemory, "out of host memory"),
    NAMED(stcErrorTooManyOpenStreams, "too many open streams"),
    NAMED(stcErrorTooManyOpenEvents, "too many open events"),
    NAMED(stcErrorDriverFailure, "PCIe driver internal failure"),
};
#undef NAMED

const Named* find(stcError_t error) {
  for (const Named& row : kErrors) {
    if (row.error == error) return &row;
  }
  return nullptr;
}

// Functions with a special error code in the document.
struct Special {
  std::string_view function;
  Code code;
  stcError_t error;
};
constexpr Special kSpecial[] = {
    {"stcModuleUnload", Code::not_complete, stcErrorNpuTaskRunning},
    {"stcUnregisterFatBinary", Code::bad_call_order, stcErrorNoImage},
    {"stcLaunchKernel", Code::bad_call_order, stcErrorNoModule},
    {"stcLaunchKernelTyped", Code::bad_call_order, stcErrorNoModule},
    {"stcMallocHost", Code::out_of_memory, stcErrorHostMemoryAllocation},
    {"stcFreeHost", Code::invalid_address, stcErrorInvalidValue},
};

}  // namespace

namespace {

// The one mapping. Codes that no HPE call gives are the driver's failure.
stcError_t general_error(Code code) {
  switch (code) {
    case Code::ok:
      return stcSuccess;
    case Code::invalid_argument:
    case Code::unaligned_address:
    case Code::already_exists:
    case Code::unsupported_feature:
      return stcErrorInvalidValue;
    case Code::invalid_device:
      return stcErrorInvalidDevice;
    case Code::no_context:
      return stcErrorNoFreeNpu;
    case Code::invalid_address:
      return stcErrorInvalidDevicePointer;
    case Code::out_of_memory:
      return stcErrorDeviceMemoryAllocation;
    case Code::unsupported_op:
      return stcErrorLinkFailure;
    case Code::not_found:
      return stcErrorInvalidKernel;
    case Code::file_invalid:
    case Code::parse_error:
      return stcErrorInvalidImage;
    case Code::file_not_found:
      return stcErrorNoImage;
    case Code::limit_exceeded:
      return stcErrorInvalidImageDataSection;
    case Code::invalid_handle:
      return stcErrorInvalidModule;
    case Code::wrong_context:
    case Code::invalid_stream:
      return stcErrorInvalidStream;
    case Code::invalid_event:
    case Code::event_not_recorded:
    case Code::not_complete:
      return stcErrorInvalidEvent;
    case Code::task_failed:
    case Code::kernel_timeout:
      return stcErrorDeviceImageException;
    case Code::aborted:
      return stcErrorInvalidNpuTask;
    case Code::forked_process:
      return stcErrorForkForbidden;
    case Code::invalid_config:
      return stcErrorInvalidCoreNum;
    case Code::permission_denied:
      return stcErrorNpuNotAcquired;
    case Code::host_out_of_memory:
    case Code::out_of_handles:
      return stcErrorOutOfHostMemory;
    case Code::out_of_streams:
      return stcErrorTooManyOpenStreams;
    case Code::out_of_events:
      return stcErrorTooManyOpenEvents;
    case Code::io_error:
    case Code::cancelled:
    case Code::timeout:
      return stcErrorSyscallFailure;
    default:
      return stcErrorDriverFailure;
  }
}

}  // namespace

stcError_t to_stc_error(std::string_view function, Code code) {
  for (const Special& row : kSpecial) {
    if (row.code == code && row.function == function) return row.error;
  }
  return general_error(code);
}

stcError_t number_of(const char* function, const Failure& failure) {
  if (failure.code != stcSuccess) return failure.code;
  return to_stc_error(function, failure.status.code());
}

stcError_t report(const char* function, const Failure& failure) {
  const stcError_t error = number_of(function, failure);
  keep_last_number(Interface::hpe, error);
  const std::string message = failure.status.to_string();
  ANYNPU_LOG(error, "{}: {} ({}): {}", function, stcGetErrorName(error), static_cast<int>(error),
             message);
  keep_message(Interface::hpe, message);
  return error;
}

stcError_t error_named(std::string_view name) {
  for (const Named& row : kErrors) {
    if (row.name == name) return row.error;
  }
  return stcSuccess;
}

}  // namespace anynpu::hpe

stcError_t stcGetLastError(void) {
  return static_cast<stcError_t>(anynpu::take_last_number(anynpu::Interface::hpe));
}

const char* stcGetErrorName(stcError_t error) {
  const auto* row = anynpu::hpe::find(error);
  return row ? row->name : "unknown error";
}

const char* stcGetErrorString(stcError_t error) {
  const auto* row = anynpu::hpe::find(error);
  return row ? row->message : "unknown error";
}
