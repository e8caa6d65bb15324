// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/operator_check.h"

#include <set>

#include "base/nearest_name.h"
#include "base/text.h"
#include "import/tensorflow/attr_value.h"
#include "import/tensorflow/flow_forms.h"
#include "import/tensorflow/table.h"

namespace anynpu::tensorflow {

namespace {

// Variables that freezing turns into constants.
bool is_variable(std::string_view op) {
  static constexpr std::string_view kVariables[] = {
      "Variable",           "VariableV2",     "VarHandleOp",      "ReadVariableOp",
      "AutoReloadVariable", "ResourceGather", "ResourceGatherNd", "VarIsInitializedOp"};
  return contains(kVariables, op);
}

constexpr const char* kHowToFreeze =
    "freeze the model, so that its variables become constants. TensorFlow 2: "
    "convert_variables_to_constants_v2(concrete_function).graph.as_graph_def() of "
    "tensorflow.python.framework.convert_to_constants; TensorFlow 1: "
    "tf.compat.v1.graph_util.convert_variables_to_constants(session, graph_def, [\"output\"]); "
    "write "
    "the result with tf.io.write_graph(graph_def, \".\", \"frozen.pb\", as_text=False)";

struct Missing {
  std::vector<std::string> operators, variables;
  std::set<std::string> seen;  // functions
};

void look_at(const GraphDef& graph, const NodeDef& node, const std::string& where,
             Missing& missing) {
  if (is_variable(node.op)) {
    missing.variables.push_back(format("{} '{}'{}", node.op, node.name, where));
  } else if (!find_tf_op(node.op)) {
    const std::string_view near = nearest_tf_op(node.op);
    missing.operators.push_back(
        format("{} '{}'{}{}", node.op, node.name, where,
               near.empty() ? std::string() : format(", nearest known name: {}", near)));
  }
  if (node.flow) {
    const FlowForm& form = *node.flow;
    const auto look_inside = [&](const FunctionDef& inner) {
      for (const NodeDef& one : inner.nodes) look_at(graph, one, where, missing);
    };
    for (const FunctionDef* inner : {&form.cond, &form.body, &form.then_branch, &form.else_branch})
      look_inside(*inner);
    for (const FunctionDef& branch : form.branches) look_inside(branch);
  }
  for (const std::string& name : called_functions(node)) {
    const auto found = graph.functions.find(name);
    if (found == graph.functions.end() || !missing.seen.insert(name).second) continue;
    for (const NodeDef& inner : found->second->nodes)
      look_at(graph, inner, format(" in function '{}'", name), missing);
  }
}

std::string as_lines(const std::vector<std::string>& entries) {
  constexpr size_t kMostShown = 200;
  std::string text;
  for (size_t i = 0; i < entries.size() && i < kMostShown; ++i) text += "\n  " + entries[i];
  if (entries.size() > kMostShown) text += format("\n  and {} more", entries.size() - kMostShown);
  return text;
}

}  // namespace

std::vector<std::string> called_functions(const NodeDef& node) {
  std::vector<std::string> names;
  for (const char* attr : {"f", "then_branch", "else_branch", "cond", "body"}) {
    if (!node.attrs.contains(attr)) continue;
    const auto name = function_attr(node, attr);
    if (name.ok() && !name.value().empty()) names.push_back(name.value());
  }
  if (node.attrs.contains("branches")) {
    const auto list = functions_attr(node, "branches");
    if (list.ok()) names.insert(names.end(), list.value().begin(), list.value().end());
  }
  return names;
}

std::string near_name(const std::vector<std::string_view>& names, std::string_view name) {
  const std::string_view near = nearest_name(names, name);
  return near.empty() ? std::string() : format(", did you mean '{}'?", near);
}

std::string refusal_of(const std::string& op) {
  if (is_variable(op)) return format("{} is a variable; {}", op, kHowToFreeze);
  if (find_tf_op(op)) return {};
  const std::string_view near = nearest_tf_op(op);
  return format("no operator is called {}{}", op,
                near.empty() ? std::string() : format("; the nearest known name is {}", near));
}

Status check_operators(const GraphDef& graph, const std::vector<const NodeDef*>& nodes) {
  Missing missing;
  for (const NodeDef* node : nodes) look_at(graph, *node, "", missing);
  if (!missing.variables.empty()) {
    return fail(Code::unsupported_feature, "the model is not frozen, it has {} variables:{}\n{}",
                missing.variables.size(), as_lines(missing.variables), kHowToFreeze);
  }
  if (missing.operators.empty()) return {};
  return fail(
      Code::unsupported_op,
      "{} operators of the model are not supported:{}\nRewrite these parts of the model, or "
      "cut it in front of them with --out_nodes",
      missing.operators.size(), as_lines(missing.operators));
}

}  // namespace anynpu::tensorflow
