// SPDX-License-Identifier: Apache-2.0
#include "ops/conv/few_channels_amx.h"

#include <algorithm>
#include <array>

#include "base/align.h"

namespace anynpu::ops::conv {

using namespace amx;

namespace {

constexpr int64_t kMostChannels = 4;

}  // namespace

bool Fold::takes(const ConvShape& conv) {
  const Window& w = conv.window;
  return w.dims() == 2 && conv.in_channels <= kMostChannels && w.dilation[0] == 1 &&
         w.dilation[1] == 1 && conv.in_channels * element_count(w.kernel) <= kDepth;
}

Fold::Fold(const ConvShape& conv)
    : channels_(conv.in_channels), batch_(conv.batch), window_(conv.window) {
  const Window& w = window_;
  seen_ = std::max(w.pad_begin[1] + w.in[1], (w.out[1] - 1) * w.stride[1] + w.kernel[1]);
  pitch_ = (seen_ * channels_ / kDepth + 3) * kDepth;  // and what is read around it
  // Rows of mixed elements: row r begins at element r * 32, that is in the middle of a pixel.
  for (int64_t phase = 0; phase < channels_; ++phase) {
    const int64_t first = phase * kDepth / channels_;
    for (int64_t channel = 0; channel < channels_; ++channel) {
      for (int64_t i = 0; i < kDepth; ++i) {
        const int64_t element = phase * kDepth + i;
        const bool here = element % channels_ == channel;
        mixing_.push_back(static_cast<uint16_t>(here ? kDepth + element / channels_ - first : i));
      }
    }
  }
  const int64_t width = w.kernel[1] * channels_;
  for (int64_t line = 0; line < w.kernel[0]; ++line) {
    const auto own = static_cast<uint32_t>((uint64_t{1} << width) - 1);
    masks_.push_back(own << (line * width));
  }
}

int64_t Fold::scratch_bytes() const {
  return ((window_.kernel[0] + 1) * pitch_ + kDepth) * static_cast<int64_t>(sizeof(BF16));
}

void Fold::mix(const Engine& engine, const BF16* input, int64_t image, int64_t y, BF16* to) const {
  const int64_t width = window_.in[1], plane = window_.in[0] * width;
  const BF16* const line = input + image * channels_ * plane + y * width;
  // Rows may read beyond the line, but not beyond the tensor.
  const int64_t left = input + batch_ * channels_ * plane - (line + (channels_ - 1) * plane);
  std::fill_n(to, window_.pad_begin[1] * channels_, BF16{});
  BF16* const mixed = to + window_.pad_begin[1] * channels_;
  const int64_t all = ceil_div(width * channels_, kDepth);
  for (int64_t phase = 0; phase < channels_; ++phase) {
    const int64_t first = phase * kDepth / channels_;
    std::array<const BF16*, kMostChannels> lines;
    for (int64_t c = 0; c < channels_; ++c)
      lines[static_cast<size_t>(c)] = line + c * plane + first;
    RowPermute permute;
    permute.lines = lines.data();
    permute.count = channels_;
    permute.orders = mixing_.data() + phase * channels_ * kDepth;
    permute.step = kDepth;
    permute.to = mixed + phase * kDepth;
    permute.to_step = channels_ * kDepth;
    const int64_t wanted = ceil_div(all - phase, channels_);
    permute.rows = std::clamp<int64_t>((left - first) / kDepth, 0, wanted);
    engine.permute_rows(permute);
    for (int64_t row = permute.rows; row < wanted; ++row) {
      const int64_t begin = (row * channels_ + phase) * kDepth;
      for (int64_t i = begin; i < std::min(begin + kDepth, width * channels_); ++i)
        mixed[i] = line[i % channels_ * plane + i / channels_];
    }
  }
  std::fill(mixed + width * channels_,
            to + std::max(seen_, window_.pad_begin[1] + width) * channels_, BF16{});
}

void Fold::run(const Engine& engine, const BF16* input, int64_t image, int64_t top, int64_t end,
               BF16* scratch, BF16* to) const {
  const Window& w = window_;
  const int64_t kernel = w.kernel[0];
  scratch += kDepth;
  BF16* const zeros = scratch + kernel * pitch_;  // a line of the pads
  std::fill_n(zeros, pitch_, BF16{});
  int64_t next = 0;  // lines before it are mixed, as far as they are still needed
  for (int64_t y = top; y < end; ++y, to += w.out[1] * kDepth) {
    const int64_t first = y * w.stride[0] - w.pad_begin[0];
    std::array<const BF16*, kDepth> lines;
    for (int64_t i = 0; i < kernel; ++i) {
      const int64_t from = first + i;
      if (from < 0 || from >= w.in[0]) {
        lines[static_cast<size_t>(i)] = zeros;
        continue;
      }
      BF16* const mixed = scratch + from % kernel * pitch_;
      if (y == top || from >= next) mix(engine, input, image, from, mixed);
      next = std::max(next, from + 1);
      lines[static_cast<size_t>(i)] = mixed;
    }
    RowBlend blend;
    blend.lines = lines.data();
    blend.count = kernel;
    blend.width = w.kernel[1] * channels_;
    blend.masks = masks_.data();
    blend.step = w.stride[1] * channels_;
    blend.rows = w.out[1];
    blend.to = to;
    engine.blend_lines(blend);
  }
}

}  // namespace anynpu::ops::conv
