// SPDX-License-Identifier: Apache-2.0
#include "compile/match.h"

#include <algorithm>

namespace anynpu::compile {

namespace {

using graph::kNoValue;
using graph::Node;
using graph::ValueId;
using Part = Term::Part;
using Then = std::function<bool()>;  // the rest of the match

Term make(Part part) { return Term(std::make_shared<const Part>(std::move(part))); }

// Matches with backtracking: `then` is tried for each way in which a term fits, until it succeeds.
class Finder {
 public:
  explicit Finder(const Pattern& pattern) : pattern_(pattern) {}

  std::optional<Match> find(const Term& term, ValueId root) {
    const bool found = fits(*term, root, [&] { return closed(root); });
    return found ? std::optional(std::move(match_)) : std::nullopt;
  }

 private:
  bool fits(const Part& part, ValueId id, const Then& then) {
    if (id == kNoValue) return false;
    switch (part.kind) {
      case Part::Kind::any:
        return (!part.value_check || part.value_check(pattern_, id)) && bind(part.name, id, then);
      case Part::Kind::number:
        return fits_number(part, id, then);
      case Part::Kind::op:
        return fits_op(part, id, then);
      case Part::Kind::either:
        return std::any_of(part.terms.begin(), part.terms.end(), [&](const Term& term) {
          return fits(*term, id, [&] { return bind(part.bound, id, then); });
        });
    }
    return false;
  }

  // Binds the name for what follows; an empty name binds nothing.
  bool bind(const std::string& name, ValueId id, const Then& then) {
    if (name.empty()) return then();
    const auto [at, fresh] = match_.values.emplace(name, id);
    if (!fresh) return at->second == id && then();
    if (then()) return true;
    match_.values.erase(name);
    return false;
  }

  bool fits_number(const Part& part, ValueId id, const Then& then) {
    const auto number = pattern_.scalar(id);
    if (!number) return false;
    if (part.name.empty()) {
      const DType type = pattern_.value(id).dtype;
      return (part.value == 0 ? *number == 0 : about(*number, part.value, type)) && then();
    }
    const auto [at, fresh] = match_.numbers.emplace(part.name, *number);
    if (!fresh) return at->second == *number && then();
    if (then()) return true;
    match_.numbers.erase(part.name);
    return false;
  }

  bool fits_op(const Part& part, ValueId id, const Then& then) {
    const Node* node = pattern_.made_by(id, part.name);
    if (!node || node->inputs.size() < part.terms.size() ||
        (part.node_check && !part.node_check(pattern_, *node)))
      return false;
    const auto made_before = match_.made.size();
    if (std::find(match_.made.begin(), match_.made.end(), id) == match_.made.end())
      match_.made.push_back(id);
    const Then rest = [&] { return bind(part.bound, id, then); };
    const std::vector<ValueId> inputs = node->inputs;
    if (fits_operands(part, inputs, 0, rest)) return true;
    if (part.commutes && inputs.size() == 2 && inputs[0] != inputs[1] &&
        fits_operands(part, {inputs[1], inputs[0]}, 0, rest))
      return true;
    match_.made.resize(made_before);
    return false;
  }

  bool fits_operands(const Part& part, const std::vector<ValueId>& inputs, size_t i,
                     const Then& then) {
    if (i == part.terms.size()) return then();
    return fits(*part.terms[i], inputs[i],
                [&] { return fits_operands(part, inputs, i + 1, then); });
  }

  // Whether only the match reads what its operators make, but for the root.
  bool closed(ValueId root) const {
    std::map<ValueId, int64_t> reads;
    for (const ValueId id : match_.made) {
      const Node* node = pattern_.maker(id);
      for (const ValueId input : node->inputs) ++reads[input];
    }
    return std::all_of(match_.made.begin(), match_.made.end(), [&](ValueId id) {
      return id == root || (!pattern_.is_output(id) && pattern_.uses(id) == reads[id]);
    });
  }

  const Pattern& pattern_;
  Match match_;
};

}  // namespace

Term any(std::string name, ValueCheck check) {
  Part part;
  part.name = std::move(name);
  part.value_check = std::move(check);
  return make(std::move(part));
}
Term number(std::string name) {
  Part part;
  part.kind = Part::Kind::number;
  part.name = std::move(name);
  return make(std::move(part));
}
Term number(double value) {
  Part part;
  part.kind = Part::Kind::number;
  part.value = value;
  return make(std::move(part));
}
Term op(std::string name, std::vector<Term> operands, NodeCheck check) {
  Part part;
  part.kind = Part::Kind::op;
  part.name = std::move(name);
  part.terms = std::move(operands);
  part.node_check = std::move(check);
  return make(std::move(part));
}
Term both(std::string name, const Term& a, const Term& b) {
  Part part;
  part.kind = Part::Kind::op;
  part.name = std::move(name);
  part.commutes = true;
  part.terms = {a, b};
  return make(std::move(part));
}
Term either(std::vector<Term> alternatives) {
  Part part;
  part.kind = Part::Kind::either;
  part.terms = std::move(alternatives);
  return make(std::move(part));
}
Term named(std::string name, const Term& term) {
  Part part = *term;
  part.bound = std::move(name);
  return make(std::move(part));
}

std::optional<Match> find(const Pattern& pattern, const Term& term, ValueId root) {
  return Finder(pattern).find(term, root);
}

NodeCheck over_last_axis() {
  return [](const Pattern& pattern, const Node& node) {
    if (node.int_attr("keepdims", 1) != 1) return false;
    const auto rank = static_cast<int64_t>(pattern.value(node.inputs[0]).shape.size());
    std::vector<int64_t> axes = node.ints_attr("axes");
    if (axes.empty() && node.inputs.size() > 1) axes = pattern.integers(node.inputs[1]);
    return axes.size() == 1 && (axes[0] == -1 || axes[0] == rank - 1);
  };
}

ValueCheck constant() {
  return [](const Pattern& pattern, ValueId id) { return pattern.value(id).constant != nullptr; };
}

}  // namespace anynpu::compile
