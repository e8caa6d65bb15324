// SPDX-License-Identifier: Apache-2.0
// Ranges of channels of tensors in Layout::blocked16, wherever they begin and end: what Concat,
// Split, Slice and Transpose are made of when convolutions stand around them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "ops/kernel.h"
#include "ops/parallel.h"

namespace anynpu::ops {

// Of one image; elements of 1, 2 or 4 bytes. Pixels [begin, end) of `pixels` are copied.
struct BlockedChannels {
  int64_t pixels = 1, begin = 0, end = 1;
  size_t element = 4;

  // Of tensors with the type of `x` and its pixels.
  static BlockedChannels of(const Operand& x);
  int64_t image_bytes(int64_t channels) const;
  // Calls work(n, part) for every image n, in parts of at least so many pixels, over the thread
  // pool: a task has at least `grain` of them.
  template <typename Work>
  void for_each_part(int64_t batch, Work&& work, int64_t least_pixels = 256,
                     size_t grain = 1) const;

  // Channels [first, first + count) of `from` to [at, at + count) of `to`.
  void copy(const std::byte* from, int64_t first, std::byte* to, int64_t at, int64_t count) const;
  // Zeros in channels [first, first + count).
  void clear(std::byte* to, int64_t first, int64_t count) const;
  // All `channels` of `from` to pixels of so many channels each, and back.
  void to_pixels(const std::byte* from, int64_t channels, std::byte* to) const;
  void from_pixels(const std::byte* from, int64_t channels, std::byte* to) const;
};

template <typename Work>
void BlockedChannels::for_each_part(int64_t batch, Work&& work, int64_t least_pixels,
                                    size_t grain) const {
  const int64_t parts = std::max<int64_t>(1, pixels / least_pixels);
  parallel(static_cast<size_t>(batch * parts), grain, [&](size_t first, size_t last) {
    for (auto task = static_cast<int64_t>(first); task < static_cast<int64_t>(last); ++task) {
      BlockedChannels part = *this;
      part.begin = pixels * (task % parts) / parts, part.end = pixels * (task % parts + 1) / parts;
      work(task / parts, part);
    }
  });
}

struct ChannelRange {
  int64_t first = 0, count = 0;
};
// Output i is range i of the channels of `x`, all blocked.
std::unique_ptr<KernelPlan> plan_channel_ranges(const Operand& x, std::vector<ChannelRange> ranges);

}  // namespace anynpu::ops
