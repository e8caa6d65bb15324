// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/upgrade.h"

#include <array>
#include <cmath>
#include <string_view>

#include "import/onnx/tensor_proto.h"

namespace anynpu::onnx {

namespace {

using graph::Graph;
using graph::kNoValue;
using graph::Node;
using graph::Value;
using graph::ValueId;
using Ints = std::vector<int64_t>;

const Value& value(const Graph& graph, ValueId id) { return graph.values[static_cast<size_t>(id)]; }

// A node in front of `node`, named after both.
ValueId add_before(const Node& node, Graph& graph, std::string op, int64_t opset,
                   std::vector<ValueId> inputs, std::map<std::string, graph::Attr> attrs = {}) {
  Node made;
  made.op = std::move(op);
  made.opset = opset;
  made.name = format("{}/{}_{}", node.name, made.op, graph.nodes.size());
  made.attrs = std::move(attrs);
  made.inputs = std::move(inputs);
  Value output;
  output.name = made.name;
  made.outputs = {graph.add_value(std::move(output))};
  const ValueId id = made.outputs[0];
  graph.nodes.push_back(std::move(made));
  return id;
}

ValueId add_integers(const Node& node, Graph& graph, Ints elements) {
  Value made;
  made.name = format("{}/integers_{}", node.name, graph.values.size());
  made.dtype = DType::i64;
  made.shape = {static_cast<int64_t>(elements.size())};
  made.has_shape = true;
  made.constant = copy_constant(std::as_bytes(std::span(elements)));
  return graph.add_value(std::move(made));
}

graph::TensorAttr one_integer() {
  const int64_t one = 1;
  return {DType::i64, {1}, copy_constant(std::as_bytes(std::span(&one, 1)))};
}

// The shape of `b` with ones behind it, as many as place its axes at `axis` of `a`: for values
// whose shapes the model does not state. Folded away once they are inferred.
ValueId place_by_shape(const Node& node, Graph& graph, int64_t axis) {
  const ValueId a = node.inputs[0], b = node.inputs[1];
  const auto add = [&](std::string op, std::vector<ValueId> inputs,
                       std::map<std::string, graph::Attr> attrs = {}) {
    return add_before(node, graph, std::move(op), 13, std::move(inputs), std::move(attrs));
  };
  const ValueId shape = add("Shape", {b});
  const ValueId rank_a = add("Size", {add("Shape", {a})}), rank_b = add("Size", {shape});
  const ValueId behind = add("Sub", {rank_a, add_integers(node, graph, {axis})});
  ValueId count = add("Sub", {behind, rank_b});
  count = add("Reshape", {count, add_integers(node, graph, {1})});
  const ValueId ones = add("ConstantOfShape", {count}, {{"value", one_integer()}});
  const ValueId target = add("Concat", {shape, ones}, {{"axis", int64_t{0}}});
  return add("Reshape", {b, target});
}

// Input 1 is aligned at axis `axis` of input 0.
Status align(Node& node, Graph& graph, int64_t axis) {
  if (node.inputs.size() < 2 || node.inputs[0] == kNoValue || node.inputs[1] == kNoValue) return {};
  const Value &a = value(graph, node.inputs[0]), &b = value(graph, node.inputs[1]);
  if (b.has_shape && b.shape.empty()) return {};
  if (!a.has_shape || !b.has_shape) {
    node.inputs[1] = place_by_shape(node, graph, axis);
    return {};
  }
  const auto rank_a = static_cast<int64_t>(a.shape.size()),
             rank_b = static_cast<int64_t>(b.shape.size());
  const int64_t trailing = rank_a - axis - rank_b;
  if (axis < 0 || trailing < 0) {
    return fail(
        Code::shape_mismatch,
        "{} '{}': axis {} does not place {} within {}; expected its axes to end there, export "
        "the model with opset 7 or later",
        node.op, node.name, axis, to_string(b.shape), to_string(a.shape));
  }
  Ints axes;
  for (int64_t i = 0; i < trailing; ++i) axes.push_back(rank_b + i);
  if (trailing > 0) {
    node.inputs[1] = add_before(node, graph, "Unsqueeze", 1, {node.inputs[1]}, {{"axes", axes}});
  }
  return {};
}

Status nothing(Node&, Graph&) { return {}; }

Status broadcast(Node& node, Graph& graph) {
  const bool broadcasts = node.int_attr("broadcast", 0) != 0;
  const int64_t axis = node.int_attr("axis", -1);
  for (const char* key : {"broadcast", "axis"}) node.attrs.erase(key);
  return broadcasts && axis >= 0 ? align(node, graph, axis) : Status();
}

Status in_test_mode(Node& node, Graph&) {
  node.attrs.erase("is_test");
  return {};
}

// spatial: 0 means statistics for each element of a picture: its elements become channels.
Status batch_norm(Node& node, Graph& graph) {
  const bool by_element = node.int_attr("spatial", 1) == 0;
  for (const char* key : {"is_test", "spatial"}) node.attrs.erase(key);
  if (!by_element || node.inputs.size() != 5) return {};
  const ValueId x = node.inputs[0], all = add_integers(node, graph, {-1});
  std::vector<ValueId> inputs = {add_before(node, graph, "Flatten", 9, {x})};
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    inputs.push_back(add_before(node, graph, "Reshape", 5, {node.inputs[i], all}));
  }
  const ValueId y = add_before(node, graph, node.op, node.opset, std::move(inputs), node.attrs);
  node.inputs = {y, add_before(node, graph, "Shape", 1, {x})};
  node.op = "Reshape";
  node.attrs.clear();
  return {};
}

Status prelu(Node& node, Graph& graph) {
  if (node.inputs.size() != 2 || node.inputs[1] == kNoValue) return {};
  const Value& slope = value(graph, node.inputs[1]);
  const bool shared = slope.has_shape && element_count(slope.shape) == 1;
  return shared ? Status() : align(node, graph, 1);
}

Status recurrent(Node& node, Graph&) {
  node.attrs.erase("output_sequence");  // whether Y is asked for is seen from its name
  return {};
}

Status selu(Node& node, Graph&) {
  node.attrs.emplace("alpha", 1.6732f);
  node.attrs.emplace("gamma", 1.0507f);
  return {};
}

Status cast(Node& node, Graph&) {
  constexpr std::array<std::string_view, 16> kNames = {
      "UNDEFINED", "FLOAT", "UINT8",   "INT8",   "UINT16", "INT16",  "INT32",     "INT64",
      "STRING",    "BOOL",  "FLOAT16", "DOUBLE", "UINT32", "UINT64", "COMPLEX64", "COMPLEX128"};
  const std::string to = node.string_attr("to", "");
  for (size_t i = 1; i < kNames.size(); ++i) {
    if (kNames[i] == to) node.attrs["to"] = static_cast<int64_t>(i);
  }
  if (!std::holds_alternative<std::string>(node.attrs["to"])) return {};
  return fail(Code::corrupt_model,
              "Cast '{}': to is '{}'; expected the name of a type, as FLOAT; export the model with "
              "opset 6 or later",
              node.name, to);
}

Status pad(Node& node, Graph&) {
  if (auto found = node.attrs.extract("paddings")) {
    found.key() = "pads";
    node.attrs.insert(std::move(found));
  }
  return {};
}

Status upsample(Node& node, Graph&) {
  if (!node.attrs.contains("height_scale") && !node.attrs.contains("width_scale")) return {};
  node.attrs["scales"] = std::vector<float>{1.0f, 1.0f, node.float_attr("height_scale", 0.0f),
                                            node.float_attr("width_scale", 0.0f)};
  for (const char* key : {"height_scale", "width_scale"}) node.attrs.erase(key);
  if (node.string_attr("mode", "") == "bilinear") node.attrs["mode"] = std::string("linear");
  return {};
}

Status whole_power(Node& node, Graph&) {
  const float p = node.float_attr("p", 2.0f);
  if (!(p >= 1 && p < 1024) || p != std::floor(p)) {
    return fail(
        Code::unsupported_feature,
        "{} '{}': p is {}, expected a whole number from 1; export the model with opset 2 or "
        "later",
        node.op, node.name, p);
  }
  node.attrs["p"] = static_cast<int64_t>(p);
  return {};
}

// Input `index`, numbers that opset 1 gives in the type of the data, as a list of int64.
ValueId as_integers(const Node& node, Graph& graph, size_t index) {
  constexpr int64_t kInt64 = 7;
  const ValueId cast = add_before(node, graph, "Cast", 13, {node.inputs[index]}, {{"to", kInt64}});
  return add_before(node, graph, "Reshape", 13, {cast, add_integers(node, graph, {-1})});
}

Status split(Node& node, Graph& graph) {
  if (node.inputs.size() < 2 || node.inputs[1] == kNoValue) return {};
  node.inputs[1] = as_integers(node, graph, 1);
  node.opset = 13;
  return {};
}

// Tiles along one axis: ones with the number of tiles at the place of the axis.
Status tile(Node& node, Graph& graph) {
  if (node.inputs.size() != 3 || node.inputs[1] == kNoValue || node.inputs[2] == kNoValue) {
    return fail(
        Code::corrupt_model,

        "Tile '{}' of opset 1 lacks an input; expected the data, tiles and axis, export the "
        "model again",
        node.name);
  }
  const ValueId shape = add_before(node, graph, "Shape", 13, {node.inputs[0]});
  const ValueId rank = add_before(node, graph, "Shape", 13, {shape});
  const ValueId ones =
      add_before(node, graph, "ConstantOfShape", 9, {rank}, {{"value", one_integer()}});
  const ValueId tiles = as_integers(node, graph, 1), axis = as_integers(node, graph, 2);
  node.inputs[1] = add_before(node, graph, "ScatterElements", 13, {ones, axis, tiles});
  node.inputs.resize(2);
  node.opset = 13;
  return {};
}

// Below opset `to` the operator has another form; what `rewrite` makes of it is that of `to`.
struct OldForm {
  std::string_view op;
  int64_t to;
  Status (*rewrite)(Node& node, Graph& graph);
};

constexpr OldForm kOldForms[] = {
    {"Abs", 6, nothing},
    {"Add", 7, broadcast},
    {"And", 7, broadcast},
    {"BatchNormalization", 9, batch_norm},
    {"Cast", 6, cast},
    {"Ceil", 6, nothing},
    {"Clip", 6, nothing},
    {"Div", 7, broadcast},
    {"Dropout", 7, in_test_mode},
    {"Elu", 6, nothing},
    {"Equal", 7, broadcast},
    {"Exp", 6, nothing},
    {"Floor", 6, nothing},
    {"Gemm", 7, broadcast},
    {"GlobalLpPool", 2, whole_power},
    {"Greater", 7, broadcast},
    {"GRU", 7, recurrent},
    {"HardSigmoid", 6, nothing},
    {"InstanceNormalization", 6, nothing},
    {"LeakyRelu", 6, nothing},
    {"Less", 7, broadcast},
    {"Log", 6, nothing},
    {"LpPool", 2, whole_power},
    {"LSTM", 7, recurrent},
    {"Max", 6, nothing},
    {"Mean", 6, nothing},
    {"Min", 6, nothing},
    {"Mul", 7, broadcast},
    {"Neg", 6, nothing},
    {"Or", 7, broadcast},
    {"Pad", 2, pad},
    {"Pow", 7, broadcast},
    {"PRelu", 7, prelu},
    {"Reciprocal", 6, nothing},
    {"Relu", 6, nothing},
    {"RNN", 7, recurrent},
    {"Selu", 6, selu},
    {"Sigmoid", 6, nothing},
    {"Split", 2, split},
    {"Sqrt", 6, nothing},
    {"Sub", 7, broadcast},
    {"Sum", 6, nothing},
    {"Tanh", 6, nothing},
    {"Tile", 6, tile},
    {"Upsample", 7, upsample},
    {"Xor", 7, broadcast},
};

const OldForm* old_form(std::string_view op, std::string_view domain, int64_t opset) {
  if (!domain.empty() || opset <= 0) return nullptr;
  for (const OldForm& form : kOldForms) {
    if (form.op == op) return opset < form.to ? &form : nullptr;
  }
  return nullptr;
}

}  // namespace

int64_t upgraded_opset(const std::string& op, const std::string& domain, int64_t opset) {
  const OldForm* form = old_form(op, domain, opset);
  return form ? form->to : opset;
}

Status upgrade(Node& node, Graph& graph) {
  const OldForm* form = old_form(node.op, node.domain, node.opset);
  if (!form) return {};
  node.opset = form->to;
  node.attrs.erase("consumed_inputs");
  return form->rewrite(node, graph);
}

}  // namespace anynpu::onnx
