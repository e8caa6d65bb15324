// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/body.h"

#include <algorithm>
#include <unordered_set>

#include "base/progress.h"
#include "base/text.h"
#include "import/tensorflow/lower.h"
#include "import/tensorflow/table.h"

namespace anynpu::tensorflow {

namespace {

// Nodes of one model once its functions are in place.
constexpr size_t kMostNodes = size_t{1} << 18;
constexpr int kMostCalls = 32;
// Tensors that one named output may be.
constexpr int64_t kMostCount = 1 << 16;

using NodeIndex = std::unordered_map<std::string_view, const NodeDef*>;

NodeIndex index_nodes(const std::vector<NodeDef>& nodes) {
  NodeIndex index;
  index.reserve(nodes.size());
  for (const NodeDef& node : nodes) index.emplace(node.name, &node);
  return index;
}

// Which output of its node a link of a function means.
Result<size_t> output_index(const Link& link, const NodeDef* node) {
  if (link.argument.empty() || !node) return link.index;
  const TfOp* row = find_tf_op(node->op);
  if (!row || row->outputs.empty()) return link.index;
  size_t position = 0;
  for (const std::string& word : split_words(row->outputs, ' ')) {
    const size_t bracket = word.find('[');
    if (word.substr(0, bracket) == link.argument) return position + link.index;
    int64_t count = 1;
    if (bracket != word.npos) {
      const std::string attr = word.substr(bracket + 1, word.size() - bracket - 2);
      ANYNPU_ASSIGN(count, int_attr(*node, attr, 1));
    }
    position += static_cast<size_t>(std::clamp<int64_t>(count, 0, kMostCount));
  }
  return fail(Code::corrupt_model, "'{}' names an output that {} does not have; its outputs are {}",
              to_text(link), node->op, row->outputs);
}

Status missing_node(const std::string& name, const std::string& reader) {
  return fail(Code::corrupt_model,
              "{} reads '{}', and the model has no such node; the file is damaged or was cut, "
              "freeze the model again",
              reader, name);
}

Result<Tensor> tensor_of(const Link& link, const Tensors& made, const NodeDef* node) {
  const auto found = made.find(link.node);
  if (found == made.end()) return missing_node(link.node, "a result");
  ANYNPU_ASSIGN(const size_t index, output_index(link, node));
  if (index < found->second.size()) {
    const Tensor& tensor = found->second[index];
    if (tensor.plain != kNoValue || tensor.first != kNoValue) return tensor;
  }
  return fail(Code::unsupported_feature,
              "output {} of node '{}' ({}) is read; it is there for training alone, or the node "
              "has no such output",
              index, link.node, node ? node->op : "an argument");
}

}  // namespace

Result<std::vector<const NodeDef*>> needed_nodes(const std::vector<NodeDef>& nodes,
                                                 const std::vector<Link>& results,
                                                 const Tensors& arguments) {
  const NodeIndex index = index_nodes(nodes);
  enum class Mark : uint8_t { fresh, open, done };
  std::unordered_map<const NodeDef*, Mark> marks;
  std::vector<const NodeDef*> order;
  struct Frame {
    const NodeDef* node;
    size_t next;
  };
  std::vector<Frame> stack;
  const auto enter = [&](const Link& link, const std::string& reader) -> Status {
    if (arguments.contains(link.node)) return {};
    const auto found = index.find(link.node);
    if (found == index.end()) return missing_node(link.node, reader);
    Mark& mark = marks[found->second];
    if (mark == Mark::done) return {};
    if (mark == Mark::open) {
      return fail(Code::corrupt_model,
                  "node '{}' ({}) depends on itself, and no loop goes through it; the file is "
                  "damaged, freeze the model again",
                  found->second->name, found->second->op);
    }
    mark = Mark::open;
    stack.push_back({found->second, 0});
    return {};
  };
  for (const Link& result : results) {
    ANYNPU_TRY(enter(result, "a result"));
    while (!stack.empty()) {
      Frame& top = stack.back();
      if (top.next < top.node->inputs.size()) {
        const NodeDef* reader = top.node;
        ANYNPU_TRY(enter(reader->inputs[top.next++], format("node '{}'", reader->name)));
        continue;
      }
      marks[top.node] = Mark::done;
      order.push_back(top.node);
      stack.pop_back();
    }
  }
  return order;
}

Result<Tensor> find_tensor(const Link& link, const Tensors& made,
                           const std::vector<NodeDef>& nodes) {
  const auto found = std::find_if(nodes.begin(), nodes.end(),
                                  [&](const NodeDef& node) { return node.name == link.node; });
  return tensor_of(link, made, found == nodes.end() ? nullptr : &*found);
}

Status lower_body(Builder& b, const std::vector<NodeDef>& nodes, const std::vector<Link>& results,
                  Tensors& made) {
  ANYNPU_ASSIGN(const auto order, needed_nodes(nodes, results, made));
  const NodeIndex index = index_nodes(nodes);
  Progress progress("reading", order.size(), "nodes");
  for (const NodeDef* node : order) {
    progress.step();
    if (++b.model().nodes > kMostNodes) {
      return fail(Code::limit_exceeded,
                  "the model has more than {} nodes once its functions are in place; at most that "
                  "many are taken, split the model",
                  kMostNodes);
    }
    const TfOp* row = find_tf_op(node->op);
    if (!row) return fail(Code::unsupported_op, "{} '{}' is not supported", node->op, node->name);
    std::vector<Tensor> inputs;
    for (const Link& link : node->inputs) {
      const auto producer = index.find(link.node);
      ANYNPU_ASSIGN(const Tensor tensor,
                    tensor_of(link, made, producer == index.end() ? nullptr : producer->second),
                    "in node '{}' ({})", node->name, node->op);
      inputs.push_back(tensor);
    }
    b.begin(*node, row, std::move(inputs));
    if (!lower_complex(b)) row->lower(b);
    std::vector<Tensor> outputs = b.end();
    if (!b.ok()) return b.status();
    made[node->name] = std::move(outputs);
  }
  return {};
}

Result<std::vector<Tensor>> inline_function(Builder& b, const FunctionDef& function,
                                            const std::vector<Tensor>& arguments) {
  if (arguments.size() < function.arguments.size()) {
    return fail(Code::corrupt_model, "function '{}' takes {} arguments and is given {}",
                function.name, function.arguments.size(), arguments.size());
  }
  if (b.model().depth >= kMostCalls) {
    return fail(Code::limit_exceeded,
                "functions call one another more than {} deep, the last is '{}'; a function that "
                "calls itself cannot be compiled",
                kMostCalls, function.name);
  }
  Tensors made;
  for (size_t i = 0; i < function.arguments.size(); ++i)
    made[function.arguments[i].name] = {arguments[i]};
  Builder::Current outer = b.suspend();
  ++b.model().depth;
  const Status status = lower_body(b, function.nodes, function.results, made);
  --b.model().depth;
  b.resume(std::move(outer));
  ANYNPU_TRY(Status(status), "in function '{}'", function.name);
  std::vector<Tensor> results;
  const NodeIndex index = index_nodes(function.nodes);
  for (const Link& link : function.results) {
    const auto producer = index.find(link.node);
    ANYNPU_ASSIGN(Tensor tensor,
                  tensor_of(link, made, producer == index.end() ? nullptr : producer->second));
    results.push_back(tensor);
  }
  return results;
}

}  // namespace anynpu::tensorflow
