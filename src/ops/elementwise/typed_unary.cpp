// SPDX-License-Identifier: Apache-2.0
// Operators of one tensor as loops of the typed engine; those that need an exponential or an angle
// stand among the rows of simd/rows.h.
#include <cmath>
#include <limits>
#include <type_traits>

#include "ops/elements/map_elements.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/typed_engine.h"
#include "ops/registry.h"
#include "ops/simd/rows.h"

namespace anynpu::ops::elementwise {

namespace {

// F: made from the parameters, called with an element.
template <typename T, typename U, typename F>
void loop1(const std::byte* const* in, std::byte* out, int64_t count, const double* params) {
  const auto* x = reinterpret_cast<const T*>(in[0]);
  auto* y = reinterpret_cast<U*>(out);
  const F f(params);
  map_elements(static_cast<size_t>(count), [=](size_t i) { y[i] = static_cast<U>(f(x[i])); });
}

template <template <typename> typename F>
TypedLoop find_floats(DType type) {
  if (carried_type(type) == DType::f32) return loop1<float, float, F<float>>;
  return type == DType::f64 ? loop1<double, double, F<double>> : nullptr;
}
template <template <typename> typename F>
TypedLoop find_test(DType type) {
  if (carried_type(type) == DType::f32) return loop1<float, uint8_t, F<float>>;
  return type == DType::f64 ? loop1<double, uint8_t, F<double>> : nullptr;
}
template <template <typename> typename F>
TypedLoop find_integers(DType type) {
  TypedLoop found = nullptr;
  visit_integers(type, [&](auto zero) {
    using T = decltype(zero);
    found = loop1<T, T, F<T>>;
  });
  return found;
}
template <template <typename> typename F>
TypedLoop find_bool(DType type) {
  return type == DType::boolean ? loop1<uint8_t, uint8_t, F<uint8_t>> : nullptr;
}

// Of parameters p; every choice is one of values, so that loops have no branches.
#define ANYNPU_FUNCTION(Name, expression)                            \
  template <typename T>                                              \
  struct Name {                                                      \
    T p[2];                                                          \
    explicit Name(const double* params)                              \
        : p{static_cast<T>(params[0]), static_cast<T>(params[1])} {} \
    auto operator()(T x) const { return (expression); }              \
  };

// Numbers of this size and above are whole; adding it to smaller ones rounds them, halves to even.
template <typename T>
constexpr T kAllWhole = T(1) / std::numeric_limits<T>::epsilon();

template <typename T>
T nearest(T x) {
  const T size = std::fabs(x), rounded = (size + kAllWhole<T>)-kAllWhole<T>;
  return std::copysign(size < kAllWhole<T> ? rounded : size, x);
}
template <typename T>
T clamped(T x, T most) {
  const T low = x < T(0) ? T(0) : x;
  return low > most ? most : low;
}

ANYNPU_FUNCTION(Round, nearest(x))
ANYNPU_FUNCTION(Floor, nearest(x) - (nearest(x) > x ? T(1) : T(0)))
ANYNPU_FUNCTION(Ceil, std::copysign(nearest(x) + (nearest(x) < x ? T(1) : T(0)), x))
ANYNPU_FUNCTION(Sqrt, std::sqrt(x))
ANYNPU_FUNCTION(Softsign, x / (T(1) + std::fabs(x)))
ANYNPU_FUNCTION(HardSwish, x*(clamped(x + T(3), T(6)) / T(6)))  // x + 3 loses nothing near -3
ANYNPU_FUNCTION(HardSigmoid, clamped(p[0] * x + p[1], T(1)))
ANYNPU_FUNCTION(LeakyRelu, x < T(0) ? x * p[0] : x)
ANYNPU_FUNCTION(ThresholdedRelu, x > p[0] ? x : T(0))
ANYNPU_FUNCTION(Shrink, x<-p[1] ? x + p[0] : x> p[1] ? x - p[0] : T(0))
ANYNPU_FUNCTION(Sign, x > T(0) ? T(1) : x < T(0) ? T(-1) : x)
ANYNPU_FUNCTION(Not, x == 0)
ANYNPU_FUNCTION(BitwiseNot, ~x)
ANYNPU_FUNCTION(IsNaN, x != x)
// Parameters: whether the negative and the positive one count.
ANYNPU_FUNCTION(IsInf, ((x == -std::numeric_limits<T>::infinity()) & (p[0] != T(0))) |
                           ((x == std::numeric_limits<T>::infinity()) & (p[1] != T(0))))
#undef ANYNPU_FUNCTION

struct TypedUnaryRow {
  std::string_view name;
  TypedLoop (*find)(DType type);
  std::array<std::string_view, 2> attrs = {};
  bool finite = false;
};

constexpr TypedUnaryRow kTypedUnaryRows[] = {
    {"Round", find_floats<Round>, {}, true},
    {"Floor", find_floats<Floor>, {}, true},
    {"Ceil", find_floats<Ceil>, {}, true},
    {"Sqrt", find_floats<Sqrt>},
    {"Softsign", find_floats<Softsign>, {}, true},
    {"HardSwish", find_floats<HardSwish>, {}, true},
    {"HardSigmoid", find_floats<HardSigmoid>, {"alpha", "beta"}, true},
    {"LeakyRelu", find_floats<LeakyRelu>, {"alpha"}, true},
    {"ThresholdedRelu", find_floats<ThresholdedRelu>, {"alpha"}, true},
    {"Shrink", find_floats<Shrink>, {"bias", "lambd"}},
    {"Sign", find_floats<Sign>, {}, true},
    {"Not", find_bool<Not>},
    {"BitwiseNot", find_integers<BitwiseNot>},
    {"IsNaN", find_test<IsNaN>},
    {"IsInf", find_test<IsInf>, {"detect_negative", "detect_positive"}},
};

struct RowOfFunction {
  std::string_view name;
  ScaledFunction function;
  std::array<std::string_view, 2> attrs = {};
};

constexpr RowOfFunction kFunctions[] = {
    {"Sin", ScaledFunction::sin},
    {"Cos", ScaledFunction::cos},
    {"Mish", ScaledFunction::mish},
    {"Elu", ScaledFunction::elu, {"alpha"}},
    {"Celu", ScaledFunction::celu, {"alpha"}},
    {"Selu", ScaledFunction::selu, {"alpha", "gamma"}},
};

template <typename Rows>
const auto* find_row(const Rows& rows, const OpContext& context) {
  const auto* end = std::end(rows);
  for (const auto* row = std::begin(rows); row != end; ++row) {
    if (row->name == context.schema->name) return row;
  }
  return static_cast<decltype(end)>(nullptr);
}

Params params_of(const OpContext& context, const std::array<std::string_view, 2>& attrs) {
  Params params{};
  for (size_t i = 0; i < attrs.size() && !attrs[i].empty(); ++i) {
    const bool whole = context.schema->name == "IsInf";
    params[i] = whole ? static_cast<double>(context.int_attr(attrs[i]))
                      : static_cast<double>(context.float_attr(attrs[i]));
  }
  return params;
}

Status can_run_typed_unary(const OpContext& context) {
  const TypedUnaryRow* row = find_row(kTypedUnaryRows, context);
  return row && row->find(context.inputs[0].dtype) ? Status{} : no_typed_loop(context);
}

PlanResult plan_typed_unary(const OpContext& context) {
  const TypedUnaryRow* row = find_row(kTypedUnaryRows, context);
  if (!row) return no_kernel_for(context);
  return plan_typed(context, {.loop = row->find(context.inputs[0].dtype), .finite = row->finite},
                    params_of(context, row->attrs));
}

template <Isa isa>
Status can_run_function(const OpContext& context) {
  ANYNPU_TRY(check_isa(isa));
  if (context.schema->name == "Celu" && !(context.float_attr("alpha") > 0)) {
    return fail(Code::unsupported_feature, "alpha {}, takes positive ones",
                context.float_attr("alpha"));
  }
  return {};
}

template <Isa isa>
PlanResult plan_function(const OpContext& context) {
  const RowOfFunction* row = find_row(kFunctions, context);
  if (!row) return no_kernel_for(context);
  return plan_typed(context, {.loop = row_set(isa).find_scaled(row->function), .finite = true},
                    params_of(context, row->attrs));
}

}  // namespace

std::vector<KernelLine> typed_unary_kernels(std::string_view op) {
  for (const RowOfFunction& row : kFunctions) {
    if (row.name != op) continue;
    constexpr DTypeSet kTypes{DType::f32, DType::f16, DType::bf16};
    return {
        {"typed_avx512", kTypes, can_run_function<Isa::avx512>,
         create_plain<plan_function<Isa::avx512>>},
        {"typed_avx2", kTypes, can_run_function<Isa::avx2>, create_plain<plan_function<Isa::avx2>>},
        {"typed", kTypes, can_run_function<Isa::baseline>,
         create_plain<plan_function<Isa::baseline>>}};
  }
  for (const TypedUnaryRow& row : kTypedUnaryRows) {
    if (row.name != op) continue;
    return {{"typed", kNumbers | DTypeSet{DType::boolean}, can_run_typed_unary,
             create_plain<plan_typed_unary>}};
  }
  return {};
}

}  // namespace anynpu::ops::elementwise
