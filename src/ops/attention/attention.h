// SPDX-License-Identifier: Apache-2.0
// Multi-head attention: for each head h of each sample
//   Y[h] = softmax(softcap(scale * Q[h] * K[g]^T) + mask) * V[g],   g = h / (heads / kv_heads)
// FusedAttention (domain "anynpu", made by the compiler) takes Q, K and V as batch x length x
// (heads * size), as a linear layer produces them, so no tensor is transposed. The mask broadcasts
// to batch x heads x rows x columns, and may have its own type. ONNX's Attention takes that form or
// batch x heads x length x size, a cache of past keys and values in front of the current ones, and
// limits on the keys that a row sees.
#pragma once

#include <array>
#include <memory>

#include "ops/plain_kernel.h"
#include "ops/simd/isa.h"

namespace anynpu::ops {
class Registry;
}

namespace anynpu::ops::attention {

// Strides to the row of a head in a tensor, in elements.
struct HeadSteps {
  int64_t batch = 0, head = 0, row = 0;
  int64_t at(int64_t b, int64_t h, int64_t r) const { return b * batch + h * head + r * row; }
};

// K or V: as given, and as attention reads it: with a past, that is the present tensor (past and
// current ones joined, batch x heads x length x size).
struct CachedTensor {
  DType type = DType::f32;
  int64_t size = 0;  // of a head
  HeadSteps given, read;
  size_t input = 0, past_input = 0, output = 0;
};

// The keys [first, last) that a row sees; none when last <= first.
struct KeyRange {
  int64_t first = 0, last = 0;
};

// What the optional output of scores holds.
enum class Scores : uint8_t { none, product, capped, masked, weights };

struct AttentionShape {
  int64_t batch = 0, heads = 1, kv_heads = 1, rows = 0, columns = 0;
  int64_t size = 0;        // of a head in Q and K
  int64_t value_size = 0;  // of a head in V and Y
  float scale = 1, softcap = 0;
  HeadSteps q, y;
  CachedTensor key, value;
  int64_t past = 0;  // columns that come from the cache
  bool has_past = false;

  bool has_mask = false;
  int64_t mask_columns = 0;             // columns after these are masked out
  std::array<int64_t, 4> mask_steps{};  // in elements; 0 = repeated

  bool causal = false;
  int64_t left = -1, right = -1;  // keys seen before and after the row's own; -1 = all
  bool has_lengths = false;       // input 6 holds the number of valid keys of each sample
  bool zero_if_shut = false;      // a fully masked row is 0, not NaN
  Scores scores = Scores::none;

  int64_t group() const { return heads / kv_heads; }
  int64_t mask_offset(int64_t b, int64_t h, int64_t row) const {
    return b * mask_steps[0] + h * mask_steps[1] + row * mask_steps[2];
  }
  // `lengths`: the values of input 6, or null.
  KeyRange keys_of(int64_t b, int64_t row, const int64_t* lengths) const;
};

// The types of the tiled kernels; the mask may have another of these than the rest.
constexpr DTypeSet kTiledTypes{DType::f32, DType::f16, DType::bf16};

// All extents known.
Result<AttentionShape> attention_shape_of(const OpContext& context);

// Shape rules of the two operators.
Status fused_attention_rule(OpContext& context);
Status attention_rule(OpContext& context);

// Present keys or values for one run: written to the output if it is requested, else to `scratch`
// if there is a past. Returns the tensor that attention reads.
const std::byte* join_present(const AttentionShape& a, const CachedTensor& tensor,
                              const RunArgs& args, std::byte* scratch);
// Bytes of `scratch`: 0 unless there is a past and no output for it.
size_t present_bytes(const OpContext& context, const AttentionShape& a, const CachedTensor& tensor);

// Offsets of both in the workspace, in bytes.
struct PresentWorkspace {
  size_t key_at = 0, value_at = 0, end = 0;
};
PresentWorkspace present_workspace(const OpContext& context, const AttentionShape& a, size_t begin);

PlanResult plan_attention_reference(const OpContext& context);

template <Isa isa>
Status can_run_tiled_attention(const OpContext& context);
template <Isa isa>
Result<std::unique_ptr<Kernel>> create_tiled_attention(const OpContext& context);

// For so few rows that packing the keys would take longer than reading them, as in decoding.
template <Isa isa>
Status can_run_few_rows(const OpContext& context);
template <Isa isa>
Result<std::unique_ptr<Kernel>> create_few_rows(const OpContext& context);

void add_attention_schemas(Registry& registry);
void register_rotary(Registry& registry);
void register_linear_attention(Registry& registry);

}  // namespace anynpu::ops::attention
