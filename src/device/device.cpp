// SPDX-License-Identifier: Apache-2.0
#include "device/device.h"

#include "base/env.h"

namespace anynpu::device {

Device::Device(int32_t id, int32_t physical_id) : id_(id), physical_id_(physical_id) {}

int Device::max_streams() {
  static const int limit = static_cast<int>(env::integer(env::Name::max_streams));
  return limit;
}

Status Device::take_stream_place() {
  if (streams_.fetch_add(1, std::memory_order_relaxed) < max_streams()) return {};
  give_stream_place();
  return fail(Code::out_of_streams,
              "device {} has {} streams already, the most it takes; destroy streams that are done, or "
              "raise ANYNPU_MAX_STREAMS",
              id_, max_streams());
}

}  // namespace anynpu::device
