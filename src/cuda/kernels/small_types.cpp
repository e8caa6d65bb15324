// SPDX-License-Identifier: Apache-2.0
// Cast, CastLike, QuantizeLinear and DequantizeLinear with floats of 8 and 4 bits and int4. Their
// values and the codes of special values come from the CPU's conversions, as tables in the kernel.
#include <cmath>
#include <limits>

#include "cuda/kernels/item_kernel.h"
#include "cuda/kernels/jit_kernel.h"
#include "cuda/kernels/kernels.h"
#include "cuda/kernels/quantize.h"
#include "ops/elements/cast_attributes.h"
#include "ops/quantize/linear.h"
#include "tensor/microscaling.h"

namespace anynpu::device::cuda {

namespace {

using ops::OpContext;
using ops::quantize::ScaleWalk;

constexpr ops::DTypeSet kSmall{DType::i4, DType::f4e2m1, DType::f8e5m2, DType::f8e4m3,
                               DType::f8e8m0};
constexpr ops::DTypeSet kPlain = ops::kNumbers | ops::DTypeSet{DType::boolean};

bool is_packed(DType type) { return bits_of(type) == 4; }

int codes_of(DType type) { return is_packed(type) ? 16 : 256; }

double value_of(DType type, int code) {
  const auto bits = static_cast<uint8_t>(code);
  switch (type) {
    case DType::f4e2m1:
      return static_cast<double>(to_float(F4E2M1{bits}));
    case DType::f8e5m2:
      return static_cast<double>(to_float(F8E5M2{bits}));
    case DType::f8e4m3:
      return static_cast<double>(to_float(F8E4M3{bits}));
    case DType::f8e8m0:
      return static_cast<double>(to_float(F8E8M0{bits}));
    default:  // int4
      return code < 8 ? code : code - 16;
  }
}

int code_of(DType type, double value, SmallFloatRule rule) {
  switch (type) {
    case DType::f4e2m1:
      return to_f4e2m1(value, rule).bits;
    case DType::f8e5m2:
      return to_f8e5m2(value, rule.overflow).bits;
    case DType::f8e4m3:
      return to_f8e4m3(value, rule.overflow).bits;
    default:
      return to_f8e8m0(value, rule).bits;
  }
}

std::string literal_of(double value) {
  return std::isnan(value) ? "__int_as_float(0x7fc00000)" : literal(value);
}

// `double NAME(const u8* p, i64 at)`: element `at` of a small type.
std::string loader(DType type, std::string_view name) {
  std::string values;
  for (int code = 0; code < codes_of(type); ++code)
    values += literal_of(value_of(type, code)) + ",";
  return format(
      "__device__ double {0}(const u8* p, i64 at) {{\n  const float values[] = {{{1}}};\n"
      "  return values[{2}];\n}}\n",
      name, values, is_packed(type) ? "p[at / 2] >> (at % 2 * 4) & 15" : "p[at]");
}

// `int code_of(double v)`: rounds to the nearest value, of two the even code; int4 wraps.
std::string encoder(DType type, SmallFloatRule rule) {
  if (type == DType::i4)
    return "__device__ int code_of(double v) { return (int)(whole(v) & 15); }\n";
  const bool has_sign = type != DType::f8e8m0;
  std::string values;
  int count = 0;
  for (; count < codes_of(type) / (has_sign ? 2 : 1); ++count) {
    const double value = value_of(type, count);
    if (!std::isfinite(value)) break;
    values += literal(value) + ",";
  }
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const auto both = [&](double value) {
    return format("negative ? {} : {}", code_of(type, -value, rule), code_of(type, value, rule));
  };
  const std::string round = has_sign ? "a - lower > upper - a || (a - lower == upper - a && k % 2)"
                            : rule.rounding == ScaleRounding::up   ? "a > lower"
                            : rule.rounding == ScaleRounding::down ? "false"
                                                                   : "a - lower >= upper - a";
  // The step behind the last value, where numbers become too large.
  const std::string beyond =
      has_sign ? "2 * values[COUNT - 1] - values[COUNT - 2]" : "2 * values[COUNT - 1]";
  return format(
      "__device__ int code_of(double v) {{\n  const int COUNT = {0};\n"
      "  const double values[] = {{{1}}};\n"
      "  const bool negative = __double_as_longlong(v) < 0; const double a = fabs(v);\n"
      "  if (v != v) return {2};\n  if (a - a != 0) return {3};\n"
      "  if (a < values[0]) return {4};\n"
      "  int k = 0; for (int step = 128; step > 0; step >>= 1) if (k + step < COUNT && values[k + "
      "step] <= a) k += step;\n"
      "  const double lower = values[k], upper = k + 1 < COUNT ? values[k + 1] : {5};\n"
      "  if (a >= upper || {6}) ++k;\n"
      "  if (k >= COUNT) return {7};\n  return k | ({8} && negative ? {9} : 0);\n}}\n",
      count, values, both(kNan), both(std::numeric_limits<double>::infinity()), both(1e-300),
      beyond, round, both(1e300), has_sign ? "true" : "false", codes_of(type) / 2);
}

// Writes element `at` of the output for `value`, an expression of `at`. Packed elements share a
// byte, which is one item.
std::string store_all(DType type, int64_t count, const std::string& value) {
  if (!kSmall.has(type)) {
    const bool whole = ops::kIntegers.has(type);
    return format("  const i64 at = i;\n  store(y0[at], {});\n",
                  type == DType::boolean ? format("({}) != 0", value)
                  : type == DType::u64   ? format("whole_u64({})", value)
                  : whole                ? format("whole({})", value)
                                         : value);
  }
  if (!is_packed(type)) return format("  const i64 at = i;\n  y0[at] = (u8)code_of({});\n", value);
  return format(
      "  int both = 0;\n  for (int half = 0; half < 2; ++half) {{\n    const i64 at = 2 * i + "
      "half;\n"
      "    if (at < {}) both |= code_of({}) << (4 * half);\n  }}\n  y0[i] = (u8)both;\n",
      count, value);
}

std::string load_text(DType type, std::string_view pointer, std::string_view loaded_by,
                      std::string_view at) {
  return kSmall.has(type) ? format("{}((const u8*){}, {})", loaded_by, pointer, at)
                          : format("(double)load({}[{}])", pointer, at);
}

std::string loader_of(DType type, std::string_view name) {
  return kSmall.has(type) ? loader(type, name) : std::string();
}

ops::PlanResult plan_for(const OpContext& context, std::string before, const std::string& value) {
  const DType to = context.outputs[0].dtype;
  const int64_t count = element_count(context.outputs[0].shape);
  if (kSmall.has(to)) before += encoder(to, ops::small_float_rule(context));
  ItemKernel kernel;
  kernel.items = static_cast<size_t>(is_packed(to) ? (count + 1) / 2 : count);
  kernel.compute = "double";
  kernel.before = std::move(before);
  kernel.body = store_all(to, count, value);
  return plan_items(context, kernel);
}

ops::PlanResult plan_cast(const OpContext& context) {
  const DType from = context.inputs[0].dtype;
  return plan_for(context, loader_of(from, "load_x"), load_text(from, "x0", "load_x", "at"));
}

Status takes(DType type) {
  if (kSmall.has(type) || kPlain.has(type)) return {};
  return fail(Code::unsupported_dtype, "type {} has no GPU kernel", name_of(type));
}

Status can_cast(const OpContext& context) {
  ANYNPU_TRY(takes(context.inputs[0].dtype));
  return takes(context.outputs[0].dtype);
}

// ---- QuantizeLinear and DequantizeLinear

std::string loaders(const OpContext& context) {
  std::string text = loader_of(context.inputs[0].dtype, "load_x") +
                     loader_of(context.inputs[1].dtype, "load_scale");
  if (context.has_input(2)) text += loader_of(context.inputs[2].dtype, "load_zero");
  return text;
}

struct Loads {
  std::string x, scale, zero;
};

Loads loads_of(const OpContext& context, const ScaleWalk& walk) {
  const std::string place = scale_place(walk, "at");
  return {load_text(context.inputs[0].dtype, "x0", "load_x", "at"),
          load_text(context.inputs[1].dtype, "x1", "load_scale", place),
          context.has_input(2) ? load_text(context.inputs[2].dtype, "x2", "load_zero", place)
                               : std::string("0.0")};
}

ops::PlanResult plan_quantize(const OpContext& context) {
  ANYNPU_ASSIGN(const ScaleWalk walk, ops::quantize::scale_walk(context));
  ANYNPU_ASSIGN(const DType precision, ops::quantize::division_type(context));
  const auto [x, scale, zero] = loads_of(context, walk);
  std::string before = loaders(context);
  // Rounded to the type of the division at each step.
  before += format(
      "__device__ double rounded(double v) {{ {0} t; store(t, ({1})v); return (double)load(t); "
      "}}\n",
      cuda_name(precision), precision == DType::f64 ? "double" : "float");
  std::string value = format("rounded(rounded({}) / rounded({}))", x, scale);
  value = context.outputs[0].dtype == DType::i4
              ? format("fmin(fmax(rint({}) + {}, -8.0), 7.0)", value, zero)
              : format("{} + {}", value, zero);
  return plan_for(context, std::move(before), value);
}

ops::PlanResult plan_dequantize(const OpContext& context) {
  ANYNPU_ASSIGN(const ScaleWalk walk, ops::quantize::scale_walk(context));
  const auto [x, scale, zero] = loads_of(context, walk);
  return plan_for(context, loaders(context), format("({} - {}) * {}", x, zero, scale));
}

Status can_quantize(const OpContext& context) {
  if (!kSmall.has(context.outputs[0].dtype))
    return fail(Code::unsupported_dtype, "gives {}", kSmall.to_string());
  for (const ops::Operand& input : context.inputs) {
    if (input.present) ANYNPU_TRY(takes(input.dtype));
  }
  return {};
}

Status can_dequantize(const OpContext& context) {
  for (const ops::Operand& input : context.inputs) {
    if (input.present) ANYNPU_TRY(takes(input.dtype));
  }
  return takes(context.outputs[0].dtype);
}

}  // namespace

void add_small_types(std::vector<ops::KernelDef>& kernels) {
  for (const char* op : {"Cast", "CastLike"})
    kernels.push_back(item_kernel(op, kSmall | kPlain, ops::create_plain<plan_cast>, {}, can_cast));
  kernels.push_back(item_kernel("QuantizeLinear", ops::kFloats | ops::DTypeSet{DType::i32},
                                ops::create_plain<plan_quantize>, {}, can_quantize));
  kernels.push_back(item_kernel("DequantizeLinear", kSmall, ops::create_plain<plan_dequantize>, {},
                                can_dequantize));
}

}  // namespace anynpu::device::cuda
