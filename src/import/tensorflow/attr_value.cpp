// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/attr_value.h"

#include <functional>

namespace anynpu::tensorflow {

namespace {

// Numbers of the fields of AttrValue and of AttrValue.ListValue.
enum : uint32_t {
  kList = 1,
  kText = 2,
  kInt = 3,
  kFloat = 4,
  kBool = 5,
  kType = 6,
  kShape = 7,
  kTensor = 8,
  kFunction = 10,
  kFunctionInList = 9
};

Status wrong_kind(const NodeDef& node, std::string_view name, std::string_view expected) {
  return fail(Code::corrupt_model,
              "attribute '{}' of node '{}' ({}) is not {}; the file is damaged or was written by "
              "another version, freeze the model again",
              name, node.name, node.op, expected);
}

// Field `kind` of the attribute; none without the attribute. An empty AttrValue counts as the
// kind's zero only for lists, which the callers read themselves.
Result<std::optional<WireField>> find_kind(const NodeDef& node, std::string_view name,
                                           uint32_t kind, std::string_view expected) {
  const auto found = node.attrs.find(name);
  if (found == node.attrs.end()) return std::optional<WireField>();
  std::optional<WireField> value;
  WireReader reader(found->second);
  WireField field;
  while (reader.next(field)) {
    if (field.number == kind) value = field;
  }
  ANYNPU_TRY(reader.status(), "in attribute '{}' of node '{}'", name, node.name);
  if (!value) return wrong_kind(node, name, expected);
  return value;
}

// Calls `take` for every element of the list of this kind.
Status read_list(const NodeDef& node, std::string_view name, uint32_t kind,
                 std::string_view expected, const std::function<Status(const WireField&)>& take) {
  ANYNPU_ASSIGN(const auto list, find_kind(node, name, kList, expected));
  if (!list) return {};
  WireReader reader(*list);
  WireField field;
  while (reader.next(field)) {
    if (field.number != kind) return wrong_kind(node, name, expected);
    ANYNPU_TRY(take(field), "in attribute '{}' of node '{}'", name, node.name);
  }
  return reader.status();
}

Result<std::string> read_function_name(const WireField& message) {
  std::string name;
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    if (field.number == 1) ANYNPU_TRY(field.to(name));
  }
  ANYNPU_TRY(reader.status());
  return name;
}

}  // namespace

Result<PartialShape> read_shape(const WireField& message) {
  Shape shape;
  bool unknown = false;
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    if (field.number == 3) {
      int64_t flag = 0;
      ANYNPU_TRY(field.to(flag));
      unknown = flag != 0;
    }
    if (field.number != 2) continue;
    int64_t size = 0;
    WireReader dim(field);
    WireField part;
    while (dim.next(part)) {
      if (part.number == 1) ANYNPU_TRY(part.to(size));
    }
    ANYNPU_TRY(dim.status());
    if (size < -1) {
      return fail(Code::corrupt_model, "an extent is {}; expected -1 or more, the file is damaged",
                  size);
    }
    shape.push_back(size);
  }
  ANYNPU_TRY(reader.status());
  if (unknown) return PartialShape();
  if (shape.size() > 64) {
    return fail(Code::corrupt_model, "a shape has {} axes; the file is damaged", shape.size());
  }
  ANYNPU_TRY(check_shape(shape));
  return PartialShape(std::move(shape));
}

Result<int64_t> int_attr(const NodeDef& node, std::string_view name, int64_t otherwise) {
  ANYNPU_ASSIGN(const auto field, find_kind(node, name, kInt, "a number"));
  if (field) ANYNPU_TRY(field->to(otherwise));
  return otherwise;
}

Result<float> float_attr(const NodeDef& node, std::string_view name, float otherwise) {
  ANYNPU_ASSIGN(const auto field, find_kind(node, name, kFloat, "a float"));
  if (field) ANYNPU_TRY(field->to(otherwise));
  return otherwise;
}

Result<bool> bool_attr(const NodeDef& node, std::string_view name, bool otherwise) {
  ANYNPU_ASSIGN(const auto field, find_kind(node, name, kBool, "true or false"));
  if (!field) return otherwise;
  int64_t flag = 0;
  ANYNPU_TRY(field->to(flag));
  return flag != 0;
}

Result<std::string> text_attr(const NodeDef& node, std::string_view name, std::string otherwise) {
  ANYNPU_ASSIGN(const auto field, find_kind(node, name, kText, "a text"));
  if (field) ANYNPU_TRY(field->to(otherwise));
  return otherwise;
}

Result<int64_t> type_attr(const NodeDef& node, std::string_view name, int64_t otherwise) {
  ANYNPU_ASSIGN(const auto field, find_kind(node, name, kType, "a type"));
  if (field) ANYNPU_TRY(field->to(otherwise));
  return otherwise;
}

Result<PartialShape> shape_attr(const NodeDef& node, std::string_view name) {
  ANYNPU_ASSIGN(const auto field, find_kind(node, name, kShape, "a shape"));
  if (!field) return PartialShape();
  ANYNPU_ASSIGN(PartialShape shape, read_shape(*field), "in attribute '{}' of node '{}'", name,
                node.name);
  return shape;
}

Result<std::vector<int64_t>> ints_attr(const NodeDef& node, std::string_view name) {
  std::vector<int64_t> list;
  ANYNPU_TRY(read_list(node, name, kInt, "a list of numbers",
                       [&](const WireField& field) { return field.append_to(list); }));
  return list;
}

Result<std::vector<float>> floats_attr(const NodeDef& node, std::string_view name) {
  std::vector<float> list;
  ANYNPU_TRY(read_list(node, name, kFloat, "a list of floats",
                       [&](const WireField& field) { return field.append_to(list); }));
  return list;
}

Result<std::vector<int64_t>> types_attr(const NodeDef& node, std::string_view name) {
  std::vector<int64_t> list;
  ANYNPU_TRY(read_list(node, name, kType, "a list of types",
                       [&](const WireField& field) { return field.append_to(list); }));
  return list;
}

Result<std::vector<PartialShape>> shapes_attr(const NodeDef& node, std::string_view name) {
  std::vector<PartialShape> list;
  ANYNPU_TRY(
      read_list(node, name, kShape, "a list of shapes", [&](const WireField& field) -> Status {
        ANYNPU_ASSIGN(PartialShape shape, read_shape(field));
        list.push_back(std::move(shape));
        return {};
      }));
  return list;
}

Result<std::vector<std::string>> texts_attr(const NodeDef& node, std::string_view name) {
  std::vector<std::string> list;
  ANYNPU_TRY(read_list(node, name, kText, "a list of texts", [&](const WireField& field) -> Status {
    ANYNPU_TRY(field.to(list.emplace_back()));
    return {};
  }));
  return list;
}

Result<std::string> function_attr(const NodeDef& node, std::string_view name) {
  ANYNPU_ASSIGN(const auto field, find_kind(node, name, kFunction, "a function"));
  if (!field) return std::string();
  return read_function_name(*field);
}

Result<std::vector<std::string>> functions_attr(const NodeDef& node, std::string_view name) {
  std::vector<std::string> list;
  ANYNPU_TRY(read_list(node, name, kFunctionInList, "a list of functions",
                       [&](const WireField& field) -> Status {
                         ANYNPU_ASSIGN(std::string function, read_function_name(field));
                         list.push_back(std::move(function));
                         return {};
                       }));
  return list;
}

Result<std::optional<WireField>> tensor_attr(const NodeDef& node, std::string_view name) {
  return find_kind(node, name, kTensor, "a tensor");
}

}  // namespace anynpu::tensorflow
