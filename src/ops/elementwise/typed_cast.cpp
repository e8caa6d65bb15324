// SPDX-License-Identifier: Apache-2.0
// Casts as loops of the typed engine: all pairs of number types and bool. Floats of 8 bits and less
// and int4 are the block engine's.
#include <limits>
#include <type_traits>

#include "ops/elements/map_elements.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/typed_engine.h"
#include "ops/registry.h"

namespace anynpu::ops::elementwise {

namespace {

struct Truth {  // bool as bytes of 0 and 1
  uint8_t value;
};

// Floats outside int64_t become its most negative number, as processors have it, and shorter
// integers keep the low bits of that: the rules of wide.cpp.
template <typename U, typename T>
U converted(T value) {
  if constexpr (std::is_same_v<T, Truth>) {
    return converted<U>(static_cast<uint8_t>(value.value != 0));
  } else if constexpr (std::is_same_v<U, Truth>) {
    return {static_cast<uint8_t>(value != T(0))};
  } else if constexpr (std::is_floating_point_v<T> && std::is_same_v<U, uint64_t>) {
    const bool high = (value >= T(0x1p63)) & (value < T(0x1p64));
    const T low = high ? value - T(0x1p63) : value;
    return converted<int64_t>(low) ^ (high ? uint64_t{1} << 63 : 0);
  } else if constexpr (std::is_floating_point_v<T> && std::is_integral_v<U>) {
    const T inside = (value >= T(-0x1p63)) & (value < T(0x1p63)) ? value : T(-0x1p63);
    return static_cast<U>(static_cast<int64_t>(inside));
  } else {
    return static_cast<U>(value);
  }
}

template <typename T, typename U>
void convert(const std::byte* const* in, std::byte* out, int64_t count, const double*) {
  const auto* x = reinterpret_cast<const T*>(in[0]);
  auto* y = reinterpret_cast<U*>(out);
  map_elements(static_cast<size_t>(count), [=](size_t i) { y[i] = converted<U>(x[i]); });
}

template <typename F>
void visit_castable(DType type, F&& f) {
  if (type == DType::boolean) {
    f(Truth{});
  } else {
    visit_carried(type, f);
  }
}

TypedLoop loop_of(const OpContext& context) {
  TypedLoop found = nullptr;
  visit_castable(context.inputs[0].dtype, [&](auto from) {
    visit_castable(context.outputs[0].dtype,
                   [&](auto to) { found = convert<decltype(from), decltype(to)>; });
  });
  return found;
}

Status can_run_typed(const OpContext& context) {
  if (loop_of(context)) return {};
  return fail(Code::unsupported_dtype, "no loop of its own from {} to {}",
              name_of(context.inputs[0].dtype), name_of(context.outputs[0].dtype));
}

PlanResult plan_typed_cast(const OpContext& context) {
  OpContext one = context;
  one.inputs.resize(1);  // CastLike reads the type of the other, and none of its elements
  ANYNPU_ASSIGN(auto plan, plan_typed(one, {.loop = loop_of(context), .finite = false}));
  return plan;
}

}  // namespace

std::vector<KernelLine> typed_cast_kernels(std::string_view op) {
  if (op != "Cast" && op != "CastLike") return {};
  return {
      {"typed", kNumbers | DTypeSet{DType::boolean}, can_run_typed, create_plain<plan_typed_cast>}};
}

}  // namespace anynpu::ops::elementwise
