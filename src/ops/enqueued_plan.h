// SPDX-License-Identifier: Apache-2.0
// The plan of a kernel that a back end runs on its own memory (Capabilities::kernels is not "cpu"):
// its work is submitted to a queue and may be done later. The addresses in RunArgs are those that
// programs see. run() is never called.
#pragma once

#include "ops/kernel.h"

namespace anynpu::device {
class Queue;
}

namespace anynpu::ops {

class EnqueuedPlan : public KernelPlan {
 public:
  // `queue` is one of the back end's own. `args` is valid only during the call; the memory it
  // points to stays until the queue is done with the work. Layouts are plain, and there is no
  // per-thread scratch.
  virtual Status enqueue(const RunArgs& args, device::Queue& queue) const = 0;

  Status run(const RunArgs&) const final {
    return fail(Code::internal, "a plan of enqueued kernels was run on the host");
  }
};

}  // namespace anynpu::ops
