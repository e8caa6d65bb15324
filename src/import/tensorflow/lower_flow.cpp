// SPDX-License-Identifier: Apache-2.0
// Loops, branches and calls of functions. A function takes all it uses as arguments; in a branch
// and in a loop, arguments that do not change become captures (graph/flow.h), and those that are
// constants become constants inside.
#include <algorithm>
#include <functional>
#include <span>

#include "graph/flow.h"
#include "graph/tensor_value.h"
#include "import/tensorflow/body.h"
#include "import/tensorflow/flow_forms.h"
#include "import/tensorflow/lower.h"

namespace anynpu::tensorflow {

namespace {

std::shared_ptr<const FunctionDef> function_called(Builder& b, std::string_view attr,
                                                   FunctionDef FlowForm::*own) {
  if (b.def().flow)
    return std::shared_ptr<const FunctionDef>(b.def().flow, &((*b.def().flow).*own));
  const std::string name = b.take(function_attr(b.def(), attr));
  if (!b.ok()) return nullptr;
  const auto found = b.model().def.functions.find(name);
  if (found != b.model().def.functions.end()) return found->second;
  b.refuse(Code::corrupt_model,
           "it calls the function '{}', which the model does not have; freeze the model again",
           name);
  return nullptr;
}

// Whether a body returns argument `index` as result `index`, as it came.
bool keeps(const FunctionDef& body, size_t index) {
  if (index >= body.results.size() || index >= body.arguments.size()) return false;
  std::string name = body.results[index].node;
  for (int steps = 0; steps < 8; ++steps) {
    if (name == body.arguments[index].name) return true;
    const auto found = std::find_if(body.nodes.begin(), body.nodes.end(),
                                    [&](const NodeDef& node) { return node.name == name; });
    if (found == body.nodes.end() || found->op != "Identity" || found->inputs.empty()) return false;
    name = found->inputs[0].node;
  }
  return false;
}

// A value of the graph around as an argument inside.
struct Inner {
  Tensor tensor;
  std::vector<ValueId> outer;  // what it captures: nothing of a constant
};

ValueId add_inner_input(Builder& inner, const graph::Value& like, const std::string& name) {
  graph::Value value = like;
  value.name = name;
  value.constant = nullptr;
  value.source.clear();
  const ValueId id = inner.graph().add_value(std::move(value));
  inner.graph().inputs.push_back(id);
  return id;
}

// `tensor` as it is outside; the same constant inside, or an input.
Inner capture(Builder& b, Builder& inner, const Tensor& tensor, size_t number) {
  Inner made;
  made.tensor = tensor;
  made.tensor.first = kNoValue;
  made.tensor.made_first = false;
  const bool uneven = tensor.lengths != kNoValue;
  const ValueId plain = uneven ? tensor.plain : b.plain(tensor);
  if (!b.ok()) return made;
  const auto taken = [&](ValueId outer, const char* name) {
    const graph::Value value = b.value(outer);
    if (value.constant) return inner.constant(value.dtype, value.shape, value.constant);
    made.outer.push_back(outer);
    return add_inner_input(inner, value, format("{}_{}", name, number));
  };
  made.tensor.plain = taken(plain, "argument");
  if (uneven) made.tensor.lengths = taken(tensor.lengths, "lengths");
  return made;
}

// What a value can be after either of two ways to it.
void widen(const graph::Value& other, graph::Value& value) {
  if (!value.has_shape || !other.has_shape || value.shape.size() != other.shape.size()) {
    value.has_shape = false;
    value.shape.clear();
    return;
  }
  for (size_t i = 0; i < value.shape.size(); ++i) {
    if (value.shape[i] != other.shape[i]) value.shape[i] = kDynamicDim;
  }
}

graph::Value described(const Builder& b, ValueId id) {
  graph::Value value;
  value.dtype = b.value(id).dtype;
  value.has_shape = b.value(id).has_shape;
  value.shape = b.value(id).shape;
  return value;
}

// Graphs return values of their own: not an input, not a constant, each once.
ValueId returned(Builder& inner, ValueId id) { return inner.node("Identity", 13, {id}); }

std::shared_ptr<const graph::Graph> finished(Builder& b, Builder& inner) {
  if (!inner.ok()) {
    b.refuse(inner.status());
    return nullptr;
  }
  if (Status status = inner.graph().verify(); !status.ok()) {
    b.refuse(status);
    return nullptr;
  }
  return std::make_shared<const graph::Graph>(std::move(inner.graph()));
}

// Depth of graphs inside one another, counted over all builders of the model.
struct Deeper {
  explicit Deeper(Builder& b) : model(b.model()) {
    if (++model.depth > graph::kMostNestedGraphs) {
      b.refuse(Code::limit_exceeded, "loops and branches lie more than {} deep inside one another",
               graph::kMostNestedGraphs);
    }
  }
  ~Deeper() { --model.depth; }
  Model& model;
};

// A branch with all arguments captured.
struct Branch {
  std::shared_ptr<const graph::Graph> graph;
  std::vector<graph::Value> results;
  std::vector<Tensor> tensors;
};

// What a branch adds to its graph, given its arguments there.
using Emit =
    std::function<Result<std::vector<Tensor>>(Builder& inner, const std::vector<Tensor>& inside)>;

Branch build_branch(Builder& b, const std::string& name, const Emit& emit,
                    const std::vector<Tensor>& arguments, std::vector<ValueId>& captures) {
  Branch branch;
  Builder inner(b.model(), name);
  std::vector<Tensor> inside;
  captures.clear();
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Inner made = capture(b, inner, arguments[i], i);
    captures.insert(captures.end(), made.outer.begin(), made.outer.end());
    inside.push_back(made.tensor);
  }
  if (!b.ok()) return branch;
  auto results = emit(inner, inside);
  if (!results.ok()) {
    b.refuse(results.status());
    return branch;
  }
  for (const Tensor& tensor : *results) {
    if (tensor.unshaped) {
      b.refuse(Code::unsupported_feature,
               "a branch returns a list whose elements have no shape; state element_shape");
      return branch;
    }
    const ValueId id = returned(inner, inner.plain(tensor));
    if (!inner.ok()) break;
    inner.graph().outputs.push_back(id);
    branch.results.push_back(described(inner, id));
    branch.tensors.push_back(tensor);
  }
  branch.graph = finished(b, inner);
  return branch;
}

void out_flow(Builder& b, size_t index, ValueId value, const Tensor& like) {
  like.is_list ? b.out_list(index, value, like.grows) : b.out(index, value);
}

ValueId as_truth(Builder& b, ValueId id) {
  if (!b.ok() || b.dtype(id) == DType::boolean) return id;
  return b.node("Not", 1, {b.node("Equal", 13, {id, b.scalar(b.dtype(id), 0)})});
}

Emit call_of(const FunctionDef& function) {
  return [&function](Builder& inner, const std::vector<Tensor>& inside) {
    return inline_function(inner, function, inside);
  };
}

// What the branch that is taken returns.
Result<std::vector<Tensor>> build_if(Builder& b, ValueId condition, const Emit& taken,
                                     const Emit& other, const std::vector<Tensor>& arguments) {
  const Deeper deeper(b);
  if (b.ok() && b.has_shape(condition) && b.rank(condition) > 0)
    condition = b.reshape(condition, {});
  std::vector<ValueId> captures, same;
  if (!b.ok()) return b.status();
  Branch yes = build_branch(b, "then", taken, arguments, captures);
  if (!b.ok()) return b.status();
  Branch no = build_branch(b, "else", other, arguments, same);
  if (!b.ok()) return b.status();
  if (yes.results.size() != no.results.size()) {
    return fail(Code::corrupt_model, "its branches return {} and {} tensors", yes.results.size(),
                no.results.size());
  }
  for (size_t i = 0; i < yes.results.size(); ++i) widen(no.results[i], yes.results[i]);
  graph::Node node;
  node.op = "If";
  node.opset = 16;
  node.inputs = {condition};
  node.inputs.insert(node.inputs.end(), captures.begin(), captures.end());
  node.attrs["then_branch"] = yes.graph;
  node.attrs["else_branch"] = no.graph;
  node.attrs[graph::kCapturesAttr] = static_cast<int64_t>(captures.size());
  const auto made = b.flow_node(std::move(node), yes.results);
  if (!b.ok()) return b.status();
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < made.size(); ++i) {
    Tensor tensor;
    tensor.plain = made[i];
    tensor.is_list = yes.tensors[i].is_list;
    tensor.grows = yes.tensors[i].grows;
    tensors.push_back(tensor);
  }
  return tensors;
}

