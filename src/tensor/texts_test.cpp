// SPDX-License-Identifier: Apache-2.0
#include "tensor/texts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>

namespace anynpu {
namespace {

using testing::ElementsAre;

constexpr std::array<std::string_view, 3> kTexts = {"one", "", "three"};

TEST(Texts, ABlockHasOffsetsAndLengthsAndThenTheCharacters) {
  const std::vector<std::byte> bytes = pack_texts(kTexts);
  ASSERT_EQ(bytes.size(), 3 * 16 + 8u);
  uint64_t heads[6];
  std::memcpy(heads, bytes.data(), sizeof heads);
  EXPECT_THAT(heads, ElementsAre(48, 3, 51, 0, 51, 5));
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()) + 48, 8), "onethree");
}

TEST(Texts, WhatWasPackedIsFoundAgain) {
  const std::vector<std::byte> bytes = pack_texts(kTexts);
  const auto texts = unpack_texts(bytes, 3);
  ASSERT_TRUE(texts.ok()) << texts.status().to_string();
  EXPECT_THAT(*texts, ElementsAre("one", "", "three"));
  EXPECT_TRUE(unpack_texts({}, 0)->empty());
}

TEST(Texts, HeadsThatPointOutsideAreRefused) {
  std::vector<std::byte> bytes = pack_texts(kTexts);
  EXPECT_FALSE(unpack_texts(bytes, 100).ok()) << "more heads than there are bytes";
  EXPECT_FALSE(unpack_texts(std::span(bytes).first(50), 3).ok());
  for (const uint64_t offset : {uint64_t{1} << 40, ~uint64_t{0}}) {
    std::memcpy(bytes.data(), &offset, sizeof offset);
    EXPECT_FALSE(unpack_texts(bytes, 3).ok()) << offset;
  }
}

}  // namespace
}  // namespace anynpu
