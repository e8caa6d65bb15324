// SPDX-License-Identifier: Apache-2.0
// Declarative patterns: a Term says what an expression looks like, with alternatives, and find()
// looks for it backwards from a value. The operators of a match may be absorbed: nothing outside
// the match reads their results, but for the value at the root.
//
//   const Term x = any("x"), square = either({op("Pow", {x, number(2)}), op("Mul", {x, x})});
//   const Term root = op("Sqrt", {both("Add", mean(square), number("epsilon"))});
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compile/pattern.h"

namespace anynpu::compile {

// A further condition on a node or a value.
using NodeCheck = std::function<bool(const Pattern&, const graph::Node&)>;
using ValueCheck = std::function<bool(const Pattern&, graph::ValueId)>;

class Term {
 public:
  struct Part;
  explicit Term(std::shared_ptr<const Part> part) : part_(std::move(part)) {}
  const Part& operator*() const { return *part_; }

 private:
  std::shared_ptr<const Part> part_;
};

// Any value; a name that stands in several places stands for the same value in all of them.
Term any(std::string name, ValueCheck check = {});
// A constant of one element: any, bound to a name; or this one, up to the rounding of its type.
Term number(std::string name);
Term number(double value);
// An operator of the default domain with these first inputs, in this order.
Term op(std::string name, std::vector<Term> operands, NodeCheck check = {});
// An operator of two inputs, in either order.
Term both(std::string name, const Term& a, const Term& b);
// The first of these that leads to a match of the whole.
Term either(std::vector<Term> alternatives);
// The value of a term, bound to a name.
Term named(std::string name, const Term& term);

struct Term::Part {
  enum class Kind : uint8_t { any, number, op, either } kind = Kind::any;
  std::string name;       // of the value, the number or the operator
  std::string bound;      // of the value that a term makes
  double value = 0;       // of a number without a name
  bool commutes = false;  // an operator of two inputs
  std::vector<Term> terms;
  NodeCheck node_check;
  ValueCheck value_check;
};

struct Match {
  std::map<std::string, graph::ValueId, std::less<>> values;
  std::map<std::string, float, std::less<>> numbers;
  std::vector<graph::ValueId> made;  // by the operators of the match, the root first

  graph::ValueId value(std::string_view name) const {
    const auto found = values.find(name);
    return found == values.end() ? graph::kNoValue : found->second;
  }
  float number(std::string_view name) const { return numbers.find(name)->second; }
};

std::optional<Match> find(const Pattern& pattern, const Term& term, graph::ValueId root);

// --- conditions that several passes have

// A reduction over the last axis that keeps it as an extent of 1.
NodeCheck over_last_axis();
// A constant.
ValueCheck constant();

}  // namespace anynpu::compile
