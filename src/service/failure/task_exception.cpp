// SPDX-License-Identifier: Apache-2.0
#include "service/failure/task_exception.h"

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "device/stream.h"
#include "service/check_pointer.h"
#include "service/finalize.h"
#include "service/model/failed_ops.h"

namespace anynpu::service {

namespace {

using Shared = std::shared_ptr<const ExceptionCallback>;

struct Callbacks {
  std::mutex mutex;
  Shared set;  // by set_exception_callback; null: none
  std::map<const void*, Shared> added;
};

Callbacks& callbacks() {
  static auto* one = new Callbacks;  // never destroyed: used until the process ends
  return *one;
}

std::vector<Shared> current_callbacks() {
  const std::lock_guard lock(callbacks().mutex);
  std::vector<Shared> all;
  if (callbacks().set) all.push_back(callbacks().set);
  for (const auto& [key, callback] : callbacks().added) all.push_back(callback);
  return all;
}

void report_exception(const device::TaskFailure& failure) {
  const auto told = current_callbacks();
  if (told.empty()) return;
  FailedOps::instance().file(failure);
  const TaskException exception{static_cast<uint32_t>(failure.device_id), failure.stream_id,
                                failure.task_id, failure.thread_id, failure.status.code()};
  for (const Shared& callback : told) tell_exception(exception, *callback);
}

void forget_callbacks();

// Changes the callbacks, and watches failures as long as there is one.
template <typename Change>
Status change_callbacks(Change change) {
  on_finalize(forget_callbacks);
  const std::lock_guard lock(callbacks().mutex);
  change(callbacks());
  const bool wanted = callbacks().set || !callbacks().added.empty();
  device::set_failure_observer(wanted ? report_exception : nullptr);
  return {};
}

void forget_callbacks() {
  (void)change_callbacks([](Callbacks& all) {
    all.set = nullptr;
    all.added.clear();
  });
}

}  // namespace

void tell_exception(const TaskException& exception, const ExceptionCallback& callback) {
  auto& handles = HandleTable::instance();
  const Handle handle = handles.insert(std::make_shared<TaskException>(exception));
  if (!handle) return;
  callback(handle);
  handles.remove<TaskException>(handle);
}

Status set_exception_callback(ExceptionCallback callback) {
  Shared shared;
  if (callback) shared = std::make_shared<const ExceptionCallback>(std::move(callback));
  return change_callbacks([&](Callbacks& all) { all.set = std::move(shared); });
}

Status add_exception_callback(const void* key, ExceptionCallback callback) {
  ANYNPU_TRY(check_pointer(key, "callback"));
  auto shared = std::make_shared<const ExceptionCallback>(std::move(callback));
  return change_callbacks([&](Callbacks& all) { all.added[key] = std::move(shared); });
}

Status remove_exception_callback(const void* key) {
  ANYNPU_TRY(check_pointer(key, "callback"));
  return change_callbacks([&](Callbacks& all) { all.added.erase(key); });
}

}  // namespace anynpu::service
