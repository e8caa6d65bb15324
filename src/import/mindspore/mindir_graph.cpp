// SPDX-License-Identifier: Apache-2.0
#include "import/mindspore/mindir_graph.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/nearest_name.h"
#include "base/progress.h"
#include "base/text.h"
#include "import/mindspore/primitives.h"
#include "import/mindspore/walker.h"

namespace anynpu::mindspore {

namespace {

constexpr std::string_view kReference = "REF::";
// Calls are written out: limits for files that call one another too often.
constexpr size_t kMostNodes = 1 << 20;
constexpr size_t kDeepestCall = 64;
constexpr size_t kMostOutputs = 4096;
constexpr size_t kMostItems = 1 << 22;

// "12_net_construct_3:x" -> "x"
std::string short_name(const std::string& name) {
  const size_t colon = name.rfind(':');
  return colon == name.npos || colon + 1 == name.size() ? name : name.substr(colon + 1);
}

const Attribute* find(const std::vector<Attribute>& attributes, std::string_view name) {
  for (const Attribute& attribute : attributes) {
    if (attribute.name == name) return &attribute;
  }
  return nullptr;
}

// The element types of a node's outputs, one for each.
std::vector<DType> types_of(const Node& node) {
  std::vector<DType> types;
  const Attribute* stated = find(node.attributes, "shape");
  if (!stated) return types;
  const auto first = [](const Attribute& attribute) {
    return attribute.tensors.empty() ? DType::undefined : attribute.tensors[0].dtype;
  };
  if (stated->is(AttrType::tuple) || stated->is(AttrType::list)) {
    for (const Attribute& value : stated->values) types.push_back(first(value));
  } else {
    types.push_back(first(*stated));
  }
  return types;
}

}  // namespace

std::string_view Walker::primitive_of(const Node& node) const {
  if (!node.op_type.starts_with(kReference)) return node.op_type;
  const auto found = model_.primitives.find(node.op_type.substr(kReference.size()));
  return found == model_.primitives.end() ? std::string_view() : found->second.op_type;
}

void Walker::find_constants(const GraphProto& graph) {
  for (const Node& node : graph.nodes) {
    if (node.op_type == "Constant" && !node.outputs.empty())
      constants_.try_emplace(node.outputs[0], &node);
  }
}

Uses Walker::uses_of(const GraphProto& graph) const {
  Uses uses;
  for (const ValueInfo& output : graph.outputs) uses.parts[output.name].insert(-1);
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    if (node->outputs.empty() || !uses.reads(node->outputs[0])) continue;
    const std::string_view primitive = primitive_of(*node);
    const bool first_alone = primitive == "Depend" || primitive == "Load";
    for (size_t i = 0; i < node->inputs.size(); ++i) {
      if (first_alone && i > 0) break;
      int64_t part = -1;
      if (primitive == "TupleGetItem" && i == 0 && node->inputs.size() == 2) {
        const auto known = constants_.find(node->inputs[1]);
        const Attribute* index =
            known == constants_.end() ? nullptr : find(known->second->attributes, "value");
        if (index) part = std::max<int64_t>(index->integer, -1);
      }
      uses.parts[node->inputs[i]].insert(part);
    }
    // A call through a value: "REF::" and the name of the node that chose the function.
    if (primitive.empty() && node->op_type.starts_with(kReference))
      uses.parts[node->op_type.substr(kReference.size())].insert(-1);
  }
  return uses;
}

Result<Item> Walker::tensor_item(const Tensor& tensor, const std::string& name) {
  if (tensor.compression != 0) {
    return fail(Code::unsupported_feature,
                "the tensor '{}' is compressed (kind {}); export the model without compression",
                name, tensor.compression);
  }
  if (size_of(tensor.dtype) == 0) {
    return fail(Code::unsupported_dtype,
                "the tensor '{}' has the type number {} of MindSpore, "
                "which is not supported",
                name, tensor.stored_type);
  }
  graph::Constant data{source_.owner, tensor.data};
  if (!tensor.location.empty()) {
    onnx::ExternalData where{tensor.location, static_cast<uint64_t>(tensor.offset),
                             static_cast<uint64_t>(tensor.length), true};
    ANYNPU_ASSIGN(data, onnx::read_external(where, 0, source_));
  }
  ANYNPU_ASSIGN(const ValueId id, graph_->add_constant(name, tensor.dtype, tensor.shape, data));
  return Item::of(id);
}

