// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "compile/aipp_config.h"
#include "compile/describe.h"
#include "compile/gears.h"
#include "compile/infer_flow.h"
#include "compile/passes.h"
#include "compile/specialise.h"
#include "ops/aipp/params.h"
#include "ops/registry.h"

namespace anynpu::compile {

namespace {

using om::GearKind;
using om::TensorInfo;

// Numbers tried for dynamic extents, two at a time: an output extent that differs between the two
// is dynamic as well. Small ones first; networks that halve images need larger ones.
constexpr std::pair<int64_t, int64_t> kSamples[] = {
    {2, 3}, {16, 32}, {64, 128}, {224, 448}, {1, 2}};
constexpr const char* kNoTrialFits =
    "none of the shapes that were tried within --input_shape fits the model";

Result<om::Meta> describe_shapes(const graph::Graph& graph, const std::vector<std::string>& names,
                                 std::span<const Shape> shapes, const om::Meta& settings) {
  ANYNPU_ASSIGN(const graph::Graph fixed, specialise(graph, shapes, settings));
  om::Meta meta;
  ANYNPU_TRY(describe_all(fixed, names, meta));
  return meta;
}

void keep_larger(const std::vector<TensorInfo>& from, std::vector<TensorInfo>& to) {
  for (size_t i = 0; i < from.size(); ++i) to[i].size = std::max(to[i].size, from[i].size);
}

// Sizes are the largest of any gear; shapes of outputs are those of the largest gear.
Status describe_gears(const graph::Graph& graph, const std::vector<std::string>& names,
                      om::Meta& meta) {
  ANYNPU_ASSIGN(const size_t largest, largest_gear(graph, meta.gear_kind, meta.gears));
  auto gears = meta.gears;
  std::swap(gears[0], gears[largest]);  // the others only add to its sizes
  om::Meta all;
  for (const auto& gear : gears) {
    ANYNPU_ASSIGN(const auto shapes, gear_shapes(graph, meta.gear_kind, gear));
    ANYNPU_ASSIGN(om::Meta one, describe_shapes(graph, names, shapes, meta), "in the gear {}",
                  to_string(gear));
    if (all.inputs.empty()) {
      all = std::move(one);
      continue;
    }
    keep_larger(one.inputs, all.inputs);
    keep_larger(one.outputs, all.outputs);
  }
  meta.inputs = std::move(all.inputs);
  meta.outputs = std::move(all.outputs);
  size_t dynamic_extents = 0;
  std::vector<Shape> shapes;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    shapes.push_back(graph.values[static_cast<size_t>(graph.inputs[i])].shape);
    meta.inputs[i].shape = shapes.back();
    dynamic_extents += static_cast<size_t>(
        std::count(meta.inputs[i].shape.begin(), meta.inputs[i].shape.end(), kDynamicDim));
  }
  describe_aipp(std::vector<om::Aipp>(meta.aipp), shapes, meta);
  const size_t count = meta.gear_kind == GearKind::dims ? dynamic_extents : meta.gears[0].size();
  // Behind the model's own inputs and before the parameters of AIPP, as on a card.
  om::TensorInfo gear{
      "ascend_mbatch_shape_data", DType::i64,    Format::nd, {static_cast<int64_t>(count)},
      count * sizeof(int64_t),    om::Role::gear};
  meta.inputs.insert(meta.inputs.begin() + static_cast<ptrdiff_t>(graph.inputs.size()),
                     std::move(gear));
  return {};
}

std::vector<om::Range> ranges_of(const graph::Value& value, const std::vector<InputShape>& shapes) {
  if (is_static(value.shape)) return {};
  for (const InputShape& shape : shapes) {
    if (shape.name != value.name) continue;
    std::vector<om::Range> ranges;
    for (const Extent& extent : shape.extents) ranges.emplace_back(extent.low, extent.high);
    return ranges;
  }
  return {};
}

// A number of the range near `wanted`, and not `taken` where the range has another.
int64_t sample(const om::Range& range, int64_t wanted, int64_t taken) {
  const int64_t low = std::max<int64_t>(range.first, 1);
  const int64_t high = range.second < 0 ? INT64_MAX : std::max(range.second, low);
  const int64_t value = std::clamp(wanted, low, high);
  if (value != taken || low == high) return value;
  return value == high ? low : high;
}

std::vector<Shape> sample_shapes(const std::vector<std::vector<om::Range>>& ranges,
                                 const graph::Graph& graph, std::pair<int64_t, int64_t> numbers,
                                 bool second) {
  std::vector<Shape> shapes;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    Shape shape = graph.values[static_cast<size_t>(graph.inputs[i])].shape;
    for (size_t d = 0; d < ranges[i].size(); ++d) {
      const int64_t one = sample(ranges[i][d], numbers.first, -1);
      shape[d] = second ? sample(ranges[i][d], numbers.second, one) : one;
    }
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

// Extents in which the two differ are dynamic.
void mark_dynamic(const std::vector<TensorInfo>& other, std::vector<TensorInfo>& infos) {
  for (size_t i = 0; i < infos.size(); ++i) {
    Shape& shape = infos[i].shape;
    const bool same_rank = shape.size() == other[i].shape.size();
    for (size_t d = 0; d < shape.size(); ++d) {
      if (!same_rank || shape[d] != other[i].shape[d]) shape[d] = kDynamicDim;
    }
    if (!is_static(shape)) infos[i].size = 0;
  }
}

// Inputs with AIPP take pictures: N, H, W, C of bytes, with the ranges of the model's input.
void describe_pictures(const graph::Graph& graph, om::Meta& meta) {
  std::vector<Shape> shapes;
  for (graph::ValueId id : graph.inputs)
    shapes.push_back(graph.values[static_cast<size_t>(id)].shape);
  describe_aipp(std::vector<om::Aipp>(meta.aipp), shapes, meta);
  for (const om::Aipp& aipp : meta.aipp) {
    TensorInfo& info = meta.inputs[aipp.input];
    if (info.ranges.empty()) continue;
    const std::vector<om::Range> was = info.ranges;
    // Its parameters tell the shape, and the buffer is as large as was said.
    if (aipp.dynamic) info.size = static_cast<uint64_t>(aipp.max_source_bytes);
    const size_t height = aipp.nhwc ? 1 : 2;
    for (size_t d = 0; d < info.shape.size(); ++d) {
      const size_t from = d == 0 ? 0 : d == 3 ? (aipp.nhwc ? 3 : 1) : height + d - 1;
      info.ranges[d] =
          info.shape[d] == kDynamicDim ? was[from] : om::Range{info.shape[d], info.shape[d]};
    }
  }
}

// Room for the parameters of the largest batch; size 0 where any batch may come.
void describe_parameters(om::Meta& meta) {
  size_t place = 0;
  while (place < meta.inputs.size() && meta.inputs[place].role == om::Role::data) ++place;
  for (const om::Aipp& aipp : meta.aipp) {
    if (!aipp.dynamic) continue;
    const TensorInfo& picture = meta.inputs[aipp.input];
    const int64_t most = picture.ranges.empty() ? picture.shape[0] : picture.ranges[0].second;
    TensorInfo& info = meta.inputs[place++];
    info.size = most < 0 ? 0 : ops::aipp_bytes(static_cast<size_t>(most));
    info.shape = {most < 0 ? kDynamicDim : static_cast<int64_t>(info.size)};
  }
}

// Inputs and outputs by two trials within the ranges.
Status describe_trials(const graph::Graph& graph, const std::vector<std::vector<om::Range>>& ranges,
                       const std::vector<std::string>& names, om::Meta& meta) {
  Status problem;
  for (const auto& numbers : kSamples) {
    auto one = describe_shapes(graph, names, sample_shapes(ranges, graph, numbers, false), meta);
    auto two = describe_shapes(graph, names, sample_shapes(ranges, graph, numbers, true), meta);
    if (!one.ok() || !two.ok()) {
      problem = one.ok() ? two.status() : one.status();
      continue;
    }
    meta.inputs = std::move(one->inputs);
    meta.outputs = std::move(one->outputs);
    mark_dynamic(two->outputs, meta.outputs);
    return {};
  }
  return problem.with_note(kNoTrialFits);
}

// Types of all values, and shapes with dynamic extents as far as the rules of operators carry them.
// Fails where no number could make a node fit.
Result<graph::Graph> infer_dynamic_extents(const graph::Graph& graph) {
  graph::Graph inferred = graph;
  ANYNPU_TRY(infer_and_fold(inferred));
  for (const graph::Node& node : inferred.nodes) {
    std::vector<ops::Operand> operands;
    bool known = !is_flow(inferred, node);
    for (graph::ValueId id : node.inputs) {
      operands.push_back(ops::Operand::of(inferred, id));
      const ops::Operand& operand = operands.back();
      known =
          known && (!operand.present ||
                    (operand.has_shape && operand.dtype != DType::undefined &&
                     inferred.values[static_cast<size_t>(id)].kind == graph::ValueKind::tensor));
    }
    ops::OpContext context;
    if (known) {
      ANYNPU_ASSIGN(context, ops::infer(node, std::move(operands)));
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == graph::kNoValue) continue;
      graph::Value& value = inferred.values[static_cast<size_t>(node.outputs[i])];
      value.has_shape = known && context.outputs[i].has_shape;
      value.shape = value.has_shape ? context.outputs[i].shape : Shape{};
      if (known && context.outputs[i].dtype != DType::undefined)
        value.dtype = context.outputs[i].dtype;
    }
  }
  return inferred;
}

// Inputs and outputs of a model that fits none of the trials: a window of 6 in a sequence of any
// length, say. What fits is seen when it runs.
Status describe_dynamic(const graph::Graph& graph, const std::vector<std::string>& names,
                        om::Meta& meta) {
  ANYNPU_ASSIGN(const graph::Graph inferred, infer_dynamic_extents(graph));
  om::Meta made;
  ANYNPU_TRY(describe_all(inferred, names, made));
  meta.inputs = std::move(made.inputs);
  meta.outputs = std::move(made.outputs);
  for (TensorInfo& info : meta.outputs) {
    if (!is_static(info.shape)) info.size = 0;
  }
  return {};
}

Status describe_ranges(const graph::Graph& graph, const Options& options,
                       const std::vector<std::string>& names, om::Meta& meta) {
  std::vector<std::vector<om::Range>> ranges;
  for (graph::ValueId id : graph.inputs) {
    ranges.push_back(ranges_of(graph.values[static_cast<size_t>(id)], options.input_shapes));
  }
  const Status problem = describe_trials(graph, ranges, names, meta);
  if (!problem.ok()) {
    if (!meta.aipp.empty() || !describe_dynamic(graph, names, meta).ok()) return problem;
    if (options.on_warning) {
      options.on_warning(
          format("{} ({}); it is written as it is, and each execution checks its "
                 "shapes",
                 kNoTrialFits, problem.message()));
    }
  }
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    TensorInfo& info = meta.inputs[i];
    info.ranges = ranges[i];
    info.shape = graph.values[static_cast<size_t>(graph.inputs[i])].shape;
    if (!is_static(info.shape)) info.size = 0;
  }
  describe_pictures(graph, meta);
  describe_parameters(meta);
  return {};
}

}  // namespace

