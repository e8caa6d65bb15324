// SPDX-License-Identifier: Apache-2.0
// GroupedMatMul: schema, group sizes of a run, and the reference kernel in double.
#include "ops/gemm/grouped.h"

#include <algorithm>

#include "ops/elements/wide.h"
#include "ops/parallel.h"
#include "ops/registry.h"
#include "ops/runtime_params.h"

namespace anynpu::ops::gemm {

Result<GroupedShape> grouped_shape_of(const OpContext& context) {
  GroupedShape g;
  const size_t count = context.inputs.size() - kGroupedWeights;
  const Operand& w = context.inputs[kGroupedWeights];
  const Shape &x = context.inputs[kGroupedX].shape, &first = w.shape;
  g.transposed = context.int_attr("transB") != 0;
  g.by_columns = context.int_attr("axis") == 1;
  g.bias_last = context.int_attr("bias_last") != 0;
  g.list_type = context.int_attr("list_type");
  g.weight_type = w.dtype;
  g.stacked = first.size() == 3;
  if (x.size() != 2 || first.size() < 2 || first.size() > 3 || (g.stacked && count > 1) ||
      (g.by_columns && (g.stacked || count > 1 || g.transposed))) {
    return fail(Code::shape_mismatch,
                "{}: X is {} and W is {} ({} tensors); expected two axes, and "
                "matrices of W in one tensor or a tensor each",
                context.label(), to_string(x), to_string(first), count);
  }
  const bool sized = context.has_input(kGroupedSizes);
  const Shape& sizes = context.inputs[kGroupedSizes].shape;
  if (g.list_type < 0 || g.list_type > 2 || (sized && sizes.size() != (g.list_type == 2 ? 2 : 1))) {
    return fail(Code::invalid_argument,
                "{}: the list of groups is {} of kind {}; expected ends (0) or "
                "sizes (1) in one axis, or pairs (2)",
                context.label(), to_string(sizes), g.list_type);
  }
  g.groups = g.by_columns ? (sized ? sizes[0] : 1)
             : g.stacked  ? first[0]
                          : static_cast<int64_t>(count);
  g.m = x[0];
  g.k = first[first.size() - (g.transposed ? 1 : 2)],
  g.n = first[first.size() - (g.transposed ? 2 : 1)];
  for (size_t i = kGroupedWeights; i < context.inputs.size(); ++i) {
    if (context.inputs[i].shape != first || context.inputs[i].dtype != w.dtype || x[1] != g.k) {
      return fail(Code::shape_mismatch,
                  "{}: X is {}, matrix {} is {} and the first {}; expected {} "
                  "elements to be summed",
                  context.label(), to_string(x), i - kGroupedWeights,
                  to_string(context.inputs[i].shape), to_string(first), x[1]);
    }
  }
  if (!sized && g.groups != 1) {
    return fail(Code::invalid_argument, "{}: {} groups without a list of their sizes",
                context.label(), g.groups);
  }
  if (sized && g.list_type < 2 && sizes[0] != g.groups) {
    return fail(Code::shape_mismatch, "{}: a list of {} for {} groups", context.label(), sizes[0],
                g.groups);
  }
  // A parameter of each group: its last axis has N elements or one.
  const auto check = [&](size_t input, size_t rank, int64_t& step) -> Status {
    if (!context.has_input(input)) return {};
    const Shape& s = context.inputs[input].shape;
    if (s.size() == rank && s[0] == g.groups && (s.back() == g.n || s.back() == 1)) {
      step = s.back() == 1 ? 0 : 1;
      return {};
    }
    return fail(Code::shape_mismatch, "{}: {} is {}; expected {} groups of {} or 1",
                context.label(), context.schema->inputs[input].name, to_string(s), g.groups, g.n);
  };
  int64_t bias_step = 1, offset_step = 0;
  ANYNPU_TRY(check(kGroupedScale, 3, g.scale_step));
  ANYNPU_TRY(check(kGroupedOffset, 3, offset_step));
  ANYNPU_TRY(check(kGroupedBias, 2, bias_step));
  ANYNPU_TRY(check(kGroupedOutScale, 2, g.out_scale_step));
  if (context.has_input(kGroupedScale)) g.parts = context.inputs[kGroupedScale].shape[1];
  const bool alike = !context.has_input(kGroupedOffset) ||
                     (context.has_input(kGroupedScale) &&
                      context.inputs[kGroupedOffset].shape == context.inputs[kGroupedScale].shape);
  const bool rows = !context.has_input(kGroupedRowScale) ||
                    element_count(context.inputs[kGroupedRowScale].shape) == g.m;
  if (!alike || !rows || g.parts < 1 || g.k % g.parts != 0 || (bias_step == 0 && g.n != 1)) {
    return fail(Code::shape_mismatch,
                "{}: scales of {} parts of {} elements, a bias of {}, {} scales of "
                "rows; they do not fit {} rows and {} columns",
                context.label(), g.parts, g.k, to_string(context.inputs[kGroupedBias].shape),
                element_count(context.inputs[kGroupedRowScale].shape), g.m, g.n);
  }
  return g;
}

Status read_groups(const GroupedShape& g, const RunArgs& args, const std::string& label,
                   GroupRange* ranges) {
  const int64_t all = g.by_columns ? g.k : g.m;
  if (!args.inputs[kGroupedSizes]) {
    ranges[0] = {0, all};
    return {};
  }
  const auto* list = input_of<int64_t>(args, kGroupedSizes);
  for (int64_t i = 0; i < g.groups; ++i) ranges[i] = {};
  int64_t end = 0;
  for (int64_t i = 0; i < g.groups; ++i) {
    const int64_t number = g.list_type == 2 ? list[2 * i] : i;
    const int64_t size = g.list_type == 0 ? list[i] - end : list[g.list_type == 2 ? 2 * i + 1 : i];
    if (number < 0 || number >= g.groups || size < 0 || size > all - end) {
      return fail(Code::invalid_argument,
                  "{}: entry {} of the groups is group {} with {} rows behind the "
                  "first {}; there are {} groups and {} rows",
                  label, i, number, size, end, g.groups, all);
    }
    if (size > 0) ranges[number] = {end, end + size};
    end += size;
  }
  return {};
}

namespace {

class GroupedReference final : public KernelPlan {
 public:
  GroupedShape g;
  DType x_type = DType::f32, y_type = DType::f32;
  std::string label;
  bool has_scale = false, has_offset = false, has_bias = false, has_out = false, has_rows = false;