Result<Item> Walker::lookup(const std::string& name, const Scope& scope) {
  if (const auto found = scope.find(name); found != scope.end()) return found->second;
  if (const auto found = parameters_.find(name); found != parameters_.end()) return found->second;
  for (const GraphProto* graph : {&model_.graph, calls_.empty() ? nullptr : calls_.back()}) {
    if (!graph) continue;
    for (const Tensor& tensor : graph->parameters) {
      if (tensor.name != name) continue;
      ANYNPU_ASSIGN(const Item item, tensor_item(tensor, short_name(name)));
      return parameters_[name] = item;
    }
  }
  if (const auto found = constants_.find(name); found != constants_.end()) {
    ANYNPU_ASSIGN(const Item item, evaluate_constant(*found->second));
    return parameters_[name] = item;
  }
  if (model_.functions.contains(name)) {
    Item function = Item::of(singleop::Attr(name));
    function.kind = Item::Kind::function;
    return function;
  }
  return fail(Code::corrupt_model,
              "'{}' is read before anything makes it; the file is damaged, export the model again",
              name);
}

Result<Item> Walker::evaluate_constant(const Node& node) {
  const Attribute* value = find(node.attributes, "value");
  if (!value) return Item{};
  if (value->tensors.size() == 1) return tensor_item(value->tensors[0], node.name);
  if (value->tensors.size() > 1) {
    std::vector<Item> items;
    for (const Tensor& tensor : value->tensors) {
      ANYNPU_ASSIGN(Item item, tensor_item(tensor, node.name));
      items.push_back(std::move(item));
    }
    return Item::of(std::move(items));
  }
  return to_item(*value);
}

// Both sides are computed, which has no visible effect: the condition selects the results.
Result<Item> Walker::choose(const Item& condition, const Item& yes, const Item& no,
                            const std::string& node) {
  if (yes.kind == Item::Kind::tuple && no.kind == Item::Kind::tuple &&
      yes.items.size() == no.items.size()) {
    std::vector<Item> items;
    for (size_t i = 0; i < yes.items.size(); ++i) {
      ANYNPU_ASSIGN(Item item,
                    choose(condition, yes.items[i], no.items[i], format("{}/{}", node, i)));
      items.push_back(std::move(item));
    }
    return Item::of(std::move(items));
  }
  Call call(*graph_, node, "Switch", 1, {true});
  ANYNPU_ASSIGN(const ValueId c, call.tensor(condition));
  ANYNPU_ASSIGN(const ValueId a, call.tensor(yes));
  ANYNPU_ASSIGN(const ValueId b, call.tensor(no));
  if (a < 0 || b < 0 || c < 0) return Item::of(OpGraph::kUnknown);
  if (call.shape(a) != call.shape(b)) {
    return fail(Code::unsupported_feature,
                "the two sides of the condition '{}' have the shapes {} and {}; expected the same",
                node, to_string(call.shape(a)), to_string(call.shape(b)));
  }
  ANYNPU_ASSIGN(const auto made, call.add("SelectV2", {c, a, b}, {}));
  return Item::of(made[0]);
}

Result<Item> Walker::call_function(const Item& function, std::vector<Item> arguments,
                                   const std::string& node) {
  if (function.kind == Item::Kind::choice) {
    ANYNPU_ASSIGN(const Item yes, call_function(function.items[1], arguments, node));
    ANYNPU_ASSIGN(const Item no, call_function(function.items[2], arguments, node));
    return choose(function.items[0], yes, no, node);
  }
  const auto* name = std::get_if<std::string>(&function.constant);
  const auto found = name ? model_.functions.find(*name) : model_.functions.end();
  if (function.kind != Item::Kind::function || found == model_.functions.end()) {
    return fail(Code::corrupt_model, "'{}' calls something that is no function of the file", node);
  }
  std::vector<Item> all = function.items;
  all.insert(all.end(), arguments.begin(), arguments.end());
  return call_graph(found->second, std::move(all));
}

