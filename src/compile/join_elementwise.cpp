// SPDX-License-Identifier: Apache-2.0
// Chains and trees of element-wise operators become one FusedElementwise: from a node backwards, a
// producer joins if it is element-wise, has the shape of the result, and only members read it.
// Constants of one element become numbers of the program. A Pow by a small or half exponent becomes
// products and roots.
#include <algorithm>
#include <cmath>
#include <map>

#include "compile/pattern.h"
#include "compile/plan_fusion.h"
#include "ops/broadcast.h"
#include "ops/elements/program.h"

namespace anynpu::compile {

namespace {

using graph::kNoValue;
using graph::Node;
using graph::ValueId;
using ops::kMostProgramInputs;
using ops::kMostRegisters;
using ops::kMostSteps;
using ops::Program;
using ops::StepOp;

constexpr int64_t kMostMoved = 1 << 20;  // elements of a constant that gets axes of extent 1

// Steps of one operator: operands are -1 for the first input, -2 for the second, k for the result
// of step k, and 100 + j for number j.
struct Recipe {
  struct Part {
    StepOp op;
    int a, b;
  };
  std::vector<Part> parts;
  std::vector<float> numbers;
  size_t inputs = 1;
};
constexpr int kFirst = -1, kSecond = -2, kNumber = 100;

struct Named {
  std::string_view op;
  StepOp step;
};
constexpr Named kUnary[] = {
    {"Neg", StepOp::neg},         {"Abs", StepOp::abs},
    {"Sqrt", StepOp::sqrt},       {"Reciprocal", StepOp::reciprocal},
    {"Exp", StepOp::exp},         {"Log", StepOp::log},
    {"Erf", StepOp::erf},         {"Tanh", StepOp::tanh},
    {"Sigmoid", StepOp::sigmoid}, {"Softplus", StepOp::softplus},
    {"Relu", StepOp::relu},       {"HardSwish", StepOp::hard_swish},
    {"Mish", StepOp::mish},       {"Sin", StepOp::sin},
    {"Cos", StepOp::cos},
};
constexpr Named kBinary[] = {
    {"Add", StepOp::add}, {"Sub", StepOp::sub}, {"Mul", StepOp::mul},     {"Div", StepOp::div},
    {"Max", StepOp::max}, {"Min", StepOp::min}, {"PRelu", StepOp::leaky}, {"Sum", StepOp::add},
};

Recipe unary(StepOp op) { return {{{op, kFirst, kFirst}}, {}, 1}; }
Recipe with_number(StepOp op, float number) { return {{{op, kFirst, kNumber}}, {number}, 1}; }

// x to the power of a constant, where that is a few products, a root or an inverse.
std::optional<Recipe> power(float exponent) {
  constexpr StepOp square = StepOp::square, root = StepOp::sqrt, inverse = StepOp::reciprocal;
  if (exponent == 1) return with_number(StepOp::mul, 1);
  if (exponent == 2) return unary(square);
  if (exponent == 3) return Recipe{{{square, kFirst, kFirst}, {StepOp::mul, 0, kFirst}}, {}, 1};
  if (exponent == 4) return Recipe{{{square, kFirst, kFirst}, {square, 0, 0}}, {}, 1};
  if (exponent == -1) return unary(inverse);
  if (exponent == -2) return Recipe{{{square, kFirst, kFirst}, {inverse, 0, 0}}, {}, 1};
  if (exponent == 0.5f) return unary(root);
  if (exponent == 1.5f) return Recipe{{{root, kFirst, kFirst}, {StepOp::mul, 0, kFirst}}, {}, 1};
  if (exponent == -0.5f) return Recipe{{{root, kFirst, kFirst}, {inverse, 0, 0}}, {}, 1};
  return {};
}

class Fuser {
 public:
  explicit Fuser(graph::Graph& graph) : graph_(graph), pattern_(graph), names_(graph) {}

