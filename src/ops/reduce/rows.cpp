// SPDX-License-Identifier: Apache-2.0
// Operators that look at one axis and keep it: Hardmax, LpNormalization, CumSum, CumProd. A row is
// `length` elements `step` apart.
#include <cmath>

#include "ops/data_movement/axes.h"
#include "ops/elements/wide.h"
#include "ops/parallel.h"
#include "ops/reduce/reduce.h"
#include "ops/registry.h"
#include "ops/runtime_params.h"
#include "tensor/element.h"

namespace anynpu::ops::reduce {

namespace {

struct AxisRows {
  int64_t outer = 1, length = 1, step = 1;
};

AxisRows rows_of(const Shape& shape, int64_t axis, bool flattened) {
  AxisRows rows;
  for (int64_t i = 0; i < static_cast<int64_t>(shape.size()); ++i) {
    int64_t& part = i < axis ? rows.outer : i == axis || flattened ? rows.length : rows.step;
    part *= shape[static_cast<size_t>(i)];
  }
  return rows;
}

// body(offset of the row)
template <typename Body>
void for_each_row(const AxisRows& rows, const Body& body) {
  if (rows.length == 0) return;
  parallel(static_cast<size_t>(rows.outer * rows.step), 16, [&](size_t begin, size_t end) {
    for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
      body(i / rows.step * rows.length * rows.step + i % rows.step);
    }
  });
}

Status same_rule(OpContext& context) {
  const Operand& x = context.inputs[0];
  context.outputs[0].dtype = x.dtype;
  if (!x.has_shape) return {};
  if (!context.has_input(1)) {
    ANYNPU_TRY(normal_axis(context, context.int_attr("axis"), x.rank()).status());
  }
  return set_output(context, 0, x.dtype, x.shape);
}

template <typename T>
std::unique_ptr<KernelPlan> hardmax_of(const AxisRows& rows) {
  return make_plan([=](const RunArgs& args) {
    for_each_row(rows, [&](int64_t offset) {
      const T* x = input_of<T>(args, 0) + offset;
      T* y = output_of<T>(args, 0) + offset;
      int64_t best = 0;
      for (int64_t i = 1; i < rows.length; ++i) {
        if (Element<T>::load(x[i * rows.step]) > Element<T>::load(x[best * rows.step])) best = i;
      }
      for (int64_t i = 0; i < rows.length; ++i)
        y[i * rows.step] = Element<T>::store(i == best ? 1.0f : 0.0f);
    });
  });
}

template <typename T>
std::unique_ptr<KernelPlan> lp_of(const AxisRows& rows, bool l1) {
  return make_plan([=](const RunArgs& args) {
    for_each_row(rows, [&](int64_t offset) {
      const T* x = input_of<T>(args, 0) + offset;
      T* y = output_of<T>(args, 0) + offset;
      double sum = 0;
      for (int64_t i = 0; i < rows.length; ++i) {
        const auto v = static_cast<double>(Element<T>::load(x[i * rows.step]));
        sum += l1 ? std::fabs(v) : v * v;
      }
      const double norm = l1 ? sum : std::sqrt(sum);
      for (int64_t i = 0; i < rows.length; ++i) {
        const auto v = static_cast<double>(Element<T>::load(x[i * rows.step]));
        y[i * rows.step] = Element<T>::store(norm == 0 ? 0.0 : v / norm);
      }
    });
  });
}

PlanResult plan_axis(const OpContext& context) {
  const Operand& x = context.inputs[0];
  const bool hardmax = context.schema->name == "Hardmax";
  ANYNPU_ASSIGN(const int64_t axis, normal_axis(context, context.int_attr("axis"), x.rank()));
  const AxisRows rows = rows_of(x.shape, axis, hardmax && context.schema->since < 13);
  const bool l1 = context.int_attr("p") == 1;
  std::unique_ptr<KernelPlan> plan;
  visit_floats(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    plan = hardmax ? hardmax_of<T>(rows) : lp_of<T>(rows, l1);
  });
  if (!plan) return no_kernel_for(context);
  return plan;
}

// The axis is the value of a scalar input; it is checked when it is known.
PlanResult plan_running(const OpContext& context) {
  const Operand& x = context.inputs[0];
  const IntegerList list = integers_of(context.inputs[1]);
  if (list.values.size() != 1) {
    return fail(Code::invalid_argument, "{}: axis has {} values, expected one", context.label(),
                list.values.size());
  }
  ANYNPU_ASSIGN(const int64_t axis, normal_axis(context, list.values[0], x.rank()));
  const AxisRows rows = rows_of(x.shape, axis, false);
  const bool exclusive = context.int_attr("exclusive") != 0,
             reverse = context.int_attr("reverse") != 0,
             product = context.schema->name == "CumProd";
  std::unique_ptr<KernelPlan> plan;
  visit_numbers(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    using Sum = std::conditional_t<std::is_integral_v<T>, uint64_t, double>;
    plan = make_plan([=](const RunArgs& args) {
      for_each_row(rows, [&](int64_t offset) {
        Sum before = product ? 1 : 0;
        for (int64_t i = 0; i < rows.length; ++i) {
          const int64_t at = offset + (reverse ? rows.length - 1 - i : i) * rows.step;
          const auto value = static_cast<Sum>(Element<T>::load(input_of<T>(args, 0)[at]));
          const Sum with = product ? before * value : before + value;
          output_of<T>(args, 0)[at] = Element<T>::store(exclusive ? before : with);
          before = with;
        }
      });
    });
  });
  if (!plan) return no_kernel_for(context);
  return plan;
}

}  // namespace

void register_rows(Registry& registry) {
  OpSchema schema{.name = "Hardmax",
                  .since = 1,
                  .inputs = {{"input", "T"}},
                  .outputs = {{"output", "T"}},
                  .types = {{"T", kFloats}},
                  .attrs = {{"axis", AttrKind::i, int64_t{1}}},
                  .traits = OpTraits::general(),
                  .shape = same_rule};
  registry.add(schema);
  schema.since = 13;
  schema.attrs = {{"axis", AttrKind::i, int64_t{-1}}};
  registry.add(schema);
  schema.name = "LpNormalization";
  schema.since = 1;
  schema.attrs.push_back({"p", AttrKind::i, int64_t{2}});
  registry.add(schema);
  OpSchema running{
      .name = "CumSum",
      .since = 11,
      .inputs = {{"x", "T"}, {"axis", "I"}},
      .outputs = {{"y", "T"}},
      .types = {{"T", kNumbers}, {"I", {DType::i32, DType::i64}}},
      .attrs = {{"exclusive", AttrKind::i, int64_t{0}}, {"reverse", AttrKind::i, int64_t{0}}},
      .traits = OpTraits::linear(),
      .shape = same_rule};
  registry.add(running);
  running.name = "CumProd";
  running.traits = OpTraits::general();
  running.since = 26;
  registry.add(running);
  for (std::string_view name : {"Hardmax", "LpNormalization"}) {
    registry.add(KernelDef{
        .op = name, .name = "rows_reference", .types = kFloats, .create = create_plain<plan_axis>});
  }
  for (std::string_view name : {"CumSum", "CumProd"}) {
    registry.add(KernelDef{.op = name,
                           .name = "rows_reference",
                           .types = kNumbers,
                           .create = create_with_runtime_params<plan_running, 2>});
  }
}

}  // namespace anynpu::ops::reduce
