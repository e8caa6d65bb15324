// SPDX-License-Identifier: Apache-2.0
#include "import/ge/op_graph.h"

#include <algorithm>
#include <cstring>

#include "base/nearest_name.h"
#include "base/text.h"
#include "graph/flow.h"
#include "import/singleop/table.h"

namespace anynpu::ge {

namespace {

// Constants up to this many elements are handed to the rules, which need the values of axes and
// extents; larger ones stay where they are.
constexpr int64_t kMostKnown = 4096;

std::string_view nearest_operator(const std::string& type) {
  std::vector<std::string_view> names;
  for (const singleop::VendorOp& op : singleop::vendor_ops()) names.push_back(op.name);
  return nearest_name(names, type);
}

void describe(const graph::Value& value, TensorDesc& desc) {
  desc.dtype = value.dtype;
  desc.shape = value.has_shape ? value.shape : Shape{kUnknownRank};
  if (desc.format == Format::undefined) desc.format = Format::nd;
  if (!value.constant || element_count(value.shape) > kMostKnown) return;
  desc.is_constant = true;
  desc.constant.assign(value.constant->bytes.begin(), value.constant->bytes.end());
}

// The outputs of `op` that its rule makes: those that are wanted, and always the first.
std::vector<size_t> made_outputs(const singleop::SingleOp& op) {
  std::vector<size_t> made;
  for (size_t o = 0; o < op.outputs.size(); ++o) {
    if (o == 0 || op.has_output(o)) made.push_back(o);
  }
  return made;
}

template <typename T>
void append(std::span<const std::byte> bytes, std::vector<int64_t>& out) {
  for (size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    T element;
    std::memcpy(&element, bytes.data() + at, sizeof element);
    out.push_back(static_cast<int64_t>(element));
  }
}

}  // namespace

OpGraph::OpGraph(std::string name) { graph_.name = std::move(name); }

ValueId OpGraph::add_value(graph::Value value) {
  value.name = value_names_.take(value.name);
  return graph_.add_value(std::move(value));
}

ValueId OpGraph::add_input(const std::string& name, DType dtype, Shape shape, Format format) {
  graph::Value value;
  value.name = name;
  value.dtype = dtype;
  value.shape = std::move(shape);
  value.has_shape = true;
  value.format = format;
  graph_.inputs.push_back(add_value(std::move(value)));
  return graph_.inputs.back();
}

Result<ValueId> OpGraph::add_constant(const std::string& name, DType dtype, Shape shape,
                                      graph::Constant data) {
  ANYNPU_TRY(check_desc_shape(shape), "in the constant '{}'", name);
  const int64_t count = element_count(shape);
  if (count < 0 || size_of(dtype) == 0 ||
      data.bytes.size() != bytes_of(dtype, static_cast<size_t>(count))) {
    return fail(Code::corrupt_model,
                "the constant '{}' has {} bytes, its description says {} of {}; the file is cut "
                "short or damaged, export the model again",
                name, data.bytes.size(), to_string(shape), name_of(dtype));
  }
  graph::Value value;
  value.name = name;
  value.dtype = dtype;
  value.shape = std::move(shape);
  value.has_shape = true;
  value.constant = std::make_shared<const graph::Constant>(std::move(data));
  return add_value(std::move(value));
}

void OpGraph::refuse(const std::string& name, const std::string& type, std::string_view note) {
  std::string line = format("{} '{}'", type, name);
  if (!note.empty()) {
    line += format(" ({})", note);
  } else if (const std::string_view near = nearest_operator(type); !near.empty()) {
    line += format(" (the nearest name that is known is {})", near);
  }
  unsupported_.push_back(std::move(line));
}

bool OpGraph::any_unknown(const std::vector<ValueId>& inputs) const {
  return contains(inputs, kUnknown);
}

Result<std::vector<int64_t>> OpGraph::whole_numbers(ValueId id) const {
  std::vector<int64_t> out;
  if (id >= 0 && value(id).constant) {
    const auto bytes = value(id).constant->bytes;
    if (value(id).dtype == DType::i64) return append<int64_t>(bytes, out), out;
    if (value(id).dtype == DType::i32) return append<int32_t>(bytes, out), out;
  }
  return fail(Code::unsupported_feature, "the value must be a constant of int32 or int64");
}

Result<std::vector<ValueId>> OpGraph::add(const std::string& name, singleop::SingleOp op,
                                          const std::vector<ValueId>& inputs) {
  std::vector<ValueId> outputs(op.outputs.size(), kUnknown);
  if (!singleop::find_vendor_op(op.type)) {
    refuse(name, op.type);
    return outputs;
  }
  if (any_unknown(inputs)) return outputs;
  op.inputs.resize(inputs.size());
  std::vector<ValueId> fed;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == kNoValue) {
      op.inputs[i] = {};
      continue;
    }
    describe(value(inputs[i]), op.inputs[i]);
    if (!op.inputs[i].is_constant) fed.push_back(inputs[i]);
  }
  ANYNPU_ASSIGN(const graph::Graph part, singleop::build_graph(op), "in operator '{}' of type {}",
                name, op.type);
  ANYNPU_ASSIGN(const std::vector<ValueId> made, splice(name, part, fed),
                "in operator '{}' of type {}", name, op.type);
  const std::vector<size_t> places = made_outputs(op);
  for (size_t o = 0; o < made.size() && o < places.size(); ++o) outputs[places[o]] = made[o];
  return outputs;
}

