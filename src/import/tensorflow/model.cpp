// SPDX-License-Identifier: Apache-2.0
// From the bytes of a frozen GraphDef to a graph: what it returns, what it takes, what lies
// between.
#include <algorithm>
#include <unordered_set>

#include "base/mapped_file.h"
#include "base/text.h"
#include "import/tensorflow/body.h"
#include "import/tensorflow/file_kind.h"
#include "import/tensorflow/flow_forms.h"
#include "import/tensorflow/lower.h"
#include "import/tensorflow/operator_check.h"
#include "import/tensorflow/table.h"
#include "import/tensorflow/tensorflow.h"

namespace anynpu::tensorflow {

namespace {

// Nodes without a reader that are no result: what they make is nothing, or is written elsewhere.
bool makes_no_result(const NodeDef& node) {
  static constexpr std::string_view kNone[] = {"Const",
                                               "NoOp",
                                               "Assert",
                                               "Placeholder",
                                               "Print",
                                               "PrintV2",
                                               "PlaceholderV2",
                                               "PlaceholderWithDefault",
                                               "SaveV2",
                                               "RestoreV2",
                                               "LookupTableImportV2",
                                               "InitializeTableV2"};
  return contains(kNone, std::string_view(node.op)) || node.op.find("Summary") != std::string::npos;
}

std::vector<Link> leaves_of(const GraphDef& graph) {
  std::unordered_set<std::string_view> read;
  for (const NodeDef& node : graph.nodes) {
    for (const Link& link : node.inputs) read.insert(link.node);
  }
  // The Identity behind a Switch that only orders the nodes of a branch.
  std::unordered_set<std::string_view> switches;
  for (const NodeDef& node : graph.nodes) {
    if (node.op == "Switch" || node.op == "_SwitchN") switches.insert(node.name);
  }
  std::vector<Link> leaves;
  for (const NodeDef& node : graph.nodes) {
    const bool pivot =
        node.op == "Identity" && node.inputs.size() == 1 && switches.contains(node.inputs[0].node);
    if (!read.contains(node.name) && !makes_no_result(node) && !pivot)
      leaves.push_back({node.name, 0, {}});
  }
  return leaves;
}

class Importer {
 public:
  Importer(GraphDef def, std::shared_ptr<const void> owner, const MappedFile* file,
           const ImportOptions& options)
      : def_(std::move(def)),
        model_{def_, std::move(owner), options, file},
        builder_(model_, "model") {}

  Result<graph::Graph> run() {
    ANYNPU_TRY(check_names());
    ANYNPU_TRY(choose_outputs());
    ANYNPU_TRY(rebuild_flow(def_.nodes));
    ANYNPU_ASSIGN(const auto order, needed_nodes(model_.def.nodes, outputs_, {}));
    ANYNPU_TRY(check_operators(model_.def, order));
    ANYNPU_TRY(add_inputs(order));
    const Status lowered = lower_body(builder_, model_.def.nodes, outputs_, made_);
    if (!lowered.ok()) return missing_shapes_or(lowered);
    ANYNPU_TRY(add_outputs());
    ANYNPU_TRY(builder_.graph().verify());
    return std::move(builder_.graph());
  }

 private:
  Status check_names() const {
    std::unordered_set<std::string_view> names;
    for (const NodeDef& node : model_.def.nodes) {
      if (names.insert(node.name).second) continue;
      return fail(Code::corrupt_model,
                  "two nodes are called '{}'; expected unique names, the file is damaged",
                  node.name);
    }
    return {};
  }

  Status choose_outputs() {
    for (const std::string& text : model_.options.outputs) outputs_.push_back(parse_link(text));
    all_of_leaves_ = outputs_.empty();
    if (all_of_leaves_) outputs_ = leaves_of(model_.def);
    if (outputs_.empty()) {
      return fail(Code::corrupt_model,
                  "every node of the model is read by another; name what it returns with "
                  "--out_nodes=\"node:0\"");
    }
    for (const Link& output : outputs_) {
      const bool there = std::any_of(model_.def.nodes.begin(), model_.def.nodes.end(),
                                     [&](const NodeDef& node) { return node.name == output.node; });
      if (there) continue;
      std::vector<std::string_view> names;
      for (const NodeDef& node : model_.def.nodes) names.push_back(node.name);
      const std::string near = near_name(names, output.node);
      return fail(Code::not_found, "--out_nodes: the model has no node '{}'{}; expected node:index",
                  output.node, near);
    }
    return {};
  }

