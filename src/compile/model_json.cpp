// SPDX-License-Identifier: Apache-2.0
#include "compile/model_json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "base/prototext.h"
#include "base/text.h"

namespace anynpu::compile {

namespace {

using graph::Graph;
using graph::kNoValue;
using graph::ValueId;
using json::Array;
using json::Object;

constexpr std::string_view kEnumPrefix = "DT_";

// "float32" -> "DT_FLOAT", as the card's description spells it.
std::string type_text(DType type) {
  if (type == DType::f32) return "DT_FLOAT";
  std::string text(name_of(type));
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  if (text == "FLOAT64") text = "DOUBLE";
  return std::string(kEnumPrefix) + text;
}

json::Value attr_entry(const std::string& key, json::Value value) {
  return Object{{"key", key}, {"value", std::move(value)}};
}

struct AttrJson {
  template <typename T>
  static json::Value list(const char* kind, const std::vector<T>& items) {
    Array array;
    for (const T& item : items) {
      if constexpr (std::is_same_v<T, float>) {
        array.emplace_back(static_cast<double>(item));
      } else {
        array.emplace_back(item);
      }
    }
    return Object{{"list", Object{{kind, std::move(array)}}}};
  }
  json::Value operator()(int64_t v) const { return Object{{"i", v}}; }
  json::Value operator()(float v) const { return Object{{"f", static_cast<double>(v)}}; }
  json::Value operator()(const std::string& v) const { return Object{{"s", v}}; }
  json::Value operator()(const std::vector<int64_t>& v) const { return list("i", v); }
  json::Value operator()(const std::vector<float>& v) const { return list("f", v); }
  json::Value operator()(const std::vector<std::string>& v) const { return list("s", v); }
  json::Value operator()(const graph::TensorAttr& v) const;
  json::Value operator()(const std::shared_ptr<const Graph>& v) const;
};

json::Value shape_json(const Shape& shape) {
  Array dims;
  for (int64_t extent : shape) dims.emplace_back(extent);
  return Object{{"dim", std::move(dims)}};
}

json::Value desc_json(const graph::Value& value) {
  Object desc = {{"name", value.name},
                 {"dtype", type_text(value.dtype)},
                 {"layout", std::string(name_of(value.format))}};
  if (value.has_shape) desc.emplace_back("shape", shape_json(value.shape));
  return desc;
}

json::Value AttrJson::operator()(const graph::TensorAttr& v) const {
  return Object{{"t", Object{{"desc", Object{{"dtype", type_text(v.dtype)},
                                             {"shape", shape_json(v.shape)}}}}}};
}

class GraphWriter {
 public:
  explicit GraphWriter(const Graph& graph) : graph_(graph) {}

  json::Value run() {
    for (ValueId id : graph_.inputs) add_source("Data", id);
    for (size_t i = 0; i < graph_.values.size(); ++i) {
      if (graph_.values[i].constant) add_source("Const", static_cast<ValueId>(i));
    }
    for (const graph::Node& node : graph_.nodes) add_node(node);
    Array sources, descs, outputs;
    for (ValueId id : graph_.outputs) {
      sources.emplace_back(source_[id]);
      descs.push_back(desc_json(value(id)));
      outputs.emplace_back(source_[id]);
    }
    ops_.push_back(Object{{"name", "NetOutput"},
                          {"type", "NetOutput"},
                          {"input", std::move(sources)},
                          {"input_desc", std::move(descs)}});
    return Object{{"name", graph_.name}, {"op", std::move(ops_)}, {"output", std::move(outputs)}};
  }

 private:
  const graph::Value& value(ValueId id) const { return graph_.values[static_cast<size_t>(id)]; }

  void add_source(const char* type, ValueId id) {
    source_[id] = value(id).name + ":0";
    Object op = {
        {"name", value(id).name}, {"type", type}, {"output_desc", Array{desc_json(value(id))}}};
    if (value(id).constant) {
      op.emplace_back(
          "attr",
          Array{attr_entry("weight_bytes",
                           AttrJson{}(static_cast<int64_t>(value(id).constant->bytes.size())))});
    }
    ops_.emplace_back(std::move(op));
  }

