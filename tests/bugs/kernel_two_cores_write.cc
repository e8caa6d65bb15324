// SPDX-License-Identifier: Apache-2.0
// All cores add to one element.
// Launched on eight cores by run_kernel.py with parameters (int* out, const int* in, int count).
#include <npurt.h>

extern "C" __global__ void kernel(int* out, const int* in, int count) {
  for (int i = CoreID; i < count; i += CoreNum) {
    out[0] += in[i];  // found: kernel-race
  }
}
