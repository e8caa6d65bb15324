// SPDX-License-Identifier: Apache-2.0
// A copy into local memory reads past the end of an allocation.
// Launched on eight cores by run_kernel.py with parameters (int* out, const int* in, int count).
#include <npurt.h>

__local__ int part[256];

extern "C" __global__ void kernel(int* out, const int* in, int count) {
  if (CoreID != 0) return;
  memcpy(part, in + count - 8, 64);  // found: kernel-out-of-bounds
  out[0] = part[0];
}
