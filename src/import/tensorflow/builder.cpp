// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/builder.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/text.h"
#include "graph/tensor_value.h"
#include "import/tensorflow/table.h"
#include "import/tensorflow/types.h"
#include "ops/registry.h"
#include "tensor/onnx_type.h"

namespace anynpu::tensorflow {

namespace {

// Elements of what is computed while the model is read: extents, axes, small tables.
constexpr int64_t kMostFolded = 1 << 16;

std::string_view formal_type(const std::vector<ops::FormalOperand>& formals, size_t index) {
  return formals.empty() ? std::string_view{}
                         : formals[std::min(index, formals.size() - 1)].type_var;
}

}  // namespace

void Builder::refuse(Status status) {
  if (!ok()) return;
  status_ = def_ ? status.with_note(format("in node '{}' ({})", full_name(), def_->op)) : status;
}

void Builder::begin(const NodeDef& def, const TfOp* row, std::vector<Tensor> inputs) {
  def_ = &def;
  row_ = row;
  inputs_ = std::move(inputs);
  outputs_.clear();
  first_node_ = graph_.nodes.size();
}

std::vector<Tensor> Builder::end() {
  name_nodes();
  def_ = nullptr;
  row_ = nullptr;
  return std::move(outputs_);
}

Builder::Current Builder::suspend() {
  name_nodes();
  Current current{def_, row_, std::move(inputs_), std::move(outputs_), prefix_};
  if (def_) prefix_ += def_->name + "/";
  return current;
}

void Builder::resume(Current current) {
  def_ = current.def;
  row_ = current.row;
  inputs_ = std::move(current.inputs);
  outputs_ = std::move(current.outputs);
  prefix_ = std::move(current.prefix);
  first_node_ = graph_.nodes.size();
}

std::vector<Tensor> Builder::lower_as(const NodeDef& def, const TfOp* row,
                                      std::vector<Tensor> inputs) {
  const NodeDef* own_def = std::exchange(def_, &def);
  const TfOp* own_row = std::exchange(row_, row);
  std::swap(inputs_, inputs);
  std::vector<Tensor> made = std::exchange(outputs_, {});
  if (ok()) row_->lower(*this);
  std::swap(outputs_, made);
  inputs_ = std::move(inputs);
  row_ = own_row;
  def_ = own_def;
  return made;
}

ValueId Builder::plain(const Tensor& tensor) {
  if (ok() && tensor.lengths != kNoValue) {
    refuse(Code::unsupported_feature,
           "it takes a list whose elements have different lengths; expected elements of one shape: "
           "such a list can be read, set, joined and counted");
    return kNoValue;
  }
  if (tensor.plain != kNoValue || tensor.first == kNoValue) return tensor.plain;
  const auto known = to_last_.find(tensor.first);
  if (known != to_last_.end()) return known->second;
  const ValueId made =
      transpose(tensor.first, to_last_order(static_cast<size_t>(rank(tensor.first))));
  if (ok()) to_last_[tensor.first] = made;
  if (ok()) to_first_[made] = tensor.first;
  return made;
}

// The node that makes output 0 is called like the node of the model, the others after their
// operators.
void Builder::name_nodes() {
  if (!def_) return;
  const ValueId main = outputs_.empty()         ? kNoValue
                       : outputs_[0].made_first ? outputs_[0].first
                                                : outputs_[0].plain;
  for (size_t n = first_node_; n < graph_.nodes.size(); ++n) {
    graph::Node& node = graph_.nodes[n];
    const bool makes_it = main != kNoValue && contains(node.outputs, main);
    node.name = node_names_.take(makes_it ? full_name() : format("{}/{}", full_name(), node.op));
  }
}

ValueId Builder::in(size_t index) {
  if (!ok()) return kNoValue;
  if (index >= inputs_.size()) {
    refuse(Code::corrupt_model, "it has {} inputs, expected at least {}; the file is damaged",
           inputs_.size(), index + 1);
    return kNoValue;
  }
  return inputs_[index].plain = plain(inputs_[index]);
}

std::vector<ValueId> Builder::all_inputs() {
  std::vector<ValueId> ids;
  for (size_t i = 0; i < inputs_.size(); ++i) ids.push_back(in(i));
  return ids;
}

ValueId Builder::index(ValueId id) {
  if (!ok()) return kNoValue;
  switch (dtype(id)) {
    case DType::i8:
    case DType::u8:
    case DType::i16:
    case DType::u16:
    case DType::i32:
    case DType::u32:
    case DType::i64:
    case DType::u64:
      return cast(id, DType::i64);
    default:
      refuse(Code::unsupported_dtype,
             "axes, indices or extents have the type {}; expected integers", name_of(dtype(id)));
      return kNoValue;
  }
}

ValueId Builder::in_row(size_t i) {
  const ValueId id = index(in(i));
  if (!has_rank(id, "a list", 0, 1)) return kNoValue;
  return rank(id) == 0 ? reshape(id, {1}) : id;
}

Ints Builder::in_values(size_t index) {
  const ValueId id = in(index);
  if (!ok()) return {};
  if (auto values = known(id)) return std::move(*values);
  refuse(Code::unsupported_feature,
         "input {} is computed while the model runs; this operator needs it as a constant: give "
         "fixed extents with --input_shape, or replace it in the model",
         index);
  return {};
}

int64_t Builder::in_value(size_t index) {
  const Ints values = in_values(index);
  if (ok() && values.size() != 1)
    refuse(Code::shape_mismatch, "input {} has {} elements, expected one", index, values.size());
  return ok() ? values[0] : 0;
}

double Builder::in_number(size_t index) {
  const ValueId id = in(index);
  if (!ok()) return 0;
  if (const auto number = known_number(id)) return *number;
  refuse(Code::unsupported_feature,
         "input {} is no constant of one number; this operator needs it to be", index);
  return 0;
}

bool Builder::is_known(size_t index) { return index < inputs_.size() && is_constant(in(index)); }

void Builder::out(size_t index, ValueId value) {
  if (!ok() || value == kNoValue) return;
  Tensor made;
  made.plain = value;
  out(index, made);
}

void Builder::out_list(size_t index, ValueId value, bool grows) {
  if (!ok() || value == kNoValue) return;
  Tensor made;
  made.plain = value;
  made.is_list = true;
  made.grows = grows;
  out(index, made);
}

void Builder::out_uneven_list(size_t index, ValueId rows, ValueId lengths) {
  if (!ok() || rows == kNoValue || lengths == kNoValue) return;
  Tensor made;
  made.plain = rows;
  made.is_list = true;
  made.lengths = lengths;
  out(index, made);
}

void Builder::out(size_t index, const Tensor& value) {
  if (!ok()) return;
  if (outputs_.size() <= index) outputs_.resize(index + 1);
  outputs_[index] = value;
}

std::string Builder::word(std::string_view name, const char* otherwise,
                          std::initializer_list<std::string_view> taken) {
  const std::string given = s(name, otherwise);
  if (!ok() || contains(taken, std::string_view(given))) return given;
  std::string list;
  for (std::string_view one : taken) list += format("{}'{}'", list.empty() ? "" : ", ", one);
  refuse(Code::unsupported_feature, "attribute '{}' is '{}'; expected {}", name, given, list);
  return given;
}

DType Builder::type(std::string_view name, DType otherwise) {
  const int64_t number = take(type_attr(*def_, name, 0));
  if (!ok() || number == 0) return otherwise;
  return take(dtype_of(number));
}

// The shape of an input comes at run time, and with it those of most outputs; types are told by
// inputs of the same type variable or by the operator's rule, and so is what the rule knows of a
// shape all the same (the rank behind a Reshape).
static void infer_unknown_shape(const graph::Node& node, std::vector<ops::Operand> operands,
                                graph::Graph& graph) {
  const auto schema = ops::Registry::instance().find(node);
  if (!schema.ok()) return;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    graph::Value& value = graph.values[static_cast<size_t>(node.outputs[i])];
    for (size_t k = 0; k < operands.size(); ++k) {
      if (!operands[k].present ||
          formal_type((*schema)->inputs, k) != formal_type((*schema)->outputs, i))
        continue;
      value.dtype = operands[k].dtype;
      break;
    }
  }
  for (ops::Operand& operand : operands) {
    if (operand.is_constant || operand.fully_known()) continue;
    operand.has_shape = false;
    operand.shape.clear();
  }
  const auto context = ops::infer(node, std::move(operands));
  if (!context.ok()) return;
  for (size_t i = 0; i < node.outputs.size() && i < context->outputs.size(); ++i) {
    const ops::Operand& made = context->outputs[i];
    graph::Value& value = graph.values[static_cast<size_t>(node.outputs[i])];
    if (made.dtype != DType::undefined) value.dtype = made.dtype;
    value.has_shape = made.has_shape;
    value.shape = made.shape;
  }
}

