// SPDX-License-Identifier: Apache-2.0
// Schemas of FlashAttention and its gradient.
#include "ops/attention/flash.h"
#include "ops/registry.h"
#include "ops/runtime_params.h"

namespace anynpu::ops::attention {

namespace {

Status gradient_rule(OpContext& context) {
  constexpr std::pair<size_t, size_t> kOf[] = {{kFlashGradQ, kFlashQuery},
                                               {kFlashGradK, kFlashKey},
                                               {kFlashGradV, kFlashValue},
                                               {kFlashGradQueryRope, kFlashQueryRope},
                                               {kFlashGradKeyRope, kFlashKeyRope}};
  for (size_t input : {size_t{kFlashBlockTable}, size_t{kFlashKeyScale}, size_t{kFlashKeyOffset},
                       size_t{kFlashValueScale}, size_t{kFlashValueOffset}, size_t{kFlashSink},
                       size_t{kFlashRowPadding}, size_t{kFlashKeyPadding}}) {
    if (!context.has_input(input)) continue;
    return fail(Code::unsupported_feature, "{}: {} is given; gradients are of plain caches",
                context.label(), context.schema->inputs[input].name);
  }
  for (const auto& [output, input] : kOf) {
    if (output >= context.outputs.size() || !context.has_input(input)) continue;
    ANYNPU_TRY(set_output(context, output, DType::f32, context.inputs[input].shape));
  }
  for (size_t input : {size_t{kFlashGradY}, size_t{kFlashResult}, size_t{kFlashGradLogSumExp}}) {
    if (!context.has_input(input)) {
      return fail(Code::invalid_argument,
                  "{}: {} is left out; expected what the run before it gave", context.label(),
                  context.schema->inputs[input].name);
    }
  }
  for (const Operand& input : context.inputs) {
    if (input.present && !input.fully_known()) return {};
  }
  ANYNPU_ASSIGN(const FlashShape a, flash_shape_of(context));
  const int64_t stats = a.heads * (a.packed_rows ? 1 : a.batch) * a.rows;
  const bool fits = context.inputs[kFlashResult].shape == context.inputs[kFlashGradY].shape &&
                    element_count(context.inputs[kFlashGradLogSumExp].shape) == stats;
  if (fits) return {};
  return fail(Code::shape_mismatch,
              "{}: dY is {}, Y {} and there are {} logarithms; expected the same shapes "
              "and {}",
              context.label(), to_string(context.inputs[kFlashGradY].shape),
              to_string(context.inputs[kFlashResult].shape),
              element_count(context.inputs[kFlashGradLogSumExp].shape), stats);
}

constexpr DTypeSet kCacheTypes =
    kFloats | DTypeSet{DType::i8, DType::i4, DType::hif8, DType::f8e4m3, DType::f8e5m2};

std::vector<FormalOperand> flash_inputs() {
  const Presence optional = Presence::optional;
  return {{"Q", "Q"},
          {"K", "C"},
          {"V", "C"},
          {"mask", "M", optional},
          {"shift", "F", optional},
          {"row_lengths", "I", optional},
          {"key_lengths", "I", optional},
          {"block_table", "I", optional},
          {"key_scale", "S", optional},
          {"key_offset", "S", optional},
          {"value_scale", "S", optional},
          {"value_offset", "S", optional},
          {"query_rope", "Q", optional},
          {"key_rope", "R", optional},
          {"sink", "S", optional},
          {"keep", "U", optional},
          {"row_padding", "I", optional},
          {"key_padding", "I", optional}};
}

std::vector<AttrSchema> flash_attributes() {
  return {{"heads", AttrKind::i, int64_t{1}},
          {"kv_heads", AttrKind::i, int64_t{1}},
          {"layout", AttrKind::s, std::string_view("BNSD")},
          {"kv_layout", AttrKind::s, std::string_view("BNSD")},
          {"out_layout", AttrKind::s, std::string_view("BNSD")},
          {"scale", AttrKind::f, 1.0f},
          {"mode", AttrKind::i, int64_t{0}},
          {"before", AttrKind::i, int64_t{0}},
          {"after", AttrKind::i, int64_t{0}},
          {"prefixes", AttrKind::ints},
          {"pse_type", AttrKind::i, int64_t{0}},
          {"row_start", AttrKind::i, int64_t{0}},
          {"key_start", AttrKind::i, int64_t{0}},
          {"keep", AttrKind::f, 1.0f},
          {"scales_by_sample", AttrKind::i, int64_t{0}},
          {"to", AttrKind::i, int64_t{0}}};
}

std::vector<TypeVar> flash_types() {
  return {{"Q", kFloats},      {"C", kCacheTypes},  {"R", kFloats},
          {"F", kFloats},      {"Y", kFloats},      {"M", {DType::boolean, DType::u8, DType::i8}},
          {"I", {DType::i64}}, {"S", {DType::f32}}, {"U", {DType::u8}}};
}

}  // namespace

void add_flash_schemas(Registry& registry) {
  const Presence optional = Presence::optional;
  registry.add(OpSchema{.name = "FlashAttention",
                        .domain = "anynpu",
                        .since = 1,
                        .inputs = flash_inputs(),
                        .outputs = {{"Y", "Y"},
                                    {"log_sum", "S", optional},
                                    {"most", "S", optional},
                                    {"sum", "S", optional}},
                        .types = flash_types(),
                        .attrs = flash_attributes(),
                        .traits = OpTraits::general(),
                        .shape = flash_rule});
  std::vector<FormalOperand> inputs = flash_inputs();
  for (const char* name : {"dY", "result"}) inputs.push_back({name, "Y", optional});
  inputs.push_back({"log_sum", "S", optional});
  registry.add(OpSchema{.name = "FlashAttentionGrad",
                        .domain = "anynpu",
                        .since = 1,
                        .inputs = std::move(inputs),
                        .outputs = {{"dQ", "S"},
                                    {"dK", "S"},
                                    {"dV", "S"},
                                    {"dQ_rope", "S", optional},
                                    {"dK_rope", "S", optional}},
                        .types = flash_types(),
                        .attrs = flash_attributes(),
                        .traits = OpTraits::general(),
                        .shape = gradient_rule});
}

}  // namespace anynpu::ops::attention
