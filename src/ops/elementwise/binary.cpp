// SPDX-License-Identifier: Apache-2.0
// Operators of two tensors over the broadcasting engine.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "ops/broadcast.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/map_elements.h"
#include "ops/layout.h"
#include "ops/parallel.h"
#include "ops/plain_kernel.h"
#include "ops/registry.h"
#include "tensor/element.h"

namespace anynpu::ops {

namespace {

// Integers wrap: computed unsigned, so that no input overflows.
template <typename T>
using Wrapping = std::conditional_t<std::is_integral_v<T>, uint64_t, T>;

struct Add {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
  }
};
struct Sub {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
  }
};
struct Mul {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
  }
};
struct Div {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0) return 0;  // the processor would trap
      if constexpr (std::is_signed_v<T>) {
        if (b == T(-1)) return Sub{}(T(0), a);
      }
    }
    return static_cast<T>(a / b);
  }
};

Status binary_rule(OpContext& context) {
  const Operand &a = context.inputs[0], &b = context.inputs[1];
  context.outputs[0].dtype = a.dtype;
  if (!a.has_shape || !b.has_shape) return {};
  ANYNPU_ASSIGN(context.outputs[0].shape, broadcast(a.shape, b.shape), "{}", context.label());
  context.outputs[0].has_shape = true;
  return {};
}

template <typename T, typename Functor>
void inner_loop(const T* a, const T* b, T* y, int64_t step_a, int64_t step_b, int64_t count) {
  const Functor f;
  const auto apply = [f](T p, T q) {
    return Element<T>::store(f(Element<T>::load(p), Element<T>::load(q)));
  };
  if (step_a == 1 && step_b == 1) {
    map_elements(static_cast<size_t>(count), [=](size_t i) { y[i] = apply(a[i], b[i]); });
  } else if (step_a == 1) {
    const T q = *b;
    map_elements(static_cast<size_t>(count), [=](size_t i) { y[i] = apply(a[i], q); });
  } else {
    const T p = *a;
    const auto step = static_cast<size_t>(step_b);
    map_elements(static_cast<size_t>(count), [=](size_t i) { y[i] = apply(p, b[i * step]); });
  }
}

template <typename T, typename Functor>
std::unique_ptr<KernelPlan> plan_broadcast(BroadcastLoop loop) {
  return make_plan([loop = std::move(loop)](const RunArgs& args) {
    // Long inner loops are cut into pieces, so that one long row still feeds every thread.
    constexpr int64_t kPiece = 4096;
    const int64_t pieces = (loop.inner + kPiece - 1) / kPiece;
    const int64_t length = std::clamp<int64_t>(loop.inner, 1, kPiece);
    const auto least = static_cast<size_t>(std::max<int64_t>(1, 8192 / length));
    parallel(static_cast<size_t>(loop.outer * pieces), least, [&](size_t begin, size_t end) {
      for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
        const int64_t outer = i / pieces, from = i % pieces * kPiece;
        int64_t a = 0, b = 0;
        loop.offsets(outer, a, b);
        inner_loop<T, Functor>(input_of<T>(args, 0) + a + from * loop.inner_a,
                               input_of<T>(args, 1) + b + from * loop.inner_b,
                               output_of<T>(args, 0) + outer * loop.inner + from, loop.inner_a,
                               loop.inner_b, std::min(kPiece, loop.inner - from));
      }
    });
  });
}

template <typename Functor, bool keeps_blocked>
PlanResult plan_binary(const OpContext& context) {
  const Operand &a = context.inputs[0], &b = context.inputs[1];
  const Shape& out = context.outputs[0].shape;
  // Same shapes with at least one blocked: stay blocked. The unused channels must stay finite,
  // which a division by them would not.
  const bool blocked = keeps_blocked && a.shape == b.shape && can_block(a) &&
                       (a.layout == Layout::blocked16 || b.layout == Layout::blocked16);
  BroadcastLoop loop;
  if (blocked) {
    const Shape flat = {stored_elements(out, Layout::blocked16)};
    loop = broadcast_loop(flat, flat, flat);
  } else {
    loop = broadcast_loop(a.shape, b.shape, out);
  }
  if (element_count(out) == 0) loop.outer = 0;
  std::unique_ptr<KernelPlan> plan;
  visit_numbers(
      a.dtype, [&](auto zero) { plan = plan_broadcast<decltype(zero), Functor>(std::move(loop)); });
  if (!plan) return no_kernel_for(context);
  const Layout layout = blocked ? Layout::blocked16 : Layout::plain;
  plan->input_layouts = {layout, layout};
  plan->output_layouts = {layout};
  if (a.shape == out) {
    plan->in_place_input = 0;
  } else if (b.shape == out) {
    plan->in_place_input = 1;
  }
  return plan;
}

template <typename Functor, bool keeps_blocked>
void add_binary(Registry& registry, std::string_view name) {
  registry.add(OpSchema{.name = name,
                        .since = 7,
                        .inputs = {{"A", "T"}, {"B", "T"}},
                        .outputs = {{"C", "T"}},
                        .types = {{"T", kNumbers}},
                        .shape = binary_rule});
  registry.add(KernelDef{.op = name,
                         .name = "binary_reference",
                         .types = kNumbers,
                         .create = create_plain<plan_binary<Functor, keeps_blocked>>});
}

}  // namespace

void register_binary(Registry& registry) {
  add_binary<Add, true>(registry, "Add");
  add_binary<Sub, true>(registry, "Sub");
  add_binary<Mul, true>(registry, "Mul");
  add_binary<Div, false>(registry, "Div");
}

}  // namespace anynpu::ops