// Computes a node whose inputs are known now. Random numbers are drawn in every run.
static bool fold_node(ops::OpContext& context, const graph::Node& node, graph::Graph& graph) {
  const auto& traits = context.schema->traits;
  if (context.schema->is_flow || traits.purity != ops::Purity::pure) return false;
  int64_t total = 0;
  for (size_t i = 0; i < context.inputs.size(); ++i) {
    ops::Operand& input = context.inputs[i];
    if (!input.present) continue;
    if (!input.is_constant) {
      if (!context.schema->reads_shapes_only || !input.fully_known()) return false;
      input.is_constant = true;
      continue;
    }
    total += element_count(input.shape);
  }
  for (const ops::Operand& output : context.outputs) {
    if (!output.fully_known()) return false;
    total += element_count(output.shape);
  }
  if (total > kMostFolded) return false;
  // Kernels read elements in place; a view into the file may start anywhere.
  std::vector<std::vector<std::byte>> aligned;
  for (ops::Operand& input : context.inputs) {
    if (reinterpret_cast<uintptr_t>(input.constant.data()) % alignof(std::max_align_t) == 0)
      continue;
    aligned.emplace_back(input.constant.begin(), input.constant.end());
    input.constant = aligned.back();
  }
  auto results = ops::evaluate(context);
  if (!results.ok()) return false;
  for (size_t o = 0; o < node.outputs.size(); ++o) {
    graph.values[static_cast<size_t>(node.outputs[o])].constant =
        graph::constant_of(std::move((*results)[o]));
  }
  return true;
}

