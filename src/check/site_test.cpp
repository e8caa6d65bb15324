// SPDX-License-Identifier: Apache-2.0
#include "check/site.h"

#include <gtest/gtest.h>

#include <thread>

namespace anynpu::check {
namespace {

__attribute__((noinline)) Site site_here() {
  Site site = current_site();
  asm volatile("");  // no tail call: this frame stays
  return site;
}

TEST(CheckSite, NativeCodeHasAddressesInItsModules) {
  const Site site = site_here();
  ASSERT_NE(site, nullptr);
  ASSERT_FALSE(site->empty());
  bool mine = false;
  for (const Frame& frame : *site) {
    EXPECT_TRUE(frame.native);
    EXPECT_EQ(frame.file[0], '/') << "a full path";
    EXPECT_GT(frame.line, 0u);
    mine = mine || frame.file.ends_with("check_test");
  }
  EXPECT_TRUE(mine);
}

TEST(CheckSite, TheSamePlaceGivesTheSameFrames) {
  Site sites[2];
  for (Site& site : sites) site = site_here();
  EXPECT_EQ(*sites[0], *sites[1]);
  const Site elsewhere = site_here();
  EXPECT_NE(*sites[0], *elsewhere);
}

TEST(CheckSite, LibrariesOfTheProductAreLeftOut) {
  const Site site = site_here();
  for (const Frame& frame : *site) {
    EXPECT_EQ(frame.file.find("libascendcl"), std::string::npos) << frame.file;
    EXPECT_EQ(frame.file.find("libanynpu"), std::string::npos) << frame.file;
  }
}

TEST(CheckSite, AProgramWithoutPythonHasNoLinesOfIt) {
  EXPECT_FALSE(python_is_here());
  EXPECT_FALSE(result_is_dropped());
  std::thread([] { EXPECT_FALSE(site_here()->empty()); }).join();
}

}  // namespace
}  // namespace anynpu::check
