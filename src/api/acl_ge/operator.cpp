// SPDX-License-Identifier: Apache-2.0
// Names, links and descriptions of ge::Operator.
#include "api/acl_ge/operator.h"

#include <algorithm>

namespace ge {

namespace {

std::string text_of(const char* text) { return text == nullptr ? "" : text; }

}  // namespace

OperatorImpl::Port* OperatorImpl::find(std::vector<Port>& ports, const std::string& name) {
  const auto found = std::ranges::find(ports, name, &Port::name);
  return found == ports.end() ? nullptr : &*found;
}

int64_t OperatorImpl::output_index(const std::string& output) const {
  const auto found = std::ranges::find(outputs, output, &Port::name);
  return found == outputs.end() ? -1 : found - outputs.begin();
}

Operator::Operator(const char* name, const char* type) : impl_(std::make_shared<OperatorImpl>()) {
  impl_->name = text_of(name);
  impl_->type = text_of(type);
}
Operator::Operator(const char* type) : Operator("", type) {}
Operator::Operator(const AscendString& name, const AscendString& type)
    : Operator(name.GetString(), type.GetString()) {}

graphStatus Operator::GetName(AscendString& name) const {
  if (!impl_) return GRAPH_FAILED;
  name = AscendString(impl_->name.c_str());
  return GRAPH_SUCCESS;
}

graphStatus Operator::GetOpType(AscendString& type) const {
  if (!impl_) return GRAPH_FAILED;
  type = AscendString(impl_->type.c_str());
  return GRAPH_SUCCESS;
}

Operator& Operator::SetInput(const char* input, const Operator& source, uint32_t output) {
  if (!impl_ || !source.impl_ || input == nullptr) return *this;
  impl_->links[input] = {source.impl_, output};
  return *this;
}

Operator& Operator::SetInput(const char* input, const Operator& source) {
  return SetInput(input, source, uint32_t{0});
}

Operator& Operator::SetInput(const char* input, const Operator& source, const char* output) {
  if (!source.impl_) return *this;
  const int64_t index = source.impl_->output_index(text_of(output));
  return index < 0 ? *this : SetInput(input, source, static_cast<uint32_t>(index));
}

Operator& Operator::SetInput(const char* input, uint32_t index, const Operator& source) {
  return SetInput((text_of(input) + std::to_string(index)).c_str(), source, uint32_t{0});
}

Operator& Operator::SetInput(const char* input, uint32_t index, const Operator& source,
                             const char* output) {
  return SetInput((text_of(input) + std::to_string(index)).c_str(), source, output);
}

Operator& Operator::AddControlInput(const Operator& source) {
  if (impl_ && source.impl_) impl_->after.push_back(source.impl_);
  return *this;
}

graphStatus Operator::UpdateInputDesc(const char* input, const TensorDesc& desc) {
  OperatorImpl::Port* port = impl_ ? OperatorImpl::find(impl_->inputs, text_of(input)) : nullptr;
  if (port == nullptr) return GRAPH_FAILED;
  port->desc = desc;
  return GRAPH_SUCCESS;
}

graphStatus Operator::UpdateOutputDesc(const char* output, const TensorDesc& desc) {
  OperatorImpl::Port* port = impl_ ? OperatorImpl::find(impl_->outputs, text_of(output)) : nullptr;
  if (port == nullptr) return GRAPH_FAILED;
  port->desc = desc;
  return GRAPH_SUCCESS;
}

graphStatus Operator::UpdateDynamicOutputDesc(const char* output, uint32_t index,
                                              const TensorDesc& desc) {
  return UpdateOutputDesc((text_of(output) + std::to_string(index)).c_str(), desc);
}

TensorDesc Operator::GetOutputDescByName(const char* output) const {
  const int64_t index = impl_ ? impl_->output_index(text_of(output)) : -1;
  return index < 0 ? TensorDesc() : impl_->outputs[static_cast<size_t>(index)].desc;
}

TensorDesc Operator::GetOutputDesc(uint32_t index) const {
  return impl_ && index < impl_->outputs.size() ? impl_->outputs[index].desc : TensorDesc();
}

int Operator::GetDynamicOutputNum(const char* output) const {
  if (!impl_) return 0;
  const auto found = impl_->dynamic_outputs.find(text_of(output));
  return found == impl_->dynamic_outputs.end() ? 0 : static_cast<int>(found->second);
}

Operator& Operator::SetSubgraphBuilder(const char* name, uint32_t index,
                                       const SubgraphBuilder& builder) {
  if (impl_) impl_->builders[{text_of(name), index}] = builder;
  return *this;
}

}  // namespace ge