std::vector<ValueId> Builder::nodes(std::string_view name, int64_t opset,
                                    std::vector<ValueId> inputs, size_t outputs, NodeAttrs attrs) {
  const std::vector<ValueId> none(outputs, kNoValue);
  if (!ok()) return none;
  graph::Node node;
  const size_t dot = name.rfind('.');
  node.op = name.substr(dot == name.npos ? 0 : dot + 1);
  if (dot != name.npos) node.domain = name.substr(0, dot);
  node.opset = opset;
  node.name = def_ ? def_->name : std::string(name);
  while (!inputs.empty() && inputs.back() == kNoValue) inputs.pop_back();
  node.inputs = std::move(inputs);
  node.attrs = std::move(attrs);
  for (size_t o = 0; o < outputs; ++o) node.outputs.push_back(new_value(node.op));
  std::vector<ops::Operand> operands;
  bool unknown = false;
  for (ValueId id : node.inputs) {
    operands.push_back(ops::Operand::of(graph_, id));
    // What operators do with strings, the compiler works out (compile/fold_texts.cpp).
    unknown = unknown || (id != kNoValue && (!has_shape(id) || dtype(id) == DType::undefined ||
                                             dtype(id) == DType::string));
  }
  if (unknown) {
    infer_unknown_shape(node, std::move(operands), graph_);
  } else {
    auto context = ops::infer(node, std::move(operands));
    if (!context.ok()) {
      refuse(context.status());
      return none;
    }
    for (size_t o = 0; o < outputs; ++o) {
      graph::Value& value = graph_.values[static_cast<size_t>(node.outputs[o])];
      value.dtype = context->outputs[o].dtype;
      value.has_shape = context->outputs[o].has_shape;
      value.shape = context->outputs[o].shape;
    }
    if (fold_node(*context, node, graph_)) return node.outputs;
    note_partial(node);
  }
  std::vector<ValueId> made = node.outputs;
  for (ValueId id : made) makers_[id] = graph_.nodes.size();
  graph_.nodes.push_back(std::move(node));
  return made;
}

