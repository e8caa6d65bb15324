// SPDX-License-Identifier: Apache-2.0
// LinearAttention, CausalConvWithState and RotaryEmbedding.
#include <cmath>

#include "cuda/kernels/item_kernel.h"
#include "cuda/kernels/jit_kernel.h"
#include "cuda/kernels/kernels.h"

namespace anynpu::device::cuda {

namespace {

using ops::OpContext;

constexpr ops::DTypeSet kTypes{DType::f32, DType::f16, DType::bf16};

std::string number(int64_t value) { return format("{}", value); }
std::string flag(bool value) { return value ? "true" : "false"; }

// ---- LinearAttention: a block for each head of each sample. Each thread owns columns of the state
// matrix, which depend on each other only through the key and the query.

constexpr const char* kLinear = R"(
  const i64 b = i / @kv_heads, h = i % @kv_heads;
  float* const state = (float*)work + i * @size * @value_size;
  for (int c = threadIdx.x; c < @value_size; c += blockDim.x) {
    for (int d = 0; d < @size; ++d)
      state[d * @value_size + c] = @past;
    for (i64 t = 0; t < @length; ++t) {
      const i64 token = b * @length + t, at = token * @kv_heads + h;
      float value = load(x2[at * @value_size + c]);
      @fade
      @correct
      for (int d = 0; d < @size; ++d) state[d * @value_size + c] += load(x1[at * @size + d]) * value;
      for (int g = 0; g < @group; ++g) {
        const i64 head = token * @heads + h * @group + g;
        float sum = 0;
        for (int d = 0; d < @size; ++d) sum += load(x0[head * @size + d]) * state[d * @value_size + c];
        store(y0[head * @value_size + c], sum * (float)@scale);
      }
    }
    if (@keep) for (int d = 0; d < @size; ++d)
      store(@present[(i * @size + d) * @value_size + c], state[d * @value_size + c]);
  }
)";

ops::PlanResult plan_linear(const OpContext& context) {
  const int64_t heads = context.int_attr("q_num_heads"),
                kv_heads = context.int_attr("kv_num_heads");
  const Shape &q = context.inputs[0].shape, &v = context.inputs[2].shape;
  const int64_t size = q[2] / heads, value_size = v[2] / kv_heads;
  double scale = static_cast<double>(context.float_attr("scale"));
  if (scale == 0) scale = static_cast<double>(1 / std::sqrt(static_cast<float>(size)));
  const bool gated = context.has_input(4), corrected = context.has_input(5);
  const bool per_key = gated && context.inputs[4].shape[2] != kv_heads;
  const bool per_head = corrected && context.inputs[5].shape[2] != 1;
  const bool keep = context.outputs.size() > 1 && context.outputs[1].present;
  const std::string n = number(size), wide = number(value_size);
  std::string fade, correct;
  if (gated) {
    fade = format("for (int d = 0; d < {0}; ++d) state[d * {1} + c] *= exp((float)load(x4[{2}]));",
                  n, wide, per_key ? format("at * {} + d", n) : "at");
  }
  if (corrected) {
    correct = format(
        "float known = 0; for (int d = 0; d < {0}; ++d) known += (float)load(x1[at * {0} + d]) * "
        "state[d * {1} + c]; value = (float)load(x5[{2}]) * (value - known);",
        n, wide, per_head ? "at" : "token");
  }
  ItemKernel kernel;
  kernel.compute = "float";
  kernel.items = static_cast<size_t>(q[0] * kv_heads);
  kernel.block_threads = 128;
  kernel.workspace_bytes = kernel.items * static_cast<size_t>(size * value_size) * sizeof(float);
  kernel.body = filled(
      kLinear,
      {{"kv_heads", number(kv_heads)},
       {"heads", number(heads)},
       {"group", number(heads / kv_heads)},
       {"size", n},
       {"value_size", wide},
       {"length", number(q[1])},
       {"scale", literal(scale)},
       {"past", context.has_input(3) ? format("(float)load(x3[(i * {} + d) * {} + c])", n, wide)
                                     : std::string("0")},
       {"fade", fade},
       {"correct", correct},
       {"keep", flag(keep)},
       {"present", keep ? "y1" : "y0"}});
  return plan_items(context, kernel);
}

// ---- CausalConvWithState: output 1 holds the last positions, which are part of the items.

constexpr const char* kCausal = R"(
  const i64 row = i / @places, p = i % @places, channel = row % @channels;
  // Position j of the past and the present together.
#define AT(j) ((j) < @kept ? @past : (float)load(x0[row * @length + (j) - @kept]))
  if (p < @length) {
    float s = @bias;
    for (int tap = 0; tap < @taps; ++tap) { const i64 j = p + tap; s += (float)load(x1[channel * @taps + tap]) * AT(j); }
    if (@swish) s /= 1 + exp(-s);
    store(y0[row * @length + p], s);
  } else {
    const i64 k = p - @length, j = @length + k; (void)k;
    @write
  }
)";

