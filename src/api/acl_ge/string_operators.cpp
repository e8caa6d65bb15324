// SPDX-License-Identifier: Apache-2.0
// The members of operators and tensors that take or return std::string. Compiled twice, for both
// layouts that libstdc++ has of it (_GLIBCXX_USE_CXX11_ABI), since programs are compiled with
// either.
#include "api/acl_ge/session.h"
#include "ge/ge_api.h"
#include "graph/operator_factory.h"

namespace ge {

namespace {

std::vector<AscendString> to_texts(const std::vector<std::string>& texts) {
  std::vector<AscendString> converted;
  for (const std::string& text : texts) converted.emplace_back(text.c_str(), text.size());
  return converted;
}

}  // namespace

graphStatus GEInitialize(const std::map<std::string, std::string>& options) {
  std::map<AscendString, AscendString> texts;
  for (const auto& [name, value] : options) {
    texts[AscendString(name.c_str())] = AscendString(value.c_str());
  }
  return GEInitialize(texts);
}

graphStatus Tensor::SetData(const std::string& text) {
  return SetData(std::vector<AscendString>{{text.c_str(), text.size()}});
}
graphStatus Tensor::SetData(const std::vector<std::string>& texts) {
  return SetData(to_texts(texts));
}

Graph::Graph(const std::string& name) : Graph(name.c_str()) {}
std::string Graph::GetName() const {
  AscendString name;
  return GetName(name) == GRAPH_SUCCESS ? name.GetString() : "";
}
Graph& Graph::SetOutputs(const std::vector<std::pair<Operator, std::string>>& outputs) {
  std::vector<std::pair<Operator, AscendString>> named;
  for (const auto& [op, output] : outputs) named.emplace_back(op, AscendString(output.c_str()));
  return SetOutputs(named);
}
graphStatus Graph::SaveToFile(const std::string& path) const { return SaveToFile(path.c_str()); }

// What sessions of either layout share is in session.h.
Session::Session(const std::map<std::string, std::string>&) {}
graphStatus Session::AddGraph(uint32_t id, const Graph& graph,
                              const std::map<std::string, std::string>&) {
  return refuse_graph(id, graph);
}
graphStatus Session::RegisterCallBackFunc(const std::string&, const Callback&) {
  return GRAPH_SUCCESS;
}

Operator::Operator(const std::string& type) : Operator(type.c_str()) {}
Operator::Operator(const std::string& name, const std::string& type)
    : Operator(name.c_str(), type.c_str()) {}

std::string Operator::GetName() const {
  AscendString name;
  return GetName(name) == GRAPH_SUCCESS ? name.GetString() : "";
}
std::string Operator::GetOpType() const {
  AscendString type;
  return GetOpType(type) == GRAPH_SUCCESS ? type.GetString() : "";
}

Operator& Operator::SetInput(const std::string& input, const Operator& source) {
  return SetInput(input.c_str(), source);
}
Operator& Operator::SetInput(const std::string& input, const Operator& source,
                             const std::string& output) {
  return SetInput(input.c_str(), source, output.c_str());
}
graphStatus Operator::UpdateInputDesc(const std::string& input, const TensorDesc& desc) {
  return UpdateInputDesc(input.c_str(), desc);
}
graphStatus Operator::UpdateOutputDesc(const std::string& output, const TensorDesc& desc) {
  return UpdateOutputDesc(output.c_str(), desc);
}
TensorDesc Operator::GetOutputDesc(const std::string& output) const {
  return GetOutputDescByName(output.c_str());
}
int Operator::GetDynamicOutputNum(const std::string& output) const {
  return GetDynamicOutputNum(output.c_str());
}

graphStatus Operator::GetAttr(const std::string& name, std::string& value) const {
  AscendString text;
  const graphStatus status = GetAttr(name.c_str(), text);
  if (status == GRAPH_SUCCESS) value.assign(text.GetString(), text.GetLength());
  return status;
}
graphStatus Operator::GetAttr(const std::string& name, std::vector<std::string>& value) const {
  std::vector<AscendString> texts;
  const graphStatus status = GetAttr(name.c_str(), texts);
  if (status != GRAPH_SUCCESS) return status;
  value.clear();
  for (const AscendString& text : texts) value.emplace_back(text.GetString(), text.GetLength());
  return status;
}

Operator& Operator::SetAttr(const std::string& name, bool value) {
  return SetAttr(name.c_str(), value);
}
Operator& Operator::SetAttr(const std::string& name, int64_t value) {
  return SetAttr(name.c_str(), value);
}
Operator& Operator::SetAttr(const std::string& name, int32_t value) {
  return SetAttr(name.c_str(), value);
}
Operator& Operator::SetAttr(const std::string& name, float value) {
  return SetAttr(name.c_str(), value);
}
Operator& Operator::SetAttr(const std::string& name, const std::string& value) {
  return SetAttr(name.c_str(), AscendString(value.c_str(), value.size()));
}
Operator& Operator::SetAttr(const std::string& name, const std::vector<bool>& value) {
  return SetAttr(name.c_str(), value);
}
Operator& Operator::SetAttr(const std::string& name, const std::vector<int64_t>& value) {
  return SetAttr(name.c_str(), value);
}
Operator& Operator::SetAttr(const std::string& name, const std::vector<int32_t>& value) {
  return SetAttr(name.c_str(), value);
}
Operator& Operator::SetAttr(const std::string& name, const std::vector<float>& value) {
  return SetAttr(name.c_str(), value);
}
Operator& Operator::SetAttr(const std::string& name, const std::vector<std::string>& value) {
  return SetAttr(name.c_str(), to_texts(value));
}

void Operator::InputRegister(const std::string& name) { InputRegister(name.c_str(), ""); }
void Operator::OptionalInputRegister(const std::string& name) {
  OptionalInputRegister(name.c_str(), "");
}
void Operator::OutputRegister(const std::string& name) { OutputRegister(name.c_str(), ""); }
void Operator::RequiredAttrRegister(const std::string& name) {
  RequiredAttrWithTypeRegister(name.c_str(), "");
}

Operator OperatorFactory::CreateOperator(const std::string& name, const std::string& type) {
  return CreateOperator(name.c_str(), type.c_str());
}
bool OperatorFactory::IsExistOp(const std::string& type) { return IsExistOp(type.c_str()); }

OperatorCreatorRegister::OperatorCreatorRegister(const std::string& type,
                                                 const OpCreator& creator) {
  if (!creator) return;
  const OpCreatorV2 with_text = [creator](const AscendString& name) {
    return creator(std::string(name.GetString(), name.GetLength()));
  };
  const OperatorCreatorRegister registered(type.c_str(), with_text);
}

InferShapeFuncRegister::InferShapeFuncRegister(const std::string& type, const InferShapeFunc& infer)
    : InferShapeFuncRegister(type.c_str(), infer) {}

}  // namespace ge
