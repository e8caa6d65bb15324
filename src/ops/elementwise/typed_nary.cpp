// SPDX-License-Identifier: Apache-2.0
// Operators of two or more tensors as loops of the typed engine.
#include <type_traits>

#include "ops/elements/map_elements.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/typed_engine.h"
#include "ops/registry.h"

namespace anynpu::ops::elementwise {

namespace {

// T: of the inputs, U: of the output.
template <typename T, typename U, typename F>
void loop2(const std::byte* const* in, std::byte* out, int64_t count, const double*) {
  const auto* a = reinterpret_cast<const T*>(in[0]);
  const auto* b = reinterpret_cast<const T*>(in[1]);
  auto* y = reinterpret_cast<U*>(out);
  map_elements(static_cast<size_t>(count),
               [=](size_t i) { y[i] = static_cast<U>(F{}(a[i], b[i])); });
}

template <typename F, bool to_bool>
TypedLoop find_numbers(DType type) {
  TypedLoop found = nullptr;
  visit_carried(type, [&](auto zero) {
    using T = decltype(zero);
    found = loop2<T, std::conditional_t<to_bool, uint8_t, T>, F>;
  });
  return found;
}
template <typename F>
TypedLoop find_floats(DType type) {
  if (carried_type(type) == DType::f32) return loop2<float, float, F>;
  return type == DType::f64 ? loop2<double, double, F> : nullptr;
}
template <typename F>
TypedLoop find_integers(DType type) {
  TypedLoop found = nullptr;
  visit_integers(type, [&](auto zero) { found = loop2<decltype(zero), decltype(zero), F>; });
  return found;
}
template <typename F>
TypedLoop find_bool(DType type) {
  return type == DType::boolean ? loop2<uint8_t, uint8_t, F> : nullptr;
}
template <typename F>
TypedLoop find_equal(DType type) {
  struct Truths {
    bool operator()(uint8_t a, uint8_t b) const { return (a != 0) == (b != 0); }
  };
  return type == DType::boolean ? find_bool<Truths>(type) : find_numbers<F, true>(type);
}

// Both sides of a choice are computed and no comparison is skipped: loops without branches.
#define ANYNPU_FUNCTOR(Name, expression) \
  struct Name {                          \
    template <typename T>                \
    auto operator()(T a, T b) const {    \
      return (expression);               \
    }                                    \
  };
ANYNPU_FUNCTOR(Equal, a == b)
ANYNPU_FUNCTOR(Less, a < b)
ANYNPU_FUNCTOR(Greater, a > b)
ANYNPU_FUNCTOR(LessOrEqual, a <= b)
ANYNPU_FUNCTOR(GreaterOrEqual, a >= b)
ANYNPU_FUNCTOR(And, (a != 0) & (b != 0))
ANYNPU_FUNCTOR(Or, (a | b) != 0)
ANYNPU_FUNCTOR(Xor, (a != 0) ^ (b != 0))
ANYNPU_FUNCTOR(BitwiseAnd, a& b)
ANYNPU_FUNCTOR(BitwiseOr, a | b)
ANYNPU_FUNCTOR(BitwiseXor, a ^ b)
ANYNPU_FUNCTOR(Sum, a + b)
// Of equal numbers the second, NaN of either wins: what the block engine gives.
ANYNPU_FUNCTOR(Max, ((a > b) | (a != a)) ? a : b)
ANYNPU_FUNCTOR(Min, ((a < b) | (a != a)) ? a : b)
#undef ANYNPU_FUNCTOR

struct Leaky {
  template <typename T>
  T operator()(T a, T slope) const {
    const T scaled = a * slope;
    return a < 0 ? scaled : a;
  }
};

struct TypedNaryRow {
  std::string_view name;
  TypedLoop (*find)(DType type);
  bool folds = false, finite = false;
};

constexpr TypedNaryRow kTypedNaryRows[] = {
    {"Equal", find_equal<Equal>},
    {"Less", find_numbers<Less, true>},
    {"Greater", find_numbers<Greater, true>},
    {"LessOrEqual", find_numbers<LessOrEqual, true>},
    {"GreaterOrEqual", find_numbers<GreaterOrEqual, true>},
    {"And", find_bool<And>},
    {"Or", find_bool<Or>},
    {"Xor", find_bool<Xor>},
    {"BitwiseAnd", find_integers<BitwiseAnd>},
    {"BitwiseOr", find_integers<BitwiseOr>},
    {"BitwiseXor", find_integers<BitwiseXor>},
    {"Max", find_numbers<Max, false>, true, true},
    {"Min", find_numbers<Min, false>, true, true},
    {"Sum", find_floats<Sum>, true},  // of two: a sum of more is kept in double
    {"PRelu", find_floats<Leaky>},
};

TypedOp typed_op(const OpContext& context) {
  for (const TypedNaryRow& row : kTypedNaryRows) {
    if (row.name != context.schema->name) continue;
    const size_t count = context.inputs.size();
    if (row.folds && (count < 2 || (row.name == "Sum" && count > 2))) return {};
    return {row.find(context.inputs[0].dtype), row.folds, row.finite};
  }
  return {};
}

Status can_run_typed_nary(const OpContext& context) {
  return typed_op(context).loop ? Status{} : no_typed_loop(context);
}
PlanResult plan_typed_nary(const OpContext& context) {
  return plan_typed(context, typed_op(context));
}

// Where: elements are moved, as unsigned numbers of their size.
template <typename U>
void choose(const std::byte* const* in, std::byte* out, int64_t count, const double*) {
  const auto* condition = reinterpret_cast<const uint8_t*>(in[0]);
  const auto* a = reinterpret_cast<const U*>(in[1]);
  const auto* b = reinterpret_cast<const U*>(in[2]);
  auto* y = reinterpret_cast<U*>(out);
  map_elements(static_cast<size_t>(count), [=](size_t i) {
    const U mask = static_cast<U>(-static_cast<U>(condition[i] != 0));
    y[i] = static_cast<U>((a[i] & mask) | (b[i] & static_cast<U>(~mask)));
  });
}

struct Moved {
  size_t bytes;
  DType type;
  TypedLoop loop;
};
constexpr Moved kMoved[] = {{1, DType::u8, choose<uint8_t>},
                            {2, DType::u16, choose<uint16_t>},
                            {4, DType::u32, choose<uint32_t>},
                            {8, DType::u64, choose<uint64_t>}};

const Moved* moved_as(const OpContext& context) {
  for (const Moved& moved : kMoved) {
    if (moved.bytes == size_of(context.outputs[0].dtype)) return &moved;
  }
  return nullptr;
}

Status can_run_where(const OpContext& context) {
  return moved_as(context) ? Status{}
                           : fail(Code::unsupported_dtype, "elements of {} bytes",
                                  size_of(context.outputs[0].dtype));
}

PlanResult plan_typed_where(const OpContext& context) {
  const Moved* moved = moved_as(context);
  if (!moved) return no_kernel_for(context);
  OpContext raw = context;
  for (Operand* operand : {&raw.inputs[1], &raw.inputs[2], &raw.outputs[0]})
    operand->dtype = moved->type;
  return plan_typed(raw, {.loop = moved->loop});
}

}  // namespace

std::vector<KernelLine> typed_nary_kernels(std::string_view op) {
  if (op == "Where")
    return {{"typed", {DType::boolean}, can_run_where, create_plain<plan_typed_where>}};
  for (const TypedNaryRow& row : kTypedNaryRows) {
    if (row.name != op) continue;
    return {{"typed", kNumbers | DTypeSet{DType::boolean}, can_run_typed_nary,
             create_plain<plan_typed_nary>}};
  }
  return {};
}

}  // namespace anynpu::ops::elementwise
