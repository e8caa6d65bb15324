// SPDX-License-Identifier: Apache-2.0
// The plan of a kernel that a back end runs on memory of its own (Capabilities::kernels is not
// "cpu"): its work is given to a queue and may be done later. The addresses in RunArgs are those
// that programs see. The host never calls run().
#pragma once

#include "ops/kernel.h"

namespace anynpu::device {
class Queue;
}

namespace anynpu::ops {

class EnqueuedPlan : public KernelPlan {
 public:
  // `queue` is one that the back end made itself. The arguments are gone when this returns; the
  // memory they point to stays until the queue is done with the work. Layouts are plain, and there
  // is no scratch of threads.
  virtual Status enqueue(const RunArgs& args, device::Queue& queue) const = 0;

  Status run(const RunArgs&) const final {
    return fail(Code::internal, "a plan of enqueued kernels was run on the host");
  }
};

}  // namespace anynpu::ops
