// SPDX-License-Identifier: Apache-2.0
#include "graph/operator_factory.h"

#include "api/acl_ge/operator.h"
#include "service/graph_build/operator_types.h"

namespace ge {

namespace service = anynpu::service;

Operator OperatorFactory::CreateOperator(const char* name, const char* type) {
  if (name == nullptr || type == nullptr) return {};
  if (auto made = service::make_operator(type, name)) {
    return OperatorImpl::wrap(std::static_pointer_cast<OperatorImpl>(std::move(made)));
  }
  return IsExistOp(type) ? Operator(name, type) : Operator();
}

bool OperatorFactory::IsExistOp(const char* type) {
  return type != nullptr && service::is_operator_type(type);
}

OperatorCreatorRegister::OperatorCreatorRegister(const char* type, const OpCreatorV2& creator) {
  if (type == nullptr || !creator) return;
  service::register_operator_type(type, [creator](const std::string& name) {
    return OperatorImpl::of(creator(AscendString(name.c_str())));
  });
}

InferShapeFuncRegister::InferShapeFuncRegister(const char*, const InferShapeFunc&) {}

}  // namespace ge
