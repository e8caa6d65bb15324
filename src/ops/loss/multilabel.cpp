// SPDX-License-Identifier: Apache-2.0
// MultilabelMarginLoss (domain anynpu): rows of scores [N, C] and the labels of each row, which end
// at the first -1. Of each row the sum of max(0, 1 - (score of a label - score of another class)),
// divided by C; and which classes are labels, as 0 and 1.
#include <algorithm>
#include <vector>

#include "ops/elements/index_value.h"
#include "ops/elements/wide.h"
#include "ops/loss/loss.h"
#include "ops/registry.h"
#include "ops/runtime_params.h"

namespace anynpu::ops::loss {

namespace multilabel {

namespace {

Status rule(OpContext& context) {
  const Operand &x = context.inputs[0], &labels = context.inputs[1];
  for (Operand& output : context.outputs) output.dtype = x.dtype;
  if (!x.fully_known() || !labels.fully_known()) return {};
  if (x.rank() != 2 || labels.shape != x.shape) {
    return fail(Code::shape_mismatch, "{}: scores {} with labels {}, expected N, C for both",
                context.label(), to_string(x.shape), to_string(labels.shape));
  }
  ANYNPU_TRY(set_output(context, 0, x.dtype, {x.shape[0]}));
  return set_output(context, 1, x.dtype, x.shape);
}

PlanResult plan(const OpContext& context) {
  const Shape& shape = context.inputs[0].shape;
  const int64_t rows = shape[0], classes = shape[1];
  const DType type = context.inputs[0].dtype, label_type = context.inputs[1].dtype;
  const auto load = load_block<double>(type);
  const auto store = store_block<double>(type);
  return make_checked_plan([=, label = context.label()](const RunArgs& args) -> Status {
    std::vector<double> scores(static_cast<size_t>(classes)), meant(scores.size());
    for (int64_t row = 0; row < rows; ++row) {
      load(args.inputs[0], row * classes, 1, scores.data(), classes);
      std::fill(meant.begin(), meant.end(), 0);
      int64_t count = 0;
      for (; count < classes; ++count) {
        const int64_t at = index_at(label_type, args.inputs[1], row * classes + count);
        if (at < 0) break;
        if (at >= classes) return index_failure(label, at, classes);
        meant[static_cast<size_t>(at)] = 1;
      }
      double loss = 0;
      for (int64_t i = 0; i < count; ++i) {
        const auto at =
            static_cast<size_t>(index_at(label_type, args.inputs[1], row * classes + i));
        for (size_t c = 0; c < scores.size(); ++c) {
          if (meant[c] == 0) loss += std::max(0.0, 1 - scores[at] + scores[c]);
        }
      }
      loss /= static_cast<double>(classes);
      store(args.outputs[0], row, &loss, 1);
      if (args.outputs.size() > 1 && args.outputs[1])
        store(args.outputs[1], row * classes, meant.data(), classes);
    }
    return {};
  });
}

}  // namespace

}  // namespace multilabel

void register_multilabel(Registry& registry) {
  registry.add(OpSchema{.name = "MultilabelMarginLoss",
                        .domain = "anynpu",
                        .since = 1,
                        .inputs = {{"X", "T"}, {"labels", "I"}},
                        .outputs = {{"loss", "T"}, {"is_label", "T", Presence::optional}},
                        .types = {{"T", kFloats}, {"I", kIndices}},
                        .traits = OpTraits::general(),
                        .shape = multilabel::rule});
  registry.add(KernelDef{.op = "MultilabelMarginLoss",
                         .name = "reference",
                         .domain = "anynpu",
                         .types = kFloats,
                         .create = create_plain<multilabel::plan>});
}

}  // namespace anynpu::ops::loss
