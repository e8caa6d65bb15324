// SPDX-License-Identifier: Apache-2.0
#include "compile/out_nodes.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/text.h"

namespace anynpu::compile {

namespace {

using graph::ValueId;

constexpr std::pair<std::string_view, DType> kTypes[] = {
    {"FP32", DType::f32},   {"FP16", DType::f16},       {"BF16", DType::bf16},
    {"UINT8", DType::u8},   {"INT8", DType::i8},        {"UINT16", DType::u16},
    {"INT16", DType::i16},  {"UINT32", DType::u32},     {"INT32", DType::i32},
    {"UINT64", DType::u64}, {"INT64", DType::i64},      {"DOUBLE", DType::f64},
    {"HIF8", DType::hif8},  {"FP8E5M2", DType::f8e5m2}, {"FP8E4M3FN", DType::f8e4m3},
};

// "node:3" -> 3, with `node` cut off; none when it does not end so.
std::optional<size_t> cut_index(std::string_view& text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return {};
  size_t index = 0;
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data() + colon + 1, end, index);
  if (error != std::errc() || last != end) return {};
  text = text.substr(0, colon);
  return index;
}

struct Found {
  ValueId id = graph::kNoValue;
  bool by_node = false;
};

ValueId find_source(const std::string& source, const graph::Graph& graph) {
  for (size_t i = 0; i < graph.values.size(); ++i) {
    if (graph.values[i].source == source) return static_cast<ValueId>(i);
  }
  return graph::kNoValue;
}

// Of the node as the source model has it.
size_t count_outputs(const graph::Node& node, const graph::Graph& graph) {
  size_t count = node.outputs.size();
  while (find_source(format("{}:{}", node.name, count), graph) != graph::kNoValue) ++count;
  return count;
}

Result<Found> find_output(const std::string& wanted, const graph::Graph& graph) {
  std::string_view name = wanted;
  const std::optional<size_t> index = cut_index(name);
  const graph::Node* named = nullptr;
  for (size_t n = 0; index && !named && n < graph.nodes.size(); ++n) {
    if (graph.nodes[n].name == name) named = &graph.nodes[n];
  }
  if (named && *index < named->outputs.size() && named->outputs[*index] != graph::kNoValue)
    return Found{named->outputs[*index], true};
  if (const ValueId id = find_source(wanted, graph); id != graph::kNoValue) return Found{id, true};
  if (named) {
    return fail(Code::not_found,
                "--out_nodes: '{}': node '{}' ({}) has {} outputs, counted from 0; correct the "
                "index",
                wanted, named->name, named->op, count_outputs(*named, graph));
  }
  const ValueId id = graph.find_value(wanted);
  if (id != graph::kNoValue) return Found{id, false};
  return fail(Code::not_found,
              "--out_nodes: '{}' names nothing in the model; expected node:index with the name of "
              "a node, or the name of a tensor. 'anynpu graph <model>' prints both",
              wanted);
}

}  // namespace

Result<std::vector<std::string>> parse_out_nodes(std::string_view text) {
  auto wanted = split_words(text, ';');
  if (wanted.empty() && !text.empty()) {
    return fail(Code::invalid_argument,
                "--out_nodes is '{}'; expected \"node1:0;node2:1\" or \"tensor1;tensor2\"", text);
  }
  return wanted;
}

Status select_outputs(const std::vector<std::string>& wanted, graph::Graph& graph) {
  if (wanted.empty()) return {};
  std::vector<ValueId> outputs;
  bool by_node = false;
  for (const std::string& one : wanted) {
    ANYNPU_ASSIGN(const Found found, find_output(one, graph));
    if (!outputs.empty() && found.by_node != by_node) {
      return fail(Code::invalid_argument,
                  "--out_nodes mixes node:index with names of tensors ('{}' and '{}'); use one "
                  "style",
                  wanted[0], one);
    }
    if (contains(outputs, found.id)) {
      return fail(Code::invalid_argument, "--out_nodes: '{}' is there twice", one);
    }
    const bool is_input = contains(graph.inputs, found.id);
    if (is_input || graph.values[static_cast<size_t>(found.id)].constant) {
      return fail(Code::invalid_argument,
                  "--out_nodes: '{}' is {} of the model; expected what a node computes", one,
                  is_input ? "an input" : "a weight");
    }
    by_node = found.by_node;
    outputs.push_back(found.id);
  }
  graph.outputs = std::move(outputs);
  return {};
}

DType parse_type_name(std::string_view name) {
  for (const auto& [known, type] : kTypes) {
    if (known == name) return type;
  }
  return DType::undefined;
}

Result<OutputTypes> parse_output_types(std::string_view text) {
  OutputTypes types;
  const auto wrong_type = [&](std::string_view name) -> Status {
    std::string known;
    for (const auto& type : kTypes) known += (known.empty() ? "" : ", ") + std::string(type.first);
    return fail(Code::invalid_argument, "--output_type is '{}'; expected one of {}", name, known);
  };
  for (const std::string& part : split_words(text, ';')) {
    std::string_view output = part;
    const size_t colon = output.rfind(':');
    const std::string_view name =
        colon == std::string_view::npos ? output : trim(output.substr(colon + 1));
    const DType type = parse_type_name(name);
    if (type == DType::undefined) return wrong_type(name);
    if (colon == std::string_view::npos) {
      if (part != trim(text)) {
        return fail(Code::invalid_argument,
                    "--output_type is '{}'; expected one type for all outputs, or "
                    "\"node1:0:FP16;node2:0:FP32\"",
                    text);
      }
      types.all = type;
      return types;
    }
    output = output.substr(0, colon);
    std::string_view node = output;
    if (!cut_index(node) || node.empty()) {
      return fail(Code::invalid_argument,
                  "--output_type: '{}' has no index of an output; expected node:0:{}", part, name);
    }
    for (const auto& other : types.of_output) {
      if (other.first == output)
        return fail(Code::invalid_argument, "--output_type: '{}' is there twice", output);
    }
    types.of_output.emplace_back(output, type);
  }
  return types;
}

Result<std::vector<DType>> fit_output_types(const OutputTypes& types,
                                            const std::vector<std::string>& names) {
  std::vector<DType> fitted(names.size(), types.all);
  for (const auto& [output, type] : types.of_output) {
    bool found = false;
    for (size_t i = 0; i < names.size(); ++i) {
      if (!names[i].starts_with(output + ":")) continue;
      fitted[i] = type;
      found = true;
    }
    if (!found) {
      return fail(Code::not_found,
                  "--output_type: '{}' is not among --out_nodes; expected one of its entries",
                  output);
    }
  }
  return fitted;
}

}  // namespace anynpu::compile
