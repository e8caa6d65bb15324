// SPDX-License-Identifier: Apache-2.0
// The overflow status of a device: bits of guide 7.12 that operators of models made with
// `atc --status_check=1` have set since the last reset. Both calls are tasks of the stream.
#include <cstring>

#include "acl/rt/stream.h"
#include "api/acl/entry.h"
#include "device/memory.h"
#include "device/runtime.h"
#include "exec/dump.h"

using namespace anynpu;
using acl::enter;
using acl::to_handle;

namespace {

constexpr size_t kStatusBytes = 64;

constinit device::TaskKind kGetOverflow{"get_overflow_status", device::Engine::control};
constinit device::TaskKind kResetOverflow{"reset_overflow_status", device::Engine::control};

}  // namespace

aclError aclrtGetOverflowStatus(void* outputAddr, size_t outputSize, aclrtStream stream) {
  return enter(__func__, [&]() -> Status {
    if (outputSize < kStatusBytes) {
      return fail(Code::invalid_argument, "outputSize is {}; expected {} bytes or more", outputSize,
                  kStatusBytes);
    }
    ANYNPU_ASSIGN(auto found, device::Runtime::instance().stream(to_handle(stream)));
    ANYNPU_ASSIGN(device::Range range,
                  device::check_range(outputAddr, outputSize, device::Access::write, "outputAddr"));
    const int32_t device = found->device()->id();
    return found->submit(kGetOverflow, [range = std::move(range), device]() -> Status {
      ANYNPU_TRY(
          device::check_range(range.address, kStatusBytes, device::Access::write, "outputAddr")
              .status());
      const uint32_t bits = exec::overflow_bits(device);
      std::memset(range.address, 0, kStatusBytes);
      std::memcpy(range.address, &bits, sizeof(bits));
      return {};
    });
  });
}

aclError aclrtResetOverflowStatus(aclrtStream stream) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto found, device::Runtime::instance().stream(to_handle(stream)));
    const int32_t device = found->device()->id();
    return found->submit(kResetOverflow, [device]() -> Status {
      exec::reset_overflow(device);
      return {};
    });
  });
}
