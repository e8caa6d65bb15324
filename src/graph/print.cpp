// SPDX-License-Identifier: Apache-2.0
#include "graph/graph.h"

namespace anynpu::graph {

namespace {

// Floats and strings of a list, shortened after this many.
constexpr size_t kListLimit = 16;

std::string type_text(DType dtype, bool has_shape, const Shape& shape) {
  return format("{}[{}]", name_of(dtype), has_shape ? to_string(shape) : "*");
}

std::string type_text(const Value& value) {
  if (value.kind == ValueKind::sequence) return format("sequence({})", name_of(value.dtype));
  if (value.kind == ValueKind::optional) return format("optional({})", name_of(value.dtype));
  return type_text(value.dtype, value.has_shape, value.shape);
}

template <typename T>
std::string list_text(const std::vector<T>& list) {
  std::string text = "[";
  for (size_t i = 0; i < list.size() && i < kListLimit; ++i) {
    if (i) text += ", ";
    if constexpr (std::is_same_v<T, std::string>) {
      text += format("\"{}\"", list[i]);
    } else {
      text += format("{}", list[i]);
    }
  }
  if (list.size() > kListLimit) text += format(", ... {} in all", list.size());
  return text + "]";
}

struct AttrText {
  std::string operator()(int64_t v) const { return format("{}", v); }
  std::string operator()(float v) const { return format("{}", v); }
  std::string operator()(const std::string& v) const { return format("\"{}\"", v); }
  std::string operator()(const std::vector<int64_t>& v) const { return list_text(v); }
  std::string operator()(const std::vector<float>& v) const { return list_text(v); }
  std::string operator()(const std::vector<std::string>& v) const { return list_text(v); }
  std::string operator()(const TensorAttr& v) const { return type_text(v.dtype, true, v.shape); }
  std::string operator()(const std::shared_ptr<const Graph>& v) const {
    return format("graph {}", v ? v->name : "(null)");
  }
};

class Printer {
 public:
  Printer(const Graph& graph, std::string indent) : graph_(graph), indent_(std::move(indent)) {}

  std::string run() {
    text_ = format("{}graph {}\n", indent_, graph_.name);
    for (ValueId id : graph_.inputs) line("input ", id);
    for (size_t i = 0; i < graph_.values.size(); ++i) {
      if (graph_.values[i].constant) line("const ", static_cast<ValueId>(i));
    }
    for (const Node& node : graph_.nodes) print(node);
    for (ValueId id : graph_.outputs) line("output", id);
    return std::move(text_);
  }

 private:
  const Value* value(ValueId id) const {
    if (id < 0 || static_cast<size_t>(id) >= graph_.values.size()) return nullptr;
    return &graph_.values[static_cast<size_t>(id)];
  }

  std::string name(ValueId id) const {
    const Value* v = value(id);
    return v ? "%" + v->name : "-";
  }

  std::string typed(ValueId id) const {
    const Value* v = value(id);
    if (!v) return "-";
    return format("%{}: {}", v->name, type_text(*v));
  }

  void line(std::string_view kind, ValueId id) {
    text_ += format("{}  {} {}", indent_, kind, typed(id));
    const Value* v = value(id);
    if (v && v->format != Format::nd) text_ += format(" {}", name_of(v->format));
    text_ += '\n';
  }

  void print(const Node& node) {
    text_ += indent_ + "  ";
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      text_ += (i ? ", " : "") + typed(node.outputs[i]);
    }
    const std::string op = node.domain.empty() ? node.op : node.domain + "::" + node.op;
    text_ += format(" = {} \"{}\" (", op, node.name);
    for (size_t i = 0; i < node.inputs.size(); ++i) text_ += (i ? ", " : "") + name(node.inputs[i]);
    text_ += ")";
    if (!node.attrs.empty()) {
      text_ += " {";
      bool first = true;
      for (const auto& [key, attr] : node.attrs) {
        text_ += format("{}{}={}", first ? "" : ", ", key, std::visit(AttrText{}, attr));
        first = false;
      }
      text_ += "}";
    }
    text_ += '\n';
    for (const auto& [key, attr] : node.attrs) {
      const auto* inner = std::get_if<std::shared_ptr<const Graph>>(&attr);
      if (inner && *inner) text_ += Printer(**inner, indent_ + "    ").run();
    }
  }

  const Graph& graph_;
  std::string indent_;
  std::string text_;
};

}  // namespace

std::string print(const Graph& graph) { return Printer(graph, "").run(); }

}  // namespace anynpu::graph