  Status run() {
    const size_t count = graph_.nodes.size();
    group_.assign(count, -1);
    users_.assign(graph_.values.size(), {});
    producer_.assign(graph_.values.size(), -1);
    for (size_t n = 0; n < count; ++n) {
      recipes_.push_back(recipe_of(graph_.nodes[n]));
      for (ValueId id : graph_.nodes[n].inputs) {
        if (id != kNoValue) users_[static_cast<size_t>(id)].push_back(static_cast<int>(n));
      }
      for (ValueId id : graph_.nodes[n].outputs) {
        if (id != kNoValue) producer_[static_cast<size_t>(id)] = static_cast<int>(n);
      }
    }
    for (size_t n = count; n-- > 0;) {
      if (recipes_[n] && group_[n] < 0) fuse(static_cast<int>(n));
    }
    std::erase_if(graph_.nodes, [](const Node& node) { return node.op.empty(); });
    ANYNPU_TRY(graph_.verify());
    return remove_dead(graph_);
  }

 private:
  const Shape& shape(ValueId id) const { return pattern_.value(id).shape; }
  const Node& node(int n) const { return graph_.nodes[static_cast<size_t>(n)]; }

  // A Clip of constant bounds; infinite ones are left out.
  std::optional<Recipe> clip(const Node& node) const {
    Recipe made;
    const auto bound = [&](size_t input, const char* attr, StepOp op) {
      float value = op == StepOp::max ? -INFINITY : INFINITY;
      if (node.opset < 11) {
        value = node.float_attr(attr, value);
      } else if (node.inputs.size() > input && node.inputs[input] != kNoValue) {
        const auto constant = pattern_.scalar(node.inputs[input]);
        if (!constant) return false;
        value = *constant;
      }
      if (std::isinf(value)) return true;
      const int from = made.parts.empty() ? kFirst : 0;
      made.parts.push_back({op, from, kNumber + static_cast<int>(made.numbers.size())});
      made.numbers.push_back(value);
      return true;
    };
    if (!bound(1, "min", StepOp::max) || !bound(2, "max", StepOp::min) || made.parts.empty())
      return {};
    return made;
  }

  // A constant of one element, which may be an integer.
  std::optional<float> exponent_of(ValueId id) const {
    if (const auto number = pattern_.scalar(id)) return number;
    const auto whole = constant_elements<int64_t>(graph_, id);
    if (whole.size() == 1 && std::abs(whole[0]) <= 4) return static_cast<float>(whole[0]);
    return {};
  }

  std::optional<Recipe> recipe_of_operator(const Node& node) const {
    if (!node.domain.empty()) return {};
    for (const Named& row : kUnary) {
      if (row.op == node.op) return unary(row.step);
    }
    for (const Named& row : kBinary) {
      if (row.op == node.op && node.inputs.size() == 2)
        return Recipe{{{row.step, kFirst, kSecond}}, {}, 2};
    }
    if (node.op == "Clip") return clip(node);
    if (node.op == "Pow") {
      const auto exponent = exponent_of(node.inputs[1]);
      return exponent ? power(*exponent) : std::nullopt;
    }
    if (node.op == "Swish") {
      const float alpha = node.float_attr("alpha", 1);
      if (alpha == 1) return unary(StepOp::silu);
      return Recipe{
          {{StepOp::mul, kFirst, kNumber}, {StepOp::sigmoid, 0, 0}, {StepOp::mul, kFirst, 1}},
          {alpha}};
    }
    if (node.op == "Gelu") {
      const bool exact = node.string_attr("approximate", "none") == "none";
      return unary(exact ? StepOp::gelu : StepOp::gelu_tanh);
    }
    if (node.op == "LeakyRelu") return with_number(StepOp::leaky, node.float_attr("alpha", 0.01f));
    if (node.op == "Elu") return with_number(StepOp::elu, node.float_attr("alpha", 1.0f));
    if (node.op == "HardSigmoid") {
      const float alpha = node.float_attr("alpha", 0.2f), beta = node.float_attr("beta", 0.5f);
      return Recipe{{{StepOp::mul, kFirst, kNumber},
                     {StepOp::add, 0, kNumber + 1},
                     {StepOp::max, 1, kNumber + 2},
                     {StepOp::min, 2, kNumber + 3}},
                    {alpha, beta, 0, 1},
                    1};
    }
    return {};
  }