Result<std::vector<Shape>> trial_shapes(const graph::Graph& graph, const Options& options) {
  if (options.gears.kind != GearKind::none) {
    ANYNPU_ASSIGN(const auto gears,
                  fit_gears(options.gears, options.input_shapes, graph, options.input_format));
    return gear_shapes(graph, options.gears.kind, gears[0]);
  }
  std::vector<std::vector<om::Range>> ranges;
  for (graph::ValueId id : graph.inputs) {
    ranges.push_back(ranges_of(graph.values[static_cast<size_t>(id)], options.input_shapes));
  }
  Status problem;
  for (const auto& numbers : kSamples) {
    std::vector<Shape> shapes = sample_shapes(ranges, graph, numbers, false);
    const auto fixed = specialise(graph, shapes, {});
    if (fixed.ok()) return shapes;
    problem = fixed.status();
  }
  if (!infer_dynamic_extents(graph).ok()) return problem.with_note(kNoTrialFits);
  std::vector<Shape> dynamic;
  for (graph::ValueId id : graph.inputs) {
    dynamic.push_back(graph.values[static_cast<size_t>(id)].shape);
  }
  return dynamic;
}

Result<om::Model> compile_dynamic(graph::Graph graph, const Options& options,
                                  const std::vector<std::string>& names, om::Meta meta) {
  ANYNPU_ASSIGN(meta.aipp, fit_aipp(options, graph, false));
  if (options.gears.kind != GearKind::none) {
    meta.gear_kind = options.gears.kind;
    ANYNPU_ASSIGN(meta.gears,
                  fit_gears(options.gears, options.input_shapes, graph, options.input_format));
    ANYNPU_TRY(describe_gears(graph, names, meta));
  } else {
    ANYNPU_TRY(describe_ranges(graph, options, names, meta));
  }
  for (auto* infos : {&meta.inputs, &meta.outputs}) {
    for (TensorInfo& info : *infos) {
      const bool picture = info.format == Format::nhwc && info.dtype == DType::u8;
      if (info.role == om::Role::data && !picture)
        info.format = format_for(info.shape, options.input_format);
    }
  }
  om::Model model;
  model.graph = std::move(graph);
  model.meta = std::move(meta);
  return model;
}

}  // namespace anynpu::compile
