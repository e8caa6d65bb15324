// SPDX-License-Identifier: Apache-2.0
#include "exec/fixed_flow.h"

#include <algorithm>
#include <cstring>

#include "base/align.h"
#include "base/cancellation.h"
#include "base/spare_pool.h"
#include "compile/infer_flow.h"
#include "compile/specialise.h"
#include "exec/loop_limit.h"
#include "exec/observe.h"
#include "exec/runner.h"
#include "graph/flow.h"

namespace anynpu::exec {

namespace {

constexpr size_t kMostValues = 256;  // of one side of a graph inside, kept on the stack

size_t bytes_of(const TensorShape& tensor) {
  return anynpu::bytes_of(tensor.dtype, static_cast<size_t>(element_count(tensor.shape)));
}

// Whether the next tensor of a stack starts at a byte boundary (int4 has two to a byte).
bool ends_with_a_byte(const TensorShape& tensor) {
  return bits_of(tensor.dtype) % 8 == 0 || element_count(tensor.shape) % 2 == 0;
}

bool same(const TensorShape& a, const TensorShape& b) {
  return a.dtype == b.dtype && a.shape == b.shape;
}

// One graph inside. Runs of several threads take a runner each; the arena comes from outside.
class Body {
 public:
  std::vector<TensorShape> inputs, outputs;

  explicit Body(const graph::Graph& graph) : graph_(std::make_unique<graph::Graph>(graph)) {
    const auto describe = [&](const std::vector<graph::ValueId>& ids, auto& list) {
      for (graph::ValueId id : ids) {
        const graph::Value& value = graph.values[static_cast<size_t>(id)];
        list.push_back({value.dtype, value.shape});
      }
    };
    describe(graph.inputs, inputs);
    describe(graph.outputs, outputs);
  }

  Status make(const ops::Target& target, WeightPool& weights,
              const std::shared_ptr<StepObserver>& observer) {
    ANYNPU_TRY(compile::optimise_shaped(*graph_));
    ANYNPU_ASSIGN(plan_, make_plan(*graph_, target, weights, observer));
    return {};
  }
  size_t work_bytes() const { return round_up(plan_.work_bytes, ops::kBufferAlignment); }
  Plan& plan() { return plan_; }
  void forget_graph() {
    plan_.forget_graph();
    graph_.reset();
    for (const PlanStep& step : plan_.steps)
      names_.push_back({trace::intern(step.name), trace::intern(step.traced)});
  }

  Status run(std::span<void* const> in, std::span<void* const> out, std::byte* arena) const {
    auto runner = runners_.take();
    if (!runner) runner = std::make_unique<PlanRunner>(plan_, names_, Memory{});
    runner->use_arena(arena);
    Status status = runner->run(in, out, nullptr);
    runners_.give(std::move(runner));
    return status;
  }

 private:
  std::unique_ptr<graph::Graph> graph_;  // until the weights are filled
  Plan plan_;
  std::vector<TracedStep> names_;
  mutable SparePool<PlanRunner> runners_;
};

class FlowWork : public ops::KernelPlan, public InnerPlans {
 public:
  std::string label;
  std::vector<TensorShape> inputs, outputs;  // of the node
  size_t formal = 0;                         // inputs before the captures
  std::vector<std::unique_ptr<Body>> bodies;

  // Whether the shapes fit, and where buffers lie in the work space; false: not for us. Before the
  // bodies are planned.
  virtual bool prepare(const graph::Node& node) = 0;

  Status plan_bodies(const ops::Target& target, WeightPool& weights,
                     const std::shared_ptr<StepObserver>& observer) {
    size_t most = 0;
    for (auto& body : bodies) {
      ANYNPU_TRY(body->make(target, weights, observer), "in a graph of {}", label);
      most = std::max(most, body->work_bytes());
    }
    arena_ = place(most);  // one of them runs at a time
    return {};
  }

