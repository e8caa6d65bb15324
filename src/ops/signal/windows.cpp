// SPDX-License-Identifier: Apache-2.0
// HannWindow, HammingWindow, BlackmanWindow: sums of cosines of a given size.
#include <cmath>

#include "ops/data_movement/axes.h"
#include "ops/elements/cast_attributes.h"
#include "ops/elements/wide.h"
#include "ops/registry.h"
#include "ops/runtime_params.h"
#include "ops/signal/signal.h"

namespace anynpu::ops::signal {

namespace {

struct WindowRow {
  std::string_view name;
  double a, b, c;  // a - b cos(t) + c cos(2t)
};
constexpr WindowRow kRows[] = {{"HannWindow", 0.5, 0.5, 0},
                               {"HammingWindow", 25.0 / 46, 21.0 / 46, 0},
                               {"BlackmanWindow", 0.42, 0.5, 0.08}};

Status window_rule(OpContext& context) {
  ANYNPU_ASSIGN(const DType type, dtype_of_onnx(context, context.int_attr("output_datatype")));
  context.outputs[0].dtype = type;
  const IntegerList size = integers_of(context.inputs[0]);
  if (!size.known) return {};
  if (size.values.size() != 1 || size.values[0] < 0) {
    return fail(Code::invalid_argument, "{}: size is {}, expected one number of 0 or more",
                context.label(), size.values);
  }
  return set_output(context, 0, type, {size.values[0]});
}

PlanResult plan_window(const OpContext& context) {
  const WindowRow* row = kRows;
  for (const WindowRow& candidate : kRows) {
    if (candidate.name == context.schema->name) row = &candidate;
  }
  const int64_t size = context.outputs[0].shape[0];
  const bool periodic = context.int_attr("periodic") != 0;
  const auto store = store_block<double>(context.outputs[0].dtype);
  if (!store) return no_kernel_for(context);
  return make_plan([=](const RunArgs& args) {
    const auto period = static_cast<double>(periodic ? size : size - 1);
    for (int64_t i = 0; i < size; ++i) {
      const double t = period == 0 ? 0 : 2 * M_PI * static_cast<double>(i) / period;
      const double value = row->a - row->b * std::cos(t) + row->c * std::cos(2 * t);
      store(args.outputs[0], i, &value, 1);
    }
  });
}

}  // namespace

void register_windows(Registry& registry) {
  for (const WindowRow& row : kRows) {
    registry.add(OpSchema{.name = row.name,
                          .since = 17,
                          .inputs = {{"size", "I"}},
                          .outputs = {{"output", "T"}},
                          .types = {{"I", {DType::i32, DType::i64}}},
                          .attrs = {{"output_datatype", AttrKind::i, int64_t{1}},
                                    {"periodic", AttrKind::i, int64_t{1}}},
                          .traits = OpTraits::general().with(SizedBy::parameters),
                          .shape = window_rule});
    registry.add(KernelDef{.op = row.name,
                           .name = "reference",
                           .types = {DType::i32, DType::i64},
                           .create = create_with_runtime_params<plan_window, 1>});
  }
}

}  // namespace anynpu::ops::signal
