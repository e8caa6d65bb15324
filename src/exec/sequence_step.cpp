// SPDX-License-Identifier: Apache-2.0
// Sequences and optionals: one function per operator.
#include <array>
#include <cstring>
#include <string_view>

#include "exec/node_runner.h"

namespace anynpu::exec {

namespace {

using Inputs = std::span<const RunValue* const>;
using graph::Node;

// A node with the attributes of all operators here, read when the model is loaded.
struct SequenceNode : Node {
  explicit SequenceNode(const Node& node)
      : Node(node),
        axis(node.int_attr("axis", 0)),
        keeps_axis(node.int_attr("keepdims", 1) != 0),
        makes_axis(node.int_attr("new_axis", 0) != 0) {}
  int64_t axis;
  bool keeps_axis, makes_axis;
};
using Function = Status (*)(const SequenceNode& node, Inputs inputs, RunValue& output);

constexpr size_t kMostItems = size_t{1} << 24;

std::string label(const Node& node) { return format("{} '{}'", node.op, node.name); }

Status check_sequence(const Node& node, Inputs inputs) {
  if (!inputs.empty() && inputs[0]->kind == RunValue::Kind::sequence) return {};
  return fail(Code::unsupported_dtype, "{}: its first input is no sequence", label(node));
}

// A position counted from the end when it is negative.
Result<size_t> position(const Node& node, Inputs inputs, size_t input, int64_t otherwise,
                        int64_t size) {
  int64_t at = otherwise;
  if (input < inputs.size() && inputs[input]->is_tensor()) {
    ANYNPU_ASSIGN(at, read_scalar(*inputs[input], node, "the position"));
  }
  const int64_t from_start = at < 0 ? at + size : at;
  if (from_start >= 0 && from_start < size) return static_cast<size_t>(from_start);
  return fail(Code::invalid_argument, "{}: position {} of {} elements", label(node), at, size);
}

Status construct(const SequenceNode& node, Inputs inputs, RunValue& output) {
  auto items = take_items();
  for (const RunValue* input : inputs) items->add() = *input;
  output.set_sequence(inputs.empty() ? DType::undefined : inputs[0]->dtype, std::move(items));
  return {};
}

Status empty(const SequenceNode& node, Inputs inputs, RunValue& output) {
  output.set_sequence(DType::undefined, take_items());
  return {};
}

Status element(const SequenceNode& node, Inputs inputs, RunValue& output) {
  ANYNPU_TRY(check_sequence(node, inputs));
  const auto& items = *inputs[0]->items;
  ANYNPU_ASSIGN(const size_t at, position(node, inputs, 1, 0, static_cast<int64_t>(items.size())));
  output = items[at];
  return {};
}

Status insert(const SequenceNode& node, Inputs inputs, RunValue& output) {
  ANYNPU_TRY(check_sequence(node, inputs));
  const RunItems& before = *inputs[0]->items;
  if (inputs.size() < 2 || !inputs[1]->is_tensor() || before.size() >= kMostItems) {
    return fail(Code::invalid_argument, "{}: no tensor to insert, or {} elements already",
                label(node), before.size());
  }
  const auto size = static_cast<int64_t>(before.size());
  ANYNPU_ASSIGN(const size_t at, position(node, inputs, 2, size, size + 1));
  // -1 is the position before the last element, not after it.
  int64_t given = 0;
  if (inputs.size() > 2 && inputs[2]->is_tensor()) {
    ANYNPU_ASSIGN(given, read_scalar(*inputs[2], node, "the position"));
  }
  const size_t place = std::min(given < 0 ? at - 1 : at, before.size());
  auto items = take_items();
  for (size_t i = 0; i < place; ++i) items->add() = before[i];
  items->add() = *inputs[1];
  for (size_t i = place; i < before.size(); ++i) items->add() = before[i];
  output.set_sequence(inputs[1]->dtype, std::move(items));
  return {};
}

Status erase(const SequenceNode& node, Inputs inputs, RunValue& output) {
  ANYNPU_TRY(check_sequence(node, inputs));
  const RunItems& before = *inputs[0]->items;
  const auto size = static_cast<int64_t>(before.size());
  ANYNPU_ASSIGN(const size_t at, position(node, inputs, 1, size - 1, size));
  auto items = take_items();
  for (size_t i = 0; i < before.size(); ++i) {
    if (i != at) items->add() = before[i];
  }
  output.set_sequence(inputs[0]->dtype, std::move(items));
  return {};
}

Status length(const SequenceNode& node, Inputs inputs, RunValue& output) {
  ANYNPU_TRY(check_sequence(node, inputs));
  ANYNPU_TRY(make_tensor(DType::i64, {}, output));
  const auto count = static_cast<int64_t>(inputs[0]->items->size());
  std::memcpy(output.data.get(), &count, sizeof count);
  return {};
}

// How an axis is cut: into as many pieces as `lengths` has elements, or of `size` each, the last
// one perhaps shorter.
struct Cut {
  const RunValue* lengths = nullptr;
  int64_t size = 1;
};

Result<Cut> read_cut(const Node& node, Inputs inputs) {
  if (inputs.size() < 2 || !inputs[1]->is_tensor()) return Cut{};
  if (!inputs[1]->shape.empty()) return Cut{inputs[1], 0};
  ANYNPU_ASSIGN(const int64_t size, read_scalar(*inputs[1], node, "the length of its pieces"));
  if (size >= 1) return Cut{nullptr, size};
  return fail(Code::invalid_argument, "{}: pieces of {} elements; expected at least 1", label(node),
              size);
}

Status split(const SequenceNode& node, Inputs inputs, RunValue& output) {
  const RunValue& tensor = *inputs[0];
  const auto rank = static_cast<int64_t>(tensor.shape.size());
  int64_t axis = node.axis;
  if (axis < 0) axis += rank;
  if (!tensor.is_tensor() || axis < 0 || axis >= rank) {
    return fail(Code::invalid_argument, "{}: axis {} of a tensor of shape {}", label(node), axis,
                to_string(tensor.shape));
  }
  const int64_t extent = tensor.shape[static_cast<size_t>(axis)];
  ANYNPU_ASSIGN(const Cut cut, read_cut(node, inputs));
  const bool keep = node.keeps_axis || (inputs.size() > 1 && inputs[1]->is_tensor());
  const int64_t count = cut.lengths ? element_count(cut.lengths->shape)
                                    : extent / cut.size + (extent % cut.size != 0);
  auto items = take_items();
  for (int64_t i = 0, at = 0; i < count; ++i) {
    int64_t part = std::min(cut.size, extent - at);
    if (cut.lengths) {
      ANYNPU_ASSIGN(part, read_integer(*cut.lengths, i, node, "the lengths of its pieces"));
    }
    RunValue& piece = items->add();
    ANYNPU_TRY(piece_of(tensor, axis, at, part, piece), "in {}", label(node));
    if (!keep) piece.shape.erase(piece.shape.begin() + axis);
    at += part;
  }
  output.set_sequence(tensor.dtype, std::move(items));
  return {};
}

Status concat(const SequenceNode& node, Inputs inputs, RunValue& output) {
  ANYNPU_TRY(check_sequence(node, inputs));
  ANYNPU_TRY(join_tensors(inputs[0]->items->values(), node.axis, node.makes_axis, output), "in {}",
             label(node));
  return {};
}

Status pass(const SequenceNode& node, Inputs inputs, RunValue& output) {
  if (!inputs.empty()) output = *inputs[0];
  return {};
}

Status has_element(const SequenceNode& node, Inputs inputs, RunValue& output) {
  ANYNPU_TRY(make_tensor(DType::boolean, {}, output));
  const bool there = !inputs.empty() && inputs[0]->kind != RunValue::Kind::nothing;
  *output.data = std::byte{there};
  return {};
}

Status get_element(const SequenceNode& node, Inputs inputs, RunValue& output) {
  ANYNPU_TRY(pass(node, inputs, output));
  if (output.kind != RunValue::Kind::nothing) return {};
  return fail(Code::invalid_argument, "{}: the optional is empty", label(node));
}

struct SequenceOp {
  std::string_view op;
  Function function;
};
constexpr std::array<SequenceOp, 12> kOps = {{
    {"SequenceConstruct", construct},
    {"SequenceEmpty", empty},
    {"SequenceAt", element},
    {"SequenceInsert", insert},
    {"SequenceErase", erase},
    {"SequenceLength", length},
    {"SplitToSequence", split},
    {"ConcatFromSequence", concat},
    {"Optional", pass},
    {"OptionalHasElement", has_element},
    {"OptionalGetElement", get_element},
    {"Identity", pass},
}};

Function find(const Node& node) {
  if (!node.domain.empty()) return nullptr;
  for (const SequenceOp& entry : kOps) {
    if (entry.op == node.op) return entry.function;
  }
  return nullptr;
}

class SequenceStep final : public NodeRunner {
 public:
  SequenceStep(const Node& node, Function function) : node_(node), function_(function) {}
  Status run(Inputs inputs, std::span<RunValue> outputs) const override {
    return function_(node_, inputs, outputs[0]);
  }

 private:
  SequenceNode node_;
  Function function_;
};

}  // namespace

bool is_sequence_op(const Node& node) { return find(node) != nullptr; }

NodeRunnerResult make_sequence_step(const Node& node) {
  return std::unique_ptr<NodeRunner>(std::make_unique<SequenceStep>(node, find(node)));
}

}  // namespace anynpu::exec
