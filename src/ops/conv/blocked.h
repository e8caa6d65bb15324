// SPDX-License-Identifier: Apache-2.0
// Convolution over blocked channels on register tiles (simd/tile.h, tile_bf16.h, tile_quant.h):
// f32, bf16 or bytes, one to three spatial dimensions, weights and bias constant. Splits into
// packing (blocked_pack.cpp) and running (blocked.cpp).
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/align.h"
#include "ops/conv/conv.h"
#include "ops/quantize/requantize.h"
#include "ops/simd/tile.h"
#include "ops/simd/tile_bf16.h"
#include "ops/simd/tile_quant.h"

namespace anynpu::ops::conv {

// The elements that are multiplied: one, pairs of two, or four at a time.
enum class BlockedKind : uint8_t { f32, bf16, bytes };

// How weights are split into groups, panels and runs; independent of the input size.
struct BlockedWeights {
  int64_t group = 1;                            // after merging groups narrower than a block
  int64_t merged = 1;                           // groups of the node in one of ours
  int64_t in_channels = 0;                      // of one group of ours
  int64_t out_channels = 0;                     // of one group of ours
  int64_t in_per_group = 0, out_per_group = 0;  // of the node
  int64_t kernel_d = 1, kernel_h = 1, kernel_w = 1;
  bool interleaved = false;    // few channels: pixels of `in_channels` floats instead of blocks
  bool joined_columns = true;  // one run covers a whole kernel row (dilation 1 across)
  int64_t panel_blocks = 2;
  BlockedKind kind = BlockedKind::f32;  // the bias is f32 in all of them

  int64_t in_blocks() const { return interleaved ? 1 : ceil_div(in_channels, 16); }
  int64_t out_blocks() const { return ceil_div(out_channels, 16); }
  int64_t panels() const { return ceil_div(out_blocks(), panel_blocks); }
  // Elements that are multiplied at once, and bytes of each.
  int64_t together() const {
    return kind == BlockedKind::bytes ? 4 : kind == BlockedKind::bf16 ? 2 : 1;
  }
  size_t element_bytes() const { return static_cast<size_t>(4 / together()); }
  // Elements of a pixel: those that are multiplied at once must not cross from one to the next.
  int64_t pixel_floats() const { return interleaved ? round_up(in_channels, together()) : 16; }
  int64_t taps() const { return kernel_d * kernel_h * kernel_w; }
  int64_t runs() const {
    return in_blocks() * kernel_d * kernel_h * (joined_columns ? 1 : kernel_w);
  }
  int64_t run_length() const { return pixel_floats() * (joined_columns ? kernel_w : 1); }
  // What a run multiplies. With gaps between columns the blocks of a tap follow each other, so that
  // a tile may leave out taps that lie in the pads.
  struct Run {
    int64_t block, slice, row, column;
  };
  Run run_at(int64_t run) const {
    if (joined_columns) {
      const int64_t row = run % (kernel_d * kernel_h);
      return {run / (kernel_d * kernel_h), row / kernel_h, row % kernel_h, 0};
    }
    const int64_t tap = run / in_blocks(), row = tap / kernel_w;
    return {run % in_blocks(), row / kernel_h, row % kernel_h, tap % kernel_w};
  }
  int64_t blocks_of(int64_t panel) const {
    return std::min(panel_blocks, out_blocks() - panel * panel_blocks);
  }
  // The runs of a panel that have weights other than the zeros between merged groups.
  struct Runs {
    int64_t first, count;
  };
  Runs runs_of(int64_t panel) const {
    if (merged == 1 || interleaved || !joined_columns) return {0, runs()};
    const int64_t begin = panel * panel_blocks * 16;
    const int64_t end = std::min(out_channels, begin + blocks_of(panel) * 16);
    const int64_t first = begin / out_per_group * in_per_group / 16;
    const int64_t last = ceil_div(((end - 1) / out_per_group + 1) * in_per_group, int64_t{16});
    return {first * kernel_d * kernel_h, (last - first) * kernel_d * kernel_h};
  }
  // Offsets in elements from the start of the packed bytes.
  int64_t panel_offset(int64_t g, int64_t panel) const {
    return (g * out_blocks() + panel * panel_blocks) * 16 * runs() * run_length();
  }
  int64_t bias_offset() const { return group * out_blocks() * 16 * runs() * run_length(); }
  size_t bias_start() const { return static_cast<size_t>(bias_offset()) * element_bytes(); }
  int64_t stored_channels() const { return group * out_blocks() * 16; }
  // Behind the weights: bias, and for bytes the scales of the sums and what the sums start with.
  size_t scale_start() const {
    return bias_start() + static_cast<size_t>(stored_channels()) * sizeof(float);
  }
  size_t sum_start() const {
    return scale_start() + static_cast<size_t>(stored_channels()) * sizeof(float);
  }
  size_t bytes() const {
    if (kind != BlockedKind::bytes) return scale_start();
    return sum_start() + static_cast<size_t>(stored_channels()) * sizeof(int32_t);
  }

  // `weight` as in the model (O, I / group, kernel...), `bias` null or O values.
  void pack(const float* weight, const float* bias, std::byte* packed) const;
};

// The split of a node's weights, or why these kernels cannot run it.
Result<BlockedWeights> blocked_weights_of(const OpContext& context, int64_t panel_blocks);

// `tiles` of f32; bf16 has one kind of tiles.
Result<std::unique_ptr<KernelPlan>> plan_blocked_conv(const OpContext& context,
                                                      const BlockedWeights& weights,
                                                      const TileSet& tiles);

template <Isa isa>
Status can_run_blocked_conv(const OpContext& context);
template <Isa isa>
Result<std::unique_ptr<Kernel>> create_blocked_conv(const OpContext& context);

// QuantizedConv: `requantize` says what the bytes stand for.
Result<std::unique_ptr<KernelPlan>> plan_quantized_conv(const OpContext& context,
                                                        const BlockedWeights& weights,
                                                        const quantize::Requantize& requantize);

Status can_run_bf16_conv(const OpContext& context);
Result<std::unique_ptr<Kernel>> create_bf16_conv(const OpContext& context);

}  // namespace anynpu::ops::conv
