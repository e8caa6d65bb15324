// SPDX-License-Identifier: Apache-2.0
// FlashAttention: layouts, shapes and attributes of the operands, checked.
#include <algorithm>

#include "ops/attention/flash.h"
#include "ops/runtime_params.h"
#include "tensor/onnx_type.h"

namespace anynpu::ops::attention {

namespace {

// Extents and strides of a tensor of heads.
struct HeadTensor {
  int64_t batch = 1, heads = 1, length = 1, size = 1;
  HeadSteps steps;
  int64_t chunk = 0, chunk_step = 0;
};

Status misfit(const OpContext& context, const char* what, const Shape& shape,
              const std::string& layout) {
  return fail(Code::shape_mismatch, "{}: {} is {}, which is not {}", context.label(), what,
              to_string(shape), layout);
}

// Reads a layout such as "BNSD"; H is split into `heads`.
Result<HeadTensor> read_layout(const OpContext& context, const char* what, const Shape& shape,
                               const std::string& layout, int64_t heads) {
  HeadTensor tensor;
  tensor.heads = heads;
  if (layout == "NZ") {
    if (shape.size() != 5) return misfit(context, what, shape, "blocks x N x D/16 x S x 16");
    tensor.batch = shape[0], tensor.heads = shape[1], tensor.length = shape[3];
    tensor.chunk = shape[4], tensor.size = shape[2] * tensor.chunk;
    tensor.chunk_step = tensor.length * tensor.chunk;
    tensor.steps = {shape[1] * shape[2] * tensor.chunk_step, shape[2] * tensor.chunk_step,
                    tensor.chunk};
    return tensor;
  }
  if (shape.size() != layout.size()) return misfit(context, what, shape, layout);
  int64_t step = 1;
  for (size_t i = layout.size(); i-- > 0; step *= shape[i]) {
    switch (layout[i]) {
      case 'B':
        tensor.batch = shape[i], tensor.steps.batch = step;
        break;
      case 'S':
        tensor.length = shape[i], tensor.steps.row = step;
        break;
      case 'T':
        tensor.length = shape[i], tensor.steps.row = step;
        break;
      case 'N':
        tensor.heads = shape[i], tensor.steps.head = step;
        break;
      case 'D':
        tensor.size = shape[i];
        break;
      case 'H':
        if (heads < 1 || shape[i] % heads != 0) {
          return fail(Code::shape_mismatch, "{}: {} is {}; its width is not a multiple of {} heads",
                      context.label(), what, to_string(shape), heads);
        }
        tensor.size = shape[i] / heads, tensor.steps.head = tensor.size;
        break;
      default:
        return fail(Code::invalid_argument,
                    "{}: the layout is '{}'; expected axes of B, N, S, D, H "
                    "and T",
                    context.label(), layout);
    }
  }
  return tensor;
}

// Steps of a tensor of rank 4 that broadcasts: an extent of 1 is repeated, others are at least
// `least`.
Status steps_of(const OpContext& context, size_t input, const std::array<int64_t, 4>& least,
                std::array<int64_t, 4>& steps) {
  const Shape& shape = context.inputs[input].shape;
  int64_t step = 1;
  for (size_t i = shape.size(); i-- > 0; step *= shape[i]) {
    if (shape.size() != 4 || (shape[i] != 1 && shape[i] < least[i])) {
      return fail(Code::shape_mismatch, "{}: {} is {}; expected one that broadcasts to {}x{}x{}x{}",
                  context.label(), context.schema->inputs[input].name, to_string(shape), least[0],
                  least[1], least[2], least[3]);
    }
    steps[i] = shape[i] == 1 ? 0 : step;
  }
  return {};
}

Status read_cache(const OpContext& context, FlashShape& a, FlashCache& cache, size_t scale_input) {
  const char* const what = cache.input == kFlashKey     ? "K"
                           : cache.input == kFlashValue ? "V"
                                                        : "K rope";
  const Shape& shape = context.inputs[cache.input].shape;
  ANYNPU_ASSIGN(const HeadTensor tensor,
                read_layout(context, what, shape, context.string_attr("kv_layout"), a.kv_heads));
  if (tensor.heads != a.kv_heads) {
    return fail(Code::shape_mismatch, "{}: {} has {} heads; expected {}", context.label(), what,
                tensor.heads, a.kv_heads);
  }
  cache.type = context.inputs[cache.input].dtype;
  cache.size = tensor.size, cache.steps = tensor.steps;
  cache.chunk = tensor.chunk, cache.chunk_step = tensor.chunk_step;
  cache.units = tensor.batch, cache.length = tensor.length;
  if (scale_input == 0) return {};
  a.scales_by_sample = a.paged && context.int_attr("scales_by_sample") != 0;
  const std::array<int64_t, 4> least = {a.scales_by_sample ? a.batch : cache.units, a.kv_heads,
                                        a.scales_by_sample ? 0 : cache.length, cache.size};
  const auto limit = [&](size_t input) {
    const int64_t tokens = context.inputs[input].shape[2];
    if (a.scales_by_sample && tokens > 1) a.most_keys = std::min(a.most_keys, tokens);
  };
  if (context.has_input(scale_input)) {
    cache.scale_input = scale_input;
    ANYNPU_TRY(steps_of(context, scale_input, least, cache.scale_steps));
    limit(scale_input);
  }
  if (context.has_input(scale_input + 1)) {
    cache.offset_input = scale_input + 1;
    ANYNPU_TRY(steps_of(context, scale_input + 1, least, cache.offset_steps));
    limit(scale_input + 1);
  }
  return {};
}

Status read_modes(const OpContext& context, FlashShape& a) {
  const int64_t mode = context.int_attr("mode"), kind = context.int_attr("pse_type");
  if (mode < 0 || mode > 8 || kind < 0 || kind > 3) {
    return fail(Code::invalid_argument,
                "{}: the sparse mode is {} and the kind of pse {}; expected "
                "0 to 8 and 0 to 3",
                context.label(), mode, kind);
  }
  a.mode = static_cast<KeyMode>(mode);
  a.bias_kind = static_cast<BiasKind>(kind);
  // So large that sums with positions stay numbers.
  constexpr int64_t kMost = int64_t{1} << 40;
  a.before = std::clamp(context.int_attr("before"), -kMost, kMost);
  a.after = std::clamp(context.int_attr("after"), -kMost, kMost);
  a.prefixes = context.ints_attr("prefixes");
  a.row_start = context.int_attr("row_start"), a.key_start = context.int_attr("key_start");
  if (a.has[kFlashDropoutMask])
    a.dropout_bits = 8 * element_count(context.inputs[kFlashDropoutMask].shape);
  a.scale = context.float_attr("scale"), a.keep_prob = context.float_attr("keep");
  if (a.mode == KeyMode::prefix && std::ssize(a.prefixes) != a.batch) {
    return fail(Code::invalid_argument,
                "{}: sparse mode 6 has {} prefixes; expected one for each of "
                "{} samples",
                context.label(), a.prefixes.size(), a.batch);
  }
  if (a.has[kFlashDropoutMask] && !(a.keep_prob > 0 && a.keep_prob <= 1)) {
    return fail(Code::invalid_argument,
                "{}: the share that dropout keeps is {}; expected more than 0 "
                "and at most 1",
                context.label(), a.keep_prob);
  }
  return {};
}

Status check_list(const OpContext& context, size_t input, int64_t count) {
  if (!context.has_input(input)) return {};
  if (element_count(context.inputs[input].shape) == count) return {};
  return fail(Code::shape_mismatch, "{}: {} has {} values; expected {}", context.label(),
              context.schema->inputs[input].name, element_count(context.inputs[input].shape),
              count);
}

}  // namespace

Result<FlashShape> flash_shape_of(const OpContext& context) {
  FlashShape a;
  for (size_t i = 0; i < kFlashInputs; ++i) a.has[i] = context.has_input(i);
  a.heads = context.int_attr("heads"), a.kv_heads = context.int_attr("kv_heads");
  if (a.heads < 1 || a.kv_heads < 1 || a.heads % a.kv_heads != 0) {
    return fail(Code::invalid_argument,
                "{}: {} heads of queries share {} of keys; expected a multiple", context.label(),
                a.heads, a.kv_heads);
  }
  const std::string layout = context.string_attr("layout");
  ANYNPU_ASSIGN(const HeadTensor q,
                read_layout(context, "Q", context.inputs[kFlashQuery].shape, layout, a.heads));
  if (q.heads != a.heads) {
    return fail(Code::shape_mismatch, "{}: Q has {} heads; expected {}", context.label(), q.heads,
                a.heads);
  }
  a.q = q.steps, a.size = q.size, a.rows = q.length;
  a.packed_rows = layout.find('T') != layout.npos;
  a.paged = a.has[kFlashBlockTable];
  a.packed_keys = !a.paged && context.string_attr("kv_layout").find('T') != std::string::npos;
  a.batch = a.packed_rows && a.has[kFlashRowLengths]
                ? element_count(context.inputs[kFlashRowLengths].shape)
                : q.batch;
  a.key.input = kFlashKey, a.value.input = kFlashValue, a.rope.input = kFlashKeyRope;
  ANYNPU_TRY(read_cache(context, a, a.key, kFlashKeyScale));
  ANYNPU_TRY(read_cache(context, a, a.value, kFlashValueScale));
  a.value_size = a.value.size;
  if (a.has[kFlashQueryRope] != a.has[kFlashKeyRope]) {
    return fail(Code::invalid_argument,
                "{}: the second part of heads is given for {}; expected for "
                "queries and keys",
                context.label(), a.has[kFlashKeyRope] ? "keys" : "queries");
  }
  if (a.has[kFlashKeyRope]) {
    ANYNPU_TRY(read_cache(context, a, a.rope, 0));
    ANYNPU_ASSIGN(
        const HeadTensor rope,
        read_layout(context, "Q rope", context.inputs[kFlashQueryRope].shape, layout, a.heads));
    a.rope_q = rope.steps, a.rope_size = rope.size;
    if (rope.size != a.rope.size || rope.length != q.length || a.rope.length != a.key.length)
      return misfit(context, "Q rope", context.inputs[kFlashQueryRope].shape,
                    "as long as Q and K rope");
  }
  if (a.key.size != a.size || a.key.units != a.value.units || a.key.length != a.value.length ||
      (!a.paged && !a.packed_keys && a.key.units != a.batch)) {
    return fail(Code::shape_mismatch,
                "{}: Q is {}, K is {} and V is {} in layouts {} and {}; they do "
                "not fit each other",
                context.label(), to_string(context.inputs[0].shape),
                to_string(context.inputs[1].shape), to_string(context.inputs[2].shape), layout,
                context.string_attr("kv_layout"));
  }
  a.columns = a.key.length;
  if (a.paged) {
    const Shape& table = context.inputs[kFlashBlockTable].shape;
    if (table.size() != 2 || table[0] != a.batch) {
      return fail(Code::shape_mismatch,
                  "{}: the block table is {}; expected a row for each of {} "
                  "samples",
                  context.label(), to_string(table), a.batch);
    }
    a.table_columns = table[1];
    a.columns = table[1] * a.key.length;
  }
  a.most_keys = std::min(a.most_keys, a.columns);
  if ((a.packed_rows && !a.has[kFlashRowLengths]) ||
      ((a.packed_keys || a.paged) && !a.has[kFlashKeyLengths])) {
    return fail(Code::invalid_argument,
                "{}: lengths of {} are left out; layout {} and block tables "
                "need them",
                context.label(), a.packed_rows ? "sequences" : "keys", layout);
  }
  ANYNPU_TRY(check_list(context, kFlashRowLengths, a.batch));
  ANYNPU_TRY(check_list(context, kFlashKeyLengths, a.batch));
  ANYNPU_TRY(check_list(context, kFlashRowPadding, 1));
  ANYNPU_TRY(check_list(context, kFlashKeyPadding, 1));
  ANYNPU_TRY(check_list(context, kFlashSink, a.heads));
  ANYNPU_TRY(read_modes(context, a));
  const bool gradient = context.inputs.size() > kFlashInputs;
  const std::string out = context.string_attr("out_layout");
  const Shape& result = gradient ? context.inputs[kFlashGradY].shape : context.outputs[0].shape;
  ANYNPU_ASSIGN(const HeadTensor y, read_layout(context, "Y", result, out, a.heads));
  a.y = y.steps;
  a.stats = a.packed_rows ? HeadSteps{0, 1, a.heads} : HeadSteps{a.heads * a.rows, a.rows, 1};
  const bool alibi = a.bias_kind == BiasKind::alibi || a.bias_kind == BiasKind::sqrt_alibi;
  const int64_t rows = a.packed_rows ? 0 : a.rows, columns = a.packed_keys ? 0 : a.columns;
  if (a.reads_mask())
    ANYNPU_TRY(steps_of(context, kFlashMask, {a.batch, a.heads, rows, columns}, a.mask_steps));
  if (a.has[kFlashBias]) {
    ANYNPU_TRY(steps_of(context, kFlashBias,
                        {a.batch, a.heads, alibi ? 2 : rows, alibi ? 2 : columns}, a.bias_steps));
  }
  return a;
}

Status flash_rule(OpContext& context) {
  const Operand& q = context.inputs[0];
  const int64_t to = context.int_attr("to");
  context.outputs[0].dtype = to == 0 ? q.dtype : dtype_of_cast_number(to);
  if (!q.fully_known() || !context.inputs[2].fully_known()) return {};
  // Extents by letters; what is not in Q is in V.
  const std::string layout = context.string_attr("layout"), out = context.string_attr("out_layout");
  const int64_t heads = context.int_attr("heads"), kv_heads = context.int_attr("kv_heads");
  if (heads < 1 || kv_heads < 1) {
    return fail(Code::invalid_argument,
                "{}: {} heads of queries and {} of keys; expected at least one", context.label(),
                heads, kv_heads);
  }
  ANYNPU_ASSIGN(const HeadTensor tensor, read_layout(context, "Q", q.shape, layout, heads));
  ANYNPU_ASSIGN(const HeadTensor value, read_layout(context, "V", context.inputs[2].shape,
                                                    context.string_attr("kv_layout"), kv_heads));
  Shape shape;
  for (char axis : out) {
    shape.push_back(axis == 'B'                  ? tensor.batch
                    : axis == 'N'                ? heads
                    : axis == 'S' || axis == 'T' ? tensor.length
                    : axis == 'D'                ? value.size
                                                 : value.size * heads);
  }
  ANYNPU_TRY(set_output(context, 0, context.outputs[0].dtype, shape));
  const bool packed = layout.find('T') != layout.npos;
  const Shape stats =
      packed ? Shape{tensor.length, heads, 1} : Shape{tensor.batch, heads, tensor.length, 1};
  for (size_t i = 1; i < context.outputs.size(); ++i)
    ANYNPU_TRY(set_output(context, i, DType::f32, stats));
  for (const Operand& input : context.inputs) {
    if (input.present && !input.fully_known()) return {};
  }
  return flash_shape_of(context).status();
}

}  // namespace anynpu::ops::attention
