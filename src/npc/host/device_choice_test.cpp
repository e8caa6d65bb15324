// SPDX-License-Identifier: Apache-2.0
#include "npc/host/device_choice.h"

#include <gtest/gtest.h>

namespace anynpu::npc {
namespace {

using Ids = std::vector<int>;

TEST(DeviceChoice, AllClustersWithoutTheVariable) {
  EXPECT_EQ(chosen_clusters(std::nullopt, 4), (Ids{0, 1, 2, 3}));
}

TEST(DeviceChoice, AListChoosesAndOrders) {
  EXPECT_EQ(chosen_clusters("2,0", 4), (Ids{2, 0}));
  EXPECT_EQ(chosen_clusters(" 3 , 1 ", 4), (Ids{3, 1}));
}

TEST(DeviceChoice, ASingleNumberIsTheStart) {
  EXPECT_EQ(chosen_clusters("0", 4), (Ids{0, 1, 2, 3}));
  EXPECT_EQ(chosen_clusters("2", 4), (Ids{2, 3}));
}

TEST(DeviceChoice, AListEndsAtTheFirstEntryThatIsNoCluster) {
  EXPECT_EQ(chosen_clusters("1,7,0", 4), (Ids{1}));
  EXPECT_EQ(chosen_clusters("1,1,0", 4), (Ids{1}));
  EXPECT_EQ(chosen_clusters("1,", 4), (Ids{1}));
  EXPECT_EQ(chosen_clusters("x,1", 4), Ids{});
}

TEST(DeviceChoice, NoDeviceForAnEmptyOrBadValue) {
  for (const char* text : {"", "4", "-1", "one", "99999999999999"}) {
    EXPECT_EQ(chosen_clusters(text, 4), Ids{}) << text;
  }
}

}  // namespace
}  // namespace anynpu::npc
