// SPDX-License-Identifier: Apache-2.0
// MatMulInteger and QLinearMatMul: products of quantised matrices, summed in int64.
#include <algorithm>
#include <cmath>

#include "ops/block/wide.h"
#include "ops/broadcast.h"
#include "ops/late.h"
#include "ops/parallel.h"
#include "ops/quantize/quantize.h"
#include "ops/registry.h"

namespace anynpu::ops {

namespace {

constexpr DTypeSet kBytes{DType::u8, DType::i8};

// Positions of the operands; -1 where an operator has none.
struct Places {
  size_t b = 1;
  int a_zero = 2, b_zero = 3, a_scale = -1, b_scale = -1, y_scale = -1, y_zero = -1;
};
constexpr Places kInteger{};
constexpr Places kLinear{3, 2, 5, 1, 4, 6, 7};

const Places& places_of(const OpContext& context) {
  return context.schema->name == "QLinearMatMul" ? kLinear : kInteger;
}

Status matmul_rule(OpContext& context) {
  const Places& at = places_of(context);
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

// A scale or zero point: one, or one per row (of a) or column (of b).
struct Parameter {
  int input = -1;
  DType type = DType::f32;
  bool each = false;
  double at(const RunArgs& args, int64_t index, double otherwise) const {
    return input < 0
               ? otherwise
               : load_one<double>(type, args.inputs[static_cast<size_t>(input)], each ? index : 0);
  }
};

PlanResult plan_matmul(const OpContext& context) {
  const Places& at = places_of(context);
  const Operand &a = context.inputs[0], &b = context.inputs[at.b];
  const int64_t m = a.shape[a.shape.size() - 2], k = a.shape.back(), n = b.shape.back();
  Status bad;
  const auto parameter = [&](int input, int64_t extent) {
    Parameter p;
    if (input < 0 || !context.has_input(static_cast<size_t>(input))) return p;
    const Operand& operand = context.inputs[static_cast<size_t>(input)];
    const int64_t count = element_count(operand.shape);
    p = {input, operand.dtype, count != 1};
    if (count != 1 && count != extent) {
      bad = fail(Code::unsupported_shape, "{}: input {} is {}, expected 1 or {} values",
                 context.label(), input, to_string(operand.shape), extent);
    }
    return p;
  };
  const Parameter a_zero = parameter(at.a_zero, m), b_zero = parameter(at.b_zero, n),
                  a_scale = parameter(at.a_scale, m), b_scale = parameter(at.b_scale, n),
                  y_scale = parameter(at.y_scale, 1), y_zero = parameter(at.y_zero, 1);
  ANYNPU_TRY(bad);
  Shape batch(context.outputs[0].shape.begin(), context.outputs[0].shape.end() - 2);
  const BroadcastLoop loop = broadcast_loop(Shape(a.shape.begin(), a.shape.end() - 2),
                                            Shape(b.shape.begin(), b.shape.end() - 2), batch);
  const auto load_a = load_block<int64_t>(a.dtype), load_b = load_block<int64_t>(b.dtype);
  const auto store = store_block<double>(context.outputs[0].dtype);
  const bool linear = at.y_zero >= 0;
  const bool is_signed = context.outputs[0].dtype == DType::i8;
  const size_t b_place = at.b;
  const int64_t batches = element_count(batch);
  return make_plan([=](const RunArgs& args) {
    parallel(static_cast<size_t>(batches * m), 1, [&](size_t begin, size_t end) {
      for (auto row = static_cast<int64_t>(begin); row < static_cast<int64_t>(end); ++row) {
        const int64_t i = row % m, matrix = row / m;
        int64_t from_a = 0, from_b = 0;
        loop.offsets(matrix / loop.inner, from_a, from_b);
        from_a += matrix % loop.inner * loop.inner_a;
        from_b += matrix % loop.inner * loop.inner_b;
        const auto za = static_cast<int64_t>(a_zero.at(args, i, 0));
        for (int64_t j = 0; j < n; ++j) {
          const auto zb = static_cast<int64_t>(b_zero.at(args, j, 0));
          int64_t sum = 0;
          for (int64_t p = 0; p < k; ++p) {
            int64_t x = 0, y = 0;
            load_a(args.inputs[0], (from_a * m + i) * k + p, 0, &x, 1);
            load_b(args.inputs[b_place], (from_b * k + p) * n + j, 0, &y, 1);
            sum += (x - za) * (y - zb);
          }
          double value = static_cast<double>(static_cast<int32_t>(sum));
          if (linear) {
            value = std::nearbyint(value * a_scale.at(args, i, 1) * b_scale.at(args, j, 1) /
                                   y_scale.at(args, 0, 1)) +
                    y_zero.at(args, 0, 0);
            value = std::clamp(value, is_signed ? -128.0 : 0.0, is_signed ? 127.0 : 255.0);
          }
          store(args.outputs[0], (matrix * m + i) * n + j, &value, 1);
        }
      }
    });
  });
}

}  // namespace

void register_integer_matmul(Registry& registry) {
  registry.add(OpSchema{.name = "MatMulInteger",
                        .since = 10,
                        .inputs = {{"A", "A"},
                                   {"B", "B"},
                                   {"a_zero_point", "A", Presence::optional},
                                   {"b_zero_point", "B", Presence::optional}},
                        .outputs = {{"Y", "I"}},
                        .types = {{"A", kBytes}, {"B", kBytes}},
                        .shape = matmul_rule});
  registry.add(OpSchema{.name = "QLinearMatMul",
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
                        .types = {{"A", kBytes}, {"B", kBytes}, {"Y", kBytes}, {"S", kFloats}},
                        .shape = matmul_rule});
  for (std::string_view op : {"MatMulInteger", "QLinearMatMul"}) {
    registry.add(KernelDef{
        .op = op, .name = "reference", .types = kBytes, .create = create_plain<plan_matmul>});
  }
}

}  // namespace anynpu::ops
