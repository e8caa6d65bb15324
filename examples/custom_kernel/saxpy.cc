/* SPDX-License-Identifier: Apache-2.0 */
/* y = a * x + y on eight cores, in pieces that fit the cores' own memory. */
#include <npurt.h>

constexpr int kPiece = 512;
__local__ float x_here[kPiece];
__local__ float y_here[kPiece];

extern "C" __global__ void saxpy(const float* x, float* y, int count, float a) {
  for (int first = CoreID * kPiece; first < count; first += CoreNum * kPiece) {
    const int here = count - first < kPiece ? count - first : kPiece;
    memcpy(x_here, x + first, here * (int)sizeof(float));
    memcpy(y_here, y + first, here * (int)sizeof(float));
    for (int i = 0; i < here; ++i) y_here[i] += a * x_here[i];
    memcpy(y + first, y_here, here * (int)sizeof(float));
  }
}
