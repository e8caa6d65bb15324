// SPDX-License-Identifier: Apache-2.0
// Element-wise operators: one formula each, from which a kernel is generated for the types and
// shapes of a plan.
#include "base/text.h"
#include "cuda/kernels/indexing.h"
#include "cuda/kernels/jit_kernel.h"
#include "cuda/kernels/kernels.h"

namespace anynpu::device::cuda {

namespace {

using ops::DTypeSet;
using ops::OpContext;
using ops::PlanResult;

constexpr DTypeSet kReals = ops::kFloats;
constexpr DTypeSet kAll = ops::kNumbers;
constexpr DTypeSet kLogical{DType::boolean};

// x0, x1 ... are the operands in the type that is computed in, {name} the attribute of that name.
struct Formula {
  std::string_view op;
  DTypeSet types;
  const char* text;
  std::string_view domain = {};
};

constexpr Formula kFormulas[] = {
    {"Abs", kReals, "fabs(x0)"},
    {"Neg", kReals, "-x0"},
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
    {"Relu", kReals, "x0 > 0 ? x0 : x0 != x0 ? x0 : 0"},
    {"LeakyRelu", kReals, "x0 >= 0 ? x0 : x0 * (C){alpha}"},
    {"ThresholdedRelu", kReals, "x0 > (C){alpha} ? x0 : 0"},
    {"Elu", kReals, "x0 >= 0 ? x0 : (C){alpha} * expm1(x0)"},
    {"Selu", kReals, "(C){gamma} * (x0 > 0 ? x0 : (C){alpha} * expm1(x0))"},
    {"Celu", kReals, "x0 >= 0 ? x0 : (C){alpha} * expm1(x0 / (C){alpha})"},
    {"HardSigmoid", kReals, "fmax((C)0, fmin((C)1, (C){alpha} * x0 + (C){beta}))"},
    {"HardSwish", kReals, "x0 * fmax((C)0, fmin((C)1, x0 / 6 + (C)0.5))"},
    {"Mish", kReals, "x0 * tanh(x0 > 20 ? x0 : log1p(exp(x0)))"},
    {"Swish", kReals, "x0 / (1 + exp(-(C){alpha} * x0))"},
    {"Sign", kReals, "(C)((x0 > 0) - (x0 < 0))"},
    {"IsNaN", kReals, "x0 != x0"},
    {"Not", kLogical, "!x0"},
    {"Add", kAll, "x0 + x1"},
    {"Sub", kAll, "x0 - x1"},
    {"Mul", kAll, "x0 * x1"},
    {"Div", kReals, "x0 / x1"},
    {"Pow", kReals, "pow(x0, x1)"},
    {"PRelu", kReals, "x0 >= 0 ? x0 : x0 * x1"},
    {"Equal", kAll, "x0 == x1"},
    {"Greater", kAll, "x0 > x1"},
    {"GreaterOrEqual", kAll, "x0 >= x1"},
    {"Less", kAll, "x0 < x1"},
    {"LessOrEqual", kAll, "x0 <= x1"},
    {"And", kLogical, "x0 && x1"},
    {"Or", kLogical, "x0 || x1"},
    {"Xor", kLogical, "x0 != x1"},
};

std::string with_attributes(const OpContext& context, std::string text) {
  for (const char* name : {"alpha", "beta", "gamma"}) {
    const std::string key = format("{{{}}}", name);
    for (size_t at; (at = text.find(key)) != std::string::npos;)
      text.replace(at, key.size(), format("({})", literal(context.float_attr(name))));
  }
  return text;
}

// Where operand `index` is found: PRelu's slope has channels behind it, others are broadcast.
std::string index_of(const OpContext& context, size_t index, const Shape& out) {
  return broadcast_index(context.inputs[index].shape, out);
}

PlanResult plan_formula(const OpContext& context, const std::string& formula, DType compute) {
  const Shape& out = context.outputs[0].shape;
  std::string parameters, loads;
  size_t used = 0;
  for (size_t k = 0; k < context.inputs.size(); ++k) {
    if (!context.has_input(k)) continue;
    ++used;
    parameters += format("const {}* p{}, ", cuda_name(context.inputs[k].dtype), k);
    loads += format("    const auto x{0} = ({1})load(p{0}[{2}]);\n", k,
                    context.inputs[k].dtype == DType::boolean ? "bool" : "C",
                    index_of(context, k, out));
  }
  const std::string source =
      format("typedef {} C;\nextern \"C\" __global__ void kernel({}{}* y, u32 n) {{\n"
             "  for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < n;"
             " i += gridDim.x * blockDim.x) {{\n{}    store(y[i], {});\n  }}\n}}\n",
             compute_name(compute), parameters, cuda_name(context.outputs[0].dtype), loads, formula);
  ANYNPU_ASSIGN(auto kernel, JitKernel::make(source));
  const auto count = static_cast<uint32_t>(element_count(out));
  const size_t inputs = context.inputs.size();
  auto plan = cuda_plan([kernel, count, inputs](const ops::RunArgs& args, CudaQueue& queue) {
    std::vector<void*> addresses;
    for (size_t k = 0; k < inputs && k < args.inputs.size(); ++k) {
      if (args.inputs[k]) addresses.push_back(const_cast<std::byte*>(args.inputs[k]));
    }
    addresses.push_back(args.outputs[0]);
    std::vector<void*> arguments;
    for (void*& address : addresses) arguments.push_back(&address);
    uint32_t n = count;
    arguments.push_back(&n);
    return kernel->launch_over(queue, count, arguments.data());
  });
  if (used == 1 && context.inputs[0].dtype == context.outputs[0].dtype) plan->in_place_input = 0;
  return plan;
}

const Formula* formula_of(const OpContext& context) {
  for (const Formula& formula : kFormulas) {
    if (formula.op == context.schema->name) return &formula;
  }
  return nullptr;
}

PlanResult plan_elementwise(const OpContext& context) {
  return plan_formula(context, with_attributes(context, formula_of(context)->text),
                      context.inputs[0].dtype);
}

// Opsets below 7 broadcast from an axis on; their schemas have that attribute.
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

Status pow_can_run(const OpContext& context) {
  ANYNPU_TRY(can_run(context));
  if (!ops::kFloats.has(context.inputs[1].dtype))
    return fail(Code::unsupported_dtype, "an exponent of type {}", name_of(context.inputs[1].dtype));
  return {};
}

// Min, Max, Sum, Mean of any number of operands.
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
  // A float beyond the range of an integer type is undefined in C++; conversions on GPUs saturate.
  const char* text = to == DType::boolean ? "x0 != 0" : "x0";
  return plan_formula(context, text, from);
}

Status cast_can_run(const OpContext& context) {
  ANYNPU_TRY(can_run(context));
  const bool from_float = ops::kFloats.has(context.inputs[0].dtype);
  if (from_float && ops::kIntegers.has(context.outputs[0].dtype))
    return fail(Code::unsupported_dtype, "floats to integers follow the rules of the host");
  return {};
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
    kernels.push_back(def<plan_elementwise>(formula.op, formula.types,
                                            formula.op == "Pow" ? pow_can_run : can_run));
  }
  for (const char* op : {"Min", "Max", "Sum", "Mean"}) {
    kernels.push_back(
        def<plan_variadic>(op, op[0] == 'M' && op[1] != 'e' ? kAll : kReals));
  }
  kernels.push_back(def<plan_where>("Where", kLogical));
  kernels.push_back(def<plan_clip>("Clip", kReals));
  kernels.push_back(def<plan_cast>("Cast", kAll | kLogical, cast_can_run));
}

}  // namespace anynpu::device::cuda
