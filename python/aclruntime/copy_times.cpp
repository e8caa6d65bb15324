// SPDX-License-Identifier: Apache-2.0
#include "aclruntime/copy_times.h"

#include <chrono>
#include <mutex>

#include "acl/acl.h"

namespace anynpu::aclruntime {

namespace {

std::mutex mutex;
std::vector<double> times[2];  // to device, to host

constexpr aclrtMemcpyKind kKinds[] = {ACL_MEMCPY_HOST_TO_DEVICE, ACL_MEMCPY_DEVICE_TO_HOST,
                                      ACL_MEMCPY_DEVICE_TO_DEVICE};
constexpr const char* kNames[] = {"to the device", "to the host", "on the device"};

}  // namespace

double now_ms() {
  static const auto origin = std::chrono::steady_clock::now();
  const auto since = std::chrono::steady_clock::now() - origin;
  return std::chrono::duration<double, std::milli>(since).count();
}

Failure timed_copy(void* to, size_t room, const void* from, size_t bytes, CopyKind kind) {
  const auto index = static_cast<size_t>(kind);
  const double begin = now_ms();
  if (bytes != 0) {
    if (const aclError error = aclrtMemcpy(to, room, from, bytes, kKinds[index])) {
      return acl_failure(error, "a copy of " + std::to_string(bytes) + " bytes " + kNames[index]);
    }
  }
  if (kind == CopyKind::on_device) return {};
  const double taken = now_ms() - begin;
  const std::lock_guard lock(mutex);
  times[index].push_back(taken);
  return {};
}

std::vector<double> copy_times(CopyKind kind) {
  const std::lock_guard lock(mutex);
  return times[static_cast<size_t>(kind)];
}

void reset_copy_times() {
  const std::lock_guard lock(mutex);
  for (auto& list : times) list.clear();
}

}  // namespace anynpu::aclruntime
