// SPDX-License-Identifier: Apache-2.0
// Functions of one or two elements that ONNX does not have and tensors of frameworks do: a row each,
// in domain anynpu, over the block engine (wide_engine.h).
#include <cmath>
#include <limits>
#include <numbers>

#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/wide_engine.h"
#include "ops/registry.h"

namespace anynpu::ops::elementwise {

namespace {

struct SpecialRow {
  std::string_view name;
  size_t inputs;
  BlockFunction<double> function;
  bool to_bool = false;
};

#define ANYNPU_ONE(expression) \
  apply1<[](double x, const Params&) -> double { return (expression); }, double>
#define ANYNPU_TWO(expression) \
  apply2<[](double x, double y, const Params&) -> double { return (expression); }, double>

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// The inverse of erf: a rational start (Giles), then two steps of Newton.
double inverse_erf(double y) {
  if (!(std::fabs(y) < 1)) return std::fabs(y) == 1 ? std::copysign(kInfinity, y) : kNaN;
  const double w = -std::log((1 - y) * (1 + y));
  double x;
  if (w < 5) {
    const double t = w - 2.5;
    x = 2.81022636e-08;
    for (double c : {3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087, -0.00125372503,
                     -0.00417768164, 0.246640727, 1.50140941})
      x = x * t + c;
  } else {
    const double t = std::sqrt(w) - 3;
    x = -0.000200214257;
    for (double c : {0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613,
                     0.00943887047, 1.00167406, 2.83297682})
      x = x * t + c;
  }
  x *= y;
  const double factor = 2 * std::numbers::inv_sqrtpi;
  for (int step = 0; step < 2; ++step) x -= (std::erf(x) - y) / (factor * std::exp(-x * x));
  return x;
}

// The derivative of the logarithm of the gamma function.
double digamma(double x) {
  if (x == 0) return std::copysign(kInfinity, -x);
  if (x < 0 && x == std::floor(x)) return kNaN;
  double result = 0;
  if (x < 0) {  // reflection
    result = -std::numbers::pi / std::tan(std::numbers::pi * x);
    x = 1 - x;
  }
  for (; x < 10; ++x) result -= 1 / x;
  const double z = 1 / (x * x);
  double series = 0;
  for (double c : {8.33333333333333333333e-2, -2.10927960927960927961e-2,
                   7.57575757575757575758e-3, -4.16666666666666666667e-3,
                   3.96825396825396825397e-3, -8.33333333333333333333e-3,
                   8.33333333333333333333e-2})
    series = series * z + c;
  return result + std::log(x) - 0.5 / x - z * series;
}

double sinc(double x) {
  const double angle = std::numbers::pi * x;
  return x == 0 ? 1 : std::sin(angle) / angle;
}
// log(exp(x) + exp(y)) without leaving the range; `unit` is the logarithm of the base.
double log_add(double x, double y, double unit) {
  if (x == y) return std::isinf(x) ? x : x + std::numbers::ln2 / unit;
  const double most = std::fmax(x, y);
  if (std::isnan(x) || std::isnan(y)) return kNaN;
  return most + std::log1p(std::exp(-std::fabs(x - y) * unit)) / unit;
}

constexpr SpecialRow kSpecialRows[] = {
    {"Expm1", 1, ANYNPU_ONE(std::expm1(x))},
    {"Exp2", 1, ANYNPU_ONE(std::exp2(x))},
    {"Log1p", 1, ANYNPU_ONE(std::log1p(x))},
    {"Log2", 1, ANYNPU_ONE(std::log2(x))},
    {"Log10", 1, ANYNPU_ONE(std::log10(x))},
    {"Erfc", 1, ANYNPU_ONE(std::erfc(x))},
    {"Erfinv", 1, ANYNPU_ONE(inverse_erf(x))},
    {"Sinc", 1, ANYNPU_ONE(sinc(x))},
    {"Lgamma", 1, ANYNPU_ONE(std::lgamma(x))},
    {"Digamma", 1, ANYNPU_ONE(digamma(x))},
    {"Trunc", 1, ANYNPU_ONE(std::trunc(x))},
    {"Signbit", 1, ANYNPU_ONE(std::signbit(x) ? 1.0 : 0.0), true},
    {"Atan2", 2, ANYNPU_TWO(std::atan2(x, y))},
    {"LogAddExp", 2, ANYNPU_TWO(log_add(x, y, 1))},
    {"LogAddExp2", 2, ANYNPU_TWO(log_add(x, y, std::numbers::ln2))},
    {"Xlogy", 2, ANYNPU_TWO(x == 0 && !std::isnan(y) ? 0.0 : x * std::log(y))},
};
#undef ANYNPU_ONE
#undef ANYNPU_TWO

const SpecialRow* find_special(std::string_view name) {
  for (const SpecialRow& row : kSpecialRows) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

Status special_rule(OpContext& context) {
  const SpecialRow* row = find_special(context.schema->name);
  return broadcast_rule(context, row && row->to_bool ? DType::boolean : context.inputs[0].dtype);
}

PlanResult plan_special(const OpContext& context) {
  const SpecialRow* row = find_special(context.schema->name);
  if (!row) return no_kernel_for(context);
  BlockOp op;
  op.float64 = row->function;
  return plan_blocks(context, op, WideKind::float64, {});
}

}  // namespace

void register_special(Registry& registry) {
  for (const SpecialRow& row : kSpecialRows) {
    OpSchema schema{.name = row.name,
                    .domain = "anynpu",
                    .since = 1,
                    .inputs = {{"X", "T"}},
                    .outputs = {{"Z", "U"}},
                    .types = {{"T", kFloats}},
                    .traits = OpTraits::linear(),
                    .shape = special_rule};
    if (row.inputs == 2) schema.inputs.push_back({"Y", "T"});
    registry.add(schema);
    registry.add(KernelDef{.op = row.name,
                           .name = "wide",
                           .domain = "anynpu",
                           .types = kFloats,
                           .create = create_plain<plan_special>});
  }
}

}  // namespace anynpu::ops::elementwise
