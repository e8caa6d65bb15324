// SPDX-License-Identifier: Apache-2.0
// The order of kernels of normalisations: one rule for all of them.
#include "ops/families.h"
#include "ops/norm/norm.h"
#include "ops/registry.h"

namespace anynpu::ops::norm {

void add_list(Registry& registry, std::string_view op, const KernelLine& reference) {
  std::vector<KernelLine> list;
  // Groups that lie side by side (layer_rows.cpp) or in channels (channel_rows.cpp): f32 by
  // AVX-512, then AVX2; short floats are widened for them.
  for (const auto& lines : {layer_row_kernels(op), channel_row_kernels(op)})
    list.insert(list.end(), lines.begin(), lines.end());
  // Every case, in double: the oracle of the tests.
  list.push_back(reference);
  registry.add_kernels(op, list);
}

void register_family(Registry& registry) {
  register_batch_norm(registry);
  register_norm_groups(registry);
  register_lrn(registry);
  register_channel_gradient(registry);
}

}  // namespace anynpu::ops::norm
