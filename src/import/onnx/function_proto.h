// SPDX-License-Identifier: Apache-2.0
// FunctionProto: an operator that the model defines by a graph of its own. Calls are replaced by
// the nodes of the function while the graph is built.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/protowire.h"
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

Result<OpsetImport> read_opset(const WireField& field);

}  // namespace anynpu::onnx
