// SPDX-License-Identifier: Apache-2.0
// Finds, backwards from each QuantizeLinear, the element-wise operators that depend on one tensor
// of bytes and on numbers, computes them for all 256 bytes and puts a ByteTable in their place.
#include <algorithm>

#include "compile/passes.h"
#include "compile/pattern.h"
#include "compile/quantized.h"
#include "graph/tensor_value.h"
#include "ops/registry.h"

namespace anynpu::compile {

namespace {

using graph::kNoValue;
using graph::Node;
using graph::Value;
using graph::ValueId;

constexpr size_t kMostNodes = 64;

class TableJoiner {
 public:
  explicit TableJoiner(graph::Graph& graph) : graph_(graph), pattern_(graph) {}

  Status run() {
    return pattern_.sweep([this](const Node& node) { return join(node); });
  }

 private:
  const Value& value(ValueId id) const { return pattern_.value(id); }

  struct Region {
    ValueId x = kNoValue;            // the one tensor of bytes
    std::vector<const Node*> nodes;  // users first
    bool computes = false;           // something besides conversions
  };

  bool is_number(ValueId id) const {
    return value(id).constant && element_count(value(id).shape) == 1;
  }

  static bool is_elementwise(const Node& node) {
    if (node.outputs.size() != 1) return false;
    const ops::TransposeRule rule = ops::traits_of(node).transposes;
    return rule == ops::TransposeRule::elementwise || rule == ops::TransposeRule::broadcast;
  }

  // Adds the maker of `id` and all it depends on; false where that is more than x and numbers.
  bool add(ValueId id, Region& region) const {
    if (id == kNoValue || is_number(id)) return true;
    const Node* node = pattern_.maker(id);
    const bool table = node && node->op == "ByteTable" && node->domain == "anynpu";
    if (value(id).dtype == DType::u8 && !table) {  // where the region begins
      if (region.x != kNoValue && region.x != id) return false;
      region.x = id;
      return true;
    }
    if (!node || region.nodes.size() >= kMostNodes) return false;
    if (std::find(region.nodes.begin(), region.nodes.end(), node) != region.nodes.end())
      return true;
    region.nodes.push_back(node);
    if (table) return add(node->inputs[0], region);
    if (node->op == "DequantizeLinear" && node->domain.empty())
      return byte_scale(graph_, *node) && add(node->inputs[0], region);
    if (!is_elementwise(*node)) return false;
    region.computes = true;
    return std::all_of(node->inputs.begin(), node->inputs.end(),
                       [&](ValueId input) { return add(input, region); });
  }

  bool join(const Node& quantize) {
    if (quantize.op != "QuantizeLinear" || !quantize.domain.empty() ||
        !byte_scale(graph_, quantize))
      return false;
    Region region;
    if (!add(quantize.inputs[0], region) || region.x == kNoValue || !region.computes) return false;
    const Value& y = value(quantize.outputs[0]);
    if (value(region.x).shape != y.shape || !y.has_shape) return false;
    region.nodes.insert(region.nodes.begin(), &quantize);
    const ValueId table = table_of(region, quantize.outputs[0]);
    if (table == kNoValue) return false;
    Node made;
    made.op = "ByteTable", made.domain = "anynpu", made.opset = 1, made.name = quantize.name;
    made.inputs = {region.x, table};
    made.outputs = {quantize.outputs[0]};
    pattern_.absorb(made.outputs[0], Node(made));
    return true;
  }

  // The results for all bytes as a constant, or kNoValue.
  ValueId table_of(const Region& region, ValueId y) {
    graph::Graph small;
    small.values = graph_.values;
    std::vector<uint8_t> all(256);
    for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint8_t>(i);
    Value& x = small.values[static_cast<size_t>(region.x)];
    x.shape = {256};
    x.constant = graph::constant_of(std::move(all));
    for (const Node* node : region.nodes) {
      small.nodes.push_back(*node);
      for (ValueId id : node->outputs) small.values[static_cast<size_t>(id)].has_shape = false;
    }
    small.outputs = {y};
    if (!small.verify().ok() || !infer_and_fold(small).ok() || !small.nodes.empty())
      return kNoValue;
    const auto& found = small.values[static_cast<size_t>(y)].constant;
    if (!found || found->bytes.size() != 256) return kNoValue;
    Value table = graph::tensor_value(value(y).name + "/table", DType::u8, {256});
    table.constant = found;
    return pattern_.adopt(graph_.add_value(std::move(table)));
  }

  graph::Graph& graph_;
  Pattern pattern_;
};

}  // namespace

Status join_tables(graph::Graph& graph) { return TableJoiner(graph).run(); }

}  // namespace anynpu::compile
