// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/late_plan.h"

#include <algorithm>
#include <list>
#include <mutex>

#include "cuda/kernels/item_kernel.h"
#include "cuda/kernels/jit_kernel.h"
#include "cuda/kernels/kernels.h"
#include "ops/backend_kernels.h"
#include "ops/check_kernel.h"

namespace anynpu::device::cuda {

namespace {

using ops::OpContext;
using ops::Operand;

constexpr const char* kName = "cuda_late";
constexpr size_t kMostPlans = 16;
constexpr size_t kMostBytes = 4096;  // of all parameters of a node

struct LateOp {
  std::string_view op;
  uint64_t parameters;  // bit k: input k
  ops::DTypeSet types = ops::kAnyFixed;
};
// The same masks as those of the CPU's kernels.
constexpr LateOp kOps[] = {
    {"Resize", 0b1110},        {"Upsample", 0b10}, {"Slice", 0b11110}, {"Pad", 0b1010},
    {"Expand", 0b10},          {"Tile", 0b10},     {"Col2Im", 0b110},  {"CenterCropPad", 0b10},
    {"ReduceLogSumExp", 0b10}, {"DFT", 0b110},     {"STFT", 0b1010},   {"MelWeightMatrix", 0b11111},
};

uint64_t parameters_of(const OpContext& context) {
  for (const LateOp& one : kOps) {
    if (one.op == context.schema->name) return one.parameters;
  }
  return 0;
}

struct Planned {
  std::vector<std::byte> values;  // of the parameters, one behind the other
  std::unique_ptr<ops::Kernel> kernel;
  std::unique_ptr<ops::KernelPlan> plan;
  std::shared_ptr<std::byte> workspace;
};

// The GPU's other kernels for the node, with its parameters known.
Result<std::unique_ptr<Planned>> plan_now(const OpContext& context) {
  std::string reasons;
  for (const ops::KernelDef* def :
       ops::backend_kernels("cuda", context.schema->name, context.schema->domain)) {
    if (def->name == kName) continue;
    if (const Status runs = ops::check_kernel(*def, context); !runs.ok()) {
      reasons += format("{}: {}; ", def->name, runs.message());
      continue;
    }
    auto planned = std::make_unique<Planned>();
    ANYNPU_ASSIGN(planned->kernel, def->create(context));
    ANYNPU_ASSIGN(planned->plan, planned->kernel->plan(context));
    return planned;
  }
  return fail(Code::unsupported_op,
              "{}: the GPU has no kernel for the values of its parameters ({}); make them "
              "constants of the model",
              context.label(), reasons);
}

// What is known of the node when the model is loaded.
struct Node {
  std::shared_ptr<graph::Node> node;  // outlives the graph
  const ops::OpSchema* schema = nullptr;
  std::vector<Operand> inputs, outputs;
  ops::Target target;
  uint64_t parameters = 0;
  std::vector<std::vector<std::byte>> constants = {};  // of the parameters that are known

  bool is_parameter(size_t k) const {
    return (parameters >> k & 1) != 0 && inputs[k].present && !inputs[k].is_constant;
  }
  size_t bytes_of_input(size_t k) const {
    return bytes_of(inputs[k].dtype, static_cast<size_t>(element_count(inputs[k].shape)));
  }

  Result<OpContext> context(std::span<const std::byte> values) const {
    OpContext now;
    now.node = node.get();
    now.schema = schema;
    now.target = target;
    now.inputs = inputs;
    now.outputs.resize(outputs.size());
    size_t at = 0;
    for (size_t k = 0; k < inputs.size(); ++k) {
      if (!is_parameter(k)) continue;
      now.inputs[k].is_constant = true;
      now.inputs[k].constant = values.subspan(at, bytes_of_input(k));
      at += bytes_of_input(k);
    }
    ANYNPU_TRY(schema->shape(now));
    for (size_t i = 0; i < outputs.size(); ++i) {
      now.outputs[i].present = outputs[i].present;
      if (!outputs[i].present || now.outputs[i].shape == outputs[i].shape) continue;
      return fail(Code::shape_mismatch,
                  "{}: the values of its inputs give output {} the shape {}, the model states {}; "
                  "feed values that fit, or compile the model with another shape",
                  now.label(), i, to_string(now.outputs[i].shape), to_string(outputs[i].shape));
    }
    return now;
  }
};

class LatePlan final : public ops::EnqueuedPlan {
 public:
  explicit LatePlan(Node node) : node_(std::move(node)) {}

