/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Types of operators. A program registers its types while its libraries are loaded, by variables of
 * OperatorCreatorRegister. All functions may be called from several threads.
 */
#ifndef GRAPH_OPERATOR_FACTORY_H_
#define GRAPH_OPERATOR_FACTORY_H_

#include <functional>
#include <string>

#include "graph/operator.h"

namespace ge {

using OpCreator = std::function<Operator(const std::string&)>;
using OpCreatorV2 = std::function<Operator(const AscendString&)>;
using InferShapeFunc = std::function<graphStatus(Operator&)>;

class GRAPH_VISIBLE OperatorFactory {
 public:
  // As its creator makes it. Of a type that only this library knows: without inputs and attributes;
  // of an unknown one: an operator without type.
  static Operator CreateOperator(const char* name, const char* type);
  static Operator CreateOperator(const std::string& name, const std::string& type);
  // Registered, or in docs/operator_names.md.
  static bool IsExistOp(const char* type);
  static bool IsExistOp(const std::string& type);
};

class GRAPH_VISIBLE OperatorCreatorRegister {
 public:
  OperatorCreatorRegister(const std::string& type, const OpCreator& creator);
  OperatorCreatorRegister(const char* type, const OpCreatorV2& creator);
  ~OperatorCreatorRegister() = default;
};

// Accepted, not called: shapes are inferred by our own rules.
class GRAPH_VISIBLE InferShapeFuncRegister {
 public:
  InferShapeFuncRegister(const std::string& type, const InferShapeFunc& infer);
  InferShapeFuncRegister(const char* type, const InferShapeFunc& infer);
  ~InferShapeFuncRegister() = default;
};

}  // namespace ge

#endif
