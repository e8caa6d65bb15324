// SPDX-License-Identifier: Apache-2.0
#include "ops/data_movement/blocked_channels.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/align.h"
#include "ops/parallel.h"
#include "ops/plain_kernel.h"

namespace anynpu::ops {

namespace {

constexpr int64_t kLanes = 16;

// `count` runs of kBytes, `from_step` and `to_step` bytes apart: a length that the compiler knows
// is a move or two.
template <int kBytes>
void copy_runs(const std::byte* from, int64_t from_step, std::byte* to, int64_t to_step,
               int64_t count) {
  for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * to_step, from + i * from_step, kBytes);
}

using CopyRuns = void (*)(const std::byte*, int64_t, std::byte*, int64_t, int64_t);

template <int... kUnits>
CopyRuns find_runs(int64_t units, size_t element, std::integer_sequence<int, kUnits...>) {
  static constexpr CopyRuns bytes[] = {copy_runs<kUnits + 1>...};
  static constexpr CopyRuns shorts[] = {copy_runs<2 * (kUnits + 1)>...};
  static constexpr CopyRuns words[] = {copy_runs<4 * (kUnits + 1)>...};
  return (element == 1 ? bytes : element == 2 ? shorts : words)[units - 1];
}

CopyRuns runs_of(int64_t lanes, size_t element) {
  return find_runs(lanes, element, std::make_integer_sequence<int, kLanes>{});
}

}  // namespace

void BlockedChannels::copy(const std::byte* from, int64_t first, std::byte* to, int64_t at,
                           int64_t count) const {
  const auto size = static_cast<int64_t>(element), pixel = kLanes * size;
  while (count > 0) {
    const int64_t lanes = std::min({count, kLanes - first % kLanes, kLanes - at % kLanes});
    const std::byte* x = from + (first / kLanes * pixels + begin) * pixel + first % kLanes * size;
    std::byte* y = to + (at / kLanes * pixels + begin) * pixel + at % kLanes * size;
    if (lanes == kLanes) {
      std::memcpy(y, x, static_cast<size_t>((end - begin) * pixel));
    } else {
      runs_of(lanes, element)(x, pixel, y, pixel, end - begin);
    }
    first += lanes, at += lanes, count -= lanes;
  }
}

void BlockedChannels::clear(std::byte* to, int64_t first, int64_t count) const {
  const auto size = static_cast<int64_t>(element), pixel = kLanes * size;
  while (count > 0) {
    const int64_t lanes = std::min(count, kLanes - first % kLanes);
    std::byte* y = to + (first / kLanes * pixels + begin) * pixel + first % kLanes * size;
    for (int64_t i = begin; i < end; ++i, y += pixel)
      std::memset(y, 0, static_cast<size_t>(lanes * size));
    first += lanes, count -= lanes;
  }
}

void BlockedChannels::to_pixels(const std::byte* from, int64_t channels, std::byte* to) const {
  const auto size = static_cast<int64_t>(element), pixel = kLanes * size, step = channels * size;
  for (int64_t first = 0; first < channels; first += kLanes) {
    const int64_t lanes = std::min(kLanes, channels - first);
    runs_of(lanes, element)(from + (first / kLanes * pixels + begin) * pixel, pixel,
                            to + begin * step + first * size, step, end - begin);
  }
}

void BlockedChannels::from_pixels(const std::byte* from, int64_t channels, std::byte* to) const {
  const auto size = static_cast<int64_t>(element), pixel = kLanes * size, step = channels * size;
  for (int64_t first = 0; first < channels; first += kLanes) {
    const int64_t lanes = std::min(kLanes, channels - first);
    runs_of(lanes, element)(from + begin * step + first * size, step,
                            to + (first / kLanes * pixels + begin) * pixel, pixel, end - begin);
  }
  if (channels % kLanes != 0) clear(to, channels, kLanes - channels % kLanes);
}

BlockedChannels BlockedChannels::of(const Operand& x) {
  BlockedChannels channels;
  channels.element = size_of(x.dtype);
  for (size_t i = 2; i < x.shape.size(); ++i) channels.pixels *= x.shape[i];
  return channels;
}

int64_t BlockedChannels::image_bytes(int64_t channels) const {
  return round_up(channels, kLanes) * pixels * static_cast<int64_t>(element);
}

std::unique_ptr<KernelPlan> plan_channel_ranges(const Operand& x,
                                                std::vector<ChannelRange> ranges) {
  const BlockedChannels copy = BlockedChannels::of(x);
  const int64_t batch = x.shape[0], channels = x.shape[1];
  const size_t outputs = ranges.size();
  auto plan = make_plan([=, ranges = std::move(ranges)](const RunArgs& args) {
    copy.for_each_part(batch, [&](int64_t n, const BlockedChannels& part) {
      for (size_t i = 0; i < args.outputs.size(); ++i) {
        if (!args.outputs[i]) continue;
        const auto [first, count] = ranges[i];
        std::byte* y = args.outputs[i] + n * part.image_bytes(count);
        part.copy(args.inputs[0] + n * part.image_bytes(channels), first, y, 0, count);
        part.clear(y, count, round_up(count, kLanes) - count);
      }
    });
  });
  plan->input_layouts = {Layout::blocked16};
  plan->output_layouts.assign(outputs, Layout::blocked16);
  return plan;
}

}  // namespace anynpu::ops
