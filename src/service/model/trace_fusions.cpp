// SPDX-License-Identifier: Apache-2.0
#include "service/model/trace_fusions.h"

#include <map>
#include <optional>

#include "trace/trace.h"

namespace anynpu::service {

namespace {

std::optional<size_t> bytes_of_value(const graph::Value& value) {
  if (!value.has_shape) return {};
  for (int64_t extent : value.shape) {
    if (extent < 0) return {};
  }
  return bytes_of(value.dtype, static_cast<size_t>(element_count(value.shape)));
}

struct ByteSum {
  size_t bytes = 0;
  bool open = false;
  void add(const graph::Value& value) {
    const auto size = bytes_of_value(value);
    bytes += size.value_or(0);
    open = open || !size;
  }
  std::string text() const { return open ? "-" : std::to_string(bytes); }
};

std::string describe(const graph::Graph& graph, const graph::Node& node,
                     const std::vector<std::string>& sources, size_t workspace) {
  ByteSum inputs, outputs, weights;
  for (graph::ValueId id : node.inputs) {
    if (id == graph::kNoValue) continue;
    const graph::Value& value = graph.values[static_cast<size_t>(id)];
    (value.constant ? weights : inputs).add(value);
  }
  for (graph::ValueId id : node.outputs) {
    if (id != graph::kNoValue) outputs.add(graph.values[static_cast<size_t>(id)]);
  }
  std::string names;
  for (const std::string& name : sources) names += (names.empty() ? "" : ";") + name;
  return format("{}\t{}\t{}\t{}\t{}\t{}", node.name, inputs.text(), outputs.text(), weights.text(),
                workspace, names);
}

}  // namespace

void trace_fusions(const om::Model& model, const exec::ShapedModel& loaded, uint32_t id) {
  if (!trace::enabled(trace::Category::op)) return;
  std::map<std::string, size_t> workspaces;
  if (!loaded.has_ranges()) {
    for (const exec::StepInfo& step : loaded.gear(loaded.largest_gear()).steps())
      workspaces[step.name] = step.workspace_bytes;
  }
  std::map<std::string_view, const graph::Node*> nodes;
  for (const graph::Node& node : model.graph.nodes) nodes[node.name] = &node;
  const trace::NameId title = trace::intern(model.meta.name);
  for (const auto& [name, sources] : model.meta.origins) {
    const auto node = nodes.find(name);
    if (sources.size() < 2 || node == nodes.end()) continue;
    const std::string text = describe(model.graph, *node->second, sources, workspaces[name]);
    trace::instant(trace::Category::op, trace::intern(text), trace::current_correlation(), id,
                   {0, 0, title, 0});
  }
}

}  // namespace anynpu::service
