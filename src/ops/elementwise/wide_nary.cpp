// SPDX-License-Identifier: Apache-2.0
// Operators of two or more broadcast tensors as nary_rows of the block engine.
#include <algorithm>
#include <cmath>

#include "ops/elements/order.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/wide_engine.h"
#include "ops/families.h"
#include "ops/registry.h"

namespace anynpu::ops::elementwise {

namespace {

constexpr DTypeSet kBool{DType::boolean};

struct NaryRow {
  std::string_view name;
  int64_t since;
  DTypeSet types;
  OpTraits traits;
  BlockOp op;
  bool to_bool = false;
};

// The same lambda for all three wide types; parameters are a, b and p.
#define ANYNPU_EACH(expression)                                                                    \
  BlockOp {                                                                                        \
    .float64 =                                                                                     \
        apply2<[](double a, double b, const Params& p) { return (void)p, (expression); }, double>, \
    .int64 = apply2<[](int64_t a, int64_t b, const Params& p) { return (void)p, (expression); },   \
                    int64_t>,                                                                      \
    .uint64 =                                                                                      \
        apply2<[](uint64_t a, uint64_t b, const Params& p) { return (void)p, (expression); },      \
               uint64_t>                                                                           \
  }
#define ANYNPU_BITS(expression)                                                                  \
  BlockOp {                                                                                      \
    .int64 = apply2<[](int64_t a, int64_t b, const Params& p) { return (void)p, (expression); }, \
                    int64_t>,                                                                    \
    .uint64 =                                                                                    \
        apply2<[](uint64_t a, uint64_t b, const Params& p) { return (void)p, (expression); },    \
               uint64_t>                                                                         \
  }

template <typename W>
W modulo(W a, W b, bool like_c) {
  if constexpr (std::is_floating_point_v<W>) {
    const W rest = std::fmod(a, b);
    if (like_c || std::isnan(rest)) return rest;
    if (rest == 0) return std::copysign(rest, b);
    return (rest < 0) == (b < 0) ? rest : rest + b;
  } else {
    if (b == 0) return 0;  // the processor would trap
    if constexpr (std::is_signed_v<W>) {
      if (b == -1) return 0;
    }
    const W rest = a % b;
    if constexpr (std::is_signed_v<W>) {
      if (!like_c && rest != 0 && (rest < 0) != (b < 0)) return rest + b;
    }
    return rest;
  }
}

template <typename W>
W sum(W a, W b) {
  if constexpr (std::is_integral_v<W>)
    return static_cast<W>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  else
    return a + b;
}

template <typename W>
W leaky(W a, W slope) {
  if constexpr (std::is_unsigned_v<W>)
    return a;
  else
    return a < 0 ? a * slope : a;
}

// A shift by all bits or more, or by less than none, leaves copies of the sign on the right, else
// 0. Shorter types are widened by their sign and cut again, so the same holds for their own width.
template <typename W>
W shifted(W a, W b, bool left) {
  const W beyond = !left && a < 0 ? static_cast<W>(-1) : W(0);
  if (b < 0 || b >= 64) return beyond;
  return left ? static_cast<W>(static_cast<uint64_t>(a) << b) : static_cast<W>(a >> b);
}

BlockOp folding(BlockOp op) {
  op.folds = true;
  return op;
}

const std::vector<NaryRow>& nary_rows() {
  constexpr OpTraits linear = OpTraits::linear();
  static const std::vector<NaryRow> list = {
      {"Equal", 7, kNumbers | kBool, linear.with(Rounding::exact).with(Strings::moved),
       ANYNPU_EACH(a == b), true},
      {"Less", 7, kNumbers, linear, ANYNPU_EACH(a < b), true},
      {"Greater", 7, kNumbers, linear, ANYNPU_EACH(a > b), true},
      {"LessOrEqual", 12, kNumbers, linear, ANYNPU_EACH(a <= b), true},
      {"GreaterOrEqual", 12, kNumbers, linear, ANYNPU_EACH(a >= b), true},
      {"And", 7, kBool, linear, ANYNPU_BITS(a & b), true},
      {"Or", 7, kBool, linear, ANYNPU_BITS(a | b), true},
      {"Xor", 7, kBool, OpTraits::general(), ANYNPU_BITS(a ^ b), true},
      {"BitwiseAnd", 18, kIntegers, linear, ANYNPU_BITS(a & b)},
      {"BitwiseOr", 18, kIntegers, linear, ANYNPU_BITS(a | b)},
      {"BitwiseXor", 18, kIntegers, linear, ANYNPU_BITS(a ^ b)},
      {"BitShift", 11, kIntegers, linear.with(Rounding::exact),
       ANYNPU_BITS(shifted(a, b, p[0] != 0))},
      {"Mod", 10, kNumbers, linear, ANYNPU_EACH(modulo(a, b, p[0] != 0))},
      {"Max", 6, kNumbers, OpTraits::broadcast().with(Rounding::exact),
       folding(ANYNPU_EACH(larger(b, a)))},
      {"Min", 6, kNumbers, OpTraits::broadcast().with(Rounding::exact),
       folding(ANYNPU_EACH(smaller(b, a)))},
      {"Sum", 6, kFloats, linear.with(PrecisionClass::gray), folding(ANYNPU_EACH(sum(a, b)))},
      {"PRelu", 7, kNumbers, OpTraits::broadcast(), ANYNPU_EACH(leaky(a, b))},
  };
  return list;
}
#undef ANYNPU_EACH
#undef ANYNPU_BITS

const NaryRow* find_nary_row(std::string_view name) {
  for (const NaryRow& row : nary_rows()) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

Status nary_rule(OpContext& context) {
  if (context.schema->name == "BitShift") {
    const std::string way = context.string_attr("direction");
    if (way != "LEFT" && way != "RIGHT") {
      return fail(Code::invalid_argument, "{}: direction is '{}', expected LEFT or RIGHT",
                  context.label(), way);
    }
  }
  const NaryRow* row = find_nary_row(context.schema->name);
  return broadcast_rule(context, row && row->to_bool ? DType::boolean : context.inputs[0].dtype);
}

PlanResult plan_nary_row(const OpContext& context) {
  const NaryRow* row = find_nary_row(context.schema->name);
  if (!row) return no_kernel_for(context);
  const bool flag = context.int_attr("fmod") != 0 || context.string_attr("direction") == "LEFT";
  return plan_blocks(context, row->op, wide_kind(context.inputs[0].dtype), {flag ? 1.0 : 0.0});
}

// Mean: the sum, then one division of the output.
PlanResult plan_mean(const OpContext& context) {
  static const BlockOp add{
      .float64 = apply2<[](double a, double b, const Params&) { return a + b; }, double>,
      .folds = true};
  static const BlockOp scale{
      .float64 = apply1<[](double a, const Params& p) { return a * p[0]; }, double>};
  const double share = 1.0 / static_cast<double>(context.inputs.size());
  OpContext scaled = context;
  scaled.inputs = {Operand::of(context.outputs[0].dtype, context.outputs[0].shape)};
  ANYNPU_ASSIGN(auto sum_plan, plan_blocks(context, add, WideKind::float64, {}));
  ANYNPU_ASSIGN(auto scale_plan, plan_blocks(scaled, scale, WideKind::float64, {share}));
  std::shared_ptr<KernelPlan> sum(std::move(sum_plan)), part(std::move(scale_plan));
  return make_plan([sum, part](const RunArgs& args) {
    (void)sum->run(args);
    const std::byte* const in[1] = {args.outputs[0]};
    RunArgs again = args;
    again.inputs = in;
    (void)part->run(again);
  });
}

Status same_type_rule(OpContext& context) {
  return broadcast_rule(context, context.inputs[0].dtype);
}

PlanResult plan_pow(const OpContext& context) {
  static const BlockOp op{
      .float64 = apply2<[](double a, double b, const Params&) { return std::pow(a, b); }, double>,
      .int64 = apply2<[](int64_t a, int64_t b, const Params&) {
        uint64_t base = static_cast<uint64_t>(a), result = 1;
        if (b < 0)
          return a == 1    ? int64_t{1}
                 : a == -1 ? (b % 2 != 0 ? int64_t{-1} : int64_t{1})
                           : int64_t{0};
        for (auto left = static_cast<uint64_t>(b); left != 0; left >>= 1, base *= base) {
          if ((left & 1) != 0) result *= base;
        }
        return static_cast<int64_t>(result);
      },
                      int64_t>};
  const bool real = is_floating(context.inputs[0].dtype) || is_floating(context.inputs[1].dtype);
  return plan_blocks(context, op, real ? WideKind::float64 : WideKind::int64, {});
}

}  // namespace

void register_wide_nary(Registry& registry) {
  for (const NaryRow& row : nary_rows()) {
    OpSchema schema{.name = row.name,
                    .since = row.since,
                    .inputs = {{"A", "T"}, {"B", "T"}},
                    .outputs = {{"C", "U"}},
                    .types = {{"T", row.types}},
                    .traits = row.traits,
                    .shape = nary_rule};
    if (row.op.folds) schema.inputs = {{"data", "T", Presence::variadic}};
    if (row.name == "Mod") schema.attrs = {{"fmod", AttrKind::i, int64_t{0}}};
    if (row.name == "BitShift") schema.attrs = {{"direction", AttrKind::s, {}, true}};
    registry.add(schema);
    add_list(registry, row.name, {"wide_nary", row.types, nullptr, create_plain<plan_nary_row>});
  }
  registry.add(OpSchema{.name = "Mean",
                        .since = 6,
                        .inputs = {{"data", "T", Presence::variadic}},
                        .outputs = {{"mean", "T"}},
                        .types = {{"T", kFloats}},
                        .traits = OpTraits::linear().with(PrecisionClass::gray),
                        .shape = same_type_rule});
  add_list(registry, "Mean", {"wide_nary", kFloats, nullptr, create_plain<plan_mean>});
  registry.add(OpSchema{
      .name = "Pow",
      .since = 7,
      .inputs = {{"X", "T"}, {"Y", "T1"}},
      .outputs = {{"Z", "T"}},
      .types = {{"T", kNumbers}, {"T1", kNumbers}},
      .traits = OpTraits::linear().with(TransposeRule::broadcast).with(StatedShape::of_broadcast),
      .shape = same_type_rule});
  add_list(registry, "Pow", {"wide_nary", kNumbers, nullptr, create_plain<plan_pow>});
}

}  // namespace anynpu::ops::elementwise
