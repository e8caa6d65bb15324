// SPDX-License-Identifier: Apache-2.0
// Where random tests start: the same every time in `make test`, another one on each round of `make
// fuzz`, which shuffles. (googletest draws its own seed from the clock, shuffled or not.)
#pragma once

#include <gtest/gtest.h>

#include <cstdint>

namespace anynpu::npc {

inline uint32_t fuzz_seed() {
  if (!GTEST_FLAG_GET(shuffle)) return 0;
  return static_cast<uint32_t>(testing::UnitTest::GetInstance()->random_seed()) * 10007u;
}

}  // namespace anynpu::npc
