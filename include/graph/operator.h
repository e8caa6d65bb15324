/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ge::Operator: one operator of a graph, as classes derived from it declare it: inputs, outputs and
 * attributes with their defaults. A copy refers to the same operator. One thread at a time may
 * change an operator.
 */
#ifndef GRAPH_OPERATOR_H_
#define GRAPH_OPERATOR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "../graph/graph.h"
#include "graph/ascend_string.h"
#include "graph/ge_error_codes.h"
#include "graph/tensor.h"

namespace ge {

class OperatorImpl;

class GRAPH_VISIBLE Operator {
 public:
  using InferFunc = std::function<graphStatus(Operator&)>;
  using SubgraphBuilder = std::function<Graph()>;

  Operator() = default;
  virtual ~Operator() = default;
  explicit Operator(const char* type);
  Operator(const char* name, const char* type);
  Operator(const AscendString& name, const AscendString& type);
  explicit Operator(const std::string& type);
  Operator(const std::string& name, const std::string& type);

  std::string GetName() const;
  std::string GetOpType() const;
  graphStatus GetName(AscendString& name) const;
  graphStatus GetOpType(AscendString& type) const;

  // Links an input to an output of `source`: its only one, one by index or by name. `index` is that
  // of a dynamic input: "x" and 2 are the input "x2".
  Operator& SetInput(const char* input, const Operator& source);
  Operator& SetInput(const char* input, const Operator& source, uint32_t output);
  Operator& SetInput(const char* input, const Operator& source, const char* output);
  Operator& SetInput(const char* input, uint32_t index, const Operator& source);
  Operator& SetInput(const char* input, uint32_t index, const Operator& source, const char* output);
  Operator& SetInput(const std::string& input, const Operator& source);
  Operator& SetInput(const std::string& input, const Operator& source, const std::string& output);
  Operator& AddControlInput(const Operator& source);

  graphStatus UpdateInputDesc(const char* input, const TensorDesc& desc);
  graphStatus UpdateInputDesc(const std::string& input, const TensorDesc& desc);
  graphStatus UpdateOutputDesc(const char* output, const TensorDesc& desc);
  graphStatus UpdateOutputDesc(const std::string& output, const TensorDesc& desc);
  graphStatus UpdateDynamicOutputDesc(const char* output, uint32_t index, const TensorDesc& desc);
  TensorDesc GetOutputDesc(const std::string& output) const;
  TensorDesc GetOutputDescByName(const char* output) const;
  TensorDesc GetOutputDesc(uint32_t index) const;
  int GetDynamicOutputNum(const std::string& output) const;
  int GetDynamicOutputNum(const char* output) const;

  // GRAPH_FAILED for a name without a value, and for a value of another type.
#define GRAPH_ATTRIBUTE(type, argument)                     \
  graphStatus GetAttr(const char* name, type& value) const; \
  Operator& SetAttr(const char* name, argument value);
  GRAPH_ATTRIBUTE(bool, bool)
  GRAPH_ATTRIBUTE(int64_t, int64_t)
  GRAPH_ATTRIBUTE(int32_t, int32_t)
  GRAPH_ATTRIBUTE(uint32_t, uint32_t)
  GRAPH_ATTRIBUTE(float, float)
  GRAPH_ATTRIBUTE(AscendString, const AscendString&)
  GRAPH_ATTRIBUTE(DataType, const DataType&)
  GRAPH_ATTRIBUTE(Tensor, const Tensor&)
  GRAPH_ATTRIBUTE(std::vector<bool>, const std::vector<bool>&)
  GRAPH_ATTRIBUTE(std::vector<int64_t>, const std::vector<int64_t>&)
  GRAPH_ATTRIBUTE(std::vector<int32_t>, const std::vector<int32_t>&)
  GRAPH_ATTRIBUTE(std::vector<float>, const std::vector<float>&)
  GRAPH_ATTRIBUTE(std::vector<AscendString>, const std::vector<AscendString>&)
  GRAPH_ATTRIBUTE(std::vector<DataType>, const std::vector<DataType>&)
  GRAPH_ATTRIBUTE(std::vector<std::vector<int64_t>>, const std::vector<std::vector<int64_t>>&)
#undef GRAPH_ATTRIBUTE
  Operator& SetAttr(const char* name, const char* value);
  graphStatus GetAttr(const std::string& name, std::string& value) const;
  graphStatus GetAttr(const std::string& name, std::vector<std::string>& value) const;
  Operator& SetAttr(const std::string& name, bool value);
  Operator& SetAttr(const std::string& name, int64_t value);
  Operator& SetAttr(const std::string& name, int32_t value);
  Operator& SetAttr(const std::string& name, float value);
  Operator& SetAttr(const std::string& name, const std::string& value);
  Operator& SetAttr(const std::string& name, const std::vector<bool>& value);
  Operator& SetAttr(const std::string& name, const std::vector<int64_t>& value);
  Operator& SetAttr(const std::string& name, const std::vector<int32_t>& value);
  Operator& SetAttr(const std::string& name, const std::vector<float>& value);
  Operator& SetAttr(const std::string& name, const std::vector<std::string>& value);

  Operator& SetSubgraphBuilder(const char* name, uint32_t index, const SubgraphBuilder& builder);

  // What classes derived from Operator declare in their constructors.
  void InputRegister(const char* name, const char* types);
  void InputRegister(const std::string& name);
  void OptionalInputRegister(const char* name, const char* types);
  void OptionalInputRegister(const std::string& name);
  void OutputRegister(const char* name, const char* types);
  void OutputRegister(const std::string& name);
  void DynamicInputRegister(const char* name, uint32_t count, const char* types,
                            bool at_end = true);
  void DynamicInputRegister(const char* name, uint32_t count, bool at_end = true);
  void DynamicInputRegisterByIndex(const char* name, uint32_t count, size_t index);
  void DynamicOutputRegister(const char* name, uint32_t count, const char* types,
                             bool at_end = true);
  void DynamicOutputRegister(const char* name, uint32_t count, bool at_end = true);
  void SubgraphCountRegister(const char* name, uint32_t count);
  void InferFuncRegister(const InferFunc& infer);
  void DataTypeRegister(const char* name, const TensorType& types);
  void DataTypeRegister(const char* name, const Promote& names);
  void AttrRegister(const char* name, bool value);
  void AttrRegister(const char* name, int64_t value);
  void AttrRegister(const char* name, float value);
  void AttrRegister(const char* name, const AscendString& value);
  void AttrRegister(const char* name, const DataType& value);
  void AttrRegister(const char* name, const Tensor& value);
  void AttrRegister(const char* name, const std::vector<int64_t>& value);
  void AttrRegister(const char* name, const std::vector<float>& value);
  void AttrRegister(const char* name, const std::vector<AscendString>& value);
  void AttrRegister(const char* name, const std::vector<DataType>& value);
  void AttrRegister(const char* name, const std::vector<std::vector<int64_t>>& value);
  void RequiredAttrRegister(const std::string& name);
  void RequiredAttrWithTypeRegister(const char* name, const char* type);

 private:
  friend class OperatorImpl;
  std::shared_ptr<OperatorImpl> impl_;
};

}  // namespace ge

#endif
