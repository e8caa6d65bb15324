// SPDX-License-Identifier: Apache-2.0
// Operators of one tensor as unary_rows of the block engine. Those on the hot path of networks have
// loops of their own in elementwise/unary.cpp.
#include <bit>
#include <cmath>

#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/wide_engine.h"
#include "ops/registry.h"

namespace anynpu::ops::elementwise {

namespace {

struct UnaryRow {
  std::string_view name;
  int64_t since;
  DTypeSet types;
  OpTraits traits;
  BlockOp op;
  std::vector<AttrSchema> attrs = {};  // floats, into Params in order (IsInf: integers)
  bool to_bool = false;
};

#define ANYNPU_REAL(expression)                                                                \
  BlockOp {                                                                                    \
    .float64 = apply1<[](double x, const Params& p) { return (void)p, (expression); }, double> \
  }

double gelu_tanh(double x) {
  return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
}
// Between 0 and 1; NaN stays.
double unit(double x) { return x < 0 ? 0.0 : x > 1 ? 1.0 : x; }
double softplus(double x) { return std::fmax(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }
double shrink(double x, const Params& p) {
  return x < -p[1] ? x + p[0] : x > p[1] ? x - p[0] : 0.0;
}
template <typename W>
W sign(W x, const Params&) {
  if (x > W(0)) return W(1);
  if constexpr (!std::is_unsigned_v<W>) return x < W(0) ? W(-1) : x;
  return x;
}

const std::vector<UnaryRow>& unary_rows() {
  constexpr DTypeSet kBool{DType::boolean};
  const auto real = [](std::string_view name, float value) {
    return AttrSchema{name, AttrKind::f, value};
  };
  const auto flag = [](std::string_view name) { return AttrSchema{name, AttrKind::i, int64_t{1}}; };
  constexpr OpTraits activation = OpTraits::elementwise();
  constexpr OpTraits function = OpTraits::linear();
  constexpr OpTraits wave = function.with(TransposeRule::elementwise).with(StatedShape::of_first);
  static const std::vector<UnaryRow> list = {
      {"Round", 11, kFloats, function.with(PrecisionClass::gray).with(StatedShape::of_first),
       ANYNPU_REAL(std::nearbyint(x))},
      {"Sin", 7, kFloats, wave, ANYNPU_REAL(std::sin(x))},
      {"Cos", 7, kFloats, wave, ANYNPU_REAL(std::cos(x))},
      {"Tan", 7, kFloats, function, ANYNPU_REAL(std::tan(x))},
      {"Asin", 7, kFloats, function, ANYNPU_REAL(std::asin(x))},
      {"Acos", 7, kFloats, function, ANYNPU_REAL(std::acos(x))},
      {"Atan", 7, kFloats, function, ANYNPU_REAL(std::atan(x))},
      {"Sinh", 9, kFloats, function, ANYNPU_REAL(std::sinh(x))},
      {"Cosh", 9, kFloats, function, ANYNPU_REAL(std::cosh(x))},
      {"Asinh", 9, kFloats, function, ANYNPU_REAL(std::asinh(x))},
      {"Acosh", 9, kFloats, function, ANYNPU_REAL(std::acosh(x))},
      {"Atanh", 9, kFloats, function, ANYNPU_REAL(std::atanh(x))},
      {"Softplus", 1, kFloats, activation, ANYNPU_REAL(softplus(x))},
      {"Softsign", 1, kFloats, activation, ANYNPU_REAL(x / (1 + std::fabs(x)))},
      {"HardSwish", 14, kFloats, activation, ANYNPU_REAL(x * unit(x / 6 + 0.5))},
      {"Mish", 18, kFloats, activation, ANYNPU_REAL(x * std::tanh(softplus(x)))},
      {"HardSigmoid",
       6,
       kFloats,
       activation,
       ANYNPU_REAL(unit(p[0] * x + p[1])),
       {real("alpha", 0.2f), real("beta", 0.5f)}},
      {"Elu",
       6,
       kFloats,
       activation,
       ANYNPU_REAL(x < 0 ? p[0] * std::expm1(x) : x),
       {real("alpha", 1.0f)}},
      {"Celu",
       12,
       kFloats,
       function,
       ANYNPU_REAL(x < 0 ? p[0] * std::expm1(x / p[0]) : x),
       {real("alpha", 1.0f)}},
      {"Selu",
       6,
       kFloats,
       activation,
       ANYNPU_REAL(p[1] * (x < 0 ? p[0] * std::expm1(x) : x)),
       {real("alpha", 1.67326319217681884765625f), real("gamma", 1.05070102214813232421875f)}},
      {"ThresholdedRelu",
       10,
       kFloats,
       function.with(PrecisionClass::gray),
       ANYNPU_REAL(x > p[0] ? x : 0.0),
       {real("alpha", 1.0f)}},
      {"Shrink",
       9,
       kNumbers,
       OpTraits::general(),
       {.float64 = apply1<shrink, double>},
       {real("bias", 0.0f), real("lambd", 0.5f)}},
      {"Sign",
       9,
       kNumbers,
       activation.with(StatedShape::of_first),
       {.float64 = apply1<sign<double>, double>,
        .int64 = apply1<sign<int64_t>, int64_t>,
        .uint64 = apply1<sign<uint64_t>, uint64_t>}},
      {"Not",
       1,
       kBool,
       wave.with(Rounding::exact),
       {.int64 = apply1<[](int64_t x, const Params&) { return int64_t{x == 0}; }, int64_t>}},
      {"BitwiseNot",
       18,
       kIntegers,
       function,
       {.int64 = apply1<[](int64_t x, const Params&) { return ~x; }, int64_t>,
        .uint64 = apply1<[](uint64_t x, const Params&) { return ~x; }, uint64_t>}},
      {"IsNaN",
       9,
       kFloats | kFloat8,
       function.with(Rounding::exact).with(StatedShape::of_first),
       ANYNPU_REAL(std::isnan(x) ? 1.0 : 0.0),
       {},
       true},
      {"IsInf",
       10,
       kFloats | kFloat8,
       function.with(Rounding::exact),
       ANYNPU_REAL(std::isinf(x) && p[x < 0 ? 0 : 1] != 0 ? 1.0 : 0.0),
       {flag("detect_negative"), flag("detect_positive")},
       true},
  };
  return list;
}

#undef ANYNPU_REAL

const UnaryRow* find_unary_row(std::string_view name) {
  for (const UnaryRow& row : unary_rows()) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

Status unary_rule(OpContext& context) {
  const UnaryRow* row = find_unary_row(context.schema->name);
  return broadcast_rule(context, row && row->to_bool ? DType::boolean : context.inputs[0].dtype);
}

PlanResult plan_unary_row(const OpContext& context) {
  const UnaryRow* row = find_unary_row(context.schema->name);
  if (!row) return no_kernel_for(context);
  Params params{};
  for (size_t i = 0; i < row->attrs.size(); ++i) {
    const AttrSchema& attr = row->attrs[i];
    params[i] = attr.kind == AttrKind::f ? static_cast<double>(context.float_attr(attr.name))
                                         : static_cast<double>(context.int_attr(attr.name));
  }
  const bool real_only = !row->op.int64 && !row->op.uint64;
  return plan_blocks(context, row->op,
                     real_only ? WideKind::float64 : wide_kind(context.inputs[0].dtype), params);
}

Status gelu_rule(OpContext& context) {
  const std::string how = context.string_attr("approximate");
  if (how != "none" && how != "tanh") {
    return fail(Code::invalid_argument, "{}: approximate is '{}', expected none or tanh",
                context.label(), how);
  }
  return broadcast_rule(context, context.inputs[0].dtype);
}

PlanResult plan_gelu(const OpContext& context) {
  static const BlockOp exact{.float64 = apply1<[](double x, const Params&) {
                               return 0.5 * x * (1 + std::erf(x * 0.7071067811865476));
                             },
                                               double>};
  static const BlockOp tanh{
      .float64 = apply1<[](double x, const Params&) { return gelu_tanh(x); }, double>};
  return plan_blocks(context, context.string_attr("approximate") == "tanh" ? tanh : exact,
                     WideKind::float64, {});
}

}  // namespace

void register_wide_unary(Registry& registry) {
  for (const UnaryRow& row : unary_rows()) {
    OpSchema schema{.name = row.name,
                    .since = row.since,
                    .inputs = {{"X", "T"}},
                    .outputs = {{"Y", "U"}},
                    .types = {{"T", row.types}},
                    .attrs = row.attrs,
                    .traits = row.traits,
                    .shape = unary_rule};
    registry.add(schema);
    add_list(registry, row.name, {"wide_unary", row.types, nullptr, create_plain<plan_unary_row>});
  }
  registry.add(OpSchema{.name = "Gelu",
                        .since = 20,
                        .inputs = {{"X", "T"}},
                        .outputs = {{"Y", "T"}},
                        .types = {{"T", kFloats}},
                        .attrs = {{"approximate", AttrKind::s, std::string_view("none")}},
                        .traits = OpTraits::elementwise(),
                        .shape = gelu_rule});
  add_list(registry, "Gelu", {"wide_unary", kFloats, nullptr, create_plain<plan_gelu>});
}

}  // namespace anynpu::ops::elementwise
