// SPDX-License-Identifier: Apache-2.0
#include "remote_kernels.h"

#include <cstring>
#include <vector>

#include "ops/backend_kernels.h"
#include "ops/enqueued_plan.h"
#include "remote_queue.h"

namespace anynpu::device {

namespace {

using ops::Kernel;
using ops::KernelPlan;
using ops::OpContext;

// The operands of one run as the device sees them; the plan's own arguments are gone by then.
struct Operands {
  std::vector<const float*> inputs;  // null where left out, or packed
  float* output = nullptr;
  const float* packed = nullptr;
  float* workspace = nullptr;
};

// `work` is a void(const Operands&).
template <typename Work>
class RemotePlan final : public ops::EnqueuedPlan {
 public:
  explicit RemotePlan(Work work) : work_(std::move(work)) {}

  Status enqueue(const ops::RunArgs& args, Queue& queue) const override {
    auto& own = static_cast<RemoteQueue&>(queue);
    const auto seen = [&](const void* address) {
      return address ? static_cast<float*>(own.memory().device_side(address)) : nullptr;
    };
    Operands operands;
    for (const std::byte* input : args.inputs) operands.inputs.push_back(seen(input));
    operands.output = seen(args.outputs[0]);
    operands.packed = seen(args.packed);
    operands.workspace = seen(args.workspace);
    return own.add([work = work_, operands = std::move(operands)] {
      work(operands);
      return Status();
    });
  }

 private:
  Work work_;
};

template <typename Work>
Result<std::unique_ptr<KernelPlan>> remote_plan(Work work) {
  return std::unique_ptr<KernelPlan>(std::make_unique<RemotePlan<Work>>(std::move(work)));
}

size_t count_of(const ops::Operand& operand) {
  return static_cast<size_t>(element_count(operand.shape));
}

class ReluKernel final : public Kernel {
 public:
  Result<std::unique_ptr<KernelPlan>> plan(const OpContext& context) const override {
    auto made = remote_plan([count = count_of(context.outputs[0])](const Operands& at) {
      for (size_t i = 0; i < count; ++i) at.output[i] = at.inputs[0][i] > 0 ? at.inputs[0][i] : 0;
    });
    (*made)->in_place_input = 0;
    return made;
  }
};

class AddKernel final : public Kernel {
 public:
  Result<std::unique_ptr<KernelPlan>> plan(const OpContext& context) const override {
    return remote_plan([count = count_of(context.outputs[0])](const Operands& at) {
      for (size_t i = 0; i < count; ++i) at.output[i] = at.inputs[0][i] + at.inputs[1][i];
    });
  }
};

Status same_shapes(const OpContext& context) {
  if (context.inputs[0].shape == context.inputs[1].shape) return {};
  return fail(Code::unsupported_shape, "shapes {} and {}, takes equal ones",
              to_string(context.inputs[0].shape), to_string(context.inputs[1].shape));
}

// Rows times columns. A constant right side is packed column by column; the left row is put into
// the workspace first. Neither is needed: they are here so that packed weights and work spaces in
// the memory of the device are used.
class MatMulKernel final : public Kernel {
 public:
  explicit MatMulKernel(const OpContext& context)
      : packs_(context.inputs[1].is_constant),
        right_bytes_(count_of(context.inputs[1]) * sizeof(float)) {}

  size_t packed_bytes() const override { return packs_ ? right_bytes_ : 0; }
  bool packs_input(size_t input) const override { return packs_ && input == 1; }
  Status pack(const OpContext& context, std::span<std::byte> packed) override {
    if (!packs_) return {};
    const auto k = static_cast<size_t>(context.inputs[1].shape[0]);
    const auto n = static_cast<size_t>(context.inputs[1].shape[1]);
    for (size_t column = 0; column < n; ++column) {
      for (size_t row = 0; row < k; ++row) {
        std::memcpy(packed.data() + (column * k + row) * sizeof(float),
                    context.inputs[1].constant.data() + (row * n + column) * sizeof(float),
                    sizeof(float));
      }
    }
    return {};
  }

  Result<std::unique_ptr<KernelPlan>> plan(const OpContext& context) const override {
    const auto m = static_cast<size_t>(context.inputs[0].shape[0]);
    const auto k = static_cast<size_t>(context.inputs[0].shape[1]);
    const auto n = static_cast<size_t>(context.inputs[1].shape[1]);
    auto made = remote_plan([m, k, n, packs = packs_](const Operands& at) {
      for (size_t row = 0; row < m; ++row) {
        std::memcpy(at.workspace, at.inputs[0] + row * k, k * sizeof(float));
        for (size_t column = 0; column < n; ++column) {
          float sum = 0;
          for (size_t i = 0; i < k; ++i)
            sum += at.workspace[i] *
                   (packs ? at.packed[column * k + i] : at.inputs[1][i * n + column]);
          at.output[row * n + column] = sum;
        }
      }
    });
    (*made)->workspace_bytes = k * sizeof(float);
    return made;
  }

 private:
  bool packs_;
  size_t right_bytes_;
};

Status two_matrices(const OpContext& context) {
  if (context.inputs[0].rank() == 2 && context.inputs[1].rank() == 2) return {};
  return fail(Code::unsupported_shape, "shapes {} and {}, takes matrices",
              to_string(context.inputs[0].shape), to_string(context.inputs[1].shape));
}

template <typename Made>
Result<std::unique_ptr<Kernel>> create(const OpContext& context) {
  if constexpr (std::is_default_constructible_v<Made>) {
    return std::unique_ptr<Kernel>(std::make_unique<Made>());
  } else {
    return std::unique_ptr<Kernel>(std::make_unique<Made>(context));
  }
}

}  // namespace

void add_remote_kernels() {
  static const ops::KernelDef kernels[] = {
      {.op = "Relu",
       .name = "remote_relu",
       .backend = "remote",
       .types = {DType::f32},
       .create = create<ReluKernel>},
      {.op = "Add",
       .name = "remote_add",
       .backend = "remote",
       .types = {DType::f32},
       .can_run = same_shapes,
       .create = create<AddKernel>},
      {.op = "MatMul",
       .name = "remote_matmul",
       .backend = "remote",
       .types = {DType::f32},
       .can_run = two_matrices,
       .create = create<MatMulKernel>},
  };
  ops::add_backend_kernels(kernels);
}

}  // namespace anynpu::device
