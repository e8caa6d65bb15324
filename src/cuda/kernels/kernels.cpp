// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/kernels.h"

#include "cuda/kernels/late_plan.h"
#include "ops/backend_kernels.h"

namespace anynpu::device::cuda {

void add_kernels() {
  // Used by the registry until the process ends.
  [[gnu::used]] static const std::vector<ops::KernelDef>* const kernels = [] {
    auto* const all = new std::vector<ops::KernelDef>;
    add_elementwise(*all);
    add_copies(*all);
    add_products(*all);
    add_channels_last_kernels(*all);
    add_convolutions(*all);
    add_conv_transpose(*all);
    add_reorder(*all);
    add_channels_last_pools(*all);
    add_pools(*all);
    add_pad_resize(*all);
    add_rows(*all);
    add_reductions(*all);
    add_attention(*all);
    add_generic_attention(*all);
    add_losses(*all);
    add_scans(*all);
    add_gathers(*all);
    add_quantize(*all);
    add_direct(*all);
    add_recurrent(*all);
    add_linear_attention(*all);
    add_sampling(*all);
    add_signal(*all);
    add_selection(*all);
    add_rare_norms(*all);
    add_small_types(*all);
    add_late_plans(*all);
    ops::add_backend_kernels(*all);
    return all;
  }();
}

}  // namespace anynpu::device::cuda
