// SPDX-License-Identifier: Apache-2.0
// to = a * b on eight NPCs: each takes a part of the rows, copies them and b into its local memory,
// and lets the matrix unit multiply. The largest element of the whole product goes to `largest`.
#include <npurt.h>

constexpr int kMost = 64;  // rows of a part, inner size and columns at most

__local__ __fp16 part[kMost * kMost];
__local__ __fp16 right[kMost * kMost];
__local__ float result[kMost * kMost];
__shared__ float best[8];

extern "C" void product(float* to, const __fp16* a, const __fp16* b, int m, int k, int n,
                        float* largest) {
  const int rows = (m + CoreNum - 1) / CoreNum;
  const int first = CoreID * rows;
  const int count = first + rows <= m ? rows : (first < m ? m - first : 0);
  best[CoreID] = -1e30f;
  if (count > 0) {
    assert(count <= kMost && k <= kMost && n <= kMost);
    memcpy(part, a + first * k, count * k * (int)sizeof(__fp16));
    memcpy(right, b, k * n * (int)sizeof(__fp16));
    npu_mmul(result, part, right, count, k, n);
    memcpy(to + first * n, result, count * n * (int)sizeof(float));
    for (int i = 0; i < count * n; ++i) {
      if (result[i] > best[CoreID]) best[CoreID] = result[i];
    }
  }
  sync();  // every core has written its best
  if (CoreID == 0) {
    float most = best[0];
    for (int core = 1; core < CoreNum; ++core) {
      if (best[core] > most) most = best[core];
    }
    *largest = most;
  }
}
