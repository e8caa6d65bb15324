// SPDX-License-Identifier: Apache-2.0
// Local memory is read before anything wrote it.
// Launched on eight cores by run_kernel.py with parameters (int* out, const int* in, int count).
#include <npurt.h>

__local__ int sums[16];

extern "C" __global__ void kernel(int* out, const int* in, int count) {
  for (int i = CoreID; i < count; i += CoreNum) {
    sums[i % 16] += in[i];  // found: kernel-uninitialised
  }
  out[CoreID] = sums[CoreID];
}
