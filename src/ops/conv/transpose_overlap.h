// SPDX-License-Identifier: Apache-2.0
// ConvTranspose with few output channels as one matrix product, of all input positions with the
// filters of all channels, and the sum of what overlaps. The phases of im2col.h would be products
// of very few rows: the inverse Fourier transform of a vocoder has one output channel and 256
// phases.
#pragma once

#include "ops/conv/conv.h"

namespace anynpu::ops::conv {

template <Isa isa>
Status can_run_transpose_overlap(const OpContext& context);
template <Isa isa>
Result<std::unique_ptr<Kernel>> create_transpose_overlap(const OpContext& context);

}  // namespace anynpu::ops::conv