  void add_node(const graph::Node& node) {
    Array inputs, input_descs, output_descs, attrs;
    for (ValueId id : node.inputs) {
      inputs.emplace_back(id == kNoValue ? std::string() : source_[id]);
      input_descs.push_back(id == kNoValue ? json::Value(Object{}) : desc_json(value(id)));
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const ValueId id = node.outputs[i];
      output_descs.push_back(id == kNoValue ? json::Value(Object{}) : desc_json(value(id)));
      if (id != kNoValue) source_[id] = format("{}:{}", node.name, i);
    }
    if (!node.domain.empty()) attrs.push_back(attr_entry("_domain", AttrJson{}(node.domain)));
    attrs.push_back(attr_entry("_opset", AttrJson{}(node.opset)));
    for (const auto& [key, attr] : node.attrs)
      attrs.push_back(attr_entry(key, std::visit(AttrJson{}, attr)));
    ops_.push_back(Object{{"name", node.name},
                          {"type", node.op},
                          {"input", std::move(inputs)},
                          {"attr", std::move(attrs)},
                          {"input_desc", std::move(input_descs)},
                          {"output_desc", std::move(output_descs)}});
  }

  const Graph& graph_;
  Array ops_;
  std::map<ValueId, std::string> source_;  // "node:index"
};

json::Value AttrJson::operator()(const std::shared_ptr<const Graph>& v) const {
  return Object{{"g", v ? GraphWriter(*v).run() : json::Value(Object{})}};
}

bool is_enum(std::string_view key, const std::string& text) {
  return key == "dtype" && text.starts_with(kEnumPrefix);
}

void write_text(std::string_view key, const json::Value& value, const std::string& indent,
                std::string& out) {
  if (const Array* array = value.array()) {
    for (const json::Value& item : *array) write_text(key, item, indent, out);
  } else if (const Object* object = value.object()) {
    out += format("{}{} {{\n", indent, key);
    for (const auto& [name, member] : *object) write_text(name, member, indent + "  ", out);
    out += indent + "}\n";
  } else if (const std::string* text = value.string()) {
    out += format("{}{}: {}\n", indent, key, is_enum(key, *text) ? *text : json::quote(*text));
  } else {
    out += format("{}{}: {}\n", indent, key, value.dump());
  }
}

// Fields that are lists even when they are there once.
constexpr std::array<std::string_view, 13> kLists = {
    "graph",       "op",    "input",  "output", "attr", "dim",      "input_desc",
    "output_desc", "layer", "layers", "bottom", "top",  "input_dim"};

json::Value scalar(const TextField& field) {
  if (field.kind == TextField::Kind::string) return field.text;
  if (field.text == "true" || field.text == "false") return field.text == "true";
  int64_t whole = 0;
  const char* const end = field.text.data() + field.text.size();
  const auto [last, error] = std::from_chars(field.text.data(), end, whole);
  if (error == std::errc() && last == end) return whole;
  double real = 0;
  if (field.to(real).ok()) return real;
  return field.text;
}

json::Value to_tree(const TextField& message, bool all_lists) {
  Object object;
  for (const TextField& field : message.fields) {
    json::Value value = field.kind == TextField::Kind::message
                            ? to_tree(field, field.name == "list")
                            : scalar(field);
    const auto place = std::find_if(object.begin(), object.end(),
                                    [&](const json::Member& m) { return m.first == field.name; });
    const bool list = all_lists || contains(kLists, field.name);
    if (place == object.end()) {
      object.emplace_back(field.name,
                          list ? json::Value(Array{std::move(value)}) : std::move(value));
      continue;
    }
    if (!place->second.array()) place->second = Array{std::move(place->second)};
    place->second.array()->push_back(std::move(value));
  }
  return object;
}

}  // namespace

json::Value to_json(const Graph& graph, const std::string& model_name) {
  return Object{{"name", model_name}, {"graph", Array{GraphWriter(graph).run()}}};
}

std::string to_prototext(const json::Value& tree) {
  std::string text;
  if (const Object* object = tree.object()) {
    for (const auto& [key, value] : *object) write_text(key, value, "", text);
  }
  return text;
}

Result<json::Value> from_prototext(std::string_view text) {
  ANYNPU_ASSIGN(const TextField root, parse_prototext(text));
  return to_tree(root, false);
}

}  // namespace anynpu::compile
