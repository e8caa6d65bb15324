// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/kernels.h"

#include "ops/backend_kernels.h"

namespace anynpu::device::cuda {

void add_kernels() {
  static const auto& kernels = *[] {
    auto* const all = new std::vector<ops::KernelDef>;
    add_elementwise(*all);
    add_copies(*all);
    add_products(*all);
    add_convolutions(*all);
    add_pools(*all);
    add_rows(*all);
    add_attention(*all);
    add_gathers(*all);
    ops::add_backend_kernels(*all);
    return all;
  }();
  (void)kernels;
}

}  // namespace anynpu::device::cuda
