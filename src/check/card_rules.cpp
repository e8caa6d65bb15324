// SPDX-License-Identifier: Apache-2.0
// Calls that succeed here, although the vendor's documents rule them out (docs/c_runtime.md).
#include <string>

#include "base/align.h"
#include "base/format.h"
#include "check/hooks.h"
#include "check/report.h"

namespace anynpu::check {

namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kKeyBytes = 65;
constexpr uint64_t kTiB = uint64_t{1} << 40;
constexpr uint64_t kLowest = 16 * kTiB, kHighest = 24 * kTiB;

void tell(Call& call, const std::string& text) {
  report({"card-may-refuse",
          format("{}: {}", call.function().shown(), text),
          {{"called", call.site()}}});
}

void check_timeout(Call& call, size_t index) {
  if (static_cast<int32_t>(call.argument(index)) != 0) return;
  tell(call,
       "the time limit is 0; the documents allow -1 (no limit) and positive numbers; to look "
       "without waiting, query the stream or the event");
}

}  // namespace

void before_host_register(Call& call) {
  const uint64_t address = call.argument(0);
  if (is_aligned(address, kPage)) return;
  tell(call,
       format("the memory at {:#x} begins {} bytes behind a page; registered memory begins on "
              "a multiple of {}: allocate it with aligned_alloc or mmap",
              address, address % kPage, kPage));
}

void before_synchronize_with_timeout(Call& call) { check_timeout(call, 1); }
void before_synchronize_device_with_timeout(Call& call) { check_timeout(call, 0); }

void before_reserve_address(Call& call) {
  if (const uint64_t alignment = call.argument(2); alignment != 0)
    tell(call, format("the alignment is {}; the documents allow 0 only", alignment));
  const uint64_t wish = call.argument(3);
  if (wish != 0 && (wish < kLowest || wish >= kHighest))
    tell(call,
         format("the address wished for is {:#x}; the documents allow {:#x} to {:#x}, or none",
                wish, kLowest, kHighest));
}

void before_export_key(Call& call) {
  if (const uint64_t address = call.argument(0); !is_aligned(address, kPage))
    tell(call, format("the memory at {:#x} does not begin on a page of {} bytes; share blocks of "
                      "2 MiB and more",
                      address, kPage));
  if (const uint64_t length = call.argument(3); length > kKeyBytes)
    tell(call,
         format("the key has room for {} bytes; the documents allow {} only", length, kKeyBytes));
}

void before_can_access_peer(Call& call) {
  if (static_cast<int32_t>(call.argument(1)) == static_cast<int32_t>(call.argument(2)))
    tell(call, format("both devices are {}; ask for two different ones",
                      static_cast<int32_t>(call.argument(1))));
}

}  // namespace anynpu::check
