// SPDX-License-Identifier: Apache-2.0
#include "base/align.h"
#include "om/codec.h"
#include "om/layout.h"

namespace anynpu::om {

using graph::Attr;
using graph::Constant;
using graph::Graph;
using graph::Node;
using graph::TensorAttr;
using graph::Value;

namespace {

// Which member of graph::Attr an attribute holds: stored, so never renumbered.
enum AttrCode : int64_t {
  kInt = 1,
  kFloat = 2,
  kText = 3,
  kInts = 4,
  kFloats = 5,
  kTexts = 6,
  kTensor = 7,
  kGraph = 8,
};

WireWriter encode_value(const Value& value, WeightTable& weights) {
  WireWriter out;
  out.text(1, value.name);
  out.integer(2, static_cast<int64_t>(value.dtype));
  out.integer(3, value.has_shape);
  if (value.has_shape) out.packed(4, std::span<const int64_t>(value.shape));
  out.integer(5, static_cast<int64_t>(value.format));
  if (value.kind != graph::ValueKind::tensor) out.integer(8, static_cast<int64_t>(value.kind));
  if (value.constant) {
    out.varint(6, weights.add(value.constant));
    out.varint(7, value.constant->bytes.size());
  }
  return out;
}

struct AttrEncoder {
  WireWriter& out;
  WeightTable& weights;

  void operator()(int64_t v) const { out.integer(2, kInt), out.integer(3, v); }
  void operator()(float v) const { out.integer(2, kFloat), out.real(4, v); }
  void operator()(const std::string& v) const { out.integer(2, kText), out.text(5, v); }
  void operator()(const std::vector<int64_t>& v) const {
    out.integer(2, kInts), out.packed(6, std::span<const int64_t>(v));
  }
  void operator()(const std::vector<float>& v) const {
    out.integer(2, kFloats), out.packed(7, std::span<const float>(v));
  }
  void operator()(const std::vector<std::string>& v) const {
    out.integer(2, kTexts);
    for (const std::string& text : v) out.text(8, text);
  }
  void operator()(const TensorAttr& v) const {
    Value value;
    value.dtype = v.dtype;
    value.shape = v.shape;
    value.has_shape = true;
    value.constant = v.data;
    out.integer(2, kTensor), out.message(9, encode_value(value, weights));
  }
  void operator()(const std::shared_ptr<const Graph>& v) const {
    out.integer(2, kGraph), out.message(10, encode_graph(*v, weights));
  }
};

std::vector<int64_t> widen(const std::vector<graph::ValueId>& ids) {
  return {ids.begin(), ids.end()};
}

WireWriter encode_node(const Node& node, WeightTable& weights) {
  WireWriter out;
  out.text(1, node.op);
  out.text(2, node.domain);
  out.integer(3, node.opset);
  out.text(4, node.name);
  out.packed(5, widen(node.inputs));
  out.packed(6, widen(node.outputs));
  for (const auto& [key, attr] : node.attrs) {
    WireWriter entry;
    entry.text(1, key);
    std::visit(AttrEncoder{entry, weights}, attr);
    out.message(7, entry);
  }
  return out;
}

class Decoder {
 public:
  explicit Decoder(const Weights& weights) : weights_(weights) {}

  Result<Graph> graph(WireReader reader) const {
    Graph out;
    WireField field;
    while (reader.next(field)) {
      switch (field.number) {
        case 1:
          ANYNPU_TRY(field.to(out.name));
          break;
        case 2: {
          ANYNPU_ASSIGN(Value value, this->value(field));
          out.values.push_back(std::move(value));
          break;
        }
        case 3: {
          ANYNPU_ASSIGN(Node node, this->node(field));
          out.nodes.push_back(std::move(node));
          break;
        }
        case 4:
          ANYNPU_TRY(ids(field, out.inputs));
          break;
        case 5:
          ANYNPU_TRY(ids(field, out.outputs));
          break;
        default:
          break;
      }
    }
    ANYNPU_TRY(reader.status(), "in the graph section");
    ANYNPU_TRY(out.verify());
    return out;
  }

 private:
  static Status ids(const WireField& field, std::vector<graph::ValueId>& out) {
    std::vector<int64_t> wide;
    ANYNPU_TRY(field.append_to(wide));
    for (int64_t id : wide) {
      if (id != static_cast<graph::ValueId>(id)) {
        return fail(Code::corrupt_model, "the value number {} is out of range", id);
      }
      out.push_back(static_cast<graph::ValueId>(id));
    }
    return {};
  }

  Result<std::shared_ptr<const Constant>> constant(uint64_t offset, uint64_t size,
                                                   const Value& value) const {
    auto found = is_aligned(offset, kAlignment) ? weights_.find(offset, size) : nullptr;
    if (!found) {
      return fail(Code::corrupt_model,
                  "constant '{}' lies at {} with {} bytes, where the weights have none", value.name,
                  offset, size);
    }
    const int64_t count = value.has_shape ? element_count(value.shape) : -1;
    const bool fits =
        value.dtype == DType::string || (count >= 0 && count <= static_cast<int64_t>(size) * 8 &&
                                         bytes_of(value.dtype, static_cast<size_t>(count)) == size);
    if (!fits) {
      return fail(Code::corrupt_model, "constant '{}' ({} {}) has {} bytes", value.name,
                  name_of(value.dtype), to_string(value.shape), size);
    }
    return found;
  }

