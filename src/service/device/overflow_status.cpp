// SPDX-License-Identifier: Apache-2.0
#include "service/device/overflow_status.h"

#include "device/host_view.h"
#include "device/memory.h"
#include "device/runtime.h"
#include "exec/dump.h"
#include "service/task_kinds.h"

namespace anynpu::service {

namespace {
constexpr size_t kStatusBytes = 64;
}

Status read_overflow_status(Handle stream, void* to, size_t size) {
  if (size < kStatusBytes) {
    return fail(Code::invalid_argument, "outputSize is {}; expected {} bytes or more", size,
                kStatusBytes);
  }
  ANYNPU_ASSIGN(auto found, device::Runtime::instance().stream(stream));
  ANYNPU_ASSIGN(device::Range range,
                device::check_range(to, size, device::Access::write, "outputAddr"));
  const int32_t device = found->device()->id();
  return found->submit(get_overflow_task, [range = std::move(range), device]() -> Status {
    ANYNPU_TRY(device::check_range(range.address, kStatusBytes, device::Access::write, "outputAddr")
                   .status());
    const uint32_t bits = exec::overflow_bits(device);
    ANYNPU_TRY(device::fill_bytes(range.address, 0, kStatusBytes));
    return device::copy_bytes(range.address, &bits, sizeof bits);
  });
}

Status reset_overflow_status(Handle stream) {
  ANYNPU_ASSIGN(auto found, device::Runtime::instance().stream(stream));
  const int32_t device = found->device()->id();
  return found->submit(reset_overflow_task, [device]() -> Status {
    exec::reset_overflow(device);
    return {};
  });
}

}  // namespace anynpu::service