using Functions = std::span<const std::shared_ptr<const FunctionDef>>;

// The function whose number argument 0 is, `first` being that of functions[0]; by halves, so that
// graphs do not lie deep inside one another. The other arguments are the function's.
Result<std::vector<Tensor>> choose_function(Builder& b, Functions functions, int64_t first,
                                            const std::vector<Tensor>& arguments) {
  if (functions.size() == 1)
    return inline_function(b, *functions[0], {arguments.begin() + 1, arguments.end()});
  const size_t half = functions.size() / 2;
  const int64_t middle = first + static_cast<int64_t>(half);
  const ValueId number = b.plain(arguments[0]);
  const ValueId below = b.node("Less", 13, {number, b.whole(b.dtype(number), middle)});
  const Emit lower = [=](Builder& inner, const std::vector<Tensor>& inside) {
    return choose_function(inner, functions.first(half), first, inside);
  };
  const Emit upper = [=](Builder& inner, const std::vector<Tensor>& inside) {
    return choose_function(inner, functions.subspan(half), middle, inside);
  };
  return build_if(b, below, lower, upper, arguments);
}

void out_all(Builder& b, const Result<std::vector<Tensor>>& tensors) {
  if (!tensors.ok()) return b.refuse(tensors.status());
  for (size_t i = 0; i < tensors->size(); ++i) b.out(i, (*tensors)[i]);
}

