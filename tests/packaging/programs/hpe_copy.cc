// SPDX-License-Identifier: Apache-2.0
#include <npurt.h>

extern "C" void twice(int* data, int num) {
  for (int i = CoreID; i < num; i += CoreNum) data[i] *= 2;
}