  // What the node computes, if all its tensors have one type and known shapes.
  std::optional<Recipe> recipe_of(const Node& node) const {
    if (node.outputs.size() != 1 || node.inputs.empty()) return {};
    const ValueId y = node.outputs[0];
    if (!pattern_.fuses(y) || !pattern_.value(y).has_shape || !is_static(shape(y)) ||
        element_count(shape(y)) == 0)
      return {};
    const auto recipe = recipe_of_operator(node);
    bool any = false;  // input that is no number
    for (size_t i = 0; recipe && i < recipe->inputs; ++i) {
      const ValueId x = node.inputs[i];
      any = any || !pattern_.scalar(x);
      if (x == kNoValue || pattern_.value(x).dtype != pattern_.value(y).dtype ||
          !pattern_.value(x).has_shape || shape(x).size() > shape(y).size())
        return {};
    }
    return any ? recipe : std::nullopt;
  }

  // The members of the group that ends with node `root`, in order.
  std::vector<int> grow(int root) {
    const Shape& whole = shape(node(root).outputs[0]);
    std::vector<int> members = {root};
    group_[static_cast<size_t>(root)] = root;
    for (bool again = true; again && members.size() < kMostSteps / 4;) {
      again = false;
      for (const int member : std::vector<int>(members)) {
        for (size_t i = 0; i < recipes_[static_cast<size_t>(member)]->inputs; ++i) {
          const ValueId id = node(member).inputs[i];
          const int n = producer_[static_cast<size_t>(id)];
          if (n < 0 || !recipes_[static_cast<size_t>(n)] || group_[static_cast<size_t>(n)] >= 0 ||
              shape(id) != whole || pattern_.is_output(id) || members.size() >= kMostSteps / 4)
            continue;
          const auto& users = users_[static_cast<size_t>(id)];
          if (!std::all_of(users.begin(), users.end(),
                           [&](int user) { return group_[static_cast<size_t>(user)] == root; }))
            continue;
          group_[static_cast<size_t>(n)] = root;
          members.insert(std::upper_bound(members.begin(), members.end(), n), n);
          again = true;
        }
      }
    }
    return members;
  }

  struct Builder {
    Program program;
    std::vector<ValueId> inputs;
    std::map<ValueId, int64_t> results;  // steps

    int64_t number(float value) {
      const auto& list = program.numbers;
      const auto found = std::find(list.begin(), list.end(), value);
      const auto at = found - list.begin();
      if (found == list.end()) program.numbers.push_back(value);
      return -1 - at;
    }
  };

  // Tensors that the members read and none of them makes, numbers left out.
  std::vector<ValueId> inputs_of(const std::vector<int>& members) const {
    std::vector<ValueId> list;
    for (const int member : members) {
      for (size_t i = 0; i < recipes_[static_cast<size_t>(member)]->inputs; ++i) {
        const ValueId id = node(member).inputs[i];
        const int n = producer_[static_cast<size_t>(id)];
        const bool inside = n >= 0 && std::binary_search(members.begin(), members.end(), n);
        if (!inside && !pattern_.scalar(id) &&
            std::find(list.begin(), list.end(), id) == list.end())
          list.push_back(id);
      }
    }
    return list;
  }