  // In the order of the file, whoever reads them first.
  Status add_inputs(const std::vector<const NodeDef*>& order) {
    const std::unordered_set<const NodeDef*> needed(order.begin(), order.end());
    for (const NodeDef& node : model_.def.nodes) {
      if (!needed.contains(&node)) continue;
      const TfOp* row = find_tf_op(node.op);
      if (node.op == "PlaceholderWithDefault" && model_.options.shapes.contains(node.name))
        row = find_tf_op("Placeholder");
      if (row->lower != lower_placeholder && row->lower != lower_next_element) continue;
      builder_.begin(node, row, {});
      row->lower(builder_);
      made_[node.name] = builder_.end();
      ANYNPU_TRY(Status(builder_.status()));
    }
    return {};
  }

  // What fails for want of a shape says which option to type.
  Status missing_shapes_or(const Status& failure) {
    std::string text;
    for (ValueId id : builder_.graph().inputs) {
      const graph::Value& value = builder_.value(id);
      if (value.has_shape) continue;
      text += format("{}{}:1,224,224,3", text.empty() ? "" : ";", value.name);
    }
    if (text.empty()) return failure;
    return Status(failure).with_note(
        format("inputs of the model have no shape; give them, such as --input_shape=\"{}\"", text));
  }

  Status add_outputs() {
    graph::Graph& graph = builder_.graph();
    for (const Link& link : outputs_) {
      const auto& tensors = made_[link.node];
      const size_t first = all_of_leaves_ ? 0 : link.index;
      const size_t count = all_of_leaves_ ? tensors.size() : first + 1;
      for (size_t i = first; i < count; ++i) {
        if (i >= tensors.size() || (tensors[i].plain == kNoValue && tensors[i].first == kNoValue)) {
          if (all_of_leaves_) continue;
          return fail(Code::not_found,
                      "--out_nodes: '{}:{}': the node has {} outputs that can be returned, counted "
                      "from 0; correct the index",
                      link.node, i, tensors.size());
        }
        if (tensors[i].is_list) {
          return fail(Code::unsupported_feature,
                      "output '{}:{}' is a list of tensors; return what TensorListStack or "
                      "TensorArrayGatherV3 makes of it",
                      link.node, i);
        }
        ANYNPU_TRY(add_output(link.node, i, builder_.plain(tensors[i])));
      }
    }
    ANYNPU_TRY(Status(builder_.status()));
    if (graph.outputs.empty()) {
      return fail(Code::unsupported_feature,
                  "no node makes a tensor that can be returned; name one with --out_nodes");
    }
    return {};
  }

  Status add_output(const std::string& name, size_t index, ValueId id) {
    graph::Graph& graph = builder_.graph();
    ANYNPU_TRY(Status(builder_.status()));
    graph::Node same;
    same.op = "Identity";
    same.opset = 13;
    same.inputs = {id};
    graph::Value value = builder_.value(id);
    value.constant = nullptr;
    const bool taken = graph.find_value(name) != kNoValue;
    value.name = index == 0 && !taken ? name : format("{}:{}", name, index);
    value.source = format("{}:{}", name, index);
    same.name = format("{}:{}", name, index);
    const ValueId out = graph.add_value(std::move(value));
    same.outputs = {out};
    graph.nodes.push_back(std::move(same));
    graph.outputs.push_back(out);
    return {};
  }

  GraphDef def_;
  Model model_;
  Builder builder_;
  std::vector<Link> outputs_;
  bool all_of_leaves_ = false;
  Tensors made_;
};

Result<graph::Graph> import_bytes(std::span<const std::byte> bytes,
                                  std::shared_ptr<const void> owner, const MappedFile* file,
                                  const std::string& path, const ImportOptions& options) {
  ANYNPU_TRY(check_bytes(bytes, path));
  ANYNPU_ASSIGN(GraphDef def, read_graph_def(bytes));
  return Importer(std::move(def), std::move(owner), file, options).run();
}

}  // namespace

Result<graph::Graph> import_memory(std::span<const std::byte> bytes,
                                   std::shared_ptr<const void> owner,
                                   const ImportOptions& options) {
  return import_bytes(bytes, std::move(owner), nullptr, "model.pb", options);
}

Result<graph::Graph> import_file(const std::string& path, const ImportOptions& options) {
  ANYNPU_TRY(check_path(path));
  ANYNPU_ASSIGN(auto file, MappedFile::open(path), "while opening the TensorFlow model");
  const auto bytes = file->bytes();
  ANYNPU_ASSIGN(graph::Graph graph, import_bytes(bytes, file, file.get(), path, options),
                "while reading the TensorFlow model '{}'", path);
  return graph;
}

}  // namespace anynpu::tensorflow
