// SPDX-License-Identifier: Apache-2.0
// A core stores one element past the end of an allocation.
// Launched on eight cores by run_kernel.py with parameters (int* out, const int* in, int count).
#include <npurt.h>

extern "C" __global__ void kernel(int* out, const int* in, int count) {
  for (int i = CoreID; i <= count; i += CoreNum) {
    out[i] = 1;  // found: kernel-out-of-bounds
  }
}
