// SPDX-License-Identifier: Apache-2.0
// aclnn operators in two phases. Phase 1 checks everything and makes an executor: a plan with the
// addresses and scalars of this call. Phase 2 queues it. A queued run holds all it needs, so the
// program may destroy its descriptors and the executor as soon as phase 2 has returned; for an
// output with a data-dependent shape, the run keeps the descriptor and sets its shape. Thread-safe;
// one thread at a time uses an executor.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "aclnn/row.h"
#include "device/range_map.h"
#include "exec/model.h"
#include "service/aclnn/call_arguments.h"
#include "service/aclnn/plan_cache.h"

namespace anynpu::service {

struct NnOperator {
  aclnn::Signature signature;
  const aclnn::Row* row = nullptr;
};

// What phase 2 runs. Each task of a repeatable executor has its own copy.
struct NnRun {
  const NnOperator* op = nullptr;
  std::shared_ptr<const NnPlan> plan;
  std::vector<exec::Buffer> buffers;                         // of all parts: inputs, then outputs
  std::vector<aclnn::Scalar> values;                         // in the type that the plan takes
  std::vector<std::shared_ptr<std::vector<int64_t>>> lists;  // copies of a run share them
  std::vector<std::shared_ptr<device::Allocation>> owners;
  std::vector<std::shared_ptr<NnTensor>> dynamic_outputs;
  std::shared_ptr<device::Allocation> work_owner;
  exec::Buffer work;

  void* shared(size_t offset) const {
    return static_cast<std::byte*>(work.data) + plan->shared_at + offset;
  }
  // Whether a run only submits work to the device.
  bool only_enqueues() const;
  // Some of the parts, one after the other.
  struct Parts {
    size_t first = 0, end = 0;
    size_t buffer = 0;  // of the first input of the first part
  };
  Status run(device::Queue& queue, const Parts& parts);
};

struct NnExecutor {
  std::shared_ptr<NnRun> run;
  std::vector<aclnn::TensorView> tensors;  // as phase 1 saw them; of a repeatable executor only
  std::vector<std::shared_ptr<NnTensor>> held;
  bool repeatable = false;
};

struct Prepared {
  Handle executor = 0;
  uint64_t work_bytes = 0;
};

// Phase 1.
Result<Prepared> prepare_nn(const NnOperator& op, std::span<const RawArgument> arguments);
// Phase 2. Afterwards the executor is gone, unless it is repeatable.
struct NnWork {
  void* memory = nullptr;
  uint64_t bytes = 0;
};
Status execute_nn(const NnOperator& op, const NnWork& work, Handle executor, Handle stream);

Status make_repeatable(Handle executor);
Status destroy_executor(Handle executor);

// Which tensors an index counts.
enum class NnSide { inputs, outputs, all };
// A new storage address for a tensor of a repeatable executor.
Status set_tensor_address(Handle executor, NnSide side, size_t index, void* address);
// For item `item` of the list that is number `index` among the tensor parameters of `side`.
Status set_list_address(Handle executor, NnSide side, size_t index, size_t item, void* address);

}  // namespace anynpu::service

namespace anynpu {
ANYNPU_HANDLE_TYPE(service::NnExecutor, nn_executor);
}
