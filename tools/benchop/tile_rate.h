// SPDX-License-Identifier: Apache-2.0
// benchop tiles: the rate of the processor's tile products of bfloat16, all threads at once, from
// registers with random numbers in them (zeros would run faster). What matrix products are held
// against.
#pragma once

// Prints "tiles GFLOP/s", or why there is none; 0 when it was measured.
int print_tile_rate();
