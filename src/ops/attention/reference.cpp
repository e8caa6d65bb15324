// SPDX-License-Identifier: Apache-2.0
// The reference kernel of attention, in double: one row of one head after the other.
#include <algorithm>
#include <cmath>

#include "ops/attention/attention.h"
#include "ops/elements/wide.h"
#include "ops/parallel.h"

namespace anynpu::ops::attention {

namespace {

class ReferencePlan final : public KernelPlan {
 public:
  AttentionShape a;
  DType mask_type = DType::f32;
  LoadBlock<double> load_query = nullptr, load_key = nullptr, load_value = nullptr,
                    load_mask = nullptr;
  StoreBlock<double> store = nullptr;
  PresentWorkspace present;  // first in the workspace

  // Doubles of a head: weights, a row of Q, of K or V, and of Y.
  int64_t scratch_doubles() const {
    return a.columns + 2 * std::max(a.size, a.value_size) + a.value_size;
  }

  Status run(const RunArgs& args) const override {
    const std::byte* keys = join_present(a, a.key, args, args.workspace + present.key_at);
    const std::byte* values = join_present(a, a.value, args, args.workspace + present.value_at);
    parallel(static_cast<size_t>(a.batch * a.heads), 1, [&](size_t begin, size_t end) {
      for (auto head = static_cast<int64_t>(begin); head < static_cast<int64_t>(end); ++head) {
        auto* weights =
            reinterpret_cast<double*>(args.workspace + present.end) + head * scratch_doubles();
        for (int64_t row = 0; row < a.rows; ++row) {
          weigh(args, keys, head, row, weights);
          average(args, values, head, row, weights);
        }
      }
    });
    return {};
  }

 private:
  double bias(const RunArgs& args, int64_t b, int64_t h, int64_t row, int64_t column) const {
    if (!a.has_mask) return 0;
    double value = 0;
    const int64_t at = a.mask_offset(b, h, row) + column * a.mask_steps[3];
    load_mask(args.inputs[3], at, 0, &value, 1);
    if (mask_type != DType::boolean) return value;
    return value != 0 ? 0 : -INFINITY;
  }

  void emit(const RunArgs& args, Scores stage, int64_t head, int64_t row,
            const double* line) const {
    if (a.scores == stage)
      store(args.outputs[3], (head * a.rows + row) * a.columns, line, a.columns);
  }

  // The weights of all columns for one row.
  void weigh(const RunArgs& args, const std::byte* keys, int64_t head, int64_t row,
             double* weights) const {
    const int64_t b = head / a.heads, h = head % a.heads;
    double *q = weights + a.columns, *k = q + std::max(a.size, a.value_size);
    load_query(args.inputs[0], a.q.at(b, h, row), 1, q, a.size);
    for (int64_t j = 0; j < a.columns; ++j) {
      load_key(keys, a.key.read.at(b, h / a.group(), j), 1, k, a.size);
      double dot = 0;
      for (int64_t i = 0; i < a.size; ++i) dot += q[i] * k[i];
      weights[j] = dot * static_cast<double>(a.scale);
    }
    emit(args, Scores::product, head, row, weights);
    if (const auto cap = static_cast<double>(a.softcap); cap > 0) {
      for (int64_t j = 0; j < a.columns; ++j) weights[j] = cap * std::tanh(weights[j] / cap);
    }
    emit(args, Scores::capped, head, row, weights);
    const int64_t* lengths = a.has_lengths ? input_of<int64_t>(args, 6) : nullptr;
    const KeyRange range = a.keys_of(b, row, lengths);
    bool shut = a.zero_if_shut;
    double top = -INFINITY, sum = 0;
    for (int64_t j = 0; j < a.columns; ++j) {
      const bool seen = j >= range.first && j < range.last;
      const double added = seen ? bias(args, b, h, row, j) : -INFINITY;
      shut = shut && added == -INFINITY;
      weights[j] += added;
      top = std::max(top, weights[j]);
    }
    emit(args, Scores::masked, head, row, weights);
    for (int64_t j = 0; j < a.columns; ++j) sum += weights[j] = std::exp(weights[j] - top);
    for (int64_t j = 0; j < a.columns; ++j) weights[j] = shut ? 0 : weights[j] / sum;
    emit(args, Scores::weights, head, row, weights);
  }

  void average(const RunArgs& args, const std::byte* values, int64_t head, int64_t row,
               double* weights) const {
    const int64_t b = head / a.heads, h = head % a.heads;
    double *v = weights + a.columns, *y = v + 2 * std::max(a.size, a.value_size);
    std::fill_n(y, a.value_size, 0.0);
    for (int64_t j = 0; j < a.columns; ++j) {
      load_value(values, a.value.read.at(b, h / a.group(), j), 1, v, a.value_size);
      for (int64_t i = 0; i < a.value_size; ++i) y[i] += weights[j] * v[i];
    }
    store(args.outputs[0], a.y.at(b, h, row), y, a.value_size);
  }
};

}  // namespace

PlanResult plan_attention_reference(const OpContext& context) {
  auto plan = std::make_unique<ReferencePlan>();
  ANYNPU_ASSIGN(plan->a, attention_shape_of(context));
  const AttentionShape& a = plan->a;
  plan->mask_type = a.has_mask ? context.inputs[3].dtype : DType::f32;
  plan->load_query = load_block<double>(context.inputs[0].dtype);
  plan->load_key = load_block<double>(a.key.type);
  plan->load_value = load_block<double>(a.value.type);
  plan->load_mask = load_block<double>(plan->mask_type);
  plan->store = store_block<double>(context.outputs[0].dtype);
  plan->present = present_workspace(context, a, 0);
  plan->workspace_bytes =
      plan->present.end +
      static_cast<size_t>(a.batch * a.heads * plan->scratch_doubles()) * sizeof(double);
  return std::unique_ptr<KernelPlan>(std::move(plan));
}

}  // namespace anynpu::ops::attention
