// SPDX-License-Identifier: Apache-2.0
#include "device/fill_words.h"

#include <cstring>

#include "device/host_view.h"
#include "device/memory.h"
#include "trace/trace.h"

namespace anynpu::device {

namespace {

constinit TaskKind kFillWords{"memset_d32_async", Engine::d2d};

Result<Range> check_words(void* address, size_t room, size_t count) {
  if (count > room / sizeof(uint32_t)) {
    return fail(Code::invalid_argument, "{} values of 4 bytes were asked for; there is room for {}",
                count, room / sizeof(uint32_t));
  }
  ANYNPU_ASSIGN(Range range, check_range(address, count * sizeof(uint32_t), Access::write, "ptr"));
  if (range.owner) return range;
  return fail(Code::invalid_address,
              "{} is memory of the program's own; pass memory of aclrtMalloc or aclrtMallocHost",
              address);
}

Status write_words(const Range& range, uint32_t value) {
  return with_host_view(HostRange{range.address, range.bytes, Access::write}, [&](void* at) {
    auto* to = static_cast<std::byte*>(at);
    for (size_t i = 0; i < range.bytes; i += sizeof value)
      std::memcpy(to + i, &value, sizeof value);
    return Status();
  });
}

}  // namespace

Status fill_words(void* address, size_t room, uint32_t value, size_t count) {
  ANYNPU_ASSIGN(const Range range, check_words(address, room, count));
  if (count == 0) return {};
  ANYNPU_TRACE_ZONE(copy, "memset_d32", trace::current_correlation(), range.bytes);
  return write_words(range, value);
}

Status fill_words_async(void* address, size_t room, uint32_t value, size_t count, Stream& stream) {
  ANYNPU_ASSIGN(Range range, check_words(address, room, count));
  if (count == 0) return {};
  if (!range.on_device()) return write_words(range, value);
  return stream.submit({kFillWords, range.bytes},
                       [range = std::move(range), value] { return write_words(range, value); });
}

}  // namespace anynpu::device
