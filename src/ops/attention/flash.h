// SPDX-License-Identifier: Apache-2.0
// FlashAttention (domain "anynpu"): attention over caches of keys and values whose lengths come with
// each run, computed piece by piece so that no matrix of rows x columns is ever made.
//   Y[h] = softmax(scale * Q[h] * K[g]^T + shift, mask) * V[g],   g = h / (heads / kv_heads)
// Layouts are texts of axes: B batch, N heads, S length, D size of a head, H = N * D, T the tokens of
// all samples behind each other (then the lengths count them from the first sample on). "NZ" is
// N x D/16 x S x 16, its last axis of 32 for types of one byte. With a block table the first axis of
// the caches counts blocks, and table[b][n] holds the tokens [n * S, (n + 1) * S) of sample b.
// Keys and values that are integers are read as (x + offset) * scale.
#pragma once

#include <array>
#include <string>

#include "ops/attention/attention.h"

namespace anynpu::ops::attention {

// Inputs of the operator. Those behind V are optional.
enum FlashInput : size_t {
  kFlashQuery, kFlashKey, kFlashValue,
  kFlashMask,          // not 0: shut out; broadcasts to batch x heads x rows x columns
  kFlashShift,         // added to the scores; broadcasts in the same way. Or slopes: see pse_type
  kFlashRowLengths,    // int64, a sample each; counted up where the layout has T
  kFlashKeyLengths,    // the same of keys
  kFlashBlockTable,    // int64, batch x blocks
  kFlashKeyScale, kFlashKeyOffset, kFlashValueScale, kFlashValueOffset,  // f32, rank 4
  kFlashQueryRope, kFlashKeyRope,  // a second part of each head: its products are added
  kFlashSink,          // f32, a head each: one more score that has no value
  kFlashKeep,          // uint8, a bit for each score: 0 drops its weight
  kFlashRowPadding, kFlashKeyPadding,  // int64, one: tokens behind the last; rows end before them
  kFlashInputs
};
// Outputs: Y, log of the sum of powers, largest score and sum of powers of each row.
enum FlashOutput : size_t { kFlashY, kFlashLogSum, kFlashMost, kFlashSum, kFlashOutputs };

// FlashAttentionGrad takes these behind the others, which it reads as the operator does; no block
// table, scales, sink or padding. Outputs, float32, in the layouts of what they belong to: gradients of
// Q, K, V and of the second parts.
enum FlashGradInput : size_t { kFlashGradY = kFlashInputs, kFlashResult, kFlashGradLogSum, kFlashGradInputs };
enum FlashGradOutput : size_t { kFlashGradQ, kFlashGradK, kFlashGradV, kFlashGradQueryRope, kFlashGradKeyRope };

// Which keys a row sees; the numbers are those of the vendor's sparse modes.
enum class KeyMode : uint8_t {
  mask = 0, whole_mask = 1,
  left_causal = 2,   // up to its own, counted from the first
  right_causal = 3,  // up to its own, counted from the last
  band = 4,          // `before` and `after` its own, counted from the last
  prefix_mask = 5,
  prefix = 6,        // right_causal, and the first keys of each sample
  right_causal_band = 7,  // samples: right_causal; the last one: band
  band_left_causal = 8,   // samples: left_causal; the first one: band
};

// What the shift is: a tensor that is added after or before the scale, or slopes of the distance
// between row and column (of its root).
enum class ShiftKind : uint8_t { after_scale = 0, before_scale = 1, slope = 2, root_slope = 3 };

// Keys, values, or the second part of keys.
struct FlashCache {
  size_t input = 0;
  DType type = DType::f32;
  int64_t size = 0;          // of a head
  HeadSteps steps;           // batch: of a block where there is a table
  int64_t chunk = 0, chunk_step = 0;  // NZ: elements that lie together, and from such to the next
  int64_t units = 0;         // samples or blocks
  int64_t length = 0;        // tokens of one
  // 4 steps each: unit, head, token, element; 0 = repeated. No input: 0.
  size_t scale_input = 0, offset_input = 0;
  std::array<int64_t, 4> scale_steps{}, offset_steps{};
};

// One sample of a run.
struct FlashSample {
  int64_t first_row = 0, rows = 0, first_key = 0, keys = 0;
  int64_t keep = 0;  // bits of the samples before it
};

struct FlashShape {
  int64_t batch = 0, heads = 1, kv_heads = 1, size = 0, value_size = 0, rope_size = 0;
  int64_t rows = 0;          // the most that a sample can have
  int64_t columns = 0;
  HeadSteps q, rope_q, y, stats;
  FlashCache key, value, rope;
  bool counted_rows = false, counted_keys = false;  // lengths count from the first sample on
  bool paged = false;
  bool scales_by_sample = false;  // although the cache is in blocks
  int64_t most_keys = INT64_MAX;  // of a sample: scales end there
  int64_t table_columns = 0;
  float scale = 1, keep = 1;
  int64_t keep_bits = 0;
  KeyMode mode = KeyMode::mask;
  int64_t before = 0, after = 0;
  std::vector<int64_t> prefixes;
  ShiftKind shift_kind = ShiftKind::after_scale;
  int64_t row_start = 0, key_start = 0;  // where rows and columns begin, for slopes
  std::array<int64_t, 4> mask_steps{}, shift_steps{};
  std::array<bool, kFlashInputs> has{};

  int64_t group() const { return heads / kv_heads; }
  bool reads_mask() const {
    return has[kFlashMask] &&
           (mode == KeyMode::mask || mode == KeyMode::whole_mask || mode == KeyMode::prefix_mask);
  }
  // The keys that row `row` of sample `b` sees, before the mask.
  KeyRange keys_of(const FlashSample& sample, int64_t b, int64_t row) const;
  // -slope * |row - column|, of the root where it is one.
  double slope_shift(double slope, int64_t row, int64_t column) const;
};

Status flash_rule(OpContext& context);
// All extents known.
Result<FlashShape> flash_shape_of(const OpContext& context);

// Lengths and the block table of one run, checked: `samples` holds shape.batch of them.
Status read_samples(const FlashShape& shape, const RunArgs& args, const std::string& label,
                    FlashSample* samples);
// Zeros, and infinite logarithms, for rows of no sample.
void clear_outputs(const FlashShape& shape, std::span<const Operand> outputs, const RunArgs& args);

PlanResult plan_flash_reference(const OpContext& context);
PlanResult plan_flash_gradient_reference(const OpContext& context);
template <Isa isa>
Result<std::unique_ptr<Kernel>> create_flash_gradient(const OpContext& context);
template <Isa isa>
Status can_run_flash(const OpContext& context);
template <Isa isa>
Result<std::unique_ptr<Kernel>> create_flash(const OpContext& context);

void add_flash_schemas(Registry& registry);

}  // namespace anynpu::ops::attention
