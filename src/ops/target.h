// SPDX-License-Identifier: Apache-2.0
// The target of a plan: the back end whose kernels are chosen, and the number of threads. A value:
// plans read it from OpContext::target and never ask the machine themselves.
#pragma once

#include <cstddef>
#include <string_view>

namespace anynpu::ops {

struct Target {
  std::string_view backend = "cpu";  // KernelDef::backend of the kernels to choose from
  // A plan splits its work and its scratch for this many threads; fewer may run it.
  size_t threads = 1;

  // The kernels of the CPU on every thread of the pool (base/thread_pool.h).
  static Target host();
};

}  // namespace anynpu::ops
