// SPDX-License-Identifier: Apache-2.0
// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss: N x C x d... scores, N x d... labels.
#include "ops/loss/loss.h"

#include <cmath>

#include "ops/elements/index_value.h"
#include "ops/elements/wide.h"
#include "ops/families.h"
#include "ops/registry.h"
#include "ops/runtime_params.h"

namespace anynpu::ops::loss {

namespace {

Status loss_rule(OpContext& context) {
  const Operand &x = context.inputs[0], &labels = context.inputs[1];
  for (Operand& output : context.outputs) output.dtype = x.dtype;
  const std::string how = context.string_attr("reduction");
  if (how != "none" && how != "mean" && how != "sum") {
    return fail(Code::invalid_argument, "{}: reduction is '{}', expected none, mean or sum",
                context.label(), how);
  }
  if (!x.has_shape || !labels.has_shape) return {};
  Shape wanted = x.shape;
  if (wanted.size() >= 2) wanted.erase(wanted.begin() + 1);
  if (x.rank() < 2 || (is_static(x.shape) && is_static(labels.shape) && wanted != labels.shape) ||
      (context.has_input(2) && context.inputs[2].fully_known() && is_static(x.shape) &&
       element_count(context.inputs[2].shape) != x.shape[1])) {
    return fail(Code::shape_mismatch, "{}: scores {} with labels {}, expected N, C, ... and N, ...",
                context.label(), to_string(x.shape), to_string(labels.shape));
  }
  ANYNPU_TRY(set_output(context, 1, x.dtype, x.shape));
  return set_output(context, 0, x.dtype, how == "none" ? labels.shape : Shape{});
}

template <bool softmax>
PlanResult plan_loss(const OpContext& context) {
  const Shape& x = context.inputs[0].shape;
  const DType type = context.inputs[0].dtype, label_type = context.inputs[1].dtype;
  const int64_t classes = x[1], spatial = element_count(Shape(x.begin() + 2, x.end()));
  const int64_t points = x[0] * spatial;
  const auto load = load_block<double>(type);
  const auto store = store_block<double>(type);
  const std::string how = context.string_attr("reduction");
  const bool keep = how == "none", mean = how == "mean", weighted = context.has_input(2);
  const bool ignores = context.has_attr("ignore_index");
  const int64_t ignored = context.int_attr("ignore_index");
  return make_checked_plan([=, label = context.label()](const RunArgs& args) -> Status {
    double total = 0, weights = 0;
    for (int64_t p = 0; p < points; ++p) {
      const int64_t base = p / spatial * classes * spatial + p % spatial;
      const auto score = [&](int64_t c) {
        double value = 0;
        load(args.inputs[0], base + c * spatial, 0, &value, 1);
        return value;
      };
      double shift = 0;  // log of the sum of exponentials
      if (softmax) {
        double top = classes > 0 ? score(0) : 0, sum = 0;
        for (int64_t c = 1; c < classes; ++c) top = std::max(top, score(c));
        for (int64_t c = 0; c < classes; ++c) sum += std::exp(score(c) - top);
        shift = top + std::log(sum);
        if (args.outputs.size() > 1 && args.outputs[1]) {
          for (int64_t c = 0; c < classes; ++c) {
            const double value = score(c) - shift;
            store(args.outputs[1], base + c * spatial, &value, 1);
          }
        }
      }
      const int64_t at = index_at(label_type, args.inputs[1], p);
      double loss = 0;
      if (!ignores || at != ignored) {
        if (at < 0 || at >= classes) return index_failure(label, at, classes);
        double weight = 1;
        if (weighted) load(args.inputs[2], at, 0, &weight, 1);
        loss = -(score(at) - shift) * weight;
        total += loss;
        weights += weight;
      }
      if (keep) store(args.outputs[0], p, &loss, 1);
    }
    const double result = mean ? total / weights : total;
    if (!keep) store(args.outputs[0], 0, &result, 1);
    return {};
  });
}

}  // namespace

void register_family(Registry& registry) {
  register_ctc(registry);
  register_multilabel(registry);
  register_edit_distance(registry);
  OpSchema schema{.name = "NegativeLogLikelihoodLoss",
                  .since = 12,
                  .inputs = {{"input", "T"}, {"target", "I"}, {"weight", "T", Presence::optional}},
                  .outputs = {{"loss", "T"}},
                  .types = {{"T", kFloats}, {"I", kIndices}},
                  .attrs = {{"ignore_index", AttrKind::i},
                            {"reduction", AttrKind::s, std::string_view("mean")}},
                  .traits = OpTraits::general(),
                  .shape = loss_rule};
  registry.add(schema);
  schema.name = "SoftmaxCrossEntropyLoss";
  schema.outputs.push_back({"log_prob", "T", Presence::optional});
  registry.add(schema);
  registry.add(KernelDef{.op = "NegativeLogLikelihoodLoss",
                         .name = "reference",
                         .types = kFloats,
                         .create = create_plain<plan_loss<false>>});
  registry.add(KernelDef{.op = "SoftmaxCrossEntropyLoss",
                         .name = "reference",
                         .types = kFloats,
                         .create = create_plain<plan_loss<true>>});
}

}  // namespace anynpu::ops::loss
