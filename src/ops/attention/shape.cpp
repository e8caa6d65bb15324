// SPDX-License-Identifier: Apache-2.0
// What the operators of attention compute, read from their operands and attributes.
#include <algorithm>
#include <cmath>

#include "ops/attention/attention.h"
#include "ops/broadcast.h"
#include "ops/runtime_params.h"

namespace anynpu::ops::attention {

namespace {

// batch x length x heads * size, or batch x heads x length x size.
HeadSteps beside(int64_t length, int64_t heads, int64_t size) {
  return {length * heads * size, size, heads * size};
}
HeadSteps stacked(int64_t length, int64_t heads, int64_t size) {
  return {heads * length * size, length * size, size};
}

// A tensor of heads in either form; size -1 when the width is not a multiple of the heads.
struct HeadTensor {
  int64_t batch = 0, heads = 0, length = 0, size = 0;

  static HeadTensor of(const Shape& shape, int64_t heads) {
    if (shape.size() == 4) return {shape[0], shape[1], shape[2], shape[3]};
    const bool fits = heads > 0 && (shape[2] == kDynamicDim || shape[2] % heads == 0);
    const int64_t size = !fits || shape[2] == kDynamicDim ? -1 : shape[2] / heads;
    return {shape[0], heads, shape[1], size};
  }
};

Status read_mask(const OpContext& context, AttentionShape& a, bool may_be_short) {
  a.has_mask = context.has_input(3);
  a.mask_columns = a.columns;
  if (!a.has_mask) return {};
  Shape mask = context.inputs[3].shape;
  const Shape full = {a.batch, a.heads, a.rows, a.columns};
  const Shape given = mask;
  if (may_be_short && !mask.empty() && mask.back() < a.columns) {
    a.mask_columns = mask.back();
    mask.back() = a.columns;
  }
  const auto both = broadcast(mask, full);
  if (!both.ok() || *both != full) {
    return fail(Code::shape_mismatch, "{}: the mask is {}, expected a shape that broadcasts to {}",
                context.label(), to_string(given), to_string(full));
  }
  int64_t step = 1;
  for (size_t i = 0; i < given.size(); ++i) {
    const int64_t extent = given[given.size() - 1 - i];
    const bool repeats = extent == 1 && !(i == 0 && a.mask_columns < a.columns);
    a.mask_steps[3 - i] = repeats ? 0 : step;
    step *= extent;
  }
  return {};
}

Result<AttentionShape> fused_shape_of(const OpContext& context) {
  const Shape &q = context.inputs[0].shape, &k = context.inputs[1].shape,
              &v = context.inputs[2].shape;
  AttentionShape a;
  a.heads = a.kv_heads = context.int_attr("heads");
  bool fits = q.size() == 3 && k.size() == 3 && v.size() == 3 && a.heads > 0;
  fits = fits && q[0] == k[0] && q[0] == v[0] && k[1] == v[1] && q[2] == k[2] &&
         q[2] % a.heads == 0 && v[2] % a.heads == 0;
  if (!fits) {
    return fail(
        Code::shape_mismatch,
        "{}: Q is {}, K is {}, V is {} for {} heads; expected batch x length x heads * size",
        context.label(), to_string(q), to_string(k), to_string(v), a.heads);
  }
  a.batch = q[0], a.rows = q[1], a.columns = k[1];
  a.size = q[2] / a.heads, a.value_size = v[2] / a.heads;
  a.scale = context.float_attr("scale");
  a.q = beside(a.rows, a.heads, a.size);
  a.y = beside(a.rows, a.heads, a.value_size);
  a.key.read = a.key.given = beside(a.columns, a.heads, a.size);
  a.value.read = a.value.given = beside(a.columns, a.heads, a.value_size);
  ANYNPU_TRY(read_mask(context, a, false));
  return a;
}

Status check_window(const OpContext& context, int64_t size, const char* name) {
  if (size >= -1) return {};
  return fail(Code::invalid_argument, "{}: {} is {}, expected -1 or more", context.label(), name,
              size);
}

Status read_attributes(const OpContext& context, AttentionShape& a) {
  a.scale = context.has_attr("scale") ? context.float_attr("scale")
                                      : 1 / std::sqrt(static_cast<float>(a.size));
  a.softcap = context.float_attr("softcap");
  a.causal = context.int_attr("is_causal") != 0;
  a.zero_if_shut = true;
  if (context.schema->since >= 25) {
    a.left = context.int_attr("left_window_size"), a.right = context.int_attr("right_window_size");
    ANYNPU_TRY(check_window(context, a.left, "left_window_size"));
    ANYNPU_TRY(check_window(context, a.right, "right_window_size"));
  }
  // Scores are always kept in float32 or wider; the attribute must name a float.
  const int64_t precision = context.int_attr("softmax_precision");
  if (precision != 0 && precision != 1 && precision != 10 && precision != 11 && precision != 16) {
    return fail(Code::invalid_argument,
                "{}: softmax_precision is {}, expected 1 (FLOAT), 10 (FLOAT16), 11 (DOUBLE) or 16 "
                "(BFLOAT16)",
                context.label(), precision);
  }
  const int64_t mode = context.int_attr("qk_matmul_output_mode");
  if (mode < 0 || mode > 3) {
    return fail(Code::invalid_argument, "{}: qk_matmul_output_mode is {}, expected 0 to 3",
                context.label(), mode);
  }
  if (context.outputs.size() > 3 && context.outputs[3].present)
    a.scores = static_cast<Scores>(mode + 1);
  return {};
}

// The tensors of past keys and values, and the lengths of an outer cache, fit the rest.
Status read_cache(const OpContext& context, AttentionShape& a) {
  a.has_past = context.has_input(4);
  if (a.has_past != context.has_input(5)) {
    return fail(Code::invalid_argument, "{}: past_key and past_value are given together or not",
                context.label());
  }
  a.has_lengths = context.has_input(6);
  if (a.has_lengths && (a.has_past || context.inputs[6].shape != Shape{a.batch})) {
    return fail(Code::invalid_argument,
                "{}: nonpad_kv_seqlen is {}{}, expected {} lengths and no past", context.label(),
                to_string(context.inputs[6].shape), a.has_past ? " beside past_key" : "", a.batch);
  }
  if (!a.has_past) return {};
  const Shape &keys = context.inputs[4].shape, &values = context.inputs[5].shape;
  a.past = keys.size() == 4 ? keys[2] : 0;
  if (keys != Shape{a.batch, a.kv_heads, a.past, a.size} ||
      values != Shape{a.batch, a.kv_heads, a.past, a.value_size}) {
    return fail(Code::shape_mismatch,
                "{}: past_key is {} and past_value {}, expected batch {} x {} heads x length x {} "
                "and {}",
                context.label(), to_string(keys), to_string(values), a.batch, a.kv_heads, a.size,
                a.value_size);
  }
  a.columns += a.past;
  return {};
}

Result<AttentionShape> onnx_shape_of(const OpContext& context) {
  const Shape &sq = context.inputs[0].shape, &sk = context.inputs[1].shape,
              &sv = context.inputs[2].shape;
  const size_t rank = sq.size();
  AttentionShape a;
  bool fits = (rank == 3 || rank == 4) && sk.size() == rank && sv.size() == rank;
  HeadTensor q, k, v;
  if (fits) {
    q = HeadTensor::of(sq, context.int_attr("q_num_heads"));
    k = HeadTensor::of(sk, context.int_attr("kv_num_heads"));
    v = HeadTensor::of(sv, context.int_attr("kv_num_heads"));
    fits = q.size >= 0 && q.size == k.size && v.size >= 0 && q.batch == k.batch &&
           q.batch == v.batch && k.length == v.length && k.heads == v.heads && k.heads > 0 &&
           q.heads % k.heads == 0;
  }
  if (!fits) {
    return fail(Code::shape_mismatch,
                "{}: Q is {}, K is {}, V is {} with q_num_heads {} and kv_num_heads {}; expected "
                "batch x heads x length x size, or batch x length x heads * size with both numbers",
                context.label(), to_string(sq), to_string(sk), to_string(sv),
                context.int_attr("q_num_heads"), context.int_attr("kv_num_heads"));
  }
  a.batch = q.batch, a.heads = q.heads, a.kv_heads = k.heads, a.rows = q.length;
  a.columns = k.length, a.size = q.size, a.value_size = v.size;
  const auto steps = rank == 3 ? beside : stacked;
  a.q = steps(a.rows, a.heads, a.size);
  a.y = steps(a.rows, a.heads, a.value_size);
  a.key.given = a.key.read = steps(a.columns, a.kv_heads, a.size);
  a.value.given = a.value.read = steps(a.columns, a.kv_heads, a.value_size);
  ANYNPU_TRY(read_cache(context, a));
  if (a.has_past) {
    a.key.read = stacked(a.columns, a.kv_heads, a.size);
    a.value.read = stacked(a.columns, a.kv_heads, a.value_size);
  }
  ANYNPU_TRY(read_attributes(context, a));
  ANYNPU_TRY(read_mask(context, a, true));
  return a;
}

int64_t sum(int64_t a, int64_t b) {
  return a == kDynamicDim || b == kDynamicDim ? kDynamicDim : a + b;
}

}  // namespace

KeyRange AttentionShape::keys_of(int64_t b, int64_t row, const int64_t* lengths) const {
  const int64_t length = lengths ? std::clamp<int64_t>(lengths[b], 0, columns) : columns;
  KeyRange range{0, std::min(length, mask_columns)};
  const int64_t own = row + (lengths ? length - rows : past), most = rows + columns;
  if (causal) range.last = std::min(range.last, own + 1);
  if (right >= 0) range.last = std::min(range.last, own + 1 + std::min(right, most));
  if (left >= 0) range.first = std::max<int64_t>(0, own - std::min(left, most));
  return range;
}

Result<AttentionShape> attention_shape_of(const OpContext& context) {
  const bool fused = context.schema->name == "FusedAttention";
  ANYNPU_ASSIGN(AttentionShape a, fused ? fused_shape_of(context) : onnx_shape_of(context));
  a.key.type = context.inputs[1].dtype, a.value.type = context.inputs[2].dtype;
  a.key.size = a.size, a.value.size = a.value_size;
  a.key.input = 1, a.value.input = 2;
  a.key.past_input = 4, a.value.past_input = 5;
  a.key.output = 1, a.value.output = 2;
  return a;
}

Status fused_attention_rule(OpContext& context) {
  context.outputs[0].dtype = context.inputs[0].dtype;
  for (const Operand& input : context.inputs) {
    if (input.present && !input.fully_known()) return {};
  }
  ANYNPU_ASSIGN(const AttentionShape a, attention_shape_of(context));
  return set_output(context, 0, context.inputs[0].dtype, {a.batch, a.rows, a.heads * a.value_size});
}

Status attention_rule(OpContext& context) {
  const Operand &q = context.inputs[0], &k = context.inputs[1], &v = context.inputs[2];
  const DType types[] = {q.dtype, k.dtype, v.dtype, q.dtype};
  for (size_t i = 0; i < context.outputs.size() && i < 4; ++i) context.outputs[i].dtype = types[i];
  bool known = true;
  for (const Operand& input : context.inputs) known &= !input.present || input.fully_known();
  if (known) ANYNPU_TRY(attention_shape_of(context).status());
  if (!q.has_shape || !k.has_shape || !v.has_shape || q.rank() != k.rank() ||
      q.rank() != v.rank() || (q.rank() != 3 && q.rank() != 4))
    return {};
  const auto tq = HeadTensor::of(q.shape, context.int_attr("q_num_heads")),
             tk = HeadTensor::of(k.shape, context.int_attr("kv_num_heads")),
             tv = HeadTensor::of(v.shape, context.int_attr("kv_num_heads"));
  int64_t total = tk.length;
  if (context.has_input(4)) {
    const Operand& past = context.inputs[4];
    total = past.has_shape && past.rank() == 4 ? sum(total, past.shape[2]) : kDynamicDim;
  }
  ANYNPU_TRY(set_output(context, 1, types[1], {tq.batch, tk.heads, total, tk.size}));
  ANYNPU_TRY(set_output(context, 2, types[2], {tq.batch, tk.heads, total, tv.size}));
  ANYNPU_TRY(set_output(context, 3, types[3], {tq.batch, tq.heads, tq.length, total}));
  if (q.rank() == 4)
    return set_output(context, 0, types[0], {tq.batch, tq.heads, tq.length, tv.size});
  const int64_t width = tv.size < 0 ? kDynamicDim : tq.heads * tv.size;
  return set_output(context, 0, types[0], {tq.batch, tq.length, width});
}

}  // namespace anynpu::ops::attention
