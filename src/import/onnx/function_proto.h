// SPDX-License-Identifier: Apache-2.0
// FunctionProto: an operator that the model defines by a graph of its own. Calls are replaced by
// the nodes of the function while the graph is built.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/protowire.h"
#include "import/onnx/node_proto.h"
#include "import/onnx/onnx.h"

namespace anynpu::onnx {

struct Function {
  std::string op, domain, overload;
  std::vector<std::string_view> inputs, outputs;
  std::vector<WireField> nodes;
  std::map<std::string, WireField> defaults;  // attributes that a call may leave out
  std::vector<OpsetImport> opsets;
};
Result<Function> read_function(const WireField& field);

// The functions of a model by domain, name and overload; of two that share them the first counts.
class Functions {
 public:
  void add(Function function);
  // The one that a node calls; null when it calls none. Valid until the next add.
  const Function* called_by(const NodeProto& node) const;
  const std::vector<Function>& all() const { return functions_; }

 private:
  std::vector<Function> functions_;
  std::unordered_map<std::string, size_t> index_of_;
};

Result<OpsetImport> read_opset(const WireField& field);

}  // namespace anynpu::onnx
