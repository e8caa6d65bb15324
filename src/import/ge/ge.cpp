// SPDX-License-Identifier: Apache-2.0
#include "import/ge/ge.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <unordered_map>

#include "base/text.h"
#include "import/ge/chip_formats.h"
#include "import/singleop/table.h"

namespace anynpu::ge {

namespace {

constexpr size_t kMostOps = 1 << 20;
constexpr size_t kMostEnds = 4096;  // outputs of one operator
constexpr size_t kDeepestCall = 32;

bool is_constant(const std::string& type) { return type == "Const" || type == "Constant"; }
bool is_input(const std::string& type) {
  return type == "Data" || type == "AnnData" || type == "RefData" || type == "AippData";
}
// Operators that pass their first input on: the chip's formats are undone everywhere.
bool passes_on(const std::string& type) {
  return type == "TransData" || type == "Identity" || type == "MemcpyAsync" ||
         type == "StopGradient" || type == "Cacheable" || type == "ReFormat";
}

// What the chip's compiler put together is more than the type of the operator says: the names of
// those it was, when there were several.
std::string fused_from(const OpDef& op) {
  const auto found = op.attrs.find("_datadump_original_op_names");
  if (found == op.attrs.end()) return {};
  const auto* names = std::get_if<std::vector<std::string>>(&found->second);
  return names && names->size() > 1 ? join(*names) : std::string();
}

const TensorDef* at(const std::vector<TensorDef>& descs, size_t index) {
  return index < descs.size() ? &descs[index] : nullptr;
}

class Reader {
 public:
  Reader(const ModelDef& model, const Source& source, const InputShapes& shapes)
      : model_(model), source_(source), shapes_(shapes), graph_(model.graphs[0].name) {}

  Result<graph::Graph> run();

 private:
  struct Scope {
    const GraphDef* graph = nullptr;
    std::unordered_map<std::string, const OpDef*> ops;
    std::map<std::string, std::set<int64_t>> read;  // outputs that somebody needs
    std::unordered_map<std::string, std::vector<ValueId>> made;
    std::vector<ValueId> arguments;  // of a graph that an operator calls
    std::string prefix;
  };

  Status find_ops(Scope& scope) const;
  Result<std::vector<const OpDef*>> order(Scope& scope) const;
  Status add_op(const OpDef& op, Scope& scope);
  Status add_data(const OpDef& op, Scope& scope);
  Status add_const(const OpDef& op, Scope& scope);
  Status add_vendor_op(const OpDef& op, Scope& scope);
  Result<std::vector<ValueId>> call_graph(const OpDef& op, const std::vector<ValueId>& inputs);
  Result<std::vector<ValueId>> walk(const GraphDef& graph, std::vector<ValueId> arguments,
                                    const std::string& prefix);
  Result<std::vector<ValueId>> inputs_of(const OpDef& op, const Scope& scope) const;
  Result<ValueId> in_axes(ValueId value, Format from, Format to, const std::string& name);
  Status add_inputs();
  // How the operator that makes input `index` of `op` describes it; may be null.
  const TensorDef* source_desc(const OpDef& op, size_t index, const Scope& scope) const;