ops::PlanResult plan_causal(const OpContext& context) {
  const Shape &x = context.inputs[0].shape, &w = context.inputs[1].shape;
  const int64_t taps = w[2], kept = taps - 1;
  const bool keep = context.outputs.size() > 1 && context.outputs[1].present && kept > 0;
  const int64_t places = x[2] + (keep ? kept : 0);
  ItemKernel kernel;
  kernel.compute = "float";
  kernel.items = static_cast<size_t>(x[0] * x[1] * places);
  kernel.body = filled(
      kCausal,
      {{"places", number(places)},
       {"channels", number(x[1])},
       {"length", number(x[2])},
       {"taps", number(taps)},
       {"kept", number(kept)},
       {"past", context.has_input(3) ? format("(float)load(x3[row * {} + (j)])", kept) : "0.0f"},
       {"bias", context.has_input(2) ? "load(x2[channel])" : "0"},
       {"swish", flag(context.string_attr("activation") != "none")},
       {"write", keep ? format("store(y1[row * {} + k], AT(j));", kept) : std::string()}});
  return plan_items(context, kernel);
}

// ---- RotaryEmbedding: batch x heads x length x size, or batch x length x (heads * size).

constexpr const char* kRotary = R"(
  const i64 at = i % @size, token = @token, half = @half;
  if (at >= 2 * half) { y0[i] = x0[i]; continue; }
  const bool second = @interleaved ? at % 2 : at >= half;
  const i64 pair = @interleaved ? at / 2 : at % half;
  const i64 other = @interleaved ? i - at + (at ^ 1) : (second ? i - half : i + half);
  i64 row = token;
  @position
  const float c = load(x1[row * half + pair]), s = load(x2[row * half + pair]);
  const float own = load(x0[i]), far = load(x0[other]);
  store(y0[i], second ? s * far + c * own : c * own - s * far);
)";

ops::PlanResult plan_rotary(const OpContext& context) {
  const Shape& x = context.inputs[0].shape;
  const bool split = x.size() == 4;
  const int64_t heads = split ? x[1] : context.int_attr("num_heads");
  const int64_t size = split ? x[3] : x[2] / heads, length = split ? x[2] : x[1];
  const int64_t stated = context.int_attr("rotary_embedding_dim");
  const int64_t half = (stated == 0 ? size : stated) / 2;
  std::string position;
  if (context.has_input(3)) {
    const int64_t positions = context.inputs[1].shape[0];
    position = format(
        "row = x3[token]; if (row < 0 || row >= {0}) {{ fault(board, number, row, {0}); "
        "store(y0[i], 0.0f); "
        "continue; }}",
        positions);
  }
  ItemKernel kernel;
  kernel.compute = "float";
  kernel.items = static_cast<size_t>(element_count(x));
  kernel.body =
      filled(kRotary, {{"size", number(size)},
                       {"token", split ? format("i / {} * {} + i / {} % {}", heads * length * size,
                                                length, size, length)
                                       : format("i / {}", heads * size)},
                       {"half", number(std::max<int64_t>(half, 1))},
                       {"interleaved", flag(context.int_attr("interleaved") != 0)},
                       {"position", position}});
  if (half == 0) kernel.body = "  y0[i] = x0[i];\n";
  return plan_items(context, kernel);
}

}  // namespace

void add_linear_attention(std::vector<ops::KernelDef>& kernels) {
  kernels.push_back(item_kernel("LinearAttention", kTypes, ops::create_plain<plan_linear>));
  kernels.push_back(item_kernel("CausalConvWithState", kTypes, ops::create_plain<plan_causal>));
  kernels.push_back(item_kernel("RotaryEmbedding", kTypes, ops::create_plain<plan_rotary>));
}

}  // namespace anynpu::device::cuda