std::vector<Tensor> arguments_from(Builder& b, size_t first) {
  std::vector<Tensor> arguments;
  for (size_t i = first; i < b.input_count(); ++i) arguments.push_back(b.tensor(i));
  return arguments;
}

}  // namespace

void lower_call(Builder& b) {
  const auto function = function_called(b, "f", &FlowForm::body);
  if (function) out_all(b, inline_function(b, *function, arguments_from(b, 0)));
}

void lower_if(Builder& b) {
  const auto taken = function_called(b, "then_branch", &FlowForm::then_branch);
  const auto other = function_called(b, "else_branch", &FlowForm::else_branch);
  const ValueId condition = as_truth(b, b.in(0));
  if (!b.ok()) return;
  if (const auto known = b.known(condition); known && known->size() == 1)
    return out_all(b, inline_function(b, (*known)[0] ? *taken : *other, arguments_from(b, 1)));
  out_all(b, build_if(b, condition, call_of(*taken), call_of(*other), arguments_from(b, 1)));
}

// One round of reading a loop: the body with variables described by `start`.
namespace {

struct LoopForm {
  const FunctionDef* condition;
  const FunctionDef* body;
  std::vector<Tensor> arguments;    // outside, before the first iteration
  std::vector<bool> kept;           // does not change
  std::vector<graph::Value> start;  // of each variable: type and shape in every iteration
};

// The values that carry an argument from iteration to iteration.
std::vector<ValueId> variables_of(Builder& b, const Tensor& tensor) {
  if (is_uneven(tensor)) return {tensor.plain, tensor.lengths};
  return {b.plain(tensor)};
}

struct LoopBody {
  std::shared_ptr<const graph::Graph> graph;
  std::vector<ValueId> captures;
  std::vector<Tensor> after;          // of all arguments, inside
  std::vector<graph::Value> results;  // of the variables
};

LoopBody read_loop(Builder& b, const LoopForm& loop) {
  LoopBody made;
  Builder inner(b.model(), loop.body->name);
  add_inner_input(inner, graph::tensor_value({}, DType::i64, {}), "iteration");
  add_inner_input(inner, graph::tensor_value({}, DType::boolean, {}), "go_on");
  std::vector<Tensor> inside(loop.arguments.size());
  for (size_t i = 0, k = 0; i < loop.arguments.size(); ++i) {
    if (loop.kept[i]) continue;
    inside[i] = loop.arguments[i];
    inside[i].first = kNoValue;
    inside[i].made_first = false;
    inside[i].plain = add_inner_input(inner, loop.start[k++], format("variable_{}", i));
    if (is_uneven(inside[i]))
      inside[i].lengths = add_inner_input(inner, loop.start[k++], format("lengths_{}", i));
  }
  for (size_t i = 0; i < loop.arguments.size(); ++i) {
    if (!loop.kept[i]) continue;
    const Inner captured = capture(b, inner, loop.arguments[i], i);
    made.captures.insert(made.captures.end(), captured.outer.begin(), captured.outer.end());
    inside[i] = captured.tensor;
  }
  if (!b.ok()) return made;
  auto after = inline_function(inner, *loop.body, inside);
  if (!after.ok()) {
    b.refuse(after.status());
    return made;
  }
  made.after = std::move(*after);
  if (made.after.size() < loop.arguments.size()) {
    b.refuse(Code::corrupt_model, "its body returns {} tensors, expected {}", made.after.size(),
             loop.arguments.size());
    return made;
  }
  for (size_t i = 0; i < loop.arguments.size(); ++i) {
    if (loop.kept[i]) made.after[i] = inside[i];
  }
  auto again = inline_function(inner, *loop.condition, made.after);
  if (!again.ok() || again->empty()) {
    b.refuse(again.ok() ? fail(Code::corrupt_model, "its condition returns nothing")
                        : again.status());
    return made;
  }
  ValueId go_on = as_truth(inner, inner.plain((*again)[0]));
  if (inner.has_shape(go_on) && inner.rank(go_on) > 0) go_on = inner.reshape(go_on, {});
  inner.graph().outputs.push_back(returned(inner, go_on));
  for (size_t i = 0; i < loop.arguments.size(); ++i) {
    if (loop.kept[i]) continue;
    Tensor after = made.after[i];
    if (is_uneven(loop.arguments[i]) && !is_uneven(after) && inner.ok()) {
      if (!inner.need_fixed(after.plain, "a list that becomes even in the loop")) break;
      after = made_uneven(inner, after.plain);
    }
    // A list that begins even is read again as one that is not: its rows alone are returned here.
    if (!is_uneven(loop.arguments[i])) after.lengths = kNoValue;
    for (ValueId variable : variables_of(inner, after)) {
      const ValueId id = returned(inner, variable);
      if (!inner.ok()) break;
      inner.graph().outputs.push_back(id);
      made.results.push_back(described(inner, id));
    }
  }
  made.graph = finished(b, inner);
  return made;
}

// The list as a tensor of zeros, or without rows, once the shape of its elements is known.
Tensor made_with_shape(Builder& b, const Tensor& list) {
  const UnshapedList& unshaped = *list.unshaped;
  const bool rows = unshaped.learnt && has_rows(*unshaped.learnt) && !unshaped.conflicting;
  if (rows && (unshaped.of_variants || !is_static(*unshaped.learnt)))
    return empty_uneven(b, list.plain, unshaped.dtype, *unshaped.learnt);
  if (!unshaped.learnt || !is_static(*unshaped.learnt) || unshaped.conflicting) {
    b.refuse(
        Code::unsupported_shape,
        "a list of tensors is filled in the loop with elements of the shape {}; expected fixed "
        "extents, give those of the model's inputs with --input_shape",
        unshaped.learnt ? to_string(*unshaped.learnt) : "(unknown)");
    return list;
  }
  const ValueId count = b.reshape(b.cast(list.plain, DType::i64), {1});
  const ValueId shape =
      b.node("Concat", 13, {count, b.list(*unshaped.learnt)}, {{"axis", int64_t{0}}});
  Tensor dense;
  dense.plain = b.node("Expand", 13, {b.scalar(unshaped.dtype, 0), shape});
  dense.is_list = true;
  dense.grows = list.grows;
  return dense;
}

}  // namespace