ValueId Builder::node(std::string_view name, int64_t opset, std::vector<ValueId> inputs,
                      NodeAttrs attrs) {
  return nodes(name, opset, std::move(inputs), 1, std::move(attrs))[0];
}

std::vector<ValueId> Builder::flow_node(graph::Node node, std::vector<graph::Value> outputs) {
  if (!ok()) return std::vector<ValueId>(outputs.size(), kNoValue);
  node.name = def_ ? def_->name : node.op;
  for (graph::Value& output : outputs) {
    const ValueId id = new_value(node.op);
    graph::Value& made = graph_.values[static_cast<size_t>(id)];
    output.name = made.name;
    made = std::move(output);
    node.outputs.push_back(id);
  }
  std::vector<ValueId> made = node.outputs;
  for (ValueId id : made) makers_[id] = graph_.nodes.size();
  graph_.nodes.push_back(std::move(node));
  return made;
}

const graph::Node* Builder::maker(ValueId id) const {
  const auto found = makers_.find(id);
  return found == makers_.end() ? nullptr : &graph_.nodes[found->second];
}

ValueId Builder::new_value(std::string_view op) {
  graph::Value value;
  value.name = value_names_.take(format("{}/{}", def_ ? full_name() : graph_.name, op));
  return graph_.add_value(std::move(value));
}

ValueId Builder::slice(ValueId value, int64_t axis, int64_t begin, int64_t end) {
  return node("Slice", 13, {value, list({begin}), list({end}), list({axis})});
}

const Shape& Builder::shape(ValueId id) const {
  static const Shape none;
  return id == kNoValue ? none : value(id).shape;
}

bool Builder::has_rank(ValueId id, const char* what, int64_t least, int64_t most) {
  if (!ok() || id == kNoValue) return false;
  if (!has_shape(id)) {
    refuse(Code::unsupported_shape,
           "the number of axes of {} is not known; give the shapes of the model's inputs with "
           "--input_shape",
           what);
    return false;
  }
  if (rank(id) >= least && rank(id) <= most) return true;
  refuse(Code::unsupported_shape, "{} has the shape {}, expected {} to {} axes", what,
         to_string(shape(id)), least, most);
  return false;
}

bool Builder::need_fixed(ValueId id, const char* what) {
  if (!ok() || id == kNoValue) return false;
  if (is_fixed(id)) return true;
  refuse(Code::unsupported_shape,
         "{} has the shape {}; this operator needs fixed extents, give those of the model's inputs "
         "with --input_shape",
         what, has_shape(id) ? to_string(shape(id)) : "(unknown)");
  return false;
}

int64_t Builder::axis(int64_t given, int64_t count) {
  if (given >= -count && given < count) return given < 0 ? given + count : given;
  refuse(Code::invalid_argument, "axis {} of a tensor with {} axes; expected {} to {}", given,
         count, -count, count - 1);
  return 0;
}

}  // namespace anynpu::tensorflow
