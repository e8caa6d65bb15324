// SPDX-License-Identifier: Apache-2.0
// Element-wise functions that training frameworks call and ONNX has no name for. Each is a row of the
// block engine (domain anynpu).
#include <cmath>

#include "ops/elementwise/framework_functions.h"
#include "ops/elementwise/wide_engine.h"
#include "ops/registry.h"

namespace anynpu::ops::elementwise {

// Of its own, because functions of other files have the same names.
namespace framework {

namespace {

struct Row {
  std::string_view name;
  int inputs;  // 1 to 3, broadcast, of one type
  DTypeSet types;
  BlockOp op;
  std::vector<AttrSchema> attrs = {};  // floats, into Params in order
  bool to_bool = false;
};

template <auto f, typename W>
void apply3(const W* const* in, W* out, int64_t count, const Params& p) {
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<W>(f(in[0][i], in[1][i], in[2][i], p));
}

#define ANYNPU_X(expression)                                                                   \
  BlockOp {                                                                                    \
    .float64 = apply1<[](double x, const Params& p) { return (void)p, (expression); }, double> \
  }
#define ANYNPU_AB(expression)                                                                      \
  BlockOp {                                                                                        \
    .float64 =                                                                                     \
        apply2<[](double a, double b, const Params& p) { return (void)p, (expression); }, double>, \
  }
#define ANYNPU_ABC(expression)                                                          \
  BlockOp {                                                                             \
    .float64 = apply3<[](double a, double b, double c,                                  \
                         const Params& p) { return (void)p, (expression); }, double>,   \
  }

double softplus(double x) { return std::fmax(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

double floor_quotient(double a, double b) {
  if (b == 0) return a / b;
  const double rest = std::fmod(a, b);
  double quotient = (a - rest) / b;
  if (rest != 0 && (b < 0) != (rest < 0)) quotient -= 1;
  if (quotient == 0) return std::copysign(0.0, a / b);
  const double whole = std::floor(quotient);
  return quotient - whole > 0.5 ? whole + 1 : whole;
}
int64_t floor_quotient(int64_t a, int64_t b) {
  if (b == 0) return 0;  // the processor would trap
  if (b == -1) return static_cast<int64_t>(-static_cast<uint64_t>(a));
  const int64_t quotient = a / b;
  const int64_t rest = a - quotient * b;
  return rest != 0 && (rest < 0) != (b < 0) ? quotient - 1 : quotient;
}

double floor_of_floats(double a, double b, const Params&) { return floor_quotient(a, b); }
int64_t floor_of_signed(int64_t a, int64_t b, const Params&) { return floor_quotient(a, b); }
uint64_t floor_of_unsigned(uint64_t a, uint64_t b, const Params&) { return b ? a / b : 0; }

const std::vector<Row>& rows() {
  static const std::vector<Row> list = {
      {"Angle", 1, kFloats, ANYNPU_X(std::isnan(x) ? x : x < 0 ? M_PI : 0.0)},
      {"FloorDivide", 2, kNumbers,
       {.float64 = apply2<floor_of_floats, double>,
        .int64 = apply2<floor_of_signed, int64_t>,
        .uint64 = apply2<floor_of_unsigned, uint64_t>}},

      // Losses of an input and a target, and their gradients (g, input, target).
      {"SoftMarginLoss", 2, kFloats, ANYNPU_AB(softplus(-a * b))},
      {"SoftMarginLossGrad", 3, kFloats, ANYNPU_ABC(-a * c * sigmoid(-b * c))},
  };
  return list;
}

#undef ANYNPU_X
#undef ANYNPU_AB
#undef ANYNPU_ABC

const Row* row_of(const OpContext& context) {
  for (const Row& row : rows()) {
    if (row.name == context.schema->name) return &row;
  }
  return nullptr;
}

Status function_rule(OpContext& context) {
  const Row* row = row_of(context);
  return broadcast_rule(context, row && row->to_bool ? DType::boolean : context.inputs[0].dtype);
}

PlanResult plan_function(const OpContext& context) {
  const Row* row = row_of(context);
  if (!row) return no_kernel_for(context);
  Params params{};
  for (size_t i = 0; i < row->attrs.size(); ++i) {
    params[i] = static_cast<double>(context.float_attr(row->attrs[i].name));
  }
  const bool real_only = !row->op.int64;
  return plan_blocks(context, row->op,
                     real_only ? WideKind::float64 : wide_kind(context.inputs[0].dtype), params);
}

}  // namespace

}  // namespace framework

void register_framework_functions(Registry& registry) {
  for (const framework::Row& row : framework::rows()) {
    OpSchema schema{.name = row.name,
                    .domain = "anynpu",
                    .since = 1,
                    .outputs = {{"Y", "U"}},
                    .types = {{"T", row.types}},
                    .attrs = row.attrs,
                    .traits = row.inputs == 1 ? OpTraits::elementwise() : OpTraits::broadcast(),
                    .shape = framework::function_rule};
    for (const char* name : {"A", "B", "C"}) {
      if (schema.inputs.size() < static_cast<size_t>(row.inputs)) schema.inputs.push_back({name, "T"});
    }
    registry.add(schema);
    registry.add(KernelDef{.op = row.name,
                           .name = "wide_function",
                           .domain = "anynpu",
                           .types = row.types,
                           .create = create_plain<framework::plan_function>});
  }
}

}  // namespace anynpu::ops::elementwise