Result<std::vector<ValueId>> OpGraph::splice(const std::string& name, const graph::Graph& part,
                                             const std::vector<ValueId>& fed) {
  std::vector<ValueId> place(part.values.size(), kNoValue);
  if (fed.size() != part.inputs.size()) {
    return fail(Code::internal, "{} values for {} inputs", fed.size(), part.inputs.size());
  }
  for (size_t i = 0; i < fed.size(); ++i) place[static_cast<size_t>(part.inputs[i])] = fed[i];
  // Where a value of the part is in the whole; constants of the part come along when they are read.
  const auto placed = [&](ValueId id) {
    ValueId& known = place[static_cast<size_t>(id)];
    if (known == kNoValue) {
      graph::Value constant = part.values[static_cast<size_t>(id)];
      constant.name = format("{}/{}", name, constant.name);
      known = add_value(std::move(constant));
    }
    return known;
  };
  const auto main = [&](const graph::Node& node) {
    return !part.outputs.empty() && contains(node.outputs, part.outputs[0]);
  };
  for (const graph::Node& source : part.nodes) {
    graph::Node node = source;
    for (ValueId& id : node.inputs) {
      if (id != kNoValue) id = placed(id);
    }
    if (node.op == "Identity" && node.domain.empty()) {
      place[static_cast<size_t>(source.outputs[0])] = node.inputs[0];
      continue;
    }
    node.name = node_names_.take(main(source) ? name : format("{}/{}", name, node.op));
    for (size_t o = 0; o < node.outputs.size(); ++o) {
      if (node.outputs[o] == kNoValue) continue;
      graph::Value made = part.values[static_cast<size_t>(source.outputs[o])];
      made.name = format("{}:{}", node.name, o);
      const auto at = std::find(part.outputs.begin(), part.outputs.end(), source.outputs[o]);
      if (at != part.outputs.end()) {
        const auto index = static_cast<size_t>(at - part.outputs.begin());
        const std::string known_as = format("{}:{}", name, index);
        if (known_as != made.name) made.source = known_as;
      }
      made.format = Format::nd;
      node.outputs[o] = add_value(std::move(made));
      place[static_cast<size_t>(source.outputs[o])] = node.outputs[o];
    }
    graph_.nodes.push_back(std::move(node));
  }
  std::vector<ValueId> outputs;
  for (ValueId id : part.outputs) outputs.push_back(placed(id));
  return outputs;
}

Result<std::vector<ValueId>> OpGraph::add_loop(const std::string& name, graph::Graph body,
                                               ValueId condition,
                                               const std::vector<ValueId>& carried) {
  if (body.outputs.size() != carried.size() + 1) {
    return fail(Code::internal, "a loop carries {} values, its body gives {}", carried.size(),
                body.outputs.size());
  }
  graph::Node node;
  node.op = "Loop";
  node.opset = 16;
  node.name = node_names_.take(name);
  node.inputs = {kNoValue, condition};
  node.inputs.insert(node.inputs.end(), carried.begin(), carried.end());
  std::vector<ValueId> outputs;
  for (size_t i = 0; i < carried.size(); ++i) {
    graph::Value made = body.values[static_cast<size_t>(body.outputs[i + 1])];
    made.name = format("{}:{}", node.name, i);
    made.constant = nullptr;
    made.source.clear();
    outputs.push_back(add_value(std::move(made)));
  }
  node.outputs = outputs;
  node.attrs["body"] = std::make_shared<const graph::Graph>(std::move(body));
  node.attrs[graph::kCapturesAttr] = int64_t{0};
  ANYNPU_TRY(graph::check_flow(node));
  graph_.nodes.push_back(std::move(node));
  return outputs;
}

void OpGraph::take_refused(OpGraph& other) {
  unsupported_.insert(unsupported_.end(), other.unsupported_.begin(), other.unsupported_.end());
}

Result<graph::Graph> OpGraph::finish(const std::vector<ValueId>& outputs,
                                     const std::vector<std::string>& names) {
  if (!unsupported_.empty()) {
    return fail(Code::unsupported_op,
                "{} operators of the model are not supported:\n  {}\ndocs/operator_names.md lists "
                "the names that are there; rewrite these parts of the model",
                unsupported_.size(), join(unsupported_, "\n  "));
  }
  if (outputs.empty()) {
    return fail(Code::corrupt_model, "the model has no output; expected at least one");
  }
  for (size_t o = 0; o < outputs.size(); ++o) {
    ValueId id = outputs[o];
    if (id < 0) return fail(Code::corrupt_model, "output {} of the model is not there", o);
    if (contains(graph_.inputs, id) || value(id).constant || contains(graph_.outputs, id)) {
      graph::Value copy = value(id);
      copy.constant = nullptr;
      copy.name = format("{}/output{}", copy.name, o);
      graph::Node node;
      node.op = "Identity";
      node.opset = 13;
      node.name = node_names_.take(copy.name);
      node.inputs = {id};
      id = add_value(std::move(copy));
      node.outputs = {id};
      graph_.nodes.push_back(std::move(node));
    }
    if (o < names.size() && !names[o].empty()) {
      graph_.values[static_cast<size_t>(id)].name = value_names_.take(names[o]);
    }
    graph_.outputs.push_back(id);
  }
  ANYNPU_TRY(graph_.verify());
  return std::move(graph_);
}

}  // namespace anynpu::ge
