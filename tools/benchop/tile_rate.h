// SPDX-License-Identifier: Apache-2.0
// benchop tiles: the rate of the processor's tile products of bfloat16, all threads at once, from
// registers with random numbers in them (zeros would run faster). The upper bound for matrix
// products.
#pragma once

// Prints "tiles GFLOP/s", or why there is none; 0 when it was measured.
int print_tile_rate();