  Status run(const RunArgs& args) const override {
    auto* ranges = reinterpret_cast<GroupRange*>(args.workspace);
    ANYNPU_TRY(read_groups(g, args, label, ranges));
    const int64_t rows = g.by_columns ? g.groups * g.m : g.m;
    parallel(static_cast<size_t>(rows), 1, [&](size_t begin, size_t end) {
      for (auto row = static_cast<int64_t>(begin); row < static_cast<int64_t>(end); ++row) {
        int64_t group = g.by_columns ? row / g.m : -1;
        for (int64_t e = 0; !g.by_columns && e < g.groups; ++e) {
          if (row >= ranges[e].begin && row < ranges[e].end) group = e;
        }
        for (int64_t column = 0; column < g.n; ++column)
          set(args, row, column, group < 0 ? 0 : element(args, ranges, group, row, column));
      }
    });
    return {};
  }

 private:
  void set(const RunArgs& args, int64_t row, int64_t column, double value) const {
    const int64_t at = row * g.n + column;
    if (y_type == DType::f32)
      output_of<float>(args, 0)[at] = static_cast<float>(value);
    else
      output_of<double>(args, 0)[at] = value;
  }
  double element(const RunArgs& args, const GroupRange* ranges, int64_t group, int64_t row,
                 int64_t column) const {
    const std::byte* w =
        args.inputs[kGroupedWeights + static_cast<size_t>(g.stacked || g.by_columns ? 0 : group)];
    const int64_t first = g.stacked ? group * g.k * g.n : 0;
    const int64_t begin = g.by_columns ? ranges[group].begin : 0;
    const int64_t end = g.by_columns ? ranges[group].end : g.k;
    const int64_t x_row = g.by_columns ? row % g.m : row;
    double sum = 0;
    for (int64_t k = begin; k < end; ++k) {
      double weight = load_one<double>(
          g.weight_type, w, first + (g.transposed ? column * g.k + k : k * g.n + column));
      const int64_t part = group * g.parts + k / (g.k / g.parts);
      const int64_t at = g.scale_step ? part * g.n + column : part;
      if (has_offset) weight += static_cast<double>(input_of<float>(args, kGroupedOffset)[at]);
      if (has_scale) weight *= static_cast<double>(input_of<float>(args, kGroupedScale)[at]);
      sum += load_one<double>(x_type, args.inputs[0], x_row * g.k + k) * weight;
    }
    const auto of_group = [&](size_t input, int64_t step) {
      return static_cast<double>(input_of<float>(args, input)[step ? group * g.n + column : group]);
    };
    if (has_bias && !g.bias_last) sum += of_group(kGroupedBias, 1);
    if (has_out) sum *= of_group(kGroupedOutScale, g.out_scale_step);
    if (has_rows) sum *= static_cast<double>(input_of<float>(args, kGroupedRowScale)[x_row]);
    if (has_bias && g.bias_last) sum += of_group(kGroupedBias, 1);
    return sum;
  }
};

Status grouped_rule(OpContext& context) {
  const DType type = context.inputs[0].dtype;
  context.outputs[0].dtype = is_floating(type) && type != DType::f64 ? DType::f32 : DType::f64;
  for (const Operand& input : context.inputs) {
    if (input.present && !input.fully_known()) return {};
  }
  ANYNPU_ASSIGN(const GroupedShape g, grouped_shape_of(context));
  return set_output(context, 0, context.outputs[0].dtype,
                    g.by_columns ? Shape{g.groups, g.m, g.n} : Shape{g.m, g.n});
}

constexpr DTypeSet kWeightTypes =
    kFloats | DTypeSet{DType::i8, DType::i4, DType::i32, DType::hif8, DType::f8e4m3, DType::f8e5m2};

}  // namespace

PlanResult plan_grouped_reference(const OpContext& context) {
  auto plan = std::make_unique<GroupedReference>();
  ANYNPU_ASSIGN(plan->g, grouped_shape_of(context));
  plan->x_type = context.inputs[0].dtype, plan->y_type = context.outputs[0].dtype;
  plan->label = context.label();
  plan->has_scale = context.has_input(kGroupedScale);
  plan->has_offset = context.has_input(kGroupedOffset);
  plan->has_bias = context.has_input(kGroupedBias);
  plan->has_out = context.has_input(kGroupedOutScale);
  plan->has_rows = context.has_input(kGroupedRowScale);
  plan->workspace_bytes = static_cast<size_t>(plan->g.groups) * sizeof(GroupRange);
  return std::unique_ptr<KernelPlan>(std::move(plan));
}

void register_grouped(Registry& registry) {
  const Presence optional = Presence::optional;
  registry.add(OpSchema{.name = "GroupedMatMul",
                        .domain = "anynpu",
                        .since = 1,
                        .inputs = {{"X", "X"},
                                   {"groups", "I", optional},
                                   {"weight_scale", "F", optional},
                                   {"weight_offset", "F", optional},
                                   {"bias", "F", optional},
                                   {"out_scale", "F", optional},
                                   {"row_scale", "F", optional},
                                   {"W", "W", Presence::variadic}},
                        .outputs = {{"Y", "Y"}},
                        .types = {{"X", kFloats | DTypeSet{DType::i8, DType::i4, DType::i32}},
                                  {"W", kWeightTypes},
                                  {"I", {DType::i64}},
                                  {"F", {DType::f32}},
                                  {"Y", {DType::f32, DType::f64}}},
                        .attrs = {{"transB", AttrKind::i, int64_t{0}},
                                  {"axis", AttrKind::i, int64_t{0}},
                                  {"list_type", AttrKind::i, int64_t{0}},
                                  {"bias_last", AttrKind::i, int64_t{0}}},
                        .traits = OpTraits::general().with(CostClass::product),
                        .shape = grouped_rule});
  const DTypeSet floats{DType::f32};
  registry.add_kernels(
      "GroupedMatMul",
      {{"grouped_avx512", floats, can_run_grouped<Isa::avx512>, create_grouped<Isa::avx512>},
       {"grouped_avx2", floats, can_run_grouped<Isa::avx2>, create_grouped<Isa::avx2>},
       {"grouped_baseline", floats, can_run_grouped<Isa::baseline>, create_grouped<Isa::baseline>},
       // Everything, in double: the oracle of the tests.
       {"grouped_reference", kFloats | DTypeSet{DType::i8, DType::i4, DType::i32}, nullptr,
        create_plain<plan_grouped_reference>}},
      "anynpu");
}

}  // namespace anynpu::ops::gemm
