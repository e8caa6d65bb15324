/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel that launch_kernel.c loads. */
#include <npurt.h>

struct Tiling {
  int count;
  float factor;
};

extern "C" __global__ void scale(float* in, float* out, struct Tiling* tiling) {
  for (int i = CoreID; i < tiling->count; i += CoreNum) out[i] = in[i] * tiling->factor;
}