void lower_while(Builder& b) {
  const auto condition = function_called(b, "cond", &FlowForm::cond);
  const auto body = function_called(b, "body", &FlowForm::body);
  if (!b.ok()) return;
  const Deeper deeper(b);
  LoopForm loop{condition.get(), body.get(), arguments_from(b, 0), {}, {}};
  const size_t count = loop.arguments.size();
  if (body->results.size() < count || body->arguments.size() < count) {
    return b.refuse(Code::corrupt_model, "its body takes {} tensors and returns {}, expected {}",
                    body->arguments.size(), body->results.size(), count);
  }
  for (size_t i = 0; i < count; ++i) loop.kept.push_back(keeps(*body, i));
  LoopBody made;
  const auto becomes_uneven = [&](size_t i) {
    return !loop.arguments[i].unshaped && !is_uneven(loop.arguments[i]) && is_uneven(made.after[i]);
  };
  constexpr int kMostTries = 4;
  for (int round = 0;; ++round) {
    loop.start.clear();
    for (size_t i = 0; i < count; ++i) {
      if (loop.kept[i]) continue;
      for (ValueId id : variables_of(b, loop.arguments[i])) {
        if (!b.ok()) return;
        loop.start.push_back(described(b, id));
      }
    }
    // Shapes that an iteration changes are unknown, until nothing changes any more.
    bool settled = false;
    for (int tries = 0; tries < kMostTries && !settled; ++tries) {
      made = read_loop(b, loop);
      if (!b.ok()) return;
      settled = true;
      size_t k = 0;
      for (size_t i = 0; i < count; ++i) {
        if (loop.kept[i]) continue;
        const size_t variables = is_uneven(loop.arguments[i]) ? 2 : 1;
        for (size_t v = 0; v < variables; ++v, ++k) {
          graph::Value& known = loop.start[k];
          if (loop.arguments[i].unshaped || becomes_uneven(i)) continue;
          graph::Value both = known;
          widen(made.results[k], both);
          if (tries > 1 && both.shape != known.shape) {
            both.has_shape = false;
            both.shape.clear();
          }
          settled = settled && both.has_shape == known.has_shape && both.shape == known.shape;
          known = both;
        }
      }
    }
    if (!settled) return b.refuse(Code::corrupt_model, "the shapes of its variables do not settle");
    // Lists whose elements were seen now have a shape; then the loop is read once more.
    bool opened = false;
    for (size_t i = 0; i < count; ++i) {
      if (loop.kept[i] || (!loop.arguments[i].unshaped && !becomes_uneven(i))) continue;
      if (loop.arguments[i].unshaped) {
        loop.arguments[i] = made_with_shape(b, loop.arguments[i]);
      } else {
        const ValueId even = b.plain(loop.arguments[i]);
        if (!b.need_fixed(even, "a list whose elements change their length in the loop")) return;
        loop.arguments[i] = made_uneven(b, even);
      }
      opened = true;
    }
    if (!b.ok()) return;
    if (!opened) break;
    if (round > 1) return b.refuse(Code::corrupt_model, "the shapes of its lists do not settle");
  }
  auto first = inline_function(b, *condition, loop.arguments);
  if (!first.ok()) return b.refuse(first.status());
  ValueId go = as_truth(b, b.plain((*first)[0]));
  if (b.has_shape(go) && b.rank(go) > 0) go = b.reshape(go, {});
  if (!b.ok()) return;
  graph::Node node;
  node.op = "Loop";
  node.opset = 16;
  node.inputs = {kNoValue, go};
  std::vector<graph::Value> results;
  for (size_t i = 0; i < count; ++i) {
    if (loop.kept[i]) continue;
    const auto variables = variables_of(b, loop.arguments[i]);
    node.inputs.insert(node.inputs.end(), variables.begin(), variables.end());
  }
  results = loop.start;
  node.inputs.insert(node.inputs.end(), made.captures.begin(), made.captures.end());
  node.attrs["body"] = made.graph;
  node.attrs[graph::kCapturesAttr] = static_cast<int64_t>(made.captures.size());
  const auto outputs = b.flow_node(std::move(node), std::move(results));
  for (size_t i = 0, k = 0; i < count; ++i) {
    if (loop.kept[i]) {
      b.out(i, loop.arguments[i]);
    } else if (is_uneven(loop.arguments[i])) {
      b.out_uneven_list(i, outputs[k], outputs[k + 1]);
      k += 2;
    } else {
      out_flow(b, i, outputs[k++], loop.arguments[i]);
    }
  }
}