  Result<Value> value(const WireField& message) const {
    Value value;
    uint64_t offset = 0, size = 0;
    bool has_constant = false;
    int64_t number = 0;
    WireReader reader(message);
    WireField field;
    while (reader.next(field)) {
      switch (field.number) {
        case 1:
          ANYNPU_TRY(field.to(value.name));
          break;
        case 2: {
          ANYNPU_TRY(field.to(number));
          ANYNPU_ASSIGN(value.dtype, decode_dtype(number));
          break;
        }
        case 3:
          ANYNPU_TRY(field.to(number));
          value.has_shape = number != 0;
          break;
        case 4:
          ANYNPU_TRY(field.append_to(value.shape));
          break;
        case 5: {
          ANYNPU_TRY(field.to(number));
          ANYNPU_ASSIGN(value.format, decode_format(number));
          break;
        }
        case 6:
          ANYNPU_TRY(field.to(offset));
          has_constant = true;
          break;
        case 7:
          ANYNPU_TRY(field.to(size));
          break;
        case 8:
          ANYNPU_TRY(field.to(number));
          if (number < 0 || number > static_cast<int64_t>(graph::ValueKind::optional)) {
            return fail(Code::corrupt_model, "value '{}' has the unknown kind {}", value.name,
                        number);
          }
          value.kind = static_cast<graph::ValueKind>(number);
          break;
        default:
          break;
      }
    }
    ANYNPU_TRY(reader.status());
    ANYNPU_TRY(check_shape(value.shape), "in value '{}'", value.name);
    if (has_constant) {
      ANYNPU_ASSIGN(value.constant, constant(offset, size, value));
    }
    return value;
  }

  Result<Node> node(const WireField& message) const {
    Node node;
    WireReader reader(message);
    WireField field;
    while (reader.next(field)) {
      switch (field.number) {
        case 1:
          ANYNPU_TRY(field.to(node.op));
          break;
        case 2:
          ANYNPU_TRY(field.to(node.domain));
          break;
        case 3:
          ANYNPU_TRY(field.to(node.opset));
          break;
        case 4:
          ANYNPU_TRY(field.to(node.name));
          break;
        case 5:
          ANYNPU_TRY(ids(field, node.inputs));
          break;
        case 6:
          ANYNPU_TRY(ids(field, node.outputs));
          break;
        case 7:
          ANYNPU_TRY(attr(field, node), "in node '{}'", node.name);
          break;
        default:
          break;
      }
    }
    ANYNPU_TRY(reader.status(), "in node '{}'", node.name);
    return node;
  }

  Status attr(const WireField& message, Node& node) const {
    std::string key;
    int64_t code = 0, i = 0;
    float f = 0;
    std::string text;
    std::vector<int64_t> ints;
    std::vector<float> floats;
    std::vector<std::string> texts;
    TensorAttr tensor{};
    std::shared_ptr<const Graph> subgraph;
    WireReader reader(message);
    WireField field;
    while (reader.next(field)) {
      switch (field.number) {
        case 1:
          ANYNPU_TRY(field.to(key));
          break;
        case 2:
          ANYNPU_TRY(field.to(code));
          break;
        case 3:
          ANYNPU_TRY(field.to(i));
          break;
        case 4:
          ANYNPU_TRY(field.to(f));
          break;
        case 5:
          ANYNPU_TRY(field.to(text));
          break;
        case 6:
          ANYNPU_TRY(field.append_to(ints));
          break;
        case 7:
          ANYNPU_TRY(field.append_to(floats));
          break;
        case 8:
          ANYNPU_TRY(field.to(texts.emplace_back()));
          break;
        case 9: {
          ANYNPU_ASSIGN(Value v, value(field));
          tensor = TensorAttr{v.dtype, std::move(v.shape), std::move(v.constant)};
          break;
        }
        case 10: {
          ANYNPU_ASSIGN(Graph inner, graph(WireReader(field)));
          subgraph = std::make_shared<const Graph>(std::move(inner));
          break;
        }
        default:
          break;
      }
    }
    ANYNPU_TRY(reader.status());
    Attr& slot = node.attrs[key];
    switch (code) {
      case kInt:
        slot = i;
        return {};
      case kFloat:
        slot = f;
        return {};
      case kText:
        slot = std::move(text);
        return {};
      case kInts:
        slot = std::move(ints);
        return {};
      case kFloats:
        slot = std::move(floats);
        return {};
      case kTexts:
        slot = std::move(texts);
        return {};
      case kTensor:
        if (!tensor.data) break;
        slot = std::move(tensor);
        return {};
      case kGraph:
        if (!subgraph) break;
        slot = std::move(subgraph);
        return {};
      default:
        break;
    }
    return fail(Code::corrupt_model, "attribute '{}' has the kind {} and no value of it", key,
                code);
  }

  const Weights& weights_;
};

}  // namespace

uint64_t WeightTable::add(const std::shared_ptr<const Constant>& constant) {
  const auto [place, is_new] = offsets_.try_emplace(constant->bytes.data(), size_);
  if (is_new) {
    list_.push_back(constant);
    size_ = round_up(size_ + constant->bytes.size(), kAlignment);
  }
  return place->second;
}

WireWriter encode_graph(const Graph& graph, WeightTable& weights) {
  WireWriter out;
  out.text(1, graph.name);
  for (const Value& value : graph.values) out.message(2, encode_value(value, weights));
  for (const Node& node : graph.nodes) out.message(3, encode_node(node, weights));
  out.packed(4, widen(graph.inputs));
  out.packed(5, widen(graph.outputs));
  return out;
}

Result<Graph> decode_graph(WireReader reader, const Weights& weights) {
  return Decoder(weights).graph(std::move(reader));
}

}  // namespace anynpu::om
