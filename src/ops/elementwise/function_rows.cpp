// SPDX-License-Identifier: Apache-2.0
// Element-wise operators of domain anynpu: what frameworks have and ONNX lacks. Special functions,
// divisions with a rule for 0, losses, and the element-wise halves of gradients; a row each, over
// the block engine (wide_engine.h).
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/special_math.h"
#include "ops/elementwise/wide_engine.h"
#include "ops/registry.h"

namespace anynpu::ops::elementwise {

// Of its own, because functions of other files have the same names.
namespace function_rows {

namespace {

enum class RowResult { same, boolean, u8 };

struct FunctionRow {
  std::string_view name;
  size_t operands;
  DTypeSet types;
  BlockOp op;
  float alpha = 0;  // default of the attribute alpha, when it is not 0
  RowResult result = RowResult::same;
};

template <auto f, typename W>
void apply3(const W* const* in, W* out, int64_t count, const Params&) {
  for (int64_t i = 0; i < count; ++i) out[i] = f(in[0][i], in[1][i], in[2][i]);
}

// x is the operand, or a and b are; p[0] is alpha, p[1] is 1 for float32.
#define ANYNPU_ROW1(expression)                                                                \
  BlockOp {                                                                                    \
    .float64 = apply1<[](double x, const Params& p) { return (void)p, (expression); }, double> \
  }
#define ANYNPU_ROW2(expression)                                                                    \
  BlockOp {                                                                                        \
    .float64 =                                                                                     \
        apply2<[](double a, double b, const Params& p) { return (void)p, (expression); }, double>, \
  }

template <typename W>
W floor_div(W a, W b, const Params&) {
  if constexpr (std::is_floating_point_v<W>) {
    return std::floor(a / b);
  } else {
    if (b == 0) return 0;  // the processor would trap
    if constexpr (std::is_signed_v<W>) {
      if (b == -1) return static_cast<W>(-static_cast<uint64_t>(a));
      return a / b - (a % b != 0 && (a % b < 0) != (b < 0) ? 1 : 0);
    }
    return a / b;
  }
}

// The quotient that belongs to the remainder of fmod, as numpy and torch have it: exact where a / b
// is rounded up to a whole number.
double floor_quotient(double a, double b, const Params&) {
  if (b == 0) return a / b;
  const double rest = std::fmod(a, b);
  double quotient = (a - rest) / b;
  if (rest != 0 && (b < 0) != (rest < 0)) quotient -= 1;
  if (quotient == 0) return std::copysign(0.0, a / b);
  const double whole = std::floor(quotient);
  return quotient - whole > 0.5 ? whole + 1 : whole;
}

template <typename W>
W greatest_divisor(W a, W b, const Params&) {
  const auto size = [](W v) {
    return v < 0 ? uint64_t{0} - static_cast<uint64_t>(v) : static_cast<uint64_t>(v);
  };
  return static_cast<W>(std::gcd(size(a), size(b)));
}

double softplus(double x) { return std::fmax(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double soft_margin_slope(double g, double x, double target) {
  return -g * target * sigmoid(-x * target);
}

double sinc(double x) {
  const double angle = std::numbers::pi * x;
  return x == 0 ? 1 : std::sin(angle) / angle;
}

// log(exp(x) + exp(y)) without leaving the range; `unit` is the logarithm of the base.
double log_add(double x, double y, double unit) {
  if (x == y) return std::isinf(x) ? x : x + std::numbers::ln2 / unit;
  if (std::isnan(x) || std::isnan(y)) return std::numeric_limits<double>::quiet_NaN();
  return std::fmax(x, y) + std::log1p(std::exp(-std::fabs(x - y) * unit)) / unit;
}

double next_after(double a, double b, bool narrow) {
  return narrow ? static_cast<double>(std::nextafter(static_cast<float>(a), static_cast<float>(b)))
                : std::nextafter(a, b);
}

constexpr double kSeluScale = 1.0507009873554804934;
constexpr double kSeluScaleAlpha = 1.7580993408473768599;

const std::vector<FunctionRow>& all_rows() {
  static const std::vector<FunctionRow> list = {
      {"Expm1", 1, kFloats, ANYNPU_ROW1(std::expm1(x))},
      {"Exp2", 1, kFloats, ANYNPU_ROW1(std::exp2(x))},
      {"Log1p", 1, kFloats, ANYNPU_ROW1(std::log1p(x))},
      {"Log2", 1, kFloats, ANYNPU_ROW1(std::log2(x))},
      {"Log10", 1, kFloats, ANYNPU_ROW1(std::log10(x))},
      {"Erfc", 1, kFloats, ANYNPU_ROW1(std::erfc(x))},
      {"Erfinv", 1, kFloats, ANYNPU_ROW1(erf_inverse(x))},
      {"Sinc", 1, kFloats, ANYNPU_ROW1(sinc(x))},
      {"Lgamma", 1, kFloats, ANYNPU_ROW1(std::lgamma(x))},
      {"Digamma", 1, kFloats, ANYNPU_ROW1(psi(x))},
      {"Trunc", 1, kFloats, ANYNPU_ROW1(std::trunc(x))},
      {"Signbit", 1, kFloats, ANYNPU_ROW1(std::signbit(x) ? 1.0 : 0.0), 0, RowResult::boolean},
      {"Angle", 1, kFloats,
       ANYNPU_ROW1(std::isnan(x) ? x
                   : x < 0       ? M_PI
                                 : 0.0)},
      {"Rsqrt", 1, kFloats, ANYNPU_ROW1(1 / std::sqrt(x))},
      {"Ndtri", 1, kFloats, ANYNPU_ROW1(normal_quantile(x))},
      {"BesselI0", 1, kFloats, ANYNPU_ROW1(std::cyl_bessel_i(0.0, std::fabs(x)))},
      {"BesselI1", 1, kFloats, ANYNPU_ROW1(std::copysign(std::cyl_bessel_i(1.0, std::fabs(x)), x))},
      {"BesselI0e", 1, kFloats, ANYNPU_ROW1(bessel_i0e(x))},
      {"BesselI1e", 1, kFloats, ANYNPU_ROW1(bessel_i1e(x))},
      {"BesselJ0", 1, kFloats, ANYNPU_ROW1(::j0(x))},
      {"BesselJ1", 1, kFloats, ANYNPU_ROW1(::j1(x))},
      {"BesselY0", 1, kFloats, ANYNPU_ROW1(::y0(x))},
      {"BesselY1", 1, kFloats, ANYNPU_ROW1(::y1(x))},
      {"BesselK0", 1, kFloats, ANYNPU_ROW1(bessel_k(0.0, x))},
      {"BesselK1", 1, kFloats, ANYNPU_ROW1(bessel_k(1.0, x))},
      {"BesselK0e", 1, kFloats, ANYNPU_ROW1(bessel_k(0.0, x) * std::exp(x))},
      {"BesselK1e", 1, kFloats, ANYNPU_ROW1(bessel_k(1.0, x) * std::exp(x))},
      {"Dawsn", 1, kFloats, ANYNPU_ROW1(dawson(x))},
      {"Expint", 1, kFloats, ANYNPU_ROW1(std::expint(x))},
      {"FresnelCos", 1, kFloats, ANYNPU_ROW1(fresnel_cosine(x))},
      {"FresnelSin", 1, kFloats, ANYNPU_ROW1(fresnel_sine(x))},
      {"Spence", 1, kFloats, ANYNPU_ROW1(dilogarithm(x))},
      {"IsFinite", 1, kFloats, ANYNPU_ROW1(std::isfinite(x) ? 1.0 : 0.0), 0, RowResult::boolean},
      {"PopulationCount",
       1,
       kIntegers,
       {.int64 = apply1<[](int64_t x, const Params& p) {
          const auto bits = static_cast<int>(p[2]);
          const auto all = static_cast<uint64_t>(x);
          return int64_t{std::popcount(bits == 64 ? all : all & ((uint64_t{1} << bits) - 1))};
        },
                        int64_t>,
        .uint64 =
            apply1<[](uint64_t x, const Params&) { return uint64_t(std::popcount(x)); }, uint64_t>},
       0,
       RowResult::u8},
      {"FloorDiv",
       2,
       kNumbers,
       {.float64 = apply2<floor_div<double>, double>,
        .int64 = apply2<floor_div<int64_t>, int64_t>,
        .uint64 = apply2<floor_div<uint64_t>, uint64_t>}},
      {"FloorDivide",
       2,
       kNumbers,
       {.float64 = apply2<floor_quotient, double>,
        .int64 = apply2<floor_div<int64_t>, int64_t>,
        .uint64 = apply2<floor_div<uint64_t>, uint64_t>}},
      {"Gcd",
       2,
       kIntegers,
       {.int64 = apply2<greatest_divisor<int64_t>, int64_t>,
        .uint64 = apply2<greatest_divisor<uint64_t>, uint64_t>}},
      {"Atan2", 2, kFloats, ANYNPU_ROW2(std::atan2(a, b))},
      {"LogAddExp", 2, kFloats, ANYNPU_ROW2(log_add(a, b, 1))},
      {"LogAddExp2", 2, kFloats, ANYNPU_ROW2(log_add(a, b, std::numbers::ln2))},
      {"Xlogy", 2, kFloats, ANYNPU_ROW2(a == 0 && !std::isnan(b) ? 0.0 : a * std::log(b))},
      {"DivNoNan", 2, kFloats, ANYNPU_ROW2(b == 0 ? 0.0 : a / b)},
      {"MulNoNan", 2, kFloats, ANYNPU_ROW2(b == 0 ? 0.0 : a * b)},
      {"Xdivy", 2, kFloats, ANYNPU_ROW2(a == 0 ? 0.0 : a / b)},
      {"Xlog1py", 2, kFloats, ANYNPU_ROW2(a == 0 ? 0.0 : a * std::log1p(b))},
      {"Igamma", 2, kFloats, ANYNPU_ROW2(gamma_lower(a, b))},
      {"Igammac", 2, kFloats, ANYNPU_ROW2(gamma_upper(a, b))},
      {"IgammaGradA", 2, kFloats, ANYNPU_ROW2(gamma_lower_slope(a, b))},
      {"RandomGammaGrad", 2, kFloats, ANYNPU_ROW2(gamma_sample_slope(a, b))},
      {"Zeta", 2, kFloats, ANYNPU_ROW2(hurwitz_zeta(a, b))},
      {"Polygamma", 2, kFloats, ANYNPU_ROW2(polygamma(a, b))},
      {"NextAfter", 2, kFloats, ANYNPU_ROW2(next_after(a, b, p[1] != 0))},
      {"ApproximateEqual", 2, kNumbers, ANYNPU_ROW2(std::fabs(a - b) < p[0] ? 1.0 : 0.0), 1e-5f,
       RowResult::boolean},
      {"Betainc", 3, kFloats, {.float64 = apply3<beta_incomplete, double>}},
      // Losses of an input and a target, and their gradients (g, input, target).
      {"SoftMarginLoss", 2, kFloats, ANYNPU_ROW2(softplus(-a * b))},
      {"SoftMarginLossGrad", 3, kFloats, {.float64 = apply3<soft_margin_slope, double>}},
      // Gradients: a is the gradient or the result as TensorFlow orders them.
      {"TanhGrad", 2, kFloats, ANYNPU_ROW2(b * (1 - a * a))},
      {"SigmoidGrad", 2, kFloats, ANYNPU_ROW2(b * a * (1 - a))},
      {"SqrtGrad", 2, kFloats, ANYNPU_ROW2(b * 0.5 / a)},
      {"RsqrtGrad", 2, kFloats, ANYNPU_ROW2(b * -0.5 * a * a * a)},
      {"ReciprocalGrad", 2, kFloats, ANYNPU_ROW2(-b * a * a)},
      {"ReluGrad", 2, kFloats, ANYNPU_ROW2(b > 0 ? a : 0.0)},
      {"Relu6Grad", 2, kFloats, ANYNPU_ROW2(b > 0 && b < 6 ? a : 0.0)},
      {"EluGrad", 2, kFloats, ANYNPU_ROW2(b < 0 ? a * (b + 1) : a)},
      {"SeluGrad", 2, kFloats, ANYNPU_ROW2(b < 0 ? a * (b + kSeluScaleAlpha) : a * kSeluScale)},
      {"SoftplusGrad", 2, kFloats, ANYNPU_ROW2(a / (1 + std::exp(-b)))},
      {"SoftsignGrad", 2, kFloats, ANYNPU_ROW2(a / ((1 + std::fabs(b)) * (1 + std::fabs(b))))},
      {"LeakyReluGrad", 2, kFloats, ANYNPU_ROW2(b > 0 ? a : p[0] * a), 0.2f},
  };
  return list;
}

#undef ANYNPU_ROW1
#undef ANYNPU_ROW2

const FunctionRow* find_function_row(std::string_view name) {
  for (const FunctionRow& row : all_rows()) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

Status function_rule(OpContext& context) {
  const FunctionRow* row = find_function_row(context.schema->name);
  if (!row) return fail(Code::internal, "{}: no row", context.label());
  return broadcast_rule(context, row->result == RowResult::boolean ? DType::boolean
                                 : row->result == RowResult::u8    ? DType::u8
                                                                   : context.inputs[0].dtype);
}

PlanResult plan_function_row(const OpContext& context) {
  const FunctionRow* row = find_function_row(context.schema->name);
  if (!row) return no_kernel_for(context);
  const DType type = context.inputs[0].dtype;
  const Params params{row->alpha != 0 ? static_cast<double>(context.float_attr("alpha")) : 0.0,
                      type == DType::f32 ? 1.0 : 0.0, static_cast<double>(8 * size_of(type))};
  const bool real_only = !row->op.int64 && !row->op.uint64;
  return plan_blocks(context, row->op, real_only ? WideKind::float64 : wide_kind(type), params);
}

}  // namespace

}  // namespace function_rows

void register_function_rows(Registry& registry) {
  using namespace function_rows;
  static constexpr std::string_view kNames[] = {"A", "B", "C"};
  for (const FunctionRow& row : all_rows()) {
    OpSchema schema{.name = row.name,
                    .domain = "anynpu",
                    .since = 1,
                    .outputs = {{"Y", "U"}},
                    .types = {{"T", row.types}},
                    .traits = OpTraits::linear(),
                    .shape = function_rule};
    for (size_t i = 0; i < row.operands; ++i) schema.inputs.push_back({kNames[i], "T"});
    if (row.alpha != 0) schema.attrs = {{"alpha", AttrKind::f, row.alpha}};
    registry.add(schema);
    registry.add(KernelDef{.op = row.name,
                           .name = "wide_function",
                           .domain = "anynpu",
                           .types = row.types,
                           .create = create_plain<plan_function_row>});
  }
}

}  // namespace anynpu::ops::elementwise
