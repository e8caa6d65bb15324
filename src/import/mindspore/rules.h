// SPDX-License-Identifier: Apache-2.0
// The primitives that need more than renaming to a vendor operator, by family. Used only by the
// table.
#pragma once

#include "import/mindspore/call.h"

namespace anynpu::mindspore {

using Values = Result<std::vector<ValueId>>;

// rules_compute.cpp
Values rule_gelu(Call& call);
Values rule_scaled_sum(Call& call);
Values rule_trunc(Call& call);
Values rule_div_mod(Call& call);
Values rule_clamp(Call& call);
Values rule_arg(Call& call);
Values rule_value_and_index(Call& call);
Values rule_reduce(Call& call);
Values rule_sort(Call& call);
Values rule_dense(Call& call);
// rules_window.cpp
Values rule_adaptive_average(Call& call);
Values rule_pool(Call& call);
Values rule_max_pool_indices(Call& call);
Values rule_conv(Call& call);
Values rule_conv_back(Call& call);
Values rule_conv_ext(Call& call);
Values rule_pixel_shuffle(Call& call);
Values rule_resize(Call& call);
Values rule_upsample(Call& call);
Values rule_batch_norm(Call& call);
Values rule_group_norm(Call& call);
Values rule_layer_norm_ext(Call& call);
// rules_move.cpp
Values rule_split_sizes(Call& call);
Values rule_pad_last_axes(Call& call);
Values rule_expand_as(Call& call);
Values rule_fill(Call& call);
Values rule_narrow(Call& call);
Values rule_select_index(Call& call);
Values rule_slice_ext(Call& call);
Values rule_tile(Call& call);
Values rule_swap_axes(Call& call);
Values rule_embedding(Call& call);
Values rule_index_select(Call& call);

}  // namespace anynpu::mindspore
