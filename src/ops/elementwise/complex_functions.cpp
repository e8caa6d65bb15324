// SPDX-License-Identifier: Apache-2.0
// ComplexFunction (domain anynpu): a function of one or two complex tensors, which are broadcast.
// The attribute `function` names a function of the table below. Computed in double.
#include <algorithm>
#include <cmath>
#include <complex>

#include "ops/broadcast.h"
#include "ops/elements/wide.h"
#include "ops/elementwise/elementwise.h"
#include "ops/parallel.h"
#include "ops/plain_kernel.h"
#include "ops/registry.h"

namespace anynpu::ops::elementwise {

namespace complex_functions {

namespace {

using Number = std::complex<double>;

enum class Gives : uint8_t { complex, real, boolean };

struct ComplexFunction {
  std::string_view name;
  size_t operands;
  Number (*compute)(const Number& a, const Number& b);
  Gives gives = Gives::complex;
};

// By the definition alone: infinities give what sums and products of parts give.
Number product(const Number& a, const Number& b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// log(1 + z) and exp(z) - 1 without losing the digits of a small z.
Number log_of_one_and(const Number& z) {
  const double x = z.real(), y = z.imag();
  if (std::hypot(x, y) > 0.5) return std::log(1.0 + z);
  return {0.5 * std::log1p(2 * x + x * x + y * y), std::atan2(y, 1 + x)};
}
Number exp_minus_one(const Number& z) {
  const double half = std::sin(z.imag() / 2);
  return {std::expm1(z.real()) * std::cos(z.imag()) - 2 * half * half,
          std::exp(z.real()) * std::sin(z.imag())};
}

#define ANYNPU_ONE(expression) [](const Number& a, const Number&) -> Number { return (expression); }
#define ANYNPU_TWO(expression) \
  [](const Number& a, const Number& b) -> Number { return (expression); }

constexpr ComplexFunction kFunctions[] = {
    {"Abs", 1, ANYNPU_ONE(std::abs(a)), Gives::real},
    {"Acos", 1, ANYNPU_ONE(std::acos(a))},
    {"Acosh", 1, ANYNPU_ONE(std::acosh(a))},
    {"Angle", 1, ANYNPU_ONE(std::arg(a)), Gives::real},
    {"Asin", 1, ANYNPU_ONE(std::asin(a))},
    {"Asinh", 1, ANYNPU_ONE(std::asinh(a))},
    {"Atan", 1, ANYNPU_ONE(std::atan(a))},
    {"Atanh", 1, ANYNPU_ONE(std::atanh(a))},
    {"Conj", 1, ANYNPU_ONE(std::conj(a))},
    {"Cos", 1, ANYNPU_ONE(std::cos(a))},
    {"Cosh", 1, ANYNPU_ONE(std::cosh(a))},
    {"Exp", 1, ANYNPU_ONE(std::exp(a))},
    {"Expm1", 1, ANYNPU_ONE(exp_minus_one(a))},
    {"Imag", 1, ANYNPU_ONE(a.imag()), Gives::real},
    {"Log", 1, ANYNPU_ONE(std::log(a))},
    {"Log1p", 1, ANYNPU_ONE(log_of_one_and(a))},
    {"Neg", 1, ANYNPU_ONE(-a)},
    {"Real", 1, ANYNPU_ONE(a.real()), Gives::real},
    {"Reciprocal", 1, ANYNPU_ONE(1.0 / a)},
    {"Rsqrt", 1, ANYNPU_ONE(1.0 / std::sqrt(a))},
    {"Sigmoid", 1, ANYNPU_ONE(1.0 / (1.0 + std::exp(-a)))},
    {"Sign", 1, ANYNPU_ONE(a == Number() ? a : a / std::abs(a))},
    {"Sin", 1, ANYNPU_ONE(std::sin(a))},
    {"Sinh", 1, ANYNPU_ONE(std::sinh(a))},
    {"Sqrt", 1, ANYNPU_ONE(std::sqrt(a))},
    {"Square", 1, ANYNPU_ONE(product(a, a))},
    {"Tan", 1, ANYNPU_ONE(std::tan(a))},
    {"Tanh", 1, ANYNPU_ONE(std::tanh(a))},
    {"Add", 2, ANYNPU_TWO(a + b)},
    {"Sub", 2, ANYNPU_TWO(a - b)},
    {"Mul", 2, ANYNPU_TWO(product(a, b))},
    {"Div", 2, ANYNPU_TWO(a / b)},
    {"Pow", 2, ANYNPU_TWO(b == Number() ? Number(1) : std::pow(a, b))},
    {"DivNoNan", 2, ANYNPU_TWO(b == Number() ? b : a / b)},
    {"MulNoNan", 2, ANYNPU_TWO(b == Number() ? b : product(a, b))},
    {"SquaredDifference", 2, ANYNPU_TWO(product(a - b, std::conj(a - b)))},
    {"Xdivy", 2, ANYNPU_TWO(a == Number() ? a : a / b)},
    {"Xlogy", 2, ANYNPU_TWO(a == Number() ? a : product(a, std::log(b)))},
    {"Xlog1py", 2, ANYNPU_TWO(a == Number() ? a : product(a, log_of_one_and(b)))},
    {"Equal", 2, ANYNPU_TWO(a == b ? 1.0 : 0.0), Gives::boolean},
    {"NotEqual", 2, ANYNPU_TWO(a != b ? 1.0 : 0.0), Gives::boolean},
};

#undef ANYNPU_ONE
#undef ANYNPU_TWO

Result<const ComplexFunction*> function_of(const OpContext& context) {
  const std::string name = context.string_attr("function");
  for (const ComplexFunction& function : kFunctions) {
    if (function.name != name) continue;
    if (context.has_input(1) == (function.operands == 2)) return &function;
    return fail(Code::invalid_argument, "{}: {} takes {} inputs", context.label(), name,
                function.operands);
  }
  return fail(Code::invalid_argument, "{}: there is no complex function '{}'; check the name",
              context.label(), name);
}

Status rule(OpContext& context) {
  const Operand &a = context.inputs[0], &b = context.inputs[1];
  ANYNPU_ASSIGN(const ComplexFunction* function, function_of(context));
  context.outputs[0].dtype = function->gives == Gives::boolean ? DType::boolean
                             : function->gives == Gives::real  ? part_of(a.dtype)
                                                               : a.dtype;
  if (!a.has_shape || (b.present && !b.has_shape)) return {};
  ANYNPU_ASSIGN(context.outputs[0].shape, broadcast(a.shape, b.present ? b.shape : a.shape), "{}",
                context.label());
  context.outputs[0].has_shape = true;
  return {};
}

// Elements of one operand along the inner loop, a block at a time; a repeated one is loaded once.
struct Source {
  LoadBlock<double> load;
  const std::byte* base;
  int64_t at, step;

  void read(int64_t first, int64_t count, Number* block) const {
    auto* parts = reinterpret_cast<double*>(block);
    load(base, 2 * (at + first * step), 1, parts, 2 * (step == 0 ? 1 : count));
    for (int64_t i = 1; step == 0 && i < count; ++i) block[i] = block[0];
  }
};

PlanResult plan(const OpContext& context) {
  ANYNPU_ASSIGN(const ComplexFunction* function, function_of(context));
  const bool two = function->operands == 2;
  const Shape& left = context.inputs[0].shape;
  const Shape& right = two ? context.inputs[1].shape : left;
  const BroadcastLoop loop = broadcast_loop(left, right, context.outputs[0].shape);
  const auto load = load_block<double>(part_of(context.inputs[0].dtype));
  const auto store = store_block<double>(part_of(context.outputs[0].dtype));
  const int64_t parts = function->gives == Gives::complex ? 2 : 1;
  return make_plan([=, compute = function->compute](const RunArgs& args) {
    constexpr int64_t kMost = kBlockLength / 2;
    parallel(static_cast<size_t>(loop.outer), 16, [&](size_t begin, size_t end) {
      Number a[kMost], b[kMost];
      double out[2 * kMost];
      for (auto r = static_cast<int64_t>(begin); r < static_cast<int64_t>(end); ++r) {
        Source x{load, args.inputs[0], 0, loop.inner_a};
        Source y{load, args.inputs[two ? 1 : 0], 0, loop.inner_b};
        loop.offsets(r, x.at, y.at);
        for (int64_t first = 0; first < loop.inner; first += kMost) {
          const int64_t count = std::min(kMost, loop.inner - first);
          x.read(first, count, a);
          if (two) y.read(first, count, b);
          for (int64_t i = 0; i < count; ++i) {
            const Number made = compute(a[i], b[i]);
            out[i * parts] = made.real();
            if (parts == 2) out[i * 2 + 1] = made.imag();
          }
          store(args.outputs[0], (r * loop.inner + first) * parts, out, count * parts);
        }
      }
    });
  });
}

}  // namespace

}  // namespace complex_functions

bool is_complex_function(std::string_view name) {
  return std::ranges::any_of(complex_functions::kFunctions,
                             [&](const auto& function) { return function.name == name; });
}

void register_complex_functions(Registry& registry) {
  registry.add(OpSchema{.name = "ComplexFunction",
                        .domain = "anynpu",
                        .since = 1,
                        .inputs = {{"A", "T"}, {"B", "T", Presence::optional}},
                        .outputs = {{"Y", "U"}},
                        .types = {{"T", kComplex}},
                        .attrs = {{"function", AttrKind::s, {}, true}},
                        .traits = OpTraits::general(),
                        .shape = complex_functions::rule});
  registry.add(KernelDef{.op = "ComplexFunction",
                         .name = "reference",
                         .domain = "anynpu",
                         .types = kComplex,
                         .create = create_plain<complex_functions::plan>});
}

}  // namespace anynpu::ops::elementwise
