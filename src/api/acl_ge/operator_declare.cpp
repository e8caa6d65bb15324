// SPDX-License-Identifier: Apache-2.0
// Inputs and outputs that classes derived from ge::Operator declare.
#include <algorithm>

#include "api/acl_ge/operator.h"

namespace ge {

namespace {

using Kind = OperatorImpl::Kind;
using Ports = std::vector<OperatorImpl::Port>;

void declare(Ports& ports, const char* name, Kind kind) {
  if (name != nullptr) ports.push_back({name, kind, {}});
}

// "x" and 3 are x0, x1 and x2.
void declare_list(Ports& ports, const char* name, uint32_t count, size_t place) {
  if (name == nullptr) return;
  Ports list;
  for (uint32_t i = 0; i < count; ++i) {
    list.push_back({name + std::to_string(i), Kind::dynamic, {}});
  }
  place = std::min(place, ports.size());
  ports.insert(ports.begin() + static_cast<Ports::difference_type>(place), list.begin(),
               list.end());
}

}  // namespace

void Operator::InputRegister(const char* name, const char*) {
  if (impl_) declare(impl_->inputs, name, Kind::required);
}

void Operator::OptionalInputRegister(const char* name, const char*) {
  if (impl_) declare(impl_->inputs, name, Kind::optional);
}

void Operator::OutputRegister(const char* name, const char*) {
  if (impl_) declare(impl_->outputs, name, Kind::required);
}

void Operator::DynamicInputRegister(const char* name, uint32_t count, bool at_end) {
  if (impl_) declare_list(impl_->inputs, name, count, at_end ? impl_->inputs.size() : 0);
}

void Operator::DynamicInputRegister(const char* name, uint32_t count, const char*, bool at_end) {
  DynamicInputRegister(name, count, at_end);
}

void Operator::DynamicInputRegisterByIndex(const char* name, uint32_t count, size_t index) {
  if (impl_) declare_list(impl_->inputs, name, count, index);
}

void Operator::DynamicOutputRegister(const char* name, uint32_t count, bool at_end) {
  if (!impl_ || name == nullptr) return;
  impl_->dynamic_outputs[name] = count;
  declare_list(impl_->outputs, name, count, at_end ? impl_->outputs.size() : 0);
}

void Operator::DynamicOutputRegister(const char* name, uint32_t count, const char*, bool at_end) {
  DynamicOutputRegister(name, count, at_end);
}

void Operator::SubgraphCountRegister(const char* name, uint32_t count) {
  if (impl_ && name != nullptr) impl_->subgraphs[name] = count;
}

// Shapes are inferred by our own rules, types are checked by our own schemas.
void Operator::InferFuncRegister(const InferFunc&) {}
void Operator::DataTypeRegister(const char*, const TensorType&) {}
void Operator::DataTypeRegister(const char*, const Promote&) {}

}  // namespace ge