  const ModelDef& model_;
  const Source& source_;
  const InputShapes& shapes_;
  OpGraph graph_;
  std::map<const OpDef*, ValueId> data_;  // of the main graph
  std::vector<const GraphDef*> calls_;
  size_t count_ = 0;
};

Status Reader::find_ops(Scope& scope) const {
  for (const OpDef& op : scope.graph->ops) {
    if (op.name.empty() || !scope.ops.emplace(op.name, &op).second) {
      return fail(Code::corrupt_model,
                  "the operator '{}' ({}) is there twice or has no name; the file is damaged, "
                  "export the model again",
                  op.name, op.type);
    }
  }
  return {};
}

// The operators that the outputs depend on, in topological order, with the outputs used of each.
Result<std::vector<const OpDef*>> Reader::order(Scope& scope) const {
  struct Step {
    const OpDef* op;
    size_t next = 0;
  };
  std::vector<const OpDef*> sorted;
  std::set<const OpDef*> done, open;
  std::vector<Step> stack;
  for (const OpDef& op : scope.graph->ops) {
    if (op.type == "NetOutput") stack.push_back({&op});
  }
  if (stack.size() != 1) {
    return fail(Code::corrupt_model,
                "the graph '{}' has {} operators of type NetOutput, expected one",
                scope.graph->name, stack.size());
  }
  open.insert(stack[0].op);
  while (!stack.empty()) {
    Step& step = stack.back();
    if (step.next == step.op->inputs.size()) {
      open.erase(step.op);
      done.insert(step.op);
      sorted.push_back(step.op);
      stack.pop_back();
      continue;
    }
    const std::string& text = step.op->inputs[step.next++];
    if (text.empty()) continue;
    const Edge edge = parse_edge(text);
    if (edge.index < 0) continue;
    const auto found = scope.ops.find(edge.op);
    if (found == scope.ops.end()) {
      return fail(Code::corrupt_model, "the operator '{}' reads '{}', which is not there",
                  step.op->name, text);
    }
    scope.read[edge.op].insert(edge.index);
    if (done.contains(found->second)) continue;
    if (!open.insert(found->second).second) {
      return fail(Code::corrupt_model,
                  "the operators '{}' and '{}' need each other: a cycle that is no loop",
                  step.op->name, edge.op);
    }
    stack.push_back({found->second});
  }
  return sorted;
}

Result<std::vector<ValueId>> Reader::inputs_of(const OpDef& op, const Scope& scope) const {
  std::vector<ValueId> inputs;
  for (const std::string& text : op.inputs) {
    const Edge edge = parse_edge(text);
    if (edge.index < 0) continue;
    if (text.empty()) {
      inputs.push_back(kNoValue);
      continue;
    }
    const auto found = scope.made.find(edge.op);
    if (found == scope.made.end() || edge.index >= static_cast<int64_t>(found->second.size())) {
      return fail(Code::corrupt_model, "the operator '{}' reads '{}', which has no such output",
                  op.name, text);
    }
    inputs.push_back(found->second[static_cast<size_t>(edge.index)]);
  }
  while (!inputs.empty() && inputs.back() == kNoValue) inputs.pop_back();
  return inputs;
}

const TensorDef* Reader::source_desc(const OpDef& op, size_t index, const Scope& scope) const {
  for (const std::string& text : op.inputs) {
    const Edge edge = parse_edge(text);
    if (edge.index < 0 || index-- > 0) continue;
    const auto found = scope.ops.find(edge.op);
    return found == scope.ops.end()
               ? nullptr
               : at(found->second->output_descs, static_cast<size_t>(edge.index));
  }
  return nullptr;
}

// A picture in another order of its axes.
Result<ValueId> Reader::in_axes(ValueId value, Format from, Format to, const std::string& name) {
  if (value < 0 || graph_.value(value).shape.size() != 4) return value;
  const auto is_axes = [](Format f) {
    return f == Format::nchw || f == Format::nhwc || f == Format::hwcn;
  };
  if (!is_axes(from) || !is_axes(to) || from == to) return value;
  singleop::SingleOp op;
  op.type = "TransData";
  op.attrs = {{"src_format", std::string(name_of(from))}, {"dst_format", std::string(name_of(to))}};
  op.inputs.resize(1);
  op.inputs[0].format = from;
  op.outputs.resize(1);
  op.outputs[0].format = to;
  op.outputs[0].shape = {kUnknownRank};
  ANYNPU_ASSIGN(const auto made, graph_.add(name, std::move(op), {value}));
  return made[0];
}

// In the order of their attribute index.
Status Reader::add_inputs() {
  std::vector<const OpDef*> inputs;
  for (const OpDef& op : model_.graphs[0].ops) {
    if (is_input(op.type)) inputs.push_back(&op);
  }
  std::stable_sort(inputs.begin(), inputs.end(), [](const OpDef* a, const OpDef* b) {
    return a->int_attr("index", 0) < b->int_attr("index", 0);
  });
  for (const OpDef* op : inputs) {
    const TensorDef* desc = at(op->output_descs, 0);
    if (!desc || size_of(desc->dtype) == 0) desc = at(op->input_descs, 0);
    if (!desc || size_of(desc->dtype) == 0) {
      return fail(Code::corrupt_model, "the input '{}' has no type", op->name);
    }
    const bool blocked = desc->is_blocked();
    if (blocked) {
      graph_.refuse(op->name, op->type, format("it is fed in the chip's format {}", desc->layout));
    }
    const auto given = shapes_.find(op->name);
    Shape shape = given != shapes_.end() ? given->second
                  : blocked              ? desc->origin_shape
                                         : desc->shape;
    ANYNPU_TRY(check_desc_shape(shape), "in the input '{}'", op->name);
    const bool stated = given != shapes_.end() || desc->has_shape;
    if (!stated || (shape.size() == 1 && shape[0] == kUnknownRank)) {
      return fail(Code::unsupported_shape,
                  "the input '{}' has no shape; give it with --input_shape=\"{}:1,3,224,224\"",
                  op->name, op->name);
    }
    const Format format = blocked ? desc->origin_format : desc->format;
    data_[op] = graph_.add_input(op->name, desc->dtype, std::move(shape), format);
  }
  return {};
}

Status Reader::add_data(const OpDef& op, Scope& scope) {
  if (const auto known = data_.find(&op); known != data_.end()) {
    scope.made[op.name] = {known->second};
    return {};
  }
  const int64_t index = op.int_attr("index", 0);
  if (index < 0 || index >= static_cast<int64_t>(scope.arguments.size())) {
    return fail(Code::corrupt_model,
                "the input '{}' of the graph '{}' is number {}, the call gives {}", op.name,
                scope.graph->name, index, scope.arguments.size());
  }
  scope.made[op.name] = {scope.arguments[static_cast<size_t>(index)]};
  return {};
}

Status Reader::add_const(const OpDef& op, Scope& scope) {
  const auto found = op.tensors.find("value");
  const TensorDef* desc = at(op.output_descs, 0);
  std::string cause = "its attribute 'value' is not there";
  if (found != op.tensors.end()) {
    auto value = constant_of(found->second, desc, source_);
    if (value.ok()) {
      ANYNPU_ASSIGN(const ValueId id, graph_.add_constant(scope.prefix + op.name, value->dtype,
                                                          value->shape, std::move(value->data)));
      scope.made[op.name] = {id};
      return {};
    }
    if (value.status().code() == Code::corrupt_model)
      return value.status().with_note(format("in the constant '{}'", op.name));
    cause = value.status().message();
  }
  graph_.refuse(scope.prefix + op.name, op.type, cause);
  scope.made[op.name] = {OpGraph::kUnknown};
  return {};
}

Status Reader::add_vendor_op(const OpDef& op, Scope& scope) {
  ANYNPU_ASSIGN(const std::vector<ValueId> inputs, inputs_of(op, scope));
  const std::string name = scope.prefix + op.name;
  const std::set<int64_t>& read = scope.read[op.name];
  const size_t last = read.empty() ? 0 : static_cast<size_t>(*read.rbegin());
  if (last >= kMostEnds) {
    return fail(Code::limit_exceeded,
                "output {} of the operator '{}' is read, at most {} are taken", last, op.name,
                kMostEnds);
  }
  if (!op.subgraphs.empty()) {
    if (op.type != "PartitionedCall" && op.type != "StatefulPartitionedCall") {
      graph_.refuse(name, op.type, "control flow of the vendor's graphs is not supported");
      scope.made[op.name].assign(last + 1, OpGraph::kUnknown);
      return {};
    }
    ANYNPU_ASSIGN(scope.made[op.name], call_graph(op, inputs));
    return {};
  }
  if (passes_on(op.type)) {
    if (inputs.empty() || inputs[0] == kNoValue) {
      return fail(Code::corrupt_model, "the operator '{}' ({}) reads nothing", op.name, op.type);
    }
    ValueId value = inputs[0];
    if (op.type == "TransData" && !op.input_descs.empty() && !op.output_descs.empty()) {
      ANYNPU_ASSIGN(value, in_axes(value, plain_format(op.input_descs[0]),
                                   plain_format(op.output_descs[0]), name));
    }
    scope.made[op.name] = {value};
    return {};
  }
  if (const std::string fused = fused_from(op); !fused.empty()) {
    graph_.refuse(name, op.type, format("fused for the chip from {}", fused));
    scope.made[op.name].assign(last + 1, OpGraph::kUnknown);
    return {};
  }
  singleop::SingleOp single;
  single.type = op.type;
  single.attrs = op.attrs;
  single.inputs.resize(inputs.size());
  size_t described = 0;
  const bool all_described = op.input_descs.size() >= inputs.size();
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == kNoValue) {
      described += all_described;
      continue;
    }
    if (const TensorDef* desc = at(op.input_descs, described++)) {
      single.inputs[i].format = plain_format(*desc);
    }
  }
  single.outputs.resize(std::max(op.output_descs.size(), last + 1));
  if (single.outputs.size() > kMostEnds) {
    return fail(Code::limit_exceeded, "the operator '{}' has {} outputs, at most {} are taken",
                op.name, single.outputs.size(), kMostEnds);
  }
  for (size_t o = 0; o < single.outputs.size(); ++o) {
    single.outputs[o].shape = {kUnknownRank};
    if (!read.contains(static_cast<int64_t>(o))) continue;
    const TensorDef* desc = at(op.output_descs, o);
    single.outputs[o].format = desc ? plain_format(*desc) : Format::nd;
    if (desc) single.outputs[o].dtype = desc->dtype;
  }
  ANYNPU_ASSIGN(scope.made[op.name], graph_.add(name, std::move(single), inputs));
  return {};
}