  Status fill_weights() override {
    for (auto& body : bodies) ANYNPU_TRY(body->plan().fill_weights());
    return {};
  }
  void forget_graph() override {
    for (auto& body : bodies) body->forget_graph();
  }
  void observe_by(const std::shared_ptr<StepObserver>& observer) override {
    for (auto& body : bodies) observe(body->plan(), observer);
  }

 protected:
  size_t place(size_t bytes) {  // in the work space
    const size_t at = workspace_bytes;
    workspace_bytes += round_up(bytes, ops::kBufferAlignment);
    return at;
  }
  static void* given(const ops::RunArgs& args, size_t input) {
    return const_cast<std::byte*>(args.inputs[input]);
  }
  int64_t number(const ops::RunArgs& args, size_t input, int64_t otherwise) const {
    const std::byte* data = args.inputs[input];
    if (!data) return otherwise;
    if (inputs[input].dtype == DType::boolean) return *data != std::byte{0};
    int64_t value = 0;
    std::memcpy(&value, data, size_of(inputs[input].dtype));
    return inputs[input].dtype == DType::i32 ? static_cast<int32_t>(value) : value;
  }
  static bool is_number(const TensorShape& tensor) {
    const bool type =
        tensor.dtype == DType::boolean || tensor.dtype == DType::i64 || tensor.dtype == DType::i32;
    return type && element_count(tensor.shape) == 1;
  }

  size_t arena_ = 0;
};

class FixedIf final : public FlowWork {
 public:
  bool prepare(const graph::Node&) override {
    if (!is_number(inputs[0])) return false;
    for (const auto& body : bodies) {
      if (!std::equal(outputs.begin(), outputs.end(), body->outputs.begin(), body->outputs.end(),
                      same))
        return false;
    }
    return true;
  }

  Status run(const ops::RunArgs& args) const override {
    void *in[kMostValues], *out[kMostValues];
    for (size_t i = formal; i < inputs.size(); ++i) in[i - formal] = given(args, i);
    for (size_t i = 0; i < outputs.size(); ++i) out[i] = args.outputs[i];
    const Body& body = *bodies[number(args, 0, 0) != 0 ? 0 : 1];
    return body.run({in, inputs.size() - formal}, {out, outputs.size()}, args.workspace + arena_);
  }
};

// What a body passes from one iteration to the next is double-buffered.
class FixedRepeat : public FlowWork {
 protected:
  struct Pair {
    size_t bytes = 0, at[2] = {};
  };
  Pair place_pair(const TensorShape& tensor) {
    const size_t bytes = bytes_of(tensor);
    return {bytes, {place(bytes), place(bytes)}};
  }
  Status other_length(int64_t iterations, size_t output) const {
    return fail(Code::shape_mismatch,
                "{}: it ran {} times, and output {} has the shape {} in the model; feed values "
                "that fit, or compile the model with another shape",
                label, iterations, output, to_string(outputs[output].shape));
  }
};

class FixedLoop final : public FixedRepeat {
 public:
  bool prepare(const graph::Node&) override {
    const Body& body = *bodies[0];
    const size_t carried = formal - 2;
    for (size_t i = 0; i < 2; ++i) {
      if (inputs[i].dtype != DType::undefined && !is_number(inputs[i])) return false;
    }
    const bool numbers = body.inputs[0].dtype == DType::i64 && is_number(body.inputs[0]) &&
                         body.inputs[1].dtype == DType::boolean && is_number(body.inputs[1]) &&
                         body.outputs[0].dtype == DType::boolean && is_number(body.outputs[0]);
    if (!numbers) return false;
    iteration_ = place(sizeof(int64_t));
    condition_ = place_pair(body.inputs[1]);
    for (size_t i = 0; i < carried; ++i) {
      if (!same(inputs[2 + i], body.inputs[2 + i]) || !same(inputs[2 + i], body.outputs[1 + i]) ||
          !same(inputs[2 + i], outputs[i]))
        return false;
      carried_.push_back(place_pair(inputs[2 + i]));
    }
    for (size_t i = carried; i < outputs.size(); ++i) {
      const TensorShape& row = body.outputs[1 + i];
      if (outputs[i].shape.size() != row.shape.size() + 1 || outputs[i].dtype != row.dtype ||
          !std::equal(row.shape.begin(), row.shape.end(), outputs[i].shape.begin() + 1) ||
          !ends_with_a_byte(row))
        return false;
      rows_.push_back(bytes_of(row));
    }
    return true;
  }

