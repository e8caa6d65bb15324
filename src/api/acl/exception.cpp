// SPDX-License-Identifier: Apache-2.0
// The report of failed tasks (acl.rt.set_exception_info_callback and the getters, guide 7.10). The
// information is a handle that lives as long as the callback runs.
#include <atomic>

#include "acl/rt/callback.h"
#include "api/acl/entry.h"
#include "api/acl/model_ops.h"
#include "device/stream.h"

using namespace anynpu;
using acl::enter;
using acl::enter_value;
using acl::from_handle;
using acl::to_handle;

namespace {

struct ExceptionInfo {
  uint32_t device = 0;
  uint32_t stream = 0;
  uint32_t task = 0;
  uint32_t thread = 0;
  uint32_t error = 0;
};

constexpr uint32_t kUnknownId = 0xffffffff;  // the documented answer to a wrong handle
std::atomic<aclrtExceptionInfoCallback> exception_callback{nullptr};

}  // namespace

namespace anynpu {
ANYNPU_HANDLE_TYPE(ExceptionInfo, exception_info);
}

namespace {

void report_exception(const device::TaskFailure& failure) {
  const auto callback = exception_callback.load(std::memory_order_acquire);
  if (!callback) return;
  acl::file_failed_op(failure);
  auto info = std::make_shared<ExceptionInfo>();
  info->device = static_cast<uint32_t>(failure.device_id);
  info->stream = failure.stream_id;
  info->task = failure.task_id;
  info->thread = failure.thread_id;
  info->error =
      static_cast<uint32_t>(acl::to_acl_error(failure.status.code(), acl::Family::runtime));
  auto& handles = HandleTable::instance();
  const Handle handle = handles.insert(std::move(info));
  if (!handle) return;
  callback(from_handle<aclrtExceptionInfo*>(handle));
  handles.remove<ExceptionInfo>(handle);
}

// A program that was finalised hears of nothing any more.
void forget_callback() {
  device::set_failure_observer(nullptr);
  exception_callback.store(nullptr, std::memory_order_release);
}

uint32_t read_info(const char* function, const aclrtExceptionInfo* info,
                   uint32_t ExceptionInfo::*field) {
  return enter_value(function, kUnknownId, [&]() -> Result<uint32_t> {
    ANYNPU_ASSIGN(auto found, resolve<ExceptionInfo>(to_handle(info)));
    return (*found).*field;
  });
}

}  // namespace

aclError aclrtSetExceptionInfoCallback(aclrtExceptionInfoCallback callback) {
  return enter(__func__, [&]() -> Status {
    static const bool once = (acl::on_finalize(forget_callback), true);
    (void)once;
    exception_callback.store(callback, std::memory_order_release);
    device::set_failure_observer(callback ? report_exception : nullptr);
    return {};
  });
}

uint32_t aclrtGetTaskIdFromExceptionInfo(const aclrtExceptionInfo* info) {
  return read_info(__func__, info, &ExceptionInfo::task);
}

uint32_t aclrtGetStreamIdFromExceptionInfo(const aclrtExceptionInfo* info) {
  return read_info(__func__, info, &ExceptionInfo::stream);
}

uint32_t aclrtGetThreadIdFromExceptionInfo(const aclrtExceptionInfo* info) {
  return read_info(__func__, info, &ExceptionInfo::thread);
}

uint32_t aclrtGetDeviceIdFromExceptionInfo(const aclrtExceptionInfo* info) {
  return read_info(__func__, info, &ExceptionInfo::device);
}

uint32_t aclrtGetErrorCodeFromExceptionInfo(const aclrtExceptionInfo* info) {
  return read_info(__func__, info, &ExceptionInfo::error);
}
