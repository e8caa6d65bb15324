// SPDX-License-Identifier: Apache-2.0
// The index is counted in bytes.
// Launched on eight cores by run_kernel.py with parameters (int* out, const int* in, int count).
#include <npurt.h>

extern "C" __global__ void kernel(int* out, const int* in, int count) {
  if (CoreID != 0) return;
  out[count * (int)sizeof(int)] = 1;  // found: kernel-out-of-bounds
}
