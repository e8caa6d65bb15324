// SPDX-License-Identifier: Apache-2.0
// Element-wise operators: each is one formula, from which a kernel is generated for the types and
// shapes of the plan.
#include <algorithm>

#include "base/text.h"
#include "cuda/kernels/indexing.h"
#include "cuda/kernels/jit_kernel.h"
#include "cuda/kernels/kernels.h"
#include "ops/blocked_layout.h"

namespace anynpu::device::cuda {

namespace {

using ops::DTypeSet;
using ops::OpContext;
using ops::PlanResult;

constexpr DTypeSet kReals = ops::kFloats;
constexpr DTypeSet kAll = ops::kNumbers;
constexpr DTypeSet kLogical{DType::boolean};
constexpr DTypeSet kSigned{DType::i8, DType::i16, DType::i32, DType::i64};
constexpr DTypeSet kUnsigned{DType::u8, DType::u16, DType::u32, DType::u64};

// `text` is a CUDA expression: x0, x1 ... are the operands in the compute type, {name} is an
// attribute.
struct Formula {
  std::string_view op;
  DTypeSet types;
  const char* text;
  std::string_view domain = {};
};

constexpr Formula kFormulas[] = {
    {"Abs", kReals, "fabs(x0)"},
    {"Abs", kSigned, "x0 < 0 ? -x0 : x0"},
    {"Abs", kUnsigned, "x0"},
    {"Neg", kReals | kSigned, "-x0"},
    {"Exp", kReals, "exp(x0)"},
    {"Log", kReals, "log(x0)"},
    {"Sqrt", kReals, "sqrt(x0)"},
    {"Reciprocal", kReals, "1 / x0"},
    {"Floor", kReals, "floor(x0)"},
    {"Ceil", kReals, "ceil(x0)"},
    {"Round", kReals, "rint(x0)"},
    {"Sin", kReals, "sin(x0)"},
    {"Cos", kReals, "cos(x0)"},
    {"Tan", kReals, "tan(x0)"},
    {"Asin", kReals, "asin(x0)"},
    {"Acos", kReals, "acos(x0)"},
    {"Atan", kReals, "atan(x0)"},
    {"Sinh", kReals, "sinh(x0)"},
    {"Cosh", kReals, "cosh(x0)"},
    {"Asinh", kReals, "asinh(x0)"},
    {"Acosh", kReals, "acosh(x0)"},
    {"Atanh", kReals, "atanh(x0)"},
    {"Tanh", kReals, "tanh(x0)"},
    {"Erf", kReals, "erf(x0)"},
    {"Sigmoid", kReals, "1 / (1 + exp(-x0))"},
    {"Softplus", kReals, "x0 > 20 ? x0 : log1p(exp(x0))"},
    {"Softsign", kReals, "x0 / (1 + fabs(x0))"},
    {"Relu", kReals | kSigned, "x0 > 0 ? x0 : x0 != x0 ? x0 : (C)0"},
    {"LeakyRelu", kReals, "x0 >= 0 ? x0 : x0 * (C){alpha}"},
    {"ThresholdedRelu", kReals, "x0 > (C){alpha} ? x0 : 0"},
    {"Elu", kReals, "x0 >= 0 ? x0 : (C){alpha} * expm1(x0)"},
    {"Selu", kReals, "(C){gamma} * (x0 > 0 ? x0 : (C){alpha} * expm1(x0))"},
    {"Celu", kReals, "x0 >= 0 ? x0 : (C){alpha} * expm1(x0 / (C){alpha})"},
    {"HardSigmoid", kReals, "fmax((C)0, fmin((C)1, (C){alpha} * x0 + (C){beta}))"},
    {"HardSwish", kReals, "x0 * fmax((C)0, fmin((C)1, x0 / 6 + (C)0.5))"},
    {"Mish", kReals, "x0 * tanh(x0 > 20 ? x0 : log1p(exp(x0)))"},
    {"Swish", kReals, "x0 / (1 + exp(-(C){alpha} * x0))"},
    {"Sign", kAll, "(C)((x0 > 0) - (x0 < 0))"},
    {"IsNaN", kReals, "x0 != x0"},
    {"Not", kLogical, "!x0"},
    {"Add", kAll, "x0 + x1"},
    {"Sub", kAll, "x0 - x1"},
    {"Mul", kAll, "x0 * x1"},
    {"Div", kReals, "x0 / x1"},
    {"Div", kSigned, "x1 == 0 ? (C)0 : x1 == (C)-1 ? (C)(0 - x0) : (C)(x0 / x1)"},
    {"Div", kUnsigned, "x1 == 0 ? (C)0 : (C)(x0 / x1)"},
    {"BitwiseAnd", ops::kIntegers, "x0 & x1"},
    {"BitwiseOr", ops::kIntegers, "x0 | x1"},
    {"BitwiseXor", ops::kIntegers, "x0 ^ x1"},
    {"BitwiseNot", ops::kIntegers, "~x0"},
    {"SwiGLU", kReals, "x0 / (1 + exp(-(C){alpha} * x0)) * x1"},
    {"Shrink", kReals, "x0 < -(C){lambd} ? x0 + (C){bias} : x0 > (C){lambd} ? x0 - (C){bias} : 0"},
    {"Pow", kReals, "pow(x0, x1)"},
    {"PRelu", kReals, "x0 >= 0 ? x0 : x0 * x1"},
    {"Equal", kAll, "x0 == x1"},
    {"Equal", kLogical, "x0 == x1"},
    {"Greater", kAll, "x0 > x1"},
    {"GreaterOrEqual", kAll, "x0 >= x1"},
    {"Less", kAll, "x0 < x1"},
    {"LessOrEqual", kAll, "x0 <= x1"},
    {"And", kLogical, "x0 && x1"},
    {"Or", kLogical, "x0 || x1"},
    {"Xor", kLogical, "x0 != x1"},
};

std::string with_attributes(const OpContext& context, std::string text) {
  for (const char* name : {"alpha", "beta", "gamma", "lambd", "bias"}) {
    const std::string key = format("{{{}}}", name);
    for (size_t at; (at = text.find(key)) != std::string::npos;)
      text.replace(at, key.size(), format("({})", literal(context.float_attr(name))));
  }
  return text;
}

// The shape in channels-last order, with leading axes of size 1 added up to `rank`.
Shape channels_last(const Shape& shape, size_t rank) {
  Shape whole(rank - shape.size(), 1);
  whole.insert(whole.end(), shape.begin(), shape.end());
  whole.push_back(whole[1]);
  whole.erase(whole.begin() + 1);
  return whole;
}

// Whether both layouts have the same element order.
bool same_in_both(const Shape& shape, size_t rank) {
  const Shape moved = channels_last(shape, rank);
  return moved.back() == 1 || element_count(moved) == moved.back() * moved.front();
}

// True if an operand with the output's shape is channels last, and all others can be requested in
// that layout or are the same in both.
bool use_channels_last(const OpContext& context) {
  const Shape& out = context.outputs[0].shape;
  if (out.size() < 3) return false;
  bool any = false;
  for (const ops::Operand& input : context.inputs) {
    if (!input.present) continue;
    any = any || (input.shape == out && input.layout == ops::Layout::channels_last);
    if (input.shape.size() != out.size() && !same_in_both(input.shape, out.size())) return false;
  }
  return any;
}

// Shapes as the kernel sees them, in memory order; flattened to one axis if only scalars are
// broadcast.
struct Axes {
  Shape out;
  std::vector<Shape> inputs;  // with the rank of `out`; empty if absent
};

Axes axes_of(const OpContext& context, bool is_channels_last) {
  const Shape& out = context.outputs[0].shape;
  const auto whole = [&](const Shape& shape) {
    if (is_channels_last) return channels_last(shape, out.size());
    Shape all(out.size() - shape.size(), 1);
    all.insert(all.end(), shape.begin(), shape.end());
    return all;
  };
  const bool flat = std::all_of(context.inputs.begin(), context.inputs.end(), [&](const auto& in) {
    return !in.present || in.shape == out || element_count(in.shape) == 1;
  });
  Axes axes;
  axes.out = flat ? Shape{element_count(out)} : whole(out);
  for (const ops::Operand& input : context.inputs) {
    if (!input.present) {
      axes.inputs.emplace_back();
    } else {
      axes.inputs.push_back(flat ? Shape{element_count(input.shape)} : whole(input.shape));
    }
  }
  return axes;
}

// Elements per vectorized access, along the last axis.
int64_t pack_of(const OpContext& context, const Axes& axes) {
  size_t widest = size_of(context.outputs[0].dtype);
  for (const ops::Operand& input : context.inputs) {
    if (input.present) widest = std::max(widest, size_of(input.dtype));
  }
  const auto pack = static_cast<int64_t>(16 / std::max<size_t>(widest, 1));
  return !axes.out.empty() && pack > 1 && axes.out.back() % pack == 0 ? pack : 1;
}

std::string source_of(const OpContext& context, const std::string& formula, DType compute,
                      const Axes& axes, int64_t pack) {
  Shape out = axes.out;
  if (pack > 1) out.back() /= pack;
  std::string parameters, before, loads;
  std::string types = format("typedef {} C;\n", compute_name(compute));
  for (size_t k = 0; k < axes.inputs.size(); ++k) {
    if (!context.has_input(k)) continue;
    const std::string_view type = cuda_name(context.inputs[k].dtype);
    const char* const cast = context.inputs[k].dtype == DType::boolean ? "bool" : "C";
    Shape shape = axes.inputs[k];
    const bool packed = pack > 1 && shape.back() != 1;
    if (packed) {
      shape.back() /= pack;
      types += format("struct alignas({1} * sizeof({0})) P{2} {{ {0} v[{1}]; }};\n", type, pack, k);
    }
    parameters += packed ? format("const P{0}* p{0}, ", k) : format("const {}* p{}, ", type, k);
    before += format("    const auto q{0} = p{0}[{1}];\n", k, broadcast_index(shape, out));
    loads += format("    const auto x{0} = ({1})load(q{0}{2});\n", k, cast, packed ? ".v[k]" : "");
  }
  types += format("struct alignas({1} * sizeof({0})) PY {{ {0} v[{1}]; }};\n",
                  cuda_name(context.outputs[0].dtype), pack);
  return format(
      "{0}extern \"C\" __global__ void kernel({1}PY* y, u32 n) {{\n"
      "  for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < n;"
      " i += gridDim.x * blockDim.x) {{\n{2}    PY out;\n#pragma unroll\n"
      "    for (int k = 0; k < {3}; ++k) {{\n{4}    store(out.v[k], {5});\n    }}\n"
      "    y[i] = out;\n  }}\n}}\n",
      types, parameters, before, pack, loads, formula);
}

PlanResult plan_formula(const OpContext& context, const std::string& formula, DType compute) {
  const bool is_channels_last = use_channels_last(context);
  const Axes axes = axes_of(context, is_channels_last);
  const int64_t pack = pack_of(context, axes);
  const size_t used =
      static_cast<size_t>(std::count_if(context.inputs.begin(), context.inputs.end(),
                                        [](const ops::Operand& input) { return input.present; }));
  ANYNPU_ASSIGN(auto scalar, JitKernel::make(source_of(context, formula, compute, axes, 1)));
  auto vectorized = scalar;
  if (pack > 1) {
    ANYNPU_ASSIGN(vectorized, JitKernel::make(source_of(context, formula, compute, axes, pack)));
  }
  const auto all = static_cast<uint32_t>(element_count(context.outputs[0].shape));
  const size_t inputs = context.inputs.size();
  auto plan = cuda_plan(
      [scalar, vectorized, all, pack, inputs](const ops::RunArgs& args, CudaQueue& queue) {
        std::vector<void*> addresses;
        for (size_t k = 0; k < inputs && k < args.inputs.size(); ++k) {
          if (args.inputs[k]) addresses.push_back(const_cast<std::byte*>(args.inputs[k]));
        }
        addresses.push_back(args.outputs[0]);
        std::vector<void*> arguments;
        bool aligned = true;
        for (void*& address : addresses) {
          arguments.push_back(&address);
          aligned = aligned && reinterpret_cast<uintptr_t>(address) % 16 == 0;
        }
        uint32_t n = aligned ? all / static_cast<uint32_t>(pack) : all;
        arguments.push_back(&n);
        return (aligned ? vectorized : scalar)->launch_over(queue, n, arguments.data());
      });
  if (is_channels_last) {
    for (const ops::Operand& input : context.inputs) {
      const bool whole = input.present && input.shape.size() == context.outputs[0].shape.size();
      plan->input_layouts.push_back(whole ? ops::Layout::channels_last : ops::Layout::plain);
    }
    plan->output_layouts = {ops::Layout::channels_last};
  }
  if (used == 1 && context.inputs[0].dtype == context.outputs[0].dtype) plan->in_place_input = 0;
  return plan;
}

const Formula* formula_of(const OpContext& context) {
  for (const Formula& formula : kFormulas) {
    if (formula.op == context.schema->name && formula.types.has(context.inputs[0].dtype))
      return &formula;
  }
  return nullptr;
}

PlanResult plan_elementwise(const OpContext& context) {
  return plan_formula(context, with_attributes(context, formula_of(context)->text),
                      context.inputs[0].dtype);
}

// Opsets below 7 have the attribute `axis`, at which broadcasting starts.
Status can_run(const OpContext& context) {
  for (const ops::Operand& input : context.inputs) {
    if (input.present && cuda_name(input.dtype).empty())
      return fail(Code::unsupported_dtype, "type {} has no GPU kernel", name_of(input.dtype));
  }
  if (context.outputs.empty() || cuda_name(context.outputs[0].dtype).empty())
    return fail(Code::unsupported_dtype, "the type of the output has no GPU kernel");
  for (const char* old : {"broadcast", "axis"}) {
    if (context.has_attr(old) && context.schema->name != "Concat")
      return fail(Code::unsupported_feature, "has the attribute {} of old opsets", old);
  }
  if (element_count(context.outputs[0].shape) >= (int64_t{1} << 31))
    return fail(Code::unsupported_shape, "more than 2^31 elements");
  return {};
}

// Min, Max, Sum and Mean take any number of operands.
PlanResult plan_variadic(const OpContext& context) {
  const std::string_view op = context.schema->name;
  std::string text = "x0";
  for (size_t k = 1; k < context.inputs.size(); ++k) {
    if (op == "Sum" || op == "Mean") {
      text = format("{} + x{}", text, k);
    } else {
      text = format("{}({}, x{})", op == "Min" ? "lower" : "higher", text, k);
    }
  }
  if (op == "Mean") text = format("({}) / {}", text, context.inputs.size());
  return plan_formula(context, text, context.inputs[0].dtype);
}

// The remainder has the sign of the divisor; with fmod, that of the dividend.
PlanResult plan_mod(const OpContext& context) {
  const DType type = context.inputs[0].dtype;
  const bool real = ops::kFloats.has(type), as_dividend = context.int_attr("fmod") != 0;
  std::string text = "x1 == 0 ? (C)0 : (C)(x0 % x1)";
  if (real) {
    text = as_dividend ? "fmod(x0, x1)" : "floor_mod(x0, x1)";
  } else if (kSigned.has(type)) {
    text = as_dividend ? "x1 == 0 || x1 == (C)-1 ? (C)0 : (C)(x0 % x1)"
                       : "x1 == 0 || x1 == (C)-1 ? (C)0 : (C)((x0 % x1 + x1) % x1)";
  }
  return plan_formula(context, text, type);
}

PlanResult plan_shift(const OpContext& context) {
  const bool left = context.string_attr("direction") == "LEFT";
  return plan_formula(context,
                      format("(u64)x1 >= 8 * sizeof(C) ? (C)({}) : (C)(x0 {} x1)",
                             left ? "0" : "x0 < 0 ? -1 : 0", left ? "<<" : ">>"),
                      context.inputs[0].dtype);
}

PlanResult plan_is_inf(const OpContext& context) {
  return plan_formula(
      context,
      format("({} && x0 == (C)INFINITY) || ({} && x0 == (C)-INFINITY)",
             context.int_attr("detect_positive"), context.int_attr("detect_negative")),
      context.inputs[0].dtype);
}

PlanResult plan_gelu(const OpContext& context) {
  const bool tanh = context.string_attr("approximate") == "tanh";
  if (!tanh && size_of(context.inputs[0].dtype) == 2)
    return plan_formula(context, "gelu16(x0)", context.inputs[0].dtype);
  return plan_formula(
      context,
      tanh ? "x0 * (C)0.5 * (1 + tanh((C)0.79788456080286536 * (x0 + (C)0.044715 * x0 * x0 * x0)))"
           : "x0 * (C)0.5 * (1 + erf(x0 * (C)0.70710678118654752))",
      context.inputs[0].dtype);
}

PlanResult plan_where(const OpContext& context) {
  return plan_formula(context, "x0 ? x1 : x2", context.inputs[1].dtype);
}

PlanResult plan_clip(const OpContext& context) {
  std::string text = "x0";
  if (context.has_attr("min") || context.has_attr("max")) {
    text = format("fmin(fmax(x0, (C){}), (C){})", literal(context.float_attr("min")),
                  literal(context.float_attr("max")));
  }
  if (context.has_input(1)) text = format("({} < x1 ? x1 : {})", text, text);
  if (context.has_input(2)) text = format("({0} > x2 ? x2 : {0})", text);
  return plan_formula(context, text, context.inputs[0].dtype);
}

PlanResult plan_cast(const OpContext& context) {
  const DType from = context.inputs[0].dtype, to = context.outputs[0].dtype;
  const char* text = to == DType::boolean ? "x0 != 0" : "x0";
  if (ops::kFloats.has(from) && ops::kIntegers.has(to))
    text = to == DType::u64 ? "whole_u64((double)x0)" : "whole((double)x0)";
  OpContext one = context;  // of CastLike's second operand only the type matters
  one.inputs.resize(1);
  return plan_formula(one, text, from);
}

Status cast_can_run(const OpContext& context) {
  OpContext one = context;
  one.inputs.resize(1);
  return can_run(one);
}

template <ops::PlanFunction function>
ops::KernelDef def(std::string_view op, DTypeSet types,
                   Status (*check)(const OpContext&) = can_run) {
  return {.op = op,
          .name = "cuda_elementwise",
          .backend = "cuda",
          .types = types,
          .can_run = check,
          .create = ops::create_plain<function>};
}

}  // namespace

void add_elementwise(std::vector<ops::KernelDef>& kernels) {
  for (const Formula& formula : kFormulas) {
    kernels.push_back(def<plan_elementwise>(formula.op, formula.types));
  }
  for (const char* op : {"Min", "Max", "Sum", "Mean"}) {
    kernels.push_back(def<plan_variadic>(op, op[0] == 'M' && op[1] != 'e' ? kAll : kReals));
  }
  kernels.push_back(def<plan_where>("Where", kLogical));
  kernels.push_back(def<plan_clip>("Clip", kAll));
  kernels.push_back(def<plan_mod>("Mod", kAll));
  kernels.push_back(def<plan_shift>("BitShift", ops::kIntegers));
  kernels.push_back(def<plan_is_inf>("IsInf", kReals));
  kernels.push_back(def<plan_gelu>("Gelu", kReals));
  for (const char* op : {"Cast", "CastLike"})
    kernels.push_back(def<plan_cast>(op, kAll | kLogical, cast_can_run));
}

}  // namespace anynpu::device::cuda
