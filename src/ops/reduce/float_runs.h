// SPDX-License-Identifier: Apache-2.0
// Reductions of contiguous floats, vectorised. Sums are double, in an order that depends only on
// the count: the same bits on every machine.
#pragma once

#include <cstdint>

namespace anynpu::ops::reduce {

// Of `count` elements, at least one.
using FloatRun = double (*)(const float* x, int64_t count);

double sum_of_run(const float* x, int64_t count);
double squares_of_run(const float* x, int64_t count);
double sizes_of_run(const float* x, int64_t count);  // of the absolute values
double largest_of_run(const float* x, int64_t count);
double least_of_run(const float* x, int64_t count);  // NaN is both the largest and the least

}  // namespace anynpu::ops::reduce
