// SPDX-License-Identifier: Apache-2.0
#include "service/profile/user_trace.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "device/memory.h"
#include "device/runtime.h"
#include "trace/trace.h"

namespace anynpu::service {

namespace {
constinit device::TaskKind kUserTrace{"user trace", device::Engine::control};
}

Status check_user_trace(int32_t length) {
  if (length >= 1 && length <= kUserTraceBytes) return {};
  return fail(Code::invalid_argument, "length is {}; expected 1 to {}", length, kUserTraceBytes);
}

Status submit_user_trace(std::span<const std::byte> data, Handle stream_handle) {
  ANYNPU_TRY(device::check_host_range(data.data(), data.size(), device::Access::read, "userdata")
                 .status());
  ANYNPU_ASSIGN(auto stream, device::Runtime::instance().stream(stream_handle));
  std::array<std::byte, kUserTraceBytes> bytes{};
  std::copy(data.begin(), data.end(), bytes.begin());
  uint64_t shown = 0;  // what profiles show as the size of the task
  std::memcpy(&shown, bytes.data(), sizeof shown);
  return stream->submit({kUserTrace, shown}, [bytes] {
    if (trace::enabled(trace::Category::user)) [[unlikely]] {
      std::string text = "user trace ";
      for (const std::byte byte : bytes) text += format("{:02x}", static_cast<unsigned>(byte));
      trace::instant(trace::Category::user, trace::intern(text), trace::current_correlation(), 0,
                     {});
    }
    return Status();
  });
}

}  // namespace anynpu::service
