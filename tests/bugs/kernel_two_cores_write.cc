// SPDX-License-Identifier: Apache-2.0
// All cores add to one element.
// Launched on eight cores by run_kernel.py with parameters (int* out, const int* in, int count).
#include <npurt.h>

extern "C" __global__ void kernel(int* out, const int* in, int count) {
  volatile int* sum = out;
  for (int i = CoreID; i < count; i += CoreNum) {
    *sum = *sum + in[i];  // found: kernel-race
  }
}
