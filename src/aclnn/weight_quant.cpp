// SPDX-License-Identifier: Apache-2.0
// Products with weights of integers, of one group or of several: weights that are widened, rows
// that are quantised first, layers of experts.
#include <algorithm>

#include "aclnn/grouped.h"
#include "aclnn/quantized.h"

namespace anynpu::aclnn {

namespace {

constexpr const char* kSizes = "expertTokens";

// Rows of one tensor, scaled integers, in groups.
GroupProduct rows_of(Recipe& r, const GroupWeights& w, const char* x, const char* sizes,
                     const char* scale, const char* row_scale) {
  GroupProduct p;
  p.x = as_rows(r, r.in(x));
  p.sizes = r.given(sizes) ? r.cast(r.in(sizes), DType::i64) : Value{};
  p.out_scale = of_groups(r, scale, w, false);
  if (r.given(row_scale)) {
    const Value given = scale_of(r, row_scale);
    p.row_scale = r.reshape(given, {element_count(r.shape(given))});
  }
  return p;
}

// out[rowIndex[i]] += logit[i] * y[i], over a part of what all tokens share.
void finalize_routing(Recipe& r) {
  const char* const x = r.has_parameter("x1") ? "x1" : "x";
  const char* const weight = r.has_parameter("x2") ? "x2" : "w";
  const char* const out = r.has_parameter("out") ? "out" : "y";
  const auto named = [&](const char* plain, const char* optional) {
    return r.has_parameter(plain) ? plain : optional;
  };
  const bool turn_x = r.flag(r.has_parameter("transposeX1") ? "transposeX1" : "transposeX");
  const bool turn_w = r.flag(r.has_parameter("transposeX2") ? "transposeX2" : "transposeW");
  if (turn_x) refuse("transposeX1 is true; expected false");
  const GroupWeights w = group_weights(r, weight, turn_w);
  GroupProduct p = rows_of(r, w, x, named("groupList", "groupListOptional"),
                           named("scale", "scaleOptional"), "pertokenScaleOptional");
  p.list_type = r.integer("groupListType");
  p.bias = of_groups(r, named("bias", "biasOptional"), w, false);
  p.bias_last = p.bias && is_floating(r.dtype(named("bias", "biasOptional")));
  Value y = multiply_groups(r, w, p);
  const int64_t rows = r.extent(y, 0);
  if (const char* logit = named("logit", "logitOptional"); r.given(logit))
    y = r.op("Mul", {y, r.reshape(scale_of(r, logit), {rows, 1})});
  const Shape shape = r.shape(out);
  Value sum = r.filled(DType::f32, shape, 0);
  if (const char* shared = named("sharedInput", "sharedInputOptional"); r.given(shared)) {
    const Value given = r.cast(r.in(shared), DType::f32);
    const int64_t from = r.integer("sharedInputOffset"), count = r.extent(given, 0);
    if (from < 0 || from + count > shape[0]) {
      refuse("sharedInputOffset is {} for {} rows; {} has {}", from, count, out, shape[0]);
    }
    const Value pads = r.constant({from, 0, shape[0] - from - count, 0});
    sum = r.op("Pad", {r.op("Mul", {given, r.number("sharedInputWeight", DType::f32)}), pads});
  }
  const char* const index = named("rowIndex", "rowIndexOptional");
  const Value places = r.reshape(r.cast(r.in(index), DType::i64), {rows, 1});
  r.out(out, r.op("ScatterND", {sum, places, y}, {{"reduction", "add"}}));
}

void swiglu_quant(Recipe& r) {
  const GroupWeights w = group_weights(r, "weight", false);
  const GroupProduct p = rows_of(r, w, "x", "groupList", "weightScale", "xScale");
  const Value y = multiply_groups(r, w, p);
  const int64_t half = w.n / 2;
  const Value gate = r.op("Swish", {r.slice(y, 1, 0, half)});
  const RowQuantised q =
      quantise_rows(r, r.op("Mul", {gate, r.slice(y, 1, half, w.n)}), r.dtype("output"));
  r.out("output", q.values);
  r.out("outputScale", r.reshape(q.scales, r.shape("outputScale")));
}

// Rows become integers, each with a scale of its own or all with one, and floats again.
void quantised_rows(Recipe& r) {
  const GroupWeights w = group_weights(r, "weight", r.flag("transposeWeight"));
  const bool groups = r.has_parameter("groupList");
  GroupProduct p;
  Value x = r.cast(as_rows(r, r.in("x")), DType::f32);
  if (r.given("smoothScaleOptional")) x = r.op("Mul", {x, scale_of(r, "smoothScaleOptional")});
  if (r.given("xOffsetOptional")) refuse("xOffsetOptional is given; expected null");
  const std::string mode = r.text("xQuantMode");
  const int64_t rows = r.extent(x, 0);
  if (mode != "pertoken" && mode != "pertensor") {
    refuse("xQuantMode is '{}'; expected pertoken or pertensor", mode);
  }
  if (mode == "pertensor" && !r.given("xScaleOptional"))
    refuse("xQuantMode is pertensor without xScaleOptional");
  if (r.given("xScaleOptional")) {
    const Value scale = scale_of(r, "xScaleOptional");
    const int64_t count = element_count(r.shape(scale));
    const Value column = r.reshape(scale, {count, 1});
    x = rounded_to(r, r.op("Div", {x, column}), DType::i8);
    p.row_scale = r.reshape(r.expand(column, {rows, 1}), {rows});
  } else {
    const RowQuantised q = quantise_rows(r, x, DType::i8);
    x = q.values;
    p.row_scale = r.reshape(q.scales, {rows});
  }
  p.x = x;
  if (groups) p.sizes = r.cast(r.in("groupList"), DType::i64);
  p.bias = of_groups(r, "biasOptional", w, false);
  p.out_scale = of_groups(r, "weightScale", w, false);
  p.bias_last = p.bias && is_floating(r.dtype("biasOptional"));
  r.out("out", r.reshape(multiply_groups(r, w, p), r.shape("out")));
}

// x * ((weight + offset) * scale) + bias, with scales for all, for each column, or for parts of K.
void weight_quant(Recipe& r) {
  const GroupWeights w = group_weights(r, "weight", false);
  GroupProduct p;
  p.x = as_rows(r, r.in("x"));
  p.scale = of_groups(r, "antiquantScale", w, true);
  p.offset = of_groups(r, "antiquantOffsetOptional", w, true);
  p.bias = of_groups(r, "biasOptional", w, false);
  const int64_t size = r.integer("antiquantGroupSize");
  const int64_t parts = p.scale ? r.extent(p.scale, 1) : 1;
  if (size > 0 && parts * size != w.k) {
    refuse("antiquantGroupSize is {} and antiquantScale has {} parts; weight has {} rows", size,
           parts, w.k);
  }
  Value y = multiply_groups(r, w, p);
  if (r.given("quantScaleOptional")) {
    y = r.op("Mul", {y, along(r, scale_of(r, "quantScaleOptional"), r.shape(y), 1)});
    if (r.given("quantOffsetOptional"))
      y = r.op("Add", {y, along(r, scale_of(r, "quantOffsetOptional"), r.shape(y), 1)});
    y = rounded_to(r, y, r.dtype("y"));
  }
  r.out("y", r.reshape(y, r.shape("y")));
}

// Two products with an activation between them, one pair of matrices for each expert.
void feed_forward(Recipe& r) {
  const auto named = [&](const char* plain, const char* optional) {
    return r.has_parameter(plain) ? plain : optional;
  };
  for (const char* name :
       {named("scale", "scaleOptional"), named("deqScale1", "deqScale1Optional")}) {
    if (r.given(name))
      refuse(
          "{} is given; expected float activations: products of integers are "
          "aclnnGroupedMatmulV4's",
          name);
  }
  const Value x = as_rows(r, r.in("x"));
  const bool tensor = r.is_tensor("expertTokensOptional");
  Value sizes;
  if (tensor && r.given("expertTokensOptional"))
    sizes = r.cast(r.in("expertTokensOptional"), DType::i64);
  if (!tensor && r.length_if("expertTokens") > 0) sizes = r.list("expertTokens", 0, r.extent(x, 0));
  const bool ends = r.has_parameter("tokensIndexFlag") && r.flag("tokensIndexFlag");
  const auto layer = [&](Value in, const char* weight, const char* bias, const char* scale,
                         const char* offset) {
    const GroupWeights w = group_weights(r, weight, false);
    GroupProduct p;
    p.x = in;
    p.sizes = sizes;
    p.list_type = ends ? 0 : 1;
    p.bias = of_groups(r, bias, w, false);
    p.scale = of_groups(r, scale, w, true);
    p.offset = of_groups(r, offset, w, true);
    return multiply_groups(r, w, p);
  };
  Value y = layer(x, "weight1", named("bias1", "bias1Optional"),
                  named("antiquantScale1", "antiquantScale1Optional"),
                  named("antiquantOffset1", "antiquantOffset1Optional"));
  const std::string name = r.text("activation");
  struct Named {
    const char* name;
    int64_t kind;
    bool gated;
  };
  static const Named kNames[] = {{"relu", 1, false}, {"gelu", 2, false}, {"fastgelu", 4, false},
                                 {"silu", 5, false}, {"reglu", 1, true}, {"geglu", 2, true},
                                 {"swiglu", 5, true}};
  const auto* found = std::find_if(std::begin(kNames), std::end(kNames),
                                   [&](const Named& n) { return name == n.name; });
  if (found == std::end(kNames)) {
    refuse("activation is '{}'; expected relu, gelu, fastgelu, silu, reglu, geglu or swiglu", name);
  }
  const int64_t width = r.extent(y, 1), half = width / 2;
  y = found->gated ? r.op("Mul", {group_activated(r, r.slice(y, 1, 0, half), found->kind),
                                  r.slice(y, 1, half, width)})
                   : group_activated(r, y, found->kind);
  y = layer(y, "weight2", named("bias2", "bias2Optional"),
            named("antiquantScale2", "antiquantScale2Optional"),
            named("antiquantOffset2", "antiquantOffset2Optional"));
  r.out("y", r.reshape(y, r.shape("y")));
}

const Row kRows[] = {
    {"aclnnGroupedMatmulFinalizeRoutingV2", finalize_routing},
    {"aclnnGroupedMatmulFinalizeRoutingV3", finalize_routing},
    {"aclnnGroupedMatmulFinalizeRoutingWeightNz", finalize_routing},
    {"aclnnGroupedMatmulFinalizeRoutingWeightNzV2", finalize_routing},
    {"aclnnGroupedMatmulSwigluQuant", swiglu_quant},
    {"aclnnGroupedMatmulSwigluQuantWeightNZ", swiglu_quant},
    {"aclnnQuantGroupedMatmulDequant", quantised_rows},
    {"aclnnQuantMatmulDequant", quantised_rows},
    {"aclnnWeightQuantBatchMatmulV2", weight_quant},
    {"aclnnWeightQuantBatchMatmulV3", weight_quant},
    {"aclnnWeightQuantBatchMatmulNz", weight_quant},
    {"aclnnFFN", feed_forward, "", false, 0, kSizes},
    {"aclnnFFNV2", feed_forward, "", false, 0, kSizes},
    {"aclnnFFNV3", feed_forward},
};

}  // namespace

std::span<const Row> weight_quant_rows() { return kRows; }

}  // namespace anynpu::aclnn
