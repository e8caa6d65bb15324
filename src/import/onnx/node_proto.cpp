// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/node_proto.h"

#include <optional>

namespace anynpu::onnx {

namespace {

// AttributeProto.AttributeType
enum Kind : int64_t {
  kUndefined = 0,
  kFloat = 1,
  kInt = 2,
  kString = 3,
  kTensor = 4,
  kFloats = 6,
  kInts = 7,
  kStrings = 8,
  kSparse = 11,
  kTypeProto = 13,
  kTypeList = 14,
};

struct AttrParts {
  int64_t kind = kUndefined;
  int64_t seen = kUndefined;  // what the fields say, for old files without a kind
  int64_t i = 0;
  float f = 0;
  std::string s;
  std::vector<int64_t> ints;
  std::vector<float> floats;
  std::vector<std::string> strings;
  std::optional<WireField> tensor;  // dense or sparse
  bool unsupported = false;
};

Status read_attr_field(const WireField& field, std::string& name, AttrParts& parts) {
  switch (field.number) {
    case 1:
      return field.to(name);
    case 2:
      parts.seen = kFloat;
      return field.to(parts.f);
    case 3:
      parts.seen = kInt;
      return field.to(parts.i);
    case 4:
      parts.seen = kString;
      return field.to(parts.s);
    case 5:
      parts.seen = kTensor;
      parts.tensor = field;
      return {};
    case 7:
      parts.seen = kFloats;
      return field.append_to(parts.floats);
    case 8:
      parts.seen = kInts;
      return field.append_to(parts.ints);
    case 9:
      parts.seen = kStrings;
      return field.to(parts.strings.emplace_back());
    case 20:
      return field.to(parts.kind);
    case 22:
      parts.seen = kSparse;
      parts.tensor = field;
      return {};
    case 6:
    case 10:
    case 11:
    case 23:
      parts.unsupported = true;
      return {};
    default:
      return {};
  }
}

// TensorShapeProto: -1 for named and unknown extents.
Status read_shape(const WireField& message, Shape& shape) {
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    if (field.number != 1) continue;
    int64_t extent = kDynamicDim;
    WireReader dim(field);
    WireField part;
    while (dim.next(part)) {
      if (part.number == 1) ANYNPU_TRY(part.to(extent));
    }
    ANYNPU_TRY(dim.status());
    shape.push_back(extent < 0 ? kDynamicDim : extent);
  }
  ANYNPU_TRY(reader.status());
  return check_shape(shape);
}

Status read_tensor_type(const WireField& message, graph::Value& value) {
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    if (field.number == 1) {
      int64_t type = 0;
      ANYNPU_TRY(field.to(type));
      if (type == 0) continue;
      ANYNPU_ASSIGN(value.dtype, dtype_of(type));
    } else if (field.number == 2) {
      value.has_shape = true;
      ANYNPU_TRY(read_shape(field, value.shape));
    }
  }
  return reader.status();
}

// TypeProto: a tensor, or a sequence or optional of another type. A sequence inside an optional is
// an optional.
Status read_type(const WireField& message, graph::Value& value) {
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    switch (field.number) {
      case 1:
        ANYNPU_TRY(read_tensor_type(field, value));
        break;
      case 4:
      case 9: {
        const auto kind =
            field.number == 4 ? graph::ValueKind::sequence : graph::ValueKind::optional;
        WireReader inner(field);
        WireField part;
        while (inner.next(part)) {
          if (part.number == 1) ANYNPU_TRY(read_type(part, value));
        }
        ANYNPU_TRY(inner.status());
        value.kind = kind;
        value.shape.clear();
        value.has_shape = false;
        break;
      }
      case 6:  // a denotation
        break;
      default:
        return fail(Code::unsupported_feature,
                    "it is a map or a sparse tensor, only tensors, sequences and optionals are "
                    "supported; export the model without it");
    }
  }
  return reader.status();
}

}  // namespace

std::string plain_domain(std::string domain) { return domain == "ai.onnx" ? "" : domain; }

Result<NodeProto> read_node(const WireField& message) {
  NodeProto node;
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    switch (field.number) {
      case 1:
        ANYNPU_TRY(field.to(node.inputs.emplace_back()));
        break;
      case 2:
        ANYNPU_TRY(field.to(node.outputs.emplace_back()));
        break;
      case 3:
        ANYNPU_TRY(field.to(node.name));
        break;
      case 4:
        ANYNPU_TRY(field.to(node.op));
        break;
      case 5:
        node.attributes.push_back(field);
        break;
      case 7:
        ANYNPU_TRY(field.to(node.domain));
        break;
      case 8:
        ANYNPU_TRY(field.to(node.overload));
        break;
      default:
        break;
    }
  }
  ANYNPU_TRY(reader.status(), "in node '{}'", node.name);
  node.domain = plain_domain(std::move(node.domain));
  return node;
}

Result<NamedAttr> read_attribute(const WireField& message, Source& source) {
  NamedAttr attr;
  AttrParts parts;
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) ANYNPU_TRY(read_attr_field(field, attr.name, parts));
  ANYNPU_TRY(reader.status(), "in attribute '{}'", attr.name);
  if (parts.unsupported) {
    return fail(
        Code::unsupported_feature,
        "attribute '{}' holds a graph or a list of tensors, which its operator does not take; "
        "export the model without it",
        attr.name);
  }
  switch (parts.kind != kUndefined ? parts.kind : parts.seen) {
    case kUndefined:
    case kTypeProto:
    case kTypeList:
      attr.empty = true;
      break;
    case kFloat:
      attr.value = parts.f;
      break;
    case kInt:
      attr.value = parts.i;
      break;
    case kString:
      attr.value = std::move(parts.s);
      break;
    case kTensor:
    case kSparse: {
      if (!parts.tensor) {
        return fail(Code::corrupt_model,
                    "attribute '{}' is a tensor without data; export the model again", attr.name);
      }
      ANYNPU_ASSIGN(Tensor tensor,
                    parts.seen == kSparse ? read_sparse_tensor(*parts.tensor, source)
                                          : read_tensor(*parts.tensor, source),
                    "in attribute '{}'", attr.name);
      attr.value = graph::TensorAttr{tensor.dtype, std::move(tensor.shape), std::move(tensor.data)};
      break;
    }
    case kFloats:
      attr.value = std::move(parts.floats);
      break;
    case kInts:
      attr.value = std::move(parts.ints);
      break;
    case kStrings:
      attr.value = std::move(parts.strings);
      break;
    default:
      return fail(Code::unsupported_feature,
                  "attribute '{}' has the kind {}; expected 1 to 8, export the model again",
                  attr.name, parts.kind);
  }
  return attr;
}

Result<AttrHead> read_attribute_head(const WireField& message) {
  AttrHead head;
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    if (field.number == 1) ANYNPU_TRY(field.to(head.name));
    if (field.number == 6) head.graph = field;
    if (field.number == 21) ANYNPU_TRY(field.to(head.refers_to));
  }
  ANYNPU_TRY(reader.status(), "in attribute '{}'", head.name);
  return head;
}

Result<graph::Value> read_value_info(const WireField& message) {
  graph::Value value;
  std::optional<WireField> type;
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    if (field.number == 1) ANYNPU_TRY(field.to(value.name));
    if (field.number == 2) type = field;
  }
  ANYNPU_TRY(reader.status(), "in the description of a value");
  if (type) ANYNPU_TRY(read_type(*type, value), "in value '{}'", value.name);
  return value;
}

}  // namespace anynpu::onnx
