// SPDX-License-Identifier: Apache-2.0
// Operators of one tensor. Works on any layout: elements are processed in memory order.
#include <cmath>
#include <cstdint>

#include "ops/blocked_layout.h"
#include "ops/elements/map_elements.h"
#include "ops/elementwise/elementwise.h"
#include "ops/families.h"
#include "ops/parallel.h"
#include "ops/plain_kernel.h"
#include "ops/registry.h"
#include "tensor/element.h"

namespace anynpu::ops::elementwise {

namespace {

// Each functor: a constructor from the context (for attributes) and a call on the wide type.
#define ANYNPU_UNARY(Name, expression)   \
  struct Name {                          \
    explicit Name(const OpContext&) {}   \
    template <typename T>                \
    T operator()(T x) const {            \
      return static_cast<T>(expression); \
    }                                    \
  };

ANYNPU_UNARY(Relu, x < T(0) ? T(0) : x)
ANYNPU_UNARY(Sigmoid, T(1) / (T(1) + std::exp(-x)))
ANYNPU_UNARY(Tanh, std::tanh(x))
ANYNPU_UNARY(Exp, std::exp(x))
ANYNPU_UNARY(Log, std::log(x))
ANYNPU_UNARY(Sqrt, std::sqrt(x))
ANYNPU_UNARY(Reciprocal, T(1) / x)
ANYNPU_UNARY(Floor, std::floor(x))
ANYNPU_UNARY(Ceil, std::ceil(x))
ANYNPU_UNARY(Erf, std::erf(x))
// Through unsigned arithmetic: the most negative integer wraps to itself instead of overflowing.
ANYNPU_UNARY(Neg, [x] {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(uint64_t{0} - static_cast<uint64_t>(x));
  else
    return -x;
}())
ANYNPU_UNARY(Abs, [x] {
  if constexpr (std::is_unsigned_v<T>)
    return x;
  else if constexpr (std::is_integral_v<T>)
    return x < 0 ? static_cast<T>(uint64_t{0} - static_cast<uint64_t>(x)) : x;
  else
    return std::fabs(x);
}())
#undef ANYNPU_UNARY

struct LeakyRelu {
  explicit LeakyRelu(const OpContext& context) : alpha(context.float_attr("alpha")) {}
  template <typename T>
  T operator()(T x) const {
    return x < T(0) ? static_cast<T>(x * static_cast<T>(alpha)) : x;
  }
  float alpha;
};

Status same_rule(OpContext& context) {
  context.outputs[0].dtype = context.inputs[0].dtype;
  context.outputs[0].shape = context.inputs[0].shape;
  context.outputs[0].has_shape = context.inputs[0].has_shape;
  return {};
}

// What the table below says of an operator. `blocked`: a finite input gives a finite output, so the
// unused channels of a blocked tensor stay finite.
enum Traits : unsigned { kFloatsOnly = 0, kWithIntegers = 1, kBlocked = 2 };

template <typename Functor, unsigned traits>
PlanResult plan_unary(const OpContext& context) {
  constexpr bool integers = (traits & kWithIntegers) != 0;
  const Layout layout = (traits & kBlocked) != 0 ? context.inputs[0].layout : Layout::plain;
  const auto count = static_cast<size_t>(stored_elements(context.inputs[0].shape, layout));
  const Functor functor(context);
  std::unique_ptr<KernelPlan> plan;
  const auto make = [&](auto zero) {
    using T = decltype(zero);
    plan = make_plan([=](const RunArgs& args) {
      parallel(count, 8192, [&](size_t begin, size_t end) {
        const T* x = input_of<T>(args, 0);
        T* y = output_of<T>(args, 0);
        map_elements(end - begin, [=](size_t i) {
          y[begin + i] = Element<T>::store(functor(Element<T>::load(x[begin + i])));
        });
      });
    });
  };
  if (!visit_floats(context.inputs[0].dtype, make)) {
    if constexpr (integers) visit_integers(context.inputs[0].dtype, make);
  }
  if (!plan) return no_kernel_for(context);
  plan->in_place_input = 0;
  plan->input_layouts = {layout};
  plan->output_layouts = {layout};
  return plan;
}

template <typename Functor, unsigned flags>
void add_unary(Registry& registry, std::string_view name, int64_t since, const OpTraits& traits,
               std::vector<AttrSchema> attrs = {}) {
  const DTypeSet types = (flags & kWithIntegers) != 0 ? kNumbers : kFloats;
  registry.add(OpSchema{.name = name,
                        .since = since,
                        .inputs = {{"X", "T"}},
                        .outputs = {{"Y", "T"}},
                        .types = {{"T", types}},
                        .attrs = std::move(attrs),
                        .traits = traits,
                        .shape = same_rule});
  add_list(registry, name,
           {"unary_reference", types, nullptr, create_plain<plan_unary<Functor, flags>>});
}

}  // namespace

void register_unary(Registry& registry) {
  constexpr OpTraits activation = OpTraits::elementwise();
  constexpr OpTraits keeps_shape = activation.with(StatedShape::of_first);
  constexpr OpTraits precise = keeps_shape.with(PrecisionClass::black);
  add_unary<Relu, kWithIntegers | kBlocked>(registry, "Relu", 6, activation);
  add_unary<Sigmoid, kBlocked>(registry, "Sigmoid", 6, keeps_shape);
  add_unary<Tanh, kBlocked>(registry, "Tanh", 6, keeps_shape);
  add_unary<Exp, kFloatsOnly>(registry, "Exp", 6, precise);
  add_unary<Log, kFloatsOnly>(registry, "Log", 6, precise);
  add_unary<Sqrt, kFloatsOnly>(registry, "Sqrt", 6, precise);
  add_unary<Reciprocal, kFloatsOnly>(registry, "Reciprocal", 6, precise);
  add_unary<Floor, kBlocked>(registry, "Floor", 6, keeps_shape);
  add_unary<Ceil, kBlocked>(registry, "Ceil", 6, keeps_shape);
  add_unary<Erf, kWithIntegers | kBlocked>(registry, "Erf", 9, keeps_shape);
  add_unary<Neg, kWithIntegers | kBlocked>(registry, "Neg", 6, keeps_shape);
  add_unary<Abs, kWithIntegers | kBlocked>(registry, "Abs", 6, keeps_shape);
  add_unary<LeakyRelu, kBlocked>(registry, "LeakyRelu", 6, activation,
                                 {{"alpha", AttrKind::f, 0.01f}});
}

}  // namespace anynpu::ops::elementwise
