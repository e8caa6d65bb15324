// SPDX-License-Identifier: Apache-2.0
#include "device/device.h"

#include <algorithm>

#include "base/clock.h"
#include "base/env.h"
#include "base/thread_pool.h"
#include "device/cpu/cpu_queue.h"

namespace anynpu::device {

Device::Device(int32_t id, int32_t physical_id)
    : id_(id), physical_id_(physical_id), window_start_ns_(now_ns()) {}

int32_t Device::take_utilization() {
  std::lock_guard lock(window_mutex_);
  const uint64_t now = now_ns();
  const uint64_t busy = busy_ns_.load(std::memory_order_relaxed);
  const double available = static_cast<double>(now - window_start_ns_) *
                           static_cast<double>(ThreadPool::instance().threads());
  const double share = available > 0 ? static_cast<double>(busy - window_busy_ns_) / available : 0;
  window_start_ns_ = now;
  window_busy_ns_ = busy;
  return static_cast<int32_t>(std::clamp(share * 100.0 + 0.5, 0.0, 100.0));
}

size_t Device::threads() const { return ThreadPool::instance().threads(); }

std::shared_ptr<Queue> Device::create_queue(uint32_t) { return shared_cpu_queue(); }

Status check_shared_memory(const Device& device) {
  if (device.capabilities().shared_memory) return {};
  return fail(Code::unsupported_feature,
              "memory of device {} ({}) cannot be mapped or shared between processes; allocate it "
              "with aclrtMalloc and copy",
              device.id(), device.description());
}

Status check_media(const Device& device) {
  if (device.capabilities().media) return {};
  return fail(
      Code::unsupported_feature,
      "device {} ({}) has no media processing; use a device that has it, for example cpu in "
      "ANYNPU_DEVICES, or decode and scale pictures on the host",
      device.id(), device.description());
}

int Device::max_streams() {
  static const int limit = static_cast<int>(env::integer(env::Name::max_streams));
  return limit;
}

Status Device::take_stream_place() {
  if (streams_.fetch_add(1, std::memory_order_relaxed) < max_streams()) return {};
  give_stream_place();
  return fail(
      Code::out_of_streams,
      "device {} has {} streams already, the most it takes; destroy streams that are done, or "
      "raise ANYNPU_MAX_STREAMS",
      id_, max_streams());
}

}  // namespace anynpu::device