// One of several functions by number; a number out of range means the last.
void lower_case(Builder& b) {
  std::vector<std::shared_ptr<const FunctionDef>> functions;
  if (const auto& flow = b.def().flow) {
    for (const FunctionDef& branch : flow->branches) functions.emplace_back(flow, &branch);
  } else {
    for (const std::string& name : b.take(functions_attr(b.def(), "branches"))) {
      const auto found = b.model().def.functions.find(name);
      if (found == b.model().def.functions.end())
        return b.refuse(Code::corrupt_model, "it calls the function '{}', which is not there",
                        name);
      functions.push_back(found->second);
    }
  }
  ValueId index = b.in(0);
  if (!b.ok()) return;
  if (functions.empty()) return b.refuse(Code::corrupt_model, "it has no branches");
  const auto last = static_cast<int64_t>(functions.size()) - 1;
  std::vector<Tensor> arguments = arguments_from(b, 0);
  if (const auto known = b.known(index); known && known->size() == 1) {
    const int64_t chosen = (*known)[0] < 0 || (*known)[0] > last ? last : (*known)[0];
    arguments.erase(arguments.begin());
    return out_all(b, inline_function(b, *functions[static_cast<size_t>(chosen)], arguments));
  }
  const ValueId bound = b.whole(b.dtype(index), last);
  const ValueId outside = b.node("Or", 7,
                                 {b.node("Less", 13, {index, b.whole(b.dtype(index), 0)}),
                                  b.node("Greater", 13, {index, bound})});
  arguments[0] = {};
  arguments[0].plain = b.node("Where", 16, {outside, bound, index});
  if (b.ok()) out_all(b, choose_function(b, functions, 0, arguments));
}

}  // namespace anynpu::tensorflow
