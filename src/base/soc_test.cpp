// SPDX-License-Identifier: Apache-2.0
#include "base/soc.h"

#include <gtest/gtest.h>

#include <set>

namespace anynpu {
namespace {

TEST(SocNames, NamesOfTheDocumentsAreAcceptedOthersAreNot) {
  for (const char* name :
       {"Ascend310P3", "Ascend310", "Ascend310B1", "Ascend910A", "Ascend910B1"}) {
    EXPECT_TRUE(check_soc_name(name).ok()) << name;
  }
  for (const char* name : {"", "310P3", "ascend310P3", "Ascend310P33"}) {
    const Status status = check_soc_name(name);
    EXPECT_EQ(status.code(), Code::invalid_argument);
    EXPECT_NE(status.message().find("Ascend310P3"), std::string::npos);
  }
}

TEST(SocNames, EachStandsInTheTableOnce) {
  const std::set<std::string_view> unique(soc_names().begin(), soc_names().end());
  EXPECT_EQ(unique.size(), soc_names().size());
}

}  // namespace
}  // namespace anynpu
