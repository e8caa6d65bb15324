// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/graph_def.h"

#include <charconv>
#include <optional>

namespace anynpu::tensorflow {

namespace {

std::optional<size_t> parse_index(std::string_view text) {
  size_t index = 0;
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, index);
  if (error != std::errc() || last != end || text.empty()) return {};
  return index;
}

// An entry of a map<string, message>.
Status read_entry(const WireField& entry, std::string& key, WireField& value) {
  WireReader reader(entry);
  WireField field;
  while (reader.next(field)) {
    if (field.number == 1) ANYNPU_TRY(field.to(key));
    if (field.number == 2) value = field;
  }
  return reader.status();
}

Result<NodeDef> read_node_def(const WireField& message) {
  NodeDef node;
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    if (field.number == 1) ANYNPU_TRY(field.to(node.name));
    if (field.number == 2) ANYNPU_TRY(field.to(node.op));
    if (field.number == 3) {
      std::string_view input;
      ANYNPU_TRY(field.to(input));
      if (input.starts_with('^')) {
        node.controls.emplace_back(input.substr(1));
      } else {
        node.inputs.push_back(parse_link(input));
      }
    }
    if (field.number == 5) {
      std::string key;
      WireField value;
      ANYNPU_TRY(read_entry(field, key, value), "in node '{}'", node.name);
      node.attrs[std::move(key)] = value;
    }
  }
  ANYNPU_TRY(reader.status(), "in node '{}'", node.name);
  return node;
}

Status read_signature(const WireField& message, FunctionDef& function,
                      std::vector<std::string>& results) {
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    if (field.number == 1) ANYNPU_TRY(field.to(function.name));
    if (field.number != 2 && field.number != 3) continue;
    FunctionDef::Argument argument;
    WireReader parts(field);
    WireField part;
    while (parts.next(part)) {
      if (part.number == 1) ANYNPU_TRY(part.to(argument.name));
      if (part.number == 3) ANYNPU_TRY(part.to(argument.type));
    }
    ANYNPU_TRY(parts.status());
    if (field.number == 2) {
      function.arguments.push_back(std::move(argument));
    } else {
      results.push_back(std::move(argument.name));
    }
  }
  return reader.status();
}

Result<FunctionDef> read_function_def(const WireField& message) {
  FunctionDef function;
  std::vector<std::string> results;
  std::map<std::string, std::string> returned;
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    if (field.number == 1) ANYNPU_TRY(read_signature(field, function, results));
    if (field.number == 3) {
      ANYNPU_ASSIGN(NodeDef node, read_node_def(field));
      function.nodes.push_back(std::move(node));
    }
    if (field.number == 4) {
      std::string key, value;
      WireField link;
      ANYNPU_TRY(read_entry(field, key, link));
      ANYNPU_TRY(link.to(value));
      returned[std::move(key)] = std::move(value);
    }
  }
  ANYNPU_TRY(reader.status());
  for (const std::string& result : results) {
    const auto found = returned.find(result);
    if (found == returned.end()) {
      return fail(Code::corrupt_model,
                  "function '{}' does not say what its result '{}' is; the file is damaged",
                  function.name, result);
    }
    function.results.push_back(parse_link(found->second));
  }
  return function;
}

Status read_library(const WireField& message, GraphDef& graph) {
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    if (field.number != 1) continue;
    ANYNPU_ASSIGN(FunctionDef function, read_function_def(field), "in the function library");
    std::string name = function.name;
    graph.functions[std::move(name)] = std::make_shared<const FunctionDef>(std::move(function));
  }
  return reader.status();
}

}  // namespace

Link parse_link(std::string_view text) {
  Link link;
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return {std::string(text), 0, {}};
  const auto index = parse_index(text.substr(colon + 1));
  if (!index) return {std::string(text), 0, {}};
  link.index = *index;
  std::string_view rest = text.substr(0, colon);
  if (const size_t inner = rest.find(':'); inner != std::string_view::npos) {
    link.argument = rest.substr(inner + 1);
    rest = rest.substr(0, inner);
  }
  link.node = rest;
  return link;
}

std::string to_text(const Link& link) {
  if (!link.argument.empty()) return format("{}:{}:{}", link.node, link.argument, link.index);
  return format("{}:{}", link.node, link.index);
}

Result<GraphDef> read_graph_def(std::span<const std::byte> bytes) {
  GraphDef graph;
  WireReader reader(bytes);
  WireField field;
  while (reader.next(field)) {
    if (field.number == 1) {
      ANYNPU_ASSIGN(NodeDef node, read_node_def(field));
      if (node.name.empty() || node.op.empty()) {
        return fail(Code::parse_error,
                    "node {} has the name '{}' and the operator '{}'; expected both, this is no "
                    "GraphDef",
                    graph.nodes.size(), node.name, node.op);
      }
      graph.nodes.push_back(std::move(node));
    } else if (field.number == 2) {
      ANYNPU_TRY(read_library(field, graph));
    } else if (field.number == 4) {
      WireReader versions(field);
      WireField version;
      while (versions.next(version)) {
        if (version.number == 1) ANYNPU_TRY(version.to(graph.producer));
      }
      ANYNPU_TRY(versions.status());
    }
  }
  ANYNPU_TRY(reader.status());
  if (graph.nodes.empty()) {
    return fail(Code::parse_error,
                "the file has no nodes ({} bytes); expected a frozen GraphDef of TensorFlow",
                bytes.size());
  }
  return graph;
}

}  // namespace anynpu::tensorflow
