// SPDX-License-Identifier: Apache-2.0
#include "graph/operator_factory.h"

#include "api/acl_ge/entry.h"
#include "api/acl_ge/operator.h"
#include "service/graph_build/operator_types.h"

namespace ge {

namespace service = anynpu::service;
using anynpu::ge_door::enter;

Operator OperatorFactory::CreateOperator(const char* name, const char* type) {
  if (name == nullptr || type == nullptr) return {};
  if (auto made = service::make_operator(type, name)) {
    return OperatorImpl::wrap(std::static_pointer_cast<OperatorImpl>(std::move(made)));
  }
  return IsExistOp(type) ? Operator(name, type) : Operator();
}

// The message is kept: a framework that asks raises an exception of its own, with it.
bool OperatorFactory::IsExistOp(const char* type) {
  return type != nullptr && enter("OperatorFactory::IsExistOp", [type] {
                              return service::check_operator_type(type);
                            }) == GRAPH_SUCCESS;
}

OperatorCreatorRegister::OperatorCreatorRegister(const char* type, const OpCreatorV2& creator) {
  if (type == nullptr || !creator) return;
  service::register_operator_type(type, [creator](const std::string& name) {
    return OperatorImpl::of(creator(AscendString(name.c_str())));
  });
}

InferShapeFuncRegister::InferShapeFuncRegister(const char*, const InferShapeFunc&) {}

}  // namespace ge