  Status enqueue(const ops::RunArgs& args, Queue& queue) const override {
    auto& own = static_cast<CudaQueue&>(queue);
    if (own.recording())
      return fail(Code::unsupported_feature, "parameters are read by the host at run time");
    ANYNPU_TRY(own.enter());
    ANYNPU_ASSIGN(const std::vector<std::byte> values, read(args, own));
    const std::lock_guard lock(mutex_);
    ANYNPU_ASSIGN(const Planned* const planned, find_or_plan(values));
    ops::RunArgs inner = args;
    if (planned->plan->workspace_bytes > 0) {
      CUdeviceptr memory = 0;
      ANYNPU_TRY(cuda_status(
          driver().cuMemAllocAsync(&memory, planned->plan->workspace_bytes, own.stream()),
          "taking memory for an operator"));
      inner.workspace = reinterpret_cast<std::byte*>(memory);
      Status status = launch(*planned, inner, own);
      const Status freed = cuda_status(driver().cuMemFreeAsync(memory, own.stream()), "freeing it");
      return status.ok() ? freed : status;
    }
    return launch(*planned, inner, own);
  }

 private:
  static Status launch(const Planned& planned, const ops::RunArgs& args, CudaQueue& queue) {
    return static_cast<const ops::EnqueuedPlan&>(*planned.plan).enqueue(args, queue);
  }

  Result<std::vector<std::byte>> read(const ops::RunArgs& args, CudaQueue& queue) const {
    std::vector<std::byte> values;
    for (size_t k = 0; k < node_.inputs.size(); ++k) {
      if (node_.is_parameter(k)) values.resize(values.size() + node_.bytes_of_input(k));
    }
    size_t at = 0;
    for (size_t k = 0; k < node_.inputs.size(); ++k) {
      if (!node_.is_parameter(k)) continue;
      ANYNPU_TRY(queue.copy({values.data() + at, args.inputs[k], node_.bytes_of_input(k)}));
      at += node_.bytes_of_input(k);
    }
    ANYNPU_TRY(cuda_status(driver().cuStreamSynchronize(queue.stream()), "reading parameters"));
    return values;
  }

  Result<const Planned*> find_or_plan(const std::vector<std::byte>& values) const {
    const auto known = std::find_if(plans_.begin(), plans_.end(),
                                    [&](const auto& one) { return one->values == values; });
    if (known != plans_.end()) {
      plans_.splice(plans_.begin(), plans_, known);
      return plans_.front().get();
    }
    ANYNPU_ASSIGN(const OpContext context, node_.context(values));
    ANYNPU_ASSIGN(auto planned, plan_now(context));
    planned->values = values;
    plans_.push_front(std::move(planned));
    if (plans_.size() > kMostPlans) plans_.pop_back();
    return plans_.front().get();
  }

  const Node node_;
  mutable std::mutex mutex_;
  mutable std::list<std::unique_ptr<Planned>> plans_;  // the last used one first
};

ops::PlanResult plan_late(const OpContext& context) {
  Node node;
  node.node = std::make_shared<graph::Node>(*context.node);
  node.schema = context.schema;
  node.inputs = context.inputs;
  node.outputs = context.outputs;
  node.target = context.target;
  node.parameters = parameters_of(context);
  node.constants.resize(node.inputs.size());
  for (size_t k = 0; k < node.inputs.size(); ++k) {
    Operand& input = node.inputs[k];
    if ((node.parameters >> k & 1) != 0 && input.present && input.is_constant) {
      node.constants[k].assign(input.constant.begin(), input.constant.end());
      input.constant = node.constants[k];
    } else {
      input.is_constant = false;  // the graph's constants are gone when the model runs
      input.constant = {};
    }
  }
  return std::unique_ptr<ops::KernelPlan>(std::make_unique<LatePlan>(std::move(node)));
}

Status can_run_late(const OpContext& context) {
  const uint64_t parameters = parameters_of(context);
  if (has_constants(context, parameters))
    return fail(Code::unsupported_feature, "all parameters are known");
  size_t bytes = 0;
  for (size_t k = 0; k < context.inputs.size(); ++k) {
    const Operand& input = context.inputs[k];
    if ((parameters >> k & 1) != 0 && input.present)
      bytes += bytes_of(input.dtype, static_cast<size_t>(element_count(input.shape)));
  }
  if (bytes > kMostBytes)
    return fail(Code::unsupported_shape, "{} bytes of parameters, takes {}", bytes, kMostBytes);
  return can_run_items(context);
}

}  // namespace

void add_late_plans(std::vector<ops::KernelDef>& kernels) {
  for (const LateOp& one : kOps) {
    kernels.push_back({.op = one.op,
                       .name = kName,
                       .backend = "cuda",
                       .types = one.types,
                       .can_run = can_run_late,
                       .create = ops::create_plain<plan_late>});
  }
}

}  // namespace anynpu::device::cuda
