// SPDX-License-Identifier: Apache-2.0
// What a ge::Operator refers to: its declaration and its links.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "graph/operator.h"

namespace ge {

class OperatorImpl {
 public:
  using Value = std::variant<std::monostate, bool, int64_t, float, AscendString, DataType, Tensor,
                             std::vector<bool>, std::vector<int64_t>, std::vector<float>,
                             std::vector<AscendString>, std::vector<DataType>,
                             std::vector<std::vector<int64_t>>>;
  enum class Kind { required, optional, dynamic };
  struct Port {
    std::string name;
    Kind kind = Kind::required;
    TensorDesc desc;
  };
  // An input that reads an output of another operator.
  struct Link {
    std::shared_ptr<OperatorImpl> source;
    uint32_t output = 0;
  };

  std::string name, type;
  std::vector<Port> inputs, outputs;
  std::map<std::string, Link> links;  // by the name of the input
  std::vector<std::shared_ptr<OperatorImpl>> after;
  std::map<std::string, Value> attributes;  // monostate: declared without a default
  std::map<std::string, uint32_t> dynamic_outputs, subgraphs;
  std::map<std::pair<std::string, uint32_t>, Operator::SubgraphBuilder> builders;

  static const std::shared_ptr<OperatorImpl>& of(const Operator& op) { return op.impl_; }
  static Operator wrap(std::shared_ptr<OperatorImpl> impl) {
    Operator op;
    op.impl_ = std::move(impl);
    return op;
  }
  static Port* find(std::vector<Port>& ports, const std::string& name);
  // Where the output is; -1: there is none of this name.
  int64_t output_index(const std::string& output) const;
};

}  // namespace ge
