// SPDX-License-Identifier: Apache-2.0
#include "import/mindspore/mindir.h"

#include <utility>

namespace anynpu::mindspore {

namespace {

// The file's numbers of element types.
constexpr std::pair<int64_t, DType> kTypes[] = {
    {1, DType::f32},   {2, DType::u8},   {3, DType::i8},     {4, DType::u16},     {5, DType::i16},
    {6, DType::i32},   {7, DType::i64},  {8, DType::string}, {9, DType::boolean}, {10, DType::f16},
    {11, DType::f64},  {12, DType::u32}, {13, DType::u64},   {14, DType::c64},    {15, DType::c128},
    {16, DType::bf16}, {17, DType::f64},
};

DType dtype_of(int64_t number) {
  for (const auto& [known, dtype] : kTypes) {
    if (known == number) return dtype;
  }
  return DType::undefined;
}

Status read_external(const WireField& message, Tensor& tensor) {
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    if (field.number == 1) ANYNPU_TRY(field.to(tensor.location));
    if (field.number == 2) ANYNPU_TRY(field.to(tensor.offset));
    if (field.number == 3) ANYNPU_TRY(field.to(tensor.length));
  }
  return reader.status();
}

Result<Tensor> read_tensor(const WireField& message) {
  Tensor tensor;
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    if (field.number == 1) ANYNPU_TRY(field.append_to(tensor.shape));
    if (field.number == 2) ANYNPU_TRY(field.to(tensor.stored_type));
    if (field.number == 7) ANYNPU_TRY(field.to(tensor.name));
    if (field.number == 9) ANYNPU_TRY(field.to(tensor.data));
    if (field.number == 12) ANYNPU_TRY(read_external(field, tensor));
    if (field.number == 16) ANYNPU_TRY(field.to(tensor.compression));
  }
  ANYNPU_TRY(reader.status());
  tensor.dtype = dtype_of(tensor.stored_type);
  return tensor;
}

// A number is in its own field or, inside a tuple, the one element of a repeated field.
Status read_numbers(const WireField& field, Attribute& attribute) {
  std::vector<int64_t> whole;
  std::vector<float> floats;
  std::vector<double> doubles;
  float single = 0;
  switch (field.number) {
    case 2:
      ANYNPU_TRY(field.to(single));
      attribute.real = single;
      return {};
    case 3:
      return field.to(attribute.integer);
    case 4:
      return field.to(attribute.real);
    case 8:
      ANYNPU_TRY(field.append_to(floats));
      if (!floats.empty()) attribute.real = floats[0];
      return {};
    case 9:
      ANYNPU_TRY(field.append_to(doubles));
      if (!doubles.empty()) attribute.real = doubles[0];
      return {};
    case 10:
      ANYNPU_TRY(field.append_to(whole));
      if (!whole.empty()) attribute.integer = whole[0];
      return {};
    default:
      return {};
  }
}

Result<Attribute> read_attribute(const WireField& message) {
  Attribute attribute;
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    switch (field.number) {
      case 1:
        ANYNPU_TRY(field.to(attribute.name));
        break;
      case 5:
      case 11:
        ANYNPU_TRY(field.to(attribute.text));
        break;
      case 6:
      case 12: {
        ANYNPU_ASSIGN(Tensor tensor, read_tensor(field));
        attribute.tensors.push_back(std::move(tensor));
        break;
      }
      case 16:
        ANYNPU_TRY(field.to(attribute.type));
        break;
      case 17: {
        ANYNPU_ASSIGN(Attribute value, read_attribute(field));
        attribute.values.push_back(std::move(value));
        break;
      }
      default:
        ANYNPU_TRY(read_numbers(field, attribute));
        break;
    }
  }
  ANYNPU_TRY(reader.status());
  return attribute;
}

Status add_attribute(const WireField& field, std::vector<Attribute>& to) {
  ANYNPU_ASSIGN(Attribute attribute, read_attribute(field));
  to.push_back(std::move(attribute));
  return {};
}

