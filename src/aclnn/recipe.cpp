// SPDX-License-Identifier: Apache-2.0
#include "aclnn/recipe.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "aclnn/recipe_state.h"
#include "graph/tensor_value.h"
#include "ops/broadcast.h"
#include "ops/elements/wide.h"
#include "ops/elementwise/elementwise.h"
#include "ops/registry.h"
#include "tensor/onnx_type.h"

namespace anynpu::aclnn {

using graph::kNoValue;
using graph::ValueId;

Recipe::Recipe(const Call& call, const Row& row)
    : call_(call), row_(row), state_(std::make_unique<State>()) {
  for (const TensorView* tensor : call.tensors)
    state_->views.push_back(tensor ? *tensor : TensorView{});
  if (row.elementwise) normalise();
}
Recipe::~Recipe() = default;

// --- values

const TensorView& Recipe::view(uint32_t tensor) const { return state_->views[tensor]; }

Value Recipe::in(Param param) {
  tensor(param);
  return read_tensor(argument(param, ArgumentKind::tensor).first_tensor);
}

Value Recipe::in(Param list, size_t index) {
  tensor(list, index);
  return read_tensor(argument(list, ArgumentKind::tensors).first_tensor +
                     static_cast<uint32_t>(index));
}

Value Recipe::read_tensor(uint32_t tensor) {
  auto& known = state_->read;
  if (const auto found = known.find(tensor); found != known.end()) return found->second;
  const TensorView& from = view(tensor);
  const TensorView::Span span = from.span();
  Feed feed;
  feed.index = tensor;
  feed.bytes = bytes_of(from.dtype, static_cast<size_t>(span.count));
  const bool direct = from.contiguous();
  Value value =
      state_->add_input(feed, from.dtype, direct ? from.shape.shape() : Shape{span.count});
  if (!direct) {
    value = op("MoveView", {value},
               {{"shape", from.shape.shape()},
                {"from_strides", from.strides.shape()},
                {"from_offset", from.offset - span.first}});
  }
  known.emplace(tensor, value);
  return value;
}

Value Recipe::matrix(Param param, bool& transposed) {
  tensor(param);
  return read_matrix(argument(param, ArgumentKind::tensor).first_tensor, transposed);
}

Value Recipe::matrix(Param list, size_t index, bool& transposed) {
  tensor(list, index);
  return read_matrix(
      argument(list, ArgumentKind::tensors).first_tensor + static_cast<uint32_t>(index),
      transposed);
}

Value Recipe::read_matrix(uint32_t tensor, bool& transposed) {
  transposed = false;
  const TensorView& from = view(tensor);
  const size_t rank = from.shape.size();
  if (rank < 2 || from.contiguous()) return read_tensor(tensor);
  TensorView turned = from;
  std::swap(turned.shape[rank - 1], turned.shape[rank - 2]);
  std::swap(turned.strides[rank - 1], turned.strides[rank - 2]);
  if (!turned.contiguous()) return read_tensor(tensor);
  auto& known = state_->turned;
  transposed = true;
  if (const auto found = known.find(tensor); found != known.end()) return found->second;
  Feed feed;
  feed.index = tensor;
  feed.bytes = bytes_of(from.dtype, static_cast<size_t>(turned.count()));
  return known.emplace(tensor, state_->add_input(feed, from.dtype, turned.shape.shape()))
      .first->second;
}

Value Recipe::number(Param param, DType dtype) {
  const Argument* found = find(param);
  if (!found || (found->kind == ArgumentKind::scalar && !found->given)) {
    refuse(Code::invalid_handle, "{} is null; expected an aclScalar", label(param));
  }
  return value_input(found->first_value, dtype);
}

Value Recipe::number(Param list, size_t index, DType dtype) {
  const Argument& found = argument(list, ArgumentKind::scalars);
  if (index >= found.scalars.size()) {
    refuse("{} has {} scalars; expected more than {}", label(list), found.scalars.size(), index);
  }
  return value_input(found.first_value + static_cast<uint32_t>(index), dtype);
}

Value Recipe::list(Param param, int64_t least, int64_t most) {
  const Argument& found = argument(param, ArgumentKind::ints);
  if (!row_.is_list(label(param))) {
    refuse(Code::internal, "the row of {} does not name {} among its lists", row_.name,
           label(param));
  }
  Feed feed;
  feed.from = Feed::From::list;
  feed.index = static_cast<uint32_t>(&found - call_.arguments.data());
  feed.dtype = DType::i64;
  feed.bytes = found.ints.size_bytes();
  feed.least = least;
  feed.most = most;
  return state_->add_input(feed, DType::i64, {static_cast<int64_t>(found.ints.size())});
}

Value Recipe::value_input(uint32_t place, DType dtype) {
  Feed feed;
  feed.from = Feed::From::value;
  feed.index = place;
  feed.dtype = dtype;
  feed.bytes = size_of(dtype);
  return state_->add_input(feed, dtype, {});
}

Value Recipe::constant(DType dtype, double value) { return constant(dtype, {}, {value}); }

Value Recipe::constant(const std::vector<int64_t>& list) {
  return constant_of({static_cast<int64_t>(list.size())}, list);
}

Value Recipe::constant_of(Shape shape, const std::vector<int64_t>& values) {
  graph::Value value = graph::tensor_value(state_->fresh_name(), DType::i64, std::move(shape));
  value.constant = graph::constant_of(values);
  return {state_->graph.add_value(std::move(value))};
}

Value Recipe::constant(DType dtype, Shape shape, const std::vector<double>& values) {
  std::vector<std::byte> bytes(bytes_of(dtype, values.size()));
  const DType part = ops::part_of(dtype);
  const auto parts = ops::parts_of(dtype);
  const auto store = ops::store_block<double>(part);
  if (!store) refuse("a constant has type {}; expected a number type", name_of(dtype));
  for (size_t i = 0; i < values.size(); ++i) {
    const double pair[2] = {values[i], 0};
    store(bytes.data(), static_cast<int64_t>(i) * parts, pair, parts);
  }
  graph::Value value = graph::tensor_value(state_->fresh_name(), dtype, std::move(shape));
  value.constant = graph::constant_of(std::move(bytes));
  return {state_->graph.add_value(std::move(value))};
}

Value Recipe::filled(DType dtype, const Shape& shape, double value) {
  return expand(constant(dtype, value), shape);
}

Value Recipe::op(const char* name, std::initializer_list<Value> inputs, Attrs attrs) {
  return ops(name, std::vector<Value>(inputs), 1, attrs)[0];
}
Value Recipe::op(const char* name, const std::vector<Value>& inputs, Attrs attrs) {
  return ops(name, inputs, 1, attrs)[0];
}

Values Recipe::ops(const char* name, const std::vector<Value>& inputs, size_t outputs,
                   Attrs attrs) {
  graph::Graph& graph = state_->graph;
  graph::Node node;
  node.op = name;
  const ops::Registry& registry = ops::Registry::instance();
  // Functions of complex numbers are one operator of their own.
  const bool is_complex_call = std::ranges::any_of(
      inputs, [&](const Value& input) { return input && is_complex(dtype(input)); });
  if (is_complex_call && ops::elementwise::is_complex_function(name)) {
    node.op = "ComplexFunction";
    node.attrs.emplace("function", std::string(name));
  }
  if (!registry.find(node.op, "", 0).ok()) node.domain = "anynpu";
  node.name = graph.nodes.empty() ? std::string(call_.signature->name)
                                  : format("{}_{}", call_.signature->name, state_->names++);
  std::vector<ops::Operand> operands;
  for (const Value& input : inputs) {
    node.inputs.push_back(input.id);
    operands.push_back(ops::Operand::of(graph, input.id));
  }
  while (!node.inputs.empty() && node.inputs.back() == kNoValue) node.inputs.pop_back();
  operands.resize(node.inputs.size());
  for (const auto& [key, value] : attrs) node.attrs.emplace(key, value.attr);
  std::vector<Value> made;
  for (size_t i = 0; i < outputs; ++i) {
    graph::Value fresh;
    fresh.name = state_->fresh_name();
    made.push_back({graph.add_value(std::move(fresh))});
    node.outputs.push_back(made.back().id);
  }
  auto context = ops::infer(node, std::move(operands));
  if (!context.ok()) throw Refusal{context.status()};
  for (size_t i = 0; i < outputs; ++i) {
    graph::Value& value = graph.values[static_cast<size_t>(made[i].id)];
    value.dtype = context->outputs[i].dtype;
    value.shape = context->outputs[i].shape;
    value.has_shape = context->outputs[i].has_shape;
  }
  graph.nodes.push_back(std::move(node));
  return made;
}

DType Recipe::dtype(Value value) const { return state_->value(value).dtype; }
void refuse_item(size_t index, size_t count) {
  refuse("item {} of {} is needed; expected a tensor of more axes, or a longer list",
         static_cast<int64_t>(index), count);
}

void check_items(int64_t count) {
  if (count <= kMostItems) return;
  refuse("the operator needs a table of {} or more items; at most {} are supported", count,
         kMostItems);
}

bool Recipe::has_shape(Value value) const {
  const graph::Value& found = state_->value(value);
  return found.has_shape && is_static(found.shape);
}
Shape Recipe::shape(Value value) const {
  if (!has_shape(value)) refuse(Code::internal, "the recipe asks for a shape that a run decides");
  return state_->value(value).shape;
}
int64_t Recipe::extent(Value value, int64_t axis) const {
  const Shape extents = shape(value);
  const auto rank = static_cast<int64_t>(extents.size());
  if (axis < -rank || axis >= rank) {
    refuse("axis {} of a tensor of {} is needed; it has {} axes", axis, to_string(extents), rank);
  }
  return extents[static_cast<size_t>(axis < 0 ? axis + rank : axis)];
}

Value Recipe::cast(Value value, DType dtype) {
  const DType from = this->dtype(value);
  if (from == dtype) return value;
  if (is_complex(from) || is_complex(dtype)) {
    return op("ComplexCast", {value}, {{"to", static_cast<int64_t>(dtype)}});
  }
  return op("Cast", {value}, {{"to", cast_number(dtype)}});
}

Value Recipe::reinterpret(Value value, DType dtype) {
  if (this->dtype(value) == dtype) return value;
  return op("Reinterpret", {value}, {{"to", cast_number(dtype)}});
}

Value Recipe::reshape(Value value, const Shape& shape) {
  if (has_shape(value) && state_->value(value).shape == shape) return value;
  return op("Reshape", {value, constant(shape)}, {{"allowzero", 1}});
}

Value Recipe::expand(Value value, const Shape& shape) {
  if (has_shape(value) && state_->value(value).shape == shape) return value;
  return op("Expand", {value, constant(shape)});
}

Value Recipe::transpose(Value value, std::vector<int64_t> order) {
  return op("Transpose", {value}, {{"perm", std::move(order)}});
}

Value Recipe::slice(Value value, int64_t axis, int64_t begin, int64_t end, int64_t step) {
  return op("Slice",
            {value, constant({begin}), constant({end}), constant({axis}), constant({step})});
}

// --- outputs

void Recipe::out(Param param, Value value) {
  const std::string name = label(param);
  tensor(param);
  write_tensor(argument(param, ArgumentKind::tensor).first_tensor, name, value);
}

void Recipe::out(Param list, size_t index, Value value) {
  tensor(list, index);
  write_tensor(argument(list, ArgumentKind::tensors).first_tensor + static_cast<uint32_t>(index),
               format("{}[{}]", label(list), index), value);
}

void Recipe::write_tensor(uint32_t tensor, const std::string& name, Value value) {
  const TensorView& to = view(tensor);
  value = cast(value, to.dtype);
  Feed feed;
  feed.index = tensor;
  const TensorView::Span span = to.span();
  feed.bytes = bytes_of(to.dtype, static_cast<size_t>(span.count));
  if (!has_shape(value)) {
    if (!to.contiguous()) {
      refuse("{} is {}; an output whose shape the run decides must be contiguous", name,
             to_string(to));
    }
    feed.dynamic_shape = true;
    state_->outputs.push_back({feed, value});
    return;
  }
  const Shape wanted = to.shape.shape();
  if (shape(value) != wanted) {
    const auto wide = ops::broadcast(shape(value), wanted);
    if (!row_.elementwise || !wide.ok() || *wide != wanted) {
      refuse("{} has the shape {}; the result has {}", name, to_string(wanted),
             to_string(shape(value)));
    }
    value = expand(value, wanted);
  }
  if (element_count(wanted) == 0) return;
  if (!to.contiguous()) {
    value = op("MoveView", {value},
               {{"shape", wanted},
                {"to_strides", to.strides.shape()},
                {"to_offset", to.offset - span.first},
                {"to_count", span.count}});
    state_->join_moves();
  } else if (state_->is_input(value)) {
    value = op("Stage", {value});
  }
  state_->outputs.push_back({feed, value});
}

void Recipe::next_part() { close_part(); }

Result<Built> build(const Call& call, const Row& row) {
  try {
    Recipe recipe(call, row);
    row.build(recipe);
    return recipe.finish();
  } catch (const Refusal& refusal) {
    const Code code = refusal.status.code();
    return refusal.status.with_note(format("in {}", call.signature->name)).with_code(code);
  }
}

}  // namespace anynpu::aclnn
