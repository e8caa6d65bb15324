// SPDX-License-Identifier: Apache-2.0
#include "base/nearest_name.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace anynpu {
namespace {

TEST(NearestName, DistanceCountsCharactersThatAreAddedRemovedOrReplaced) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("relu", "relu"), 0u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("ab", "ba"), 2u);
}

TEST(NearestName, TheMostSimilarNameIsFoundIfItIsNear) {
  constexpr std::array<std::string_view, 4> kNames = {"Relu", "LeakyRelu", "Conv", "ConvTranspose"};
  EXPECT_EQ(nearest_name(kNames, "Rellu"), "Relu");
  EXPECT_EQ(nearest_name(kNames, "ConvTranspos"), "ConvTranspose");
  EXPECT_EQ(nearest_name(kNames, "XonvXranXposX"), "ConvTranspose")
      << "four of 13 characters differ";
  EXPECT_EQ(nearest_name(kNames, "Softmax"), "");
  EXPECT_EQ(nearest_name(kNames, std::string(65, 'C')), "") << "no name is so long";
}

TEST(NearestName, OfEquallySimilarNamesTheFirstCounts) {
  constexpr std::array<std::string_view, 2> kNames = {"ab1", "ab2"};
  EXPECT_EQ(nearest_name(kNames, "ab"), "ab1");
  EXPECT_EQ(nearest_name(std::array<std::string_view, 0>{}, "ab"), "");
}

}  // namespace
}  // namespace anynpu
