// SPDX-License-Identifier: Apache-2.0
// A core reads what its neighbour writes, without sync() between them.
// Launched on eight cores by run_kernel.py with parameters (int* out, const int* in, int count).
#include <npurt.h>

__shared__ int edge[8];

extern "C" __global__ void kernel(int* out, const int* in, int count) {
  edge[CoreID] = in[CoreID];  // found: kernel-race
  out[CoreID] = edge[(CoreID + 1) % CoreNum];  // found: kernel-race
}