Result<Item> Walker::call_primitive(const Node& node, const Primitive& primitive,
                                    std::vector<Item> arguments, const Uses& uses) {
  const std::string name = node.scope.empty() ? short_name(node.name) : node.scope;
  const std::vector<DType> types = types_of(node);
  size_t count = std::max<size_t>(types.size(), 1);
  const Attribute* stated = find(node.attributes, "shape");
  const bool tuple = stated && (stated->is(AttrType::tuple) || stated->is(AttrType::list));
  if (count > kMostOutputs) {
    return fail(Code::limit_exceeded, "'{}' has {} outputs, at most {} are taken", name, count,
                kMostOutputs);
  }
  const PrimitiveRow* row = find_primitive(primitive.op_type);
  std::vector<ValueId> made(count, OpGraph::kUnknown);
  if (!row) {
    std::vector<std::string_view> names;
    for (const PrimitiveRow& known : primitive_rows()) names.push_back(known.name);
    const std::string_view near = nearest_name(names, primitive.op_type);
    graph_->refuse(name, primitive.op_type,
                   near.empty() ? "a primitive of MindSpore that is not known"
                                : format("the nearest primitive that is known is {}", near));
  } else {
    std::vector<bool> wanted;
    for (size_t o = 0; o < count; ++o)
      wanted.push_back(!tuple || uses.reads(node.outputs[0], static_cast<int64_t>(o)));
    Call call(*graph_, name, primitive.op_type, count, std::move(wanted));
    call.output_types = types;
    bool known = true;
    for (const Item& item : arguments) {
      known = known && !(item.is_tensor() && item.tensor == OpGraph::kUnknown);
      for (const Item& one : item.items)
        known = known && !(one.is_tensor() && one.tensor == OpGraph::kUnknown);
    }
    call.arguments = std::move(arguments);
    for (const Attribute& attribute : primitive.attributes)
      call.attributes[attribute.name] = to_item(attribute);
    if (known) {
      ANYNPU_ASSIGN(made, add_call(call, *row), "in the primitive {} '{}'", primitive.op_type,
                    name);
    }
  }
  if (!tuple) return Item::of(made.empty() ? OpGraph::kUnknown : made[0]);
  std::vector<Item> items;
  for (ValueId id : made) items.push_back(Item::of(id));
  return Item::of(std::move(items));
}

Result<Item> Walker::evaluate(const Node& node, const Scope& scope, const Uses& uses) {
  if (node.op_type == "Constant") return evaluate_constant(node);
  const std::string reference =
      node.op_type.starts_with(kReference) ? node.op_type.substr(kReference.size()) : "";
  const auto primitive = model_.primitives.find(reference);
  const std::string_view type =
      primitive == model_.primitives.end() ? std::string_view() : primitive->second.op_type;
  std::vector<Item> arguments;
  const size_t read = type == "Depend" || type == "Load" ? std::min<size_t>(1, node.inputs.size())
                                                         : node.inputs.size();
  for (size_t i = 0; i < read; ++i) {
    ANYNPU_ASSIGN(Item item, lookup(node.inputs[i], scope), "in the node '{}'", node.name);
    arguments.push_back(std::move(item));
  }
  if (type.empty()) {
    ANYNPU_ASSIGN(const Item function, lookup(reference, scope), "in the node '{}'", node.name);
    return call_function(function, std::move(arguments), node.name);
  }
  if (type == "Depend" || type == "Load" || type == "StopGradient" || type == "stop_gradient")
    return arguments.empty() ? Item{} : arguments[0];
  if (type == "UpdateState") return Item{};
  if (type == "MakeTuple" || type == "MakeList" || type == "make_tuple") {
    Item tuple = Item::of(std::move(arguments));
    ANYNPU_TRY(count_items(tuple));
    return tuple;
  }
  if (type == "Partial") {
    if (arguments.empty() || arguments[0].kind != Item::Kind::function)
      return fail(Code::corrupt_model, "'{}' binds arguments to no function", node.name);
    Item function = arguments[0];
    function.items.insert(function.items.end(), arguments.begin() + 1, arguments.end());
    ANYNPU_TRY(count_items(function));
    return function;
  }
  if (type == "Switch" && arguments.size() == 3) {
    const bool functions = arguments[1].kind == Item::Kind::function;
    if (!functions) return choose(arguments[0], arguments[1], arguments[2], node.name);
    Item choice = Item::of(std::move(arguments));
    choice.kind = Item::Kind::choice;
    return choice;
  }
  if (type == "TupleGetItem" && arguments.size() == 2 && arguments[0].kind == Item::Kind::tuple) {
    const auto* index = std::get_if<int64_t>(&arguments[1].constant);
    const auto count = static_cast<int64_t>(arguments[0].items.size());
    if (!index || *index < -count || *index >= count) {
      return fail(Code::corrupt_model, "'{}' takes an element that a tuple of {} does not have",
                  node.name, count);
    }
    return arguments[0].items[static_cast<size_t>(*index < 0 ? *index + count : *index)];
  }
  if (type == "TupleGetItem" && !arguments.empty() && arguments[0].is_tensor()) {
    return arguments[0];
  }
  return call_primitive(node, primitive->second, std::move(arguments), uses);
}

Status Walker::count_nodes(const GraphProto& graph) {
  nodes_ += graph.nodes.size() + 1;
  if (nodes_ <= kMostNodes) return {};
  return fail(Code::limit_exceeded,
              "the model has more than {} nodes when its functions are written out", kMostNodes);
}