Status add_text(const WireField& field, std::vector<std::string>& to) {
  std::string text;
  ANYNPU_TRY(field.to(text));
  to.push_back(std::move(text));
  return {};
}

Result<Node> read_node(const WireField& message) {
  Node node;
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    if (field.number == 1) ANYNPU_TRY(add_text(field, node.inputs));
    if (field.number == 2) ANYNPU_TRY(add_text(field, node.outputs));
    if (field.number == 3) ANYNPU_TRY(field.to(node.name));
    if (field.number == 4) ANYNPU_TRY(field.to(node.op_type));
    if (field.number == 5) ANYNPU_TRY(add_attribute(field, node.attributes));
    if (field.number == 7) ANYNPU_TRY(field.to(node.scope));
  }
  ANYNPU_TRY(reader.status());
  return node;
}

Result<ValueInfo> read_value_info(const WireField& message) {
  ValueInfo info;
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    if (field.number == 1) ANYNPU_TRY(field.to(info.name));
    if (field.number == 2) {
      ANYNPU_ASSIGN(Tensor tensor, read_tensor(field));
      info.tensors.push_back(std::move(tensor));
    }
    if (field.number == 5) {
      ANYNPU_ASSIGN(info.attribute, read_attribute(field));
    }
  }
  ANYNPU_TRY(reader.status());
  return info;
}

Result<GraphProto> read_graph(const WireField& message) {
  GraphProto graph;
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    switch (field.number) {
      case 1: {
        ANYNPU_ASSIGN(Node node, read_node(field));
        graph.nodes.push_back(std::move(node));
        break;
      }
      case 2:
        ANYNPU_TRY(field.to(graph.name));
        break;
      case 3: {
        ANYNPU_ASSIGN(Tensor tensor, read_tensor(field));
        graph.parameters.push_back(std::move(tensor));
        break;
      }
      case 5:
      case 6: {
        ANYNPU_ASSIGN(ValueInfo info, read_value_info(field));
        (field.number == 5 ? graph.inputs : graph.outputs).push_back(std::move(info));
        break;
      }
      default:
        break;
    }
  }
  ANYNPU_TRY(reader.status());
  return graph;
}

Result<Primitive> read_primitive(const WireField& message) {
  Primitive primitive;
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    if (field.number == 1) ANYNPU_TRY(field.to(primitive.name));
    if (field.number == 2) ANYNPU_TRY(field.to(primitive.op_type));
    if (field.number == 3) ANYNPU_TRY(add_attribute(field, primitive.attributes));
  }
  ANYNPU_TRY(reader.status());
  return primitive;
}

}  // namespace

Result<Model> read_mindir(std::span<const std::byte> bytes) {
  Model model;
  bool has_graph = false;
  WireReader reader(bytes);
  WireField field;
  while (reader.next(field)) {
    switch (field.number) {
      case 2:
        ANYNPU_TRY(field.to(model.producer));
        break;
      case 5:
        ANYNPU_TRY(field.to(model.version));
        break;
      case 7: {
        ANYNPU_ASSIGN(model.graph, read_graph(field));
        has_graph = true;
        break;
      }
      case 8: {
        ANYNPU_ASSIGN(GraphProto function, read_graph(field));
        std::string name = function.name;
        model.functions[name] = std::move(function);
        break;
      }
      case 12: {
        ANYNPU_ASSIGN(Primitive primitive, read_primitive(field));
        std::string name = primitive.name;
        model.primitives[name] = std::move(primitive);
        break;
      }
      default:
        break;
    }
  }
  ANYNPU_TRY(reader.status());
  if (!has_graph) {
    return fail(Code::parse_error,
                "the file has no graph ({} bytes); expected a .mindir file of MindSpore",
                bytes.size());
  }
  return model;
}

}  // namespace anynpu::mindspore