  Status run(const ops::RunArgs& args) const override {
    const size_t carried = carried_.size();
    const int64_t most = number(args, 0, INT64_MAX);
    int64_t again = number(args, 1, 1), iteration = 0;
    std::byte* const work = args.workspace;
    void *in[kMostValues], *out[kMostValues];
    in[0] = work + iteration_;
    in[1] = work + condition_.at[1];
    *static_cast<std::byte*>(in[1]) = std::byte{again != 0};
    for (size_t i = 2; i < inputs.size(); ++i) in[i] = given(args, i);
    for (; iteration < most && again != 0; ++iteration) {
      ANYNPU_TRY(check_cancelled(), "in iteration {} of {}", iteration, label);
      if (iteration >= limit_) return endless_loop(label, iteration, most);
      std::memcpy(in[0], &iteration, sizeof iteration);
      const size_t side = static_cast<size_t>(iteration % 2);
      out[0] = work + condition_.at[side];
      for (size_t i = 0; i < carried; ++i) out[1 + i] = work + carried_[i].at[side];
      for (size_t i = 0; i < rows_.size(); ++i) {
        if (iteration >= outputs[carried + i].shape[0])
          return other_length(iteration + 1, carried + i);
        out[1 + carried + i] =
            args.outputs[carried + i] + static_cast<size_t>(iteration) * rows_[i];
      }
      ANYNPU_TRY(bodies[0]->run({in, inputs.size()}, {out, 1 + outputs.size()}, work + arena_),
                 "in iteration {}", iteration);
      again = *static_cast<const std::byte*>(out[0]) != std::byte{0};
      std::copy_n(out, 1 + carried, in + 1);
    }
    for (size_t i = 0; i < carried; ++i) {
      if (carried_[i].bytes > 0) std::memcpy(args.outputs[i], in[2 + i], carried_[i].bytes);
    }
    for (size_t i = carried; i < outputs.size(); ++i) {
      if (outputs[i].shape[0] != iteration) return other_length(iteration, i);
    }
    return {};
  }

 private:
  const int64_t limit_ = loop_limit();
  size_t iteration_ = 0;
  Pair condition_;
  std::vector<Pair> carried_;
  std::vector<size_t> rows_;
};

class FixedScan final : public FixedRepeat {
 public:
  bool prepare(const graph::Node& node) override {
    const auto scanned = static_cast<size_t>(node.int_attr("num_scan_inputs", 1));
    const Body& body = *bodies[0];
    if (node.opset < 9 || scanned > formal) return false;
    const size_t states = formal - scanned;
    // Slices of the first axis, forwards, are used in place; the others are rare.
    for (const char* attr : {"scan_input_axes", "scan_output_axes", "scan_input_directions",
                             "scan_output_directions"}) {
      for (int64_t value : node.ints_attr(attr)) {
        if (value != 0) return false;
      }
    }
    for (size_t i = 0; i < states; ++i) {
      if (!same(inputs[i], body.inputs[i]) || !same(inputs[i], body.outputs[i]) ||
          !same(inputs[i], outputs[i]))
        return false;
      states_.push_back(place_pair(inputs[i]));
    }
    if (inputs[states].shape.empty()) return false;
    count_ = inputs[states].shape[0];
    for (size_t i = states; i < formal; ++i) {
      if (!is_stack(inputs[i], body.inputs[i])) return false;
      slices_.push_back(bytes_of(body.inputs[i]));
    }
    for (size_t i = states; i < outputs.size(); ++i) {
      if (!is_stack(outputs[i], body.outputs[i])) return false;
      rows_.push_back(bytes_of(body.outputs[i]));
    }
    return true;
  }