Status Walker::count_items(const Item& item) {
  if (++items_ > kMostItems) {
    return fail(Code::limit_exceeded, "the tuples of the model have more than {} elements",
                kMostItems);
  }
  for (const Item& one : item.items) ANYNPU_TRY(count_items(one));
  return {};
}

Result<Item> Walker::call_graph(const GraphProto& graph, std::vector<Item> arguments) {
  if (&graph == loop_) return Item::of(std::move(arguments));  // the next round of its body
  if (contains(calls_, &graph)) {
    return fail(Code::unsupported_feature,
                "the function '{}' calls itself in a way that is no loop; write it out, or export "
                "the model to ONNX and use --framework=5",
                graph.name);
  }
  if (calls_.size() >= kDeepestCall) {
    return fail(Code::limit_exceeded, "functions of the file call one another {} deep",
                calls_.size());
  }
  if (arguments.size() < graph.inputs.size()) {
    return fail(Code::corrupt_model, "the function '{}' gets {} arguments, expected {}", graph.name,
                arguments.size(), graph.inputs.size());
  }
  if (is_loop(graph)) return run_loop(graph, std::move(arguments));
  Scope scope;
  for (size_t i = 0; i < graph.inputs.size(); ++i)
    scope[graph.inputs[i].name] = std::move(arguments[i]);
  ANYNPU_TRY(count_nodes(graph));
  calls_.push_back(&graph);
  const Uses uses = uses_of(graph);
  Progress progress("reading", graph.nodes.size(), "nodes");
  for (const Node& node : graph.nodes) {
    progress.step();
    if (node.outputs.empty() || !uses.reads(node.outputs[0])) continue;
    ANYNPU_ASSIGN(Item item, evaluate(node, scope, uses));
    scope[node.outputs[0]] = std::move(item);
  }
  std::vector<Item> outputs;
  for (const ValueInfo& output : graph.outputs) {
    ANYNPU_ASSIGN(Item item, lookup(output.name, scope), "in the outputs of '{}'", graph.name);
    outputs.push_back(std::move(item));
  }
  calls_.pop_back();
  return outputs.size() == 1 ? std::move(outputs[0]) : Item::of(std::move(outputs));
}

Status Walker::add_inputs(const InputShapes& shapes, std::vector<Item>& arguments) {
  std::set<std::string> names;
  for (const ValueInfo& input : model_.graph.inputs) {
    const std::string name = short_name(input.name);
    names.insert(name);
    if (input.tensors.size() != 1 || size_of(input.tensors[0].dtype) == 0) {
      return fail(Code::unsupported_feature,
                  "the input '{}' is no tensor of numbers; export the model with tensors as inputs",
                  name);
    }
    const auto given = shapes.find(name);
    const Shape& shape = given == shapes.end() ? input.tensors[0].shape : given->second;
    ANYNPU_TRY(check_desc_shape(shape), "in the input '{}'", name);
    if (shape.size() == 1 && shape[0] == kUnknownRank) {
      return fail(Code::unsupported_shape,
                  "the input '{}' has no shape; give it with --input_shape=\"{}:1,3,224,224\"",
                  name, name);
    }
    arguments.push_back(Item::of(graph_->add_input(name, input.tensors[0].dtype, shape)));
  }
  return {};
}

namespace {

void flatten(const Item& item, std::vector<Item>& out) {
  if (item.kind != Item::Kind::tuple) return out.push_back(item);
  for (const Item& one : item.items) flatten(one, out);
}

}  // namespace

Result<graph::Graph> Walker::run(const InputShapes& shapes) {
  std::vector<Item> arguments;
  ANYNPU_TRY(add_inputs(shapes, arguments));
  ANYNPU_ASSIGN(const Item result, call_graph(model_.graph, std::move(arguments)));
  std::vector<Item> flat;
  flatten(result, flat);
  std::vector<ValueId> outputs;
  Call call(*graph_, "output", "Return", 1, {true});
  for (const Item& item : flat) {
    if (item.kind == Item::Kind::nothing) continue;
    ANYNPU_ASSIGN(const ValueId id, call.tensor(item), "in the outputs of the model");
    outputs.push_back(id);
  }
  return graph_->finish(outputs, {});
}

Result<graph::Graph> build_graph(const Model& model, std::shared_ptr<const void> owner,
                                 const InputShapes& shapes, const std::string& folder) {
  return Walker(model, std::move(owner), folder).run(shapes);
}

}  // namespace anynpu::mindspore
