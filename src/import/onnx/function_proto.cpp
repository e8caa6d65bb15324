// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/function_proto.h"

#include <utility>

namespace anynpu::onnx {

namespace {

template <typename Named>  // a NodeProto or a Function
std::string key_of(const Named& named) {
  std::string key = named.domain;
  return key.append(1, '\0').append(named.op).append(1, '\0').append(named.overload);
}

}  // namespace

Result<OpsetImport> read_opset(const WireField& message) {
  OpsetImport opset;
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    if (field.number == 1) ANYNPU_TRY(field.to(opset.domain));
    if (field.number == 2) ANYNPU_TRY(field.to(opset.version));
  }
  ANYNPU_TRY(reader.status());
  opset.domain = plain_domain(std::move(opset.domain));
  return opset;
}

Result<Function> read_function(const WireField& message) {
  Function function;
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    switch (field.number) {
      case 1:
        ANYNPU_TRY(field.to(function.op));
        break;
      case 4:
        ANYNPU_TRY(field.to(function.inputs.emplace_back()));
        break;
      case 5:
        ANYNPU_TRY(field.to(function.outputs.emplace_back()));
        break;
      case 7:
        function.nodes.push_back(field);
        break;
      case 9: {
        ANYNPU_ASSIGN(OpsetImport opset, read_opset(field));
        function.opsets.push_back(std::move(opset));
        break;
      }
      case 10:
        ANYNPU_TRY(field.to(function.domain));
        break;
      case 11: {
        ANYNPU_ASSIGN(const AttrHead head, read_attribute_head(field));
        function.defaults[head.name] = field;
        break;
      }
      case 13:
        ANYNPU_TRY(field.to(function.overload));
        break;
      default:
        break;
    }
  }
  ANYNPU_TRY(reader.status(), "in function '{}'", function.op);
  function.domain = plain_domain(std::move(function.domain));
  return function;
}

void Functions::add(Function function) {
  index_of_.emplace(key_of(function), functions_.size());
  functions_.push_back(std::move(function));
}

const Function* Functions::called_by(const NodeProto& node) const {
  if (index_of_.empty()) return nullptr;
  const auto found = index_of_.find(key_of(node));
  return found == index_of_.end() ? nullptr : &functions_[found->second];
}

}  // namespace anynpu::onnx
