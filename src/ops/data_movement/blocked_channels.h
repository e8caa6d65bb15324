// SPDX-License-Identifier: Apache-2.0
// Ranges of channels of tensors in Layout::blocked16, wherever they begin and end: what Concat,
// Split, Slice and Transpose are made of when convolutions stand around them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "ops/kernel.h"

namespace anynpu::ops {

// Of one image; elements of 1, 2 or 4 bytes. Pixels [begin, end) of `pixels` are copied.
struct BlockedChannels {
  int64_t pixels = 1, begin = 0, end = 1;
  size_t element = 4;

  // Channels [first, first + count) of `from` to [at, at + count) of `to`.
  void copy(const std::byte* from, int64_t first, std::byte* to, int64_t at, int64_t count) const;
  // Zeros in channels [first, first + count).
  void clear(std::byte* to, int64_t first, int64_t count) const;
  // All `channels` of `from` to pixels of so many channels each, and back.
  void to_pixels(const std::byte* from, int64_t channels, std::byte* to) const;
  void from_pixels(const std::byte* from, int64_t channels, std::byte* to) const;
};

struct ChannelRange {
  int64_t first = 0, count = 0;
};
// Output i is range i of the channels of `x`, all blocked.
std::unique_ptr<KernelPlan> plan_channel_ranges(const Operand& x, std::vector<ChannelRange> ranges);

}  // namespace anynpu::ops
