// SPDX-License-Identifier: Apache-2.0
// EditDistance (domain anynpu): how many elements must be inserted, removed or replaced to make
// each hypothesis the truth (Levenshtein). Sequences lie behind each other; the lengths of all have
// the shape of the result. `normalize` divides by the length of the truth: a hypothesis for an
// empty truth is infinitely far, nothing for nothing is 0.
#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "ops/loss/loss.h"
#include "ops/registry.h"

namespace anynpu::ops::loss {

namespace edit {

namespace {

constexpr DTypeSet kCompared{DType::i64, DType::f64};

Status rule(OpContext& context) {
  const Operand &hypotheses = context.inputs[1], &truths = context.inputs[3];
  if (hypotheses.has_shape && truths.has_shape && is_static(hypotheses.shape) &&
      is_static(truths.shape) && hypotheses.shape != truths.shape) {
    return fail(Code::shape_mismatch,
                "{}: the lengths of hypotheses and truths are {} and {}; expected the same shape",
                context.label(), to_string(hypotheses.shape), to_string(truths.shape));
  }
  Operand& y = context.outputs[0];
  y.dtype = DType::f32;
  y.has_shape = hypotheses.has_shape;
  y.shape = hypotheses.shape;
  return {};
}

template <typename T>
int64_t distance(const T* x, int64_t x_count, const T* y, int64_t y_count,
                 std::vector<int64_t>& row) {
  row.resize(static_cast<size_t>(y_count) + 1);
  std::iota(row.begin(), row.end(), int64_t{0});
  for (int64_t i = 0; i < x_count; ++i) {
    int64_t replaced = std::exchange(row[0], i + 1);
    for (size_t j = 1; j < row.size(); ++j) {
      const int64_t cost = replaced + (x[i] == y[j - 1] ? 0 : 1);
      replaced = row[j];
      row[j] = std::min({cost, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

// Where each sequence begins, and the end of the last.
Result<std::vector<int64_t>> starts_of(const std::string& label, const int64_t* lengths,
                                       size_t count, int64_t there) {
  std::vector<int64_t> starts = {0};
  for (size_t i = 0; i < count; ++i) {
    if (lengths[i] < 0 || lengths[i] > there - starts.back()) {
      return fail(Code::invalid_argument, "{}: sequence {} has {} elements; {} are left", label, i,
                  lengths[i], there - starts.back());
    }
    starts.push_back(starts.back() + lengths[i]);
  }
  return starts;
}

template <typename T>
PlanResult plan_of(const OpContext& context) {
  const auto count = static_cast<size_t>(element_count(context.inputs[1].shape));
  const int64_t of_x = element_count(context.inputs[0].shape);
  const int64_t of_y = element_count(context.inputs[2].shape);
  const bool normalize = context.int_attr("normalize") != 0;
  return make_checked_plan([=, label = context.label()](const RunArgs& args) -> Status {
    ANYNPU_ASSIGN(const auto xs, starts_of(label, input_of<int64_t>(args, 1), count, of_x));
    ANYNPU_ASSIGN(const auto ys, starts_of(label, input_of<int64_t>(args, 3), count, of_y));
    std::vector<int64_t> row;
    for (size_t i = 0; i < count; ++i) {
      const int64_t x_count = xs[i + 1] - xs[i], y_count = ys[i + 1] - ys[i];
      const auto found = static_cast<float>(distance(input_of<T>(args, 0) + xs[i], x_count,
                                                     input_of<T>(args, 2) + ys[i], y_count, row));
      float& y = output_of<float>(args, 0)[i];
      y = found;
      if (normalize && y_count > 0) y = found / static_cast<float>(y_count);
      if (normalize && y_count == 0 && x_count > 0) y = std::numeric_limits<float>::infinity();
    }
    return {};
  });
}

PlanResult plan(const OpContext& context) {
  return context.inputs[0].dtype == DType::i64 ? plan_of<int64_t>(context)
                                               : plan_of<double>(context);
}

}  // namespace

}  // namespace edit

void register_edit_distance(Registry& registry) {
  registry.add(OpSchema{.name = "EditDistance",
                        .domain = "anynpu",
                        .since = 1,
                        .inputs = {{"hypotheses", "T"},
                                   {"hypothesis_lengths", "I"},
                                   {"truths", "T"},
                                   {"truth_lengths", "I"}},
                        .outputs = {{"distances", "F"}},
                        .types = {{"T", edit::kCompared}, {"I", {DType::i64}}, {"F", {DType::f32}}},
                        .attrs = {{"normalize", AttrKind::i, int64_t{1}}},
                        .traits = OpTraits::general(),
                        .shape = edit::rule});
  registry.add(KernelDef{.op = "EditDistance",
                         .name = "reference",
                         .domain = "anynpu",
                         .types = edit::kCompared,
                         .create = create_plain<edit::plan>});
}

}  // namespace anynpu::ops::loss
