// SPDX-License-Identifier: Apache-2.0
// MatMulInteger and QLinearMatMul: products of quantised matrices, summed in int64.
#include <algorithm>
#include <cmath>

#include "ops/elements/wide.h"
#include "ops/gemm/int8.h"
#include "ops/parallel.h"
#include "ops/registry.h"
#include "ops/runtime_params.h"

namespace anynpu::ops::gemm {

namespace {

constexpr DTypeSet kBytes{DType::u8, DType::i8};

// Positions of the operands; -1 where an operator has none.
struct InputIndices {
  size_t b = 1;
  int a_zero = 2, b_zero = 3, a_scale = -1, b_scale = -1, y_scale = -1, y_zero = -1;
};
constexpr InputIndices kInteger{};
constexpr InputIndices kLinear{3, 2, 5, 1, 4, 6, 7};

const InputIndices& places_of(const OpContext& context) {
  return context.schema->name == "QLinearMatMul" ? kLinear : kInteger;
}

Status int8_matmul_rule(OpContext& context) {
  const InputIndices& at = places_of(context);
  const Operand &a = context.inputs[0], &b = context.inputs[at.b];
  const DType type = at.y_zero < 0 ? DType::i32 : context.inputs[7].dtype;
  context.outputs[0].dtype = type;
  if (!a.fully_known() || !b.fully_known()) return {};
  if (a.rank() < 2 || b.rank() < 2 || a.shape.back() != b.shape[b.shape.size() - 2]) {
    return fail(Code::shape_mismatch,
                "{}: {} cannot be multiplied with {}; expected matrices that fit", context.label(),
                to_string(a.shape), to_string(b.shape));
  }
  ANYNPU_ASSIGN(Shape shape,
                broadcast(Shape(a.shape.begin(), a.shape.end() - 2),
                          Shape(b.shape.begin(), b.shape.end() - 2)),
                "{}", context.label());
  shape.insert(shape.end(), {a.shape[a.shape.size() - 2], b.shape.back()});
  return set_output(context, 0, type, std::move(shape));
}

// The plain loop, in W; `rounded` makes a sum what is stored or scaled.
template <typename W, typename Rounded>
std::unique_ptr<KernelPlan> plan_in(const IntegerMatMul& p, Rounded rounded) {
  const auto load_a = load_block<W>(p.a_type), load_b = load_block<W>(p.b_type);
  const auto store = store_block<double>(p.out_type);
  return make_plan([=](const RunArgs& args) {
    parallel(static_cast<size_t>(p.batches * p.m), 1, [&](size_t begin, size_t end) {
      for (auto row = static_cast<int64_t>(begin); row < static_cast<int64_t>(end); ++row) {
        const int64_t i = row % p.m, matrix = row / p.m;
        int64_t from_a = 0, from_b = 0;
        p.offsets(matrix, from_a, from_b);
        const auto za = static_cast<W>(p.a_zero.at(args, i, 0));
        for (int64_t j = 0; j < p.n; ++j) {
          const auto zb = static_cast<W>(p.b_zero.at(args, j, 0));
          W sum = 0;
          for (int64_t at = 0; at < p.k; ++at) {
            W x = 0, y = 0;
            load_a(args.inputs[0], (from_a * p.m + i) * p.k + at, 0, &x, 1);
            load_b(args.inputs[p.b_place], (from_b * p.k + at) * p.n + j, 0, &y, 1);
            sum += (x - za) * (y - zb);
          }
          const double whole = rounded(sum);
          const double value = p.linear ? p.quantised(args, i, j, whole) : whole;
          store(args.outputs[0], (matrix * p.m + i) * p.n + j, &value, 1);
        }
      }
    });
  });
}

}  // namespace

PlanResult plan_int8_matmul(const OpContext& context) {
  ANYNPU_ASSIGN(const IntegerMatMul p, integer_matmul_of(context));
  if (p.real()) return plan_in<double>(p, [](double sum) { return sum; });
  return plan_in<int64_t>(
      p, [](int64_t sum) { return static_cast<double>(static_cast<int32_t>(sum)); });
}

void IntegerMatMul::offsets(int64_t index, int64_t& a, int64_t& b) const {
  loop.offsets(index / loop.inner, a, b);
  a += index % loop.inner * loop.inner_a;
  b += index % loop.inner * loop.inner_b;
}

double IntegerMatMul::quantised(const RunArgs& args, int64_t row, int64_t column,
                                double sum) const {
  const double scaled =
      sum * a_scale.at(args, row, 1) * b_scale.at(args, column, 1) / y_scale.at(args, 0, 1);
  if (is_floating(out_type)) return scaled + y_zero.at(args, 0, 0);
  const double value = std::nearbyint(scaled) + y_zero.at(args, 0, 0);
  const bool is_signed = out_type == DType::i8;
  return std::clamp(value, is_signed ? -128.0 : 0.0, is_signed ? 127.0 : 255.0);
}

Result<IntegerMatMul> integer_matmul_of(const OpContext& context) {
  const InputIndices& at = places_of(context);
  const Operand &a = context.inputs[0], &b = context.inputs[at.b];
  IntegerMatMul p;
  p.m = a.shape[a.shape.size() - 2], p.k = a.shape.back(), p.n = b.shape.back();
  p.b_place = at.b;
  p.a_type = a.dtype, p.b_type = b.dtype, p.out_type = context.outputs[0].dtype;
  p.linear = at.y_zero >= 0;
  Status bad;
  const auto parameter = [&](int input, int64_t extent) {
    QuantParameter found;
    if (input < 0 || !context.has_input(static_cast<size_t>(input))) return found;
    const Operand& operand = context.inputs[static_cast<size_t>(input)];
    const int64_t count = element_count(operand.shape);
    found = {input, operand.dtype, count != 1};
    if (count != 1 && count != extent) {
      bad = fail(Code::unsupported_shape, "{}: input {} is {}, expected 1 or {} values",
                 context.label(), input, to_string(operand.shape), extent);
    }
    return found;
  };
  p.a_zero = parameter(at.a_zero, p.m), p.b_zero = parameter(at.b_zero, p.n);
  p.a_scale = parameter(at.a_scale, p.m), p.b_scale = parameter(at.b_scale, p.n);
  p.y_scale = parameter(at.y_scale, 1), p.y_zero = parameter(at.y_zero, 1);
  ANYNPU_TRY(bad);
  const Shape batch(context.outputs[0].shape.begin(), context.outputs[0].shape.end() - 2);
  p.loop = broadcast_loop(Shape(a.shape.begin(), a.shape.end() - 2),
                          Shape(b.shape.begin(), b.shape.end() - 2), batch);
  p.batches = element_count(batch);
  return p;
}

void add_int8_matmul_schemas(Registry& registry) {
  registry.add(OpSchema{.name = "MatMulInteger",
                        .since = 10,
                        .inputs = {{"A", "A"},
                                   {"B", "B"},
                                   {"a_zero_point", "A", Presence::optional},
                                   {"b_zero_point", "B", Presence::optional}},
                        .outputs = {{"Y", "I"}},
                        .types = {{"A", kBytes}, {"B", kBytes}},
                        .traits = OpTraits::general(),
                        .shape = int8_matmul_rule});
  registry.add(OpSchema{
      .name = "QLinearMatMul",
      .since = 10,
      .inputs = {{"a", "A"},
                 {"a_scale", "S"},
                 {"a_zero_point", "A"},
                 {"b", "B"},
                 {"b_scale", "S"},
                 {"b_zero_point", "B"},
                 {"y_scale", "S"},
                 {"y_zero_point", "Y"}},
      .outputs = {{"y", "Y"}},
      .types = {{"A", kLinearBytes}, {"B", kLinearBytes}, {"Y", kLinearBytes}, {"S", kFloats}},
      .traits = OpTraits::general(),
      .shape = int8_matmul_rule});
}

}  // namespace anynpu::ops::gemm
