// SPDX-License-Identifier: Apache-2.0
#include "base/crc32c.h"

#include <gtest/gtest.h>

#include <random>
#include <string_view>
#include <vector>

namespace anynpu {
namespace {

// The definition, bit by bit.
uint32_t plain(std::span<const std::byte> data) {
  uint32_t state = 0xffffffff;
  for (const std::byte byte : data) {
    state ^= static_cast<uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) state = state >> 1 ^ (state & 1 ? 0x82f63b78u : 0u);
  }
  return ~state;
}

TEST(Crc32c, HasTheCheckValueOfTheStandard) {
  const std::string_view digits = "123456789";
  EXPECT_EQ(crc32c(std::as_bytes(std::span(digits))), 0xe3069283u);
}

TEST(Crc32c, EveryLengthAndEveryCutGivesTheDefinition) {
  std::mt19937 random(4);
  std::vector<std::byte> data(40'000);
  for (std::byte& byte : data) byte = static_cast<std::byte>(random());
  const std::span<const std::byte> all(data);
  for (const size_t size : {0, 1, 7, 8, 9, 4095, 12'287, 12'288, 12'289, 24'576, 39'999}) {
    const auto part = all.subspan(1, size);  // on an odd address
    EXPECT_EQ(crc32c(part), plain(part)) << size;
    const size_t cut = size / 3;
    EXPECT_EQ(crc32c(part.subspan(cut), crc32c(part.first(cut))), plain(part)) << size;
  }
}

}  // namespace
}  // namespace anynpu
