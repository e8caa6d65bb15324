// SPDX-License-Identifier: Apache-2.0
#include "base/soc.h"

#include <gtest/gtest.h>

#include <set>

namespace anynpu {
namespace {

TEST(SocNames, NamesOfTheDocumentsAreAcceptedOthersAreNot) {
  for (const char* name : {"Ascend310P3", "Ascend310", "Ascend310B1", "Ascend910A", "Ascend910B1",
                           "Ascend910B2", "Ascend950PR_9599"}) {
    EXPECT_TRUE(check_soc_name(name).ok()) << name;
  }
  for (const char* name : {"", "310P3", "ascend310P3", "Ascend310P33"}) {
    const Status status = check_soc_name(name);
    EXPECT_EQ(status.code(), Code::invalid_argument);
    EXPECT_NE(status.message().find("Ascend310P3"), std::string::npos);
  }
}

TEST(SocNames, ChipsSince910B1RunOperatorsAsTheyWereBuilt) {
  for (const char* name : {"Ascend910B1", "Ascend910B4-1", "Ascend910_9392", "Ascend950PR_9599"}) {
    EXPECT_TRUE(builds_operators_beforehand(name)) << name;
  }
  for (const char* name : {"Ascend310P3", "Ascend910", "Ascend910A", "Ascend910B"}) {
    EXPECT_FALSE(builds_operators_beforehand(name)) << name;
  }
}

TEST(SocNames, EachStandsInTheTableOnce) {
  const std::set<std::string_view> unique(soc_names().begin(), soc_names().end());
  EXPECT_EQ(unique.size(), soc_names().size());
}

}  // namespace
}  // namespace anynpu