Status Reader::add_op(const OpDef& op, Scope& scope) {
  if (++count_ > kMostOps) {
    return fail(Code::limit_exceeded,
                "the model has more than {} operators when its graphs are written out", kMostOps);
  }
  if (is_input(op.type)) return add_data(op, scope);
  if (is_constant(op.type)) return add_const(op, scope);
  return add_vendor_op(op, scope);
}

Result<std::vector<ValueId>> Reader::call_graph(const OpDef& op,
                                                const std::vector<ValueId>& inputs) {
  for (const GraphDef& graph : model_.graphs) {
    if (graph.name != op.subgraphs[0]) continue;
    return walk(graph, inputs, op.name + "/");
  }
  return fail(Code::corrupt_model, "the operator '{}' calls the graph '{}', which is not there",
              op.name, op.subgraphs[0]);
}

Result<std::vector<ValueId>> Reader::walk(const GraphDef& graph, std::vector<ValueId> arguments,
                                          const std::string& prefix) {
  if (contains(calls_, &graph) || calls_.size() >= kDeepestCall) {
    return fail(Code::corrupt_model, "the graph '{}' calls itself", graph.name);
  }
  calls_.push_back(&graph);
  Scope scope;
  scope.graph = &graph;
  scope.arguments = std::move(arguments);
  scope.prefix = prefix;
  ANYNPU_TRY(find_ops(scope));
  ANYNPU_ASSIGN(const auto sorted, order(scope));
  std::vector<ValueId> outputs;
  for (const OpDef* op : sorted) {
    if (op->type == "NetOutput") {
      ANYNPU_ASSIGN(outputs, inputs_of(*op, scope));
      for (size_t o = 0; o < outputs.size(); ++o) {
        // What leaves the model is in the format that NetOutput states.
        const TensorDef* from = source_desc(*op, o, scope);
        const TensorDef* to = at(op->input_descs, o);
        if (!from || !to || calls_.size() > 1) continue;
        ANYNPU_ASSIGN(outputs[o], in_axes(outputs[o], plain_format(*from), plain_format(*to),
                                          format("{}/output{}", op->name, o)));
      }
    } else {
      ANYNPU_TRY(add_op(*op, scope));
    }
  }
  calls_.pop_back();
  return outputs;
}

Result<graph::Graph> Reader::run() {
  ANYNPU_TRY(add_inputs());
  ANYNPU_ASSIGN(const auto outputs, walk(model_.graphs[0], {}, ""));
  std::vector<ValueId> known;
  for (ValueId id : outputs) {
    if (id != kNoValue) known.push_back(id);
  }
  return graph_.finish(known, {});
}

}  // namespace

Edge parse_edge(const std::string& text) {
  const size_t colon = text.rfind(':');
  if (colon == text.npos) return {text, 0};
  int64_t index = 0;
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data() + colon + 1, end, index);
  if (error != std::errc() || last != end) return {text, 0};
  return {text.substr(0, colon), index};
}

Result<graph::Graph> build_graph(const ModelDef& model, const Source& source,
                                 const InputShapes& shapes) {
  return Reader(model, source, shapes).run();
}

Result<graph::Graph> import_air(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                                const InputShapes& shapes) {
  ANYNPU_ASSIGN(const ModelDef model, read_model_def(bytes));
  return build_graph(model, {std::move(owner), {}}, shapes);
}

}  // namespace anynpu::ge
