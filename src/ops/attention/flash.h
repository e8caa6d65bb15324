// SPDX-License-Identifier: Apache-2.0
// FlashAttention (domain "anynpu"): attention with a KV cache and sequence lengths given at run
// time. Tiled with online softmax: the matrix of scores (query rows x keys) is never stored.
//   Y[h] = softmax(scale * Q[h] * K[g]^T + bias, mask) * V[g],   g = h / (heads / kv_heads)
// Layouts are strings of axes: B batch, N heads, S sequence length, D head size, H = N * D, T
// packed tokens of all samples (the lengths are then cumulative). "NZ" is N x D/16 x S x 16, its
// last axis 32 for types of one byte. With a block table (paged attention) the first axis of the
// caches counts pages of S tokens, and page table[b][n] holds the tokens [n * S, (n + 1) * S) of
// sample b. Quantised keys and values are read as (x + offset) * scale.
#pragma once

#include <array>
#include <string>

#include "ops/attention/attention.h"

namespace anynpu::ops::attention {

// Inputs of the operator. Those behind V are optional.
enum FlashInput : size_t {
  kFlashQuery,
  kFlashKey,
  kFlashValue,
  kFlashMask,        // not 0: masked out; broadcasts to batch x heads x query rows x keys
  kFlashBias,        // added to the scores; broadcasts as the mask. Or ALiBi slopes: BiasKind
  kFlashRowLengths,  // int64, query rows of each sample; cumulative where the layout has T
  kFlashKeyLengths,  // the same of keys
  kFlashBlockTable,  // int64, batch x pages
  // Of quantised caches: f32, rank 4.
  kFlashKeyScale,
  kFlashKeyOffset,
  kFlashValueScale,
  kFlashValueOffset,
  // The rotary part of each head: its dot products are added.
  kFlashQueryRope,
  kFlashKeyRope,
  kFlashSink,         // f32, per head: attention sink, a score without a value
  kFlashDropoutMask,  // uint8, a bit for each probability: 0 drops it
  // int64, one: sequences are aligned right, and end this many tokens before the end of their axis.
  kFlashRowPadding,
  kFlashKeyPadding,
  kFlashInputs
};
// Outputs: Y, and the log-sum-exp, maximum and sum of exponentials of each query row's scores.
enum FlashOutput : size_t { kFlashY, kFlashLogSumExp, kFlashMax, kFlashSum, kFlashOutputs };

// FlashAttentionGrad, the backward pass: these inputs follow those of the forward pass, of which
// block table, scales, sink and padding are not supported. Outputs, float32: gradients of Q, K, V
// and the rotary parts, each in the layout of its tensor.
enum FlashGradInput : size_t {
  kFlashGradY = kFlashInputs,
  kFlashResult,
  kFlashGradLogSumExp,
  kFlashGradInputs
};
enum FlashGradOutput : size_t {
  kFlashGradQ,
  kFlashGradK,
  kFlashGradV,
  kFlashGradQueryRope,
  kFlashGradKeyRope
};

// Which keys a row sees; the numbers are those of the vendor's sparse modes.
enum class KeyMode : uint8_t {
  mask = 0,
  whole_mask = 1,
  left_causal = 2,   // causal, first row aligned with the first key
  right_causal = 3,  // causal, last row aligned with the last key
  band = 4,          // sliding window: `before` and `after` the diagonal of right_causal
  prefix_mask = 5,
  prefix = 6,             // right_causal, and the first keys of each sample
  right_causal_band = 7,  // samples: right_causal; the last one: band
  band_left_causal = 8,   // samples: left_causal; the first one: band
};

// The bias: a tensor that is added after or before the scale, or ALiBi slopes, which are multiplied
// by the distance of row and key (or by its square root). The numbers are the vendor's pse types.
enum class BiasKind : uint8_t { after_scale = 0, before_scale = 1, alibi = 2, sqrt_alibi = 3 };

// A KV cache: keys, values, or the rotary part of keys.
struct FlashCache {
  size_t input = 0;
  DType type = DType::f32;
  int64_t size = 0;                   // of a head
  HeadSteps steps;                    // batch: of a page where there is a block table
  int64_t chunk = 0, chunk_step = 0;  // NZ: contiguous elements, and the stride of such chunks
  int64_t units = 0;                  // samples or pages
  int64_t length = 0;                 // tokens of one
  // 4 steps each: unit, head, token, element; 0 = repeated. No input: 0.
  size_t scale_input = 0, offset_input = 0;
  std::array<int64_t, 4> scale_steps{}, offset_steps{};
};

// One sample of a run.
struct FlashSample {
  int64_t first_row = 0, rows = 0, first_key = 0, keys = 0;
  int64_t first_dropout_bit = 0;
};

struct FlashShape {
  int64_t batch = 0, heads = 1, kv_heads = 1, size = 0, value_size = 0, rope_size = 0;
  int64_t rows = 0;  // the most that a sample can have
  int64_t columns = 0;
  HeadSteps q, rope_q, y, stats;
  FlashCache key, value, rope;
  bool packed_rows = false, packed_keys = false;  // layout T: lengths are cumulative
  bool paged = false;
  bool scales_by_sample = false;  // although the cache is paged
  int64_t most_keys = INT64_MAX;  // of a sample: scales end there
  int64_t table_columns = 0;
  float scale = 1, keep_prob = 1;
  int64_t dropout_bits = 0;
  KeyMode mode = KeyMode::mask;
  int64_t before = 0, after = 0;
  std::vector<int64_t> prefixes;
  BiasKind bias_kind = BiasKind::after_scale;
  int64_t row_start = 0, key_start = 0;  // positions of the first row and key, for ALiBi
  std::array<int64_t, 4> mask_steps{}, bias_steps{};
  std::array<bool, kFlashInputs> has{};

  int64_t group() const { return heads / kv_heads; }
  bool reads_mask() const {
    return has[kFlashMask] &&
           (mode == KeyMode::mask || mode == KeyMode::whole_mask || mode == KeyMode::prefix_mask);
  }
  // The keys that row `row` of sample `b` sees, before the mask.
  KeyRange keys_of(const FlashSample& sample, int64_t b, int64_t row) const;
  // -slope * |row - column|, or its square root.
  double alibi_bias(double slope, int64_t row, int64_t column) const;
};

Status flash_rule(OpContext& context);
// All extents known.
Result<FlashShape> flash_shape_of(const OpContext& context);

// Reads and checks the lengths and the block table of one run; `samples` has shape.batch elements.
Status read_samples(const FlashShape& shape, const RunArgs& args, const std::string& label,
                    FlashSample* samples);
// Rows of no sample: Y and sums are 0, log-sum-exp is infinite.
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