  Status run(const ops::RunArgs& args) const override {
    const size_t states = states_.size();
    void *in[kMostValues], *out[kMostValues];
    for (size_t i = 0; i < inputs.size(); ++i) in[i] = given(args, i);
    for (int64_t t = 0; t < count_; ++t) {
      ANYNPU_TRY(check_cancelled(), "in iteration {} of {}", t, label);
      const auto at = static_cast<size_t>(t);
      for (size_t i = 0; i < slices_.size(); ++i) {
        in[states + i] = static_cast<std::byte*>(given(args, states + i)) + at * slices_[i];
      }
      for (size_t i = 0; i < states; ++i) out[i] = args.workspace + states_[i].at[at % 2];
      for (size_t i = 0; i < rows_.size(); ++i)
        out[states + i] = args.outputs[states + i] + at * rows_[i];
      ANYNPU_TRY(
          bodies[0]->run({in, inputs.size()}, {out, outputs.size()}, args.workspace + arena_),
          "in iteration {}", t);
      std::copy_n(out, states, in);
    }
    for (size_t i = 0; i < states; ++i) {
      if (states_[i].bytes > 0) std::memcpy(args.outputs[i], in[i], states_[i].bytes);
    }
    return {};
  }

 private:
  // `count_` of `one`, one after the other.
  bool is_stack(const TensorShape& whole, const TensorShape& one) const {
    return whole.dtype == one.dtype && whole.shape.size() == one.shape.size() + 1 &&
           whole.shape[0] == count_ && ends_with_a_byte(one) &&
           std::equal(one.shape.begin(), one.shape.end(), whole.shape.begin() + 1);
  }

  int64_t count_ = 0;
  std::vector<Pair> states_;
  std::vector<size_t> slices_, rows_;
};

std::unique_ptr<FlowWork> new_work(const graph::Node& node) {
  if (node.op == "If") return std::make_unique<FixedIf>();
  if (node.op == "Loop") return std::make_unique<FixedLoop>();
  if (node.op == "Scan") return std::make_unique<FixedScan>();
  return nullptr;
}

bool is_fixed(const TensorShape& tensor) {
  return tensor.dtype != DType::undefined && bits_of(tensor.dtype) > 0 &&
         bits_of(tensor.dtype) % 8 == 0 && is_static(tensor.shape);
}

}  // namespace

Result<FixedFlow> plan_fixed_flow(const graph::Node& node, const std::vector<TensorShape>& inputs,
                                  const std::vector<TensorShape>& outputs,
                                  const ops::Target& target, WeightPool& weights,
                                  const std::shared_ptr<StepObserver>& observer) {
  ANYNPU_TRY(graph::check_flow(node));
  auto work = new_work(node);
  const size_t formal = graph::formal_inputs(node);
  if (!work || inputs.size() + 2 > kMostValues || outputs.size() + 2 > kMostValues)
    return FixedFlow{};
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool optional = node.op == "Loop" && i < 2 && inputs[i].dtype == DType::undefined;
    if (!is_fixed(inputs[i]) && !optional) return FixedFlow{};
  }
  if (!std::all_of(outputs.begin(), outputs.end(), is_fixed)) return FixedFlow{};
  for (std::string_view attr : graph::subgraph_attrs(node)) {
    const auto graph = graph::subgraph(node, attr);
    if (!compile::all_shapes_known(*graph)) return FixedFlow{};
  }
  work->label = format("{} '{}'", node.op, node.name);
  work->inputs = inputs;
  work->outputs = outputs;
  work->formal = formal;
  for (std::string_view attr : graph::subgraph_attrs(node))
    work->bodies.push_back(std::make_unique<Body>(*graph::subgraph(node, attr)));
  if (!work->prepare(node)) return FixedFlow{};
  ANYNPU_TRY(work->plan_bodies(target, weights, observer));
  FixedFlow made;
  made.inner = work.get();
  for (const auto& body : work->bodies)
    made.memory_known = made.memory_known && body->plan().memory_known;
  made.work = std::move(work);
  return made;
}

}  // namespace anynpu::exec
