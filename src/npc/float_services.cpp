// SPDX-License-Identifier: Apache-2.0
// Float functions of math.h, and doubles, for cores that have instructions for neither. Conversions
// to integers saturate and take NaN to the largest value, as the cores' own do.
#include "npc/float_services.h"

#include <math.h>

#include <bit>
#include <cmath>
#include <limits>

#include "base/format.h"
#include "npc/core.h"
#include "npc/cycles.h"
#include "npc/float_ops.h"
#include "npc/services.h"

namespace anynpu::npc {

namespace {

template <typename T>
uint64_t saturate(double value) {
  constexpr double low = static_cast<double>(std::numeric_limits<T>::min());
  constexpr double high = static_cast<double>(std::numeric_limits<T>::max());  // may round up
  if (value != value) return static_cast<uint64_t>(std::numeric_limits<T>::max());
  if (value <= low) return static_cast<uint64_t>(std::numeric_limits<T>::min());
  if (value >= high) return static_cast<uint64_t>(std::numeric_limits<T>::max());
  return static_cast<uint64_t>(static_cast<T>(value));
}

uint64_t bits(double value) {
  return value != value ? 0x7ff8000000000000u : std::bit_cast<uint64_t>(value);
}
uint64_t bits32(float value) {
  return value != value ? Single::kNan : std::bit_cast<uint32_t>(value);
}

uint64_t order(double a, double b) {
  if (a != a || b != b) return 2;
  return static_cast<uint64_t>(a < b ? -1 : a > b);
}

// Rounding a double to half in one step.
uint64_t to_half(double value) {
  uint32_t flags = 0;
  const auto single = static_cast<float>(value);
  // Rounding to odd on the way keeps what the second rounding needs.
  uint32_t raw = std::bit_cast<uint32_t>(single);
  if (value == value && std::isfinite(single) && static_cast<double>(single) != value &&
      !(raw & 1)) {
    raw += (std::fabs(value) > std::fabs(static_cast<double>(single))) ? 1 : -1;
  }
  return single_to_half(raw, kNearestEven, flags);
}

bool compute(DoubleOp op, uint64_t first, uint64_t second, uint64_t& out) {
  const auto a = std::bit_cast<double>(first), b = std::bit_cast<double>(second);
  const auto single = std::bit_cast<float>(static_cast<uint32_t>(first));
  uint32_t flags = 0;
  switch (op) {
    case DoubleOp::add:
      out = bits(a + b);
      return true;
    case DoubleOp::sub:
      out = bits(a - b);
      return true;
    case DoubleOp::mul:
      out = bits(a * b);
      return true;
    case DoubleOp::div:
      out = bits(a / b);
      return true;
    case DoubleOp::compare:
      out = order(a, b);
      return true;
    case DoubleOp::from_i32:
      out = bits(static_cast<int32_t>(first));
      return true;
    case DoubleOp::from_u32:
      out = bits(static_cast<uint32_t>(first));
      return true;
    case DoubleOp::from_i64:
      out = bits(static_cast<double>(static_cast<int64_t>(first)));
      return true;
    case DoubleOp::from_u64:
      out = bits(static_cast<double>(first));
      return true;
    case DoubleOp::to_i32:
      out = saturate<int32_t>(a);
      return true;
    case DoubleOp::to_u32:
      out = saturate<uint32_t>(a);
      return true;
    case DoubleOp::to_i64:
      out = saturate<int64_t>(a);
      return true;
    case DoubleOp::to_u64:
      out = saturate<uint64_t>(a);
      return true;
    case DoubleOp::from_f32:
      out = bits(single);
      return true;
    case DoubleOp::to_f32:
      out = bits32(static_cast<float>(a));
      return true;
    case DoubleOp::f32_from_i64:
      out = bits32(static_cast<float>(static_cast<int64_t>(first)));
      return true;
    case DoubleOp::f32_from_u64:
      out = bits32(static_cast<float>(first));
      return true;
    case DoubleOp::f32_to_i64:
      out = saturate<int64_t>(single);
      return true;
    case DoubleOp::f32_to_u64:
      out = saturate<uint64_t>(single);
      return true;
    case DoubleOp::from_f16:
      out =
          bits(std::bit_cast<float>(half_to_single(static_cast<uint32_t>(first & 0xffff), flags)));
      return true;
    case DoubleOp::to_f16:
      out = to_half(a);
      return true;
  }
  return false;
}

}  // namespace

std::span<const FloatFunctionEntry> float_functions() {
  static constexpr FloatFunctionEntry functions[] = {
#define ONE(name, number) {#name, ::name##f, nullptr},
#define TWO(name, number) {#name, nullptr, ::name##f},
#include "npc/float_functions.def"
#undef ONE
#undef TWO
  };
  return functions;
}

bool serve_math(Core& core) {
  const auto functions = float_functions();
  if (core.x[10] >= functions.size()) {
    core.set_trap(TrapKind::service, format("float function {} is not there", core.x[10]));
    return false;
  }
  const FloatFunctionEntry& function = functions[core.x[10]];
  const auto x = std::bit_cast<float>(core.x[11]), y = std::bit_cast<float>(core.x[12]);
  const float out = function.of_one ? function.of_one(x) : function.of_two(x, y);
  core.x[10] = static_cast<uint32_t>(bits32(out));
  core.counters.events[kMCU_CYCLE] += cycles::kFloatFunction;
  core.clock += cycles::kFloatFunction;
  return true;
}

bool serve_double(Core& core) {
  uint64_t out = 0;
  if (!compute(static_cast<DoubleOp>(core.x[10]), core.x[11] | (uint64_t{core.x[12]} << 32),
               core.x[13] | (uint64_t{core.x[14]} << 32), out)) {
    core.set_trap(TrapKind::service, format("operation {} on doubles is not there", core.x[10]));
    return false;
  }
  core.x[10] = static_cast<uint32_t>(out);
  core.x[11] = static_cast<uint32_t>(out >> 32);
  core.counters.events[kMCU_CYCLE] += cycles::kDouble;
  core.clock += cycles::kDouble;
  return true;
}

}  // namespace anynpu::npc
