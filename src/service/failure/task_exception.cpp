// SPDX-License-Identifier: Apache-2.0
#include "service/failure/task_exception.h"

#include <memory>
#include <mutex>

#include "device/stream.h"
#include "service/finalize.h"
#include "service/model/failed_ops.h"

namespace anynpu::service {

namespace {

struct CallbackSlot {
  std::mutex mutex;
  std::shared_ptr<const ExceptionCallback> callback;  // null: nobody is told
};

CallbackSlot& callback_slot() {
  static auto* one = new CallbackSlot;  // never destroyed: used until the process ends
  return *one;
}

std::shared_ptr<const ExceptionCallback> current_callback() {
  const std::lock_guard lock(callback_slot().mutex);
  return callback_slot().callback;
}

void report_exception(const device::TaskFailure& failure) {
  const auto callback = current_callback();
  if (!callback) return;
  FailedOps::instance().file(failure);
  auto exception = std::make_shared<TaskException>();
  exception->device = static_cast<uint32_t>(failure.device_id);
  exception->stream = failure.stream_id;
  exception->task = failure.task_id;
  exception->thread = failure.thread_id;
  exception->code = failure.status.code();
  auto& handles = HandleTable::instance();
  const Handle handle = handles.insert(std::move(exception));
  if (!handle) return;
  (*callback)(handle);
  handles.remove<TaskException>(handle);
}

}  // namespace

Status set_exception_callback(ExceptionCallback callback) {
  on_finalize([] { (void)set_exception_callback({}); });
  const bool set = static_cast<bool>(callback);
  {
    const std::lock_guard lock(callback_slot().mutex);
    callback_slot().callback =
        set ? std::make_shared<const ExceptionCallback>(std::move(callback)) : nullptr;
  }
  device::set_failure_observer(set ? report_exception : nullptr);
  return {};
}

}  // namespace anynpu::service
