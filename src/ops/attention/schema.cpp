// SPDX-License-Identifier: Apache-2.0
// Schemas of FusedAttention and Attention.
#include "ops/attention/attention.h"
#include "ops/families.h"
#include "ops/registry.h"

namespace anynpu::ops::attention {

namespace {

// Attention at opset 23; 24 adds the lengths of an outer cache, 25 the windows.
void add_onnx_schemas(Registry& registry) {
  const Presence optional = Presence::optional;
  OpSchema schema{.name = "Attention",
                  .since = 23,
                  .inputs = {{"Q", "T1"},
                             {"K", "T1"},
                             {"V", "T2"},
                             {"attn_mask", "U", optional},
                             {"past_key", "T1", optional},
                             {"past_value", "T2", optional}},
                  .outputs = {{"Y", "T1"},
                              {"present_key", "T1", optional},
                              {"present_value", "T2", optional},
                              {"qk_matmul_output", "T1", optional}},
                  .types = {{"T1", kFloats},
                            {"T2", kFloats},
                            {"U", kNumbers | DTypeSet{DType::boolean}},
                            {"I", {DType::i64}}},
                  .attrs = {{"is_causal", AttrKind::i, int64_t{0}},
                            {"kv_num_heads", AttrKind::i, int64_t{0}},
                            {"q_num_heads", AttrKind::i, int64_t{0}},
                            {"qk_matmul_output_mode", AttrKind::i, int64_t{0}},
                            {"scale", AttrKind::f},
                            {"softcap", AttrKind::f, 0.0f},
                            {"softmax_precision", AttrKind::i}},
                  .traits = OpTraits::general(),
                  .shape = attention_rule};
  registry.add(schema);
  schema.since = 24;
  schema.inputs.push_back({"nonpad_kv_seqlen", "I", optional});
  registry.add(schema);
  schema.since = 25;
  schema.attrs.push_back({"left_window_size", AttrKind::i, int64_t{-1}});
  schema.attrs.push_back({"right_window_size", AttrKind::i, int64_t{-1}});
  registry.add(schema);
}

}  // namespace

void add_attention_schemas(Registry& registry) {
  registry.add(
      OpSchema{.name = "FusedAttention",
               .domain = "anynpu",
               .since = 1,
               .inputs = {{"Q", "T"}, {"K", "T"}, {"V", "T"}, {"mask", "M", Presence::optional}},
               .outputs = {{"Y", "T"}},
               .types = {{"T", kFloats}, {"M", kFloats}},
               .attrs = {{"heads", AttrKind::i, int64_t{1}}, {"scale", AttrKind::f, 1.0f}},
               .traits = OpTraits::general(),
               .shape = fused_attention_rule});
  add_onnx_schemas(registry);
}

}  // namespace anynpu::ops::attention
