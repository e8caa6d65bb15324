// SPDX-License-Identifier: Apache-2.0
#include "pixel/chroma.h"

#include <gtest/gtest.h>

#include <vector>

namespace anynpu::pixel {
namespace {

TEST(ChromaTest, rows_of_every_length_come_back_and_nothing_beyond_them_is_touched) {
  for (size_t n = 0; n < 200; ++n) {
    std::vector<uint8_t> a(n), b(n), pairs(2 * n + 8, 0xaa);
    for (size_t i = 0; i < n; ++i) {
      a[i] = static_cast<uint8_t>(3 * i);
      b[i] = static_cast<uint8_t>(255 - 7 * i);
    }
    interleave(a.data(), b.data(), n, pairs.data());
    for (size_t i = 0; i < n; ++i) {
      ASSERT_EQ(pairs[2 * i], a[i]);
      ASSERT_EQ(pairs[2 * i + 1], b[i]);
    }
    for (size_t i = 2 * n; i < pairs.size(); ++i) ASSERT_EQ(pairs[i], 0xaa);
    std::vector<uint8_t> c(n + 8, 0x55), d(n + 8, 0x55);
    take_apart(pairs.data(), n, c.data(), d.data());
    a.resize(n + 8, 0x55);
    b.resize(n + 8, 0x55);
    ASSERT_EQ(c, a);
    ASSERT_EQ(d, b);
  }
}

}  // namespace
}  // namespace anynpu::pixel