  Builder build(const std::vector<int>& members) const {
    Builder made;
    made.inputs = inputs_of(members);
    Program& program = made.program;
    program.inputs = made.inputs.size();
    for (const int member : members) {
      const Recipe& recipe = *recipes_[static_cast<size_t>(member)];
      const auto first = static_cast<int64_t>(program.inputs + program.steps.size());
      const auto operand = [&](int from) -> int64_t {
        if (from >= kNumber)
          return made.number(recipe.numbers[static_cast<size_t>(from - kNumber)]);
        if (from >= 0) return first + from;
        const ValueId id = node(member).inputs[static_cast<size_t>(-1 - from)];
        if (const auto known = made.results.find(id); known != made.results.end())
          return known->second;
        if (const auto constant = pattern_.scalar(id)) return made.number(*constant);
        return std::find(made.inputs.begin(), made.inputs.end(), id) - made.inputs.begin();
      };
      for (const Recipe::Part& part : recipe.parts)
        program.steps.push_back({part.op, operand(part.a), operand(part.b)});
      made.results[node(member).outputs[0]] =
          static_cast<int64_t>(program.inputs + program.steps.size()) - 1;
    }
    return made;
  }

  bool broadcasts_to(const std::vector<ValueId>& inputs, const Shape& whole) const {
    Shape all;
    for (ValueId id : inputs) {
      const auto both = ops::broadcast(all, shape(id));
      if (!both.ok()) return false;
      all = *both;
    }
    return all == whole;
  }

  // The program reads one tensor, nothing else reads that tensor, and the node that makes it can
  // run the program as its epilogue (join_epilogues.cpp).
  bool follows_product(const Builder& made) const {
    if (made.inputs.size() != 1 || !made.program.keeps_finite()) return false;
    const Node* product = pattern_.absorbed(made.inputs[0]);
    return product && product->outputs.size() == 1 && has_epilogue_form(*product);
  }

  // A constant with as many axes as the result, so that it can follow the result's layout.
  ValueId whole_rank(ValueId id, size_t rank) {
    const graph::Value& value = pattern_.value(id);
    if (!value.constant || value.shape.size() == rank || element_count(value.shape) > kMostMoved)
      return id;
    graph::Value wide = value;
    wide.shape.insert(wide.shape.begin(), rank - wide.shape.size(), 1);
    wide.name = names_.take(value.name + "/axes");
    return pattern_.adopt(graph_.add_value(std::move(wide)));
  }

  void fuse(int root) {
    const ValueId y = node(root).outputs[0];
    std::vector<int> members = grow(root);
    Builder made = build(members);
    const auto fits = [&] {
      return made.program.inputs >= 1 && made.program.inputs <= kMostProgramInputs &&
             made.program.steps.size() <= kMostSteps &&
             made.program.registers() <= kMostRegisters && broadcasts_to(made.inputs, shape(y));
    };
    while (members.size() > 1 && !fits()) {  // the nodes farthest from the root go back
      group_[static_cast<size_t>(members.front())] = -1;
      members.erase(members.begin());
      made = build(members);
    }
    // The program takes what lies in blocks of channels as it is; the operator PRelu does not.
    const bool alone = members.size() == 1 && node(root).op != "Pow" && node(root).op != "PRelu";
    if (!fits() || (alone && !follows_product(made))) return;
    Node fused;
    fused.op = "FusedElementwise";
    fused.domain = "anynpu";
    fused.opset = 1;
    fused.name = node(root).name;
    fused.outputs = {y};
    for (ValueId id : made.inputs) fused.inputs.push_back(whole_rank(id, shape(y).size()));
    made.program.write(fused);
    for (const int member : members) graph_.nodes[static_cast<size_t>(member)] = Node{};
    graph_.nodes[static_cast<size_t>(root)] = std::move(fused);
  }

  graph::Graph& graph_;
  Pattern pattern_;
  NewNames names_;
  std::vector<std::optional<Recipe>> recipes_;  // of each node
  std::vector<int> group_;                      // root of the group of each node, or -1
  std::vector<std::vector<int>> users_;         // of each value
  std::vector<int> producer_;                   // of each value
};

}  // namespace

Status join_elementwise(graph::Graph& graph) { return Fuser(graph).run(); }

}  // namespace anynpu::compile
