// SPDX-License-Identifier: Apache-2.0
#include "service/finalize.h"

#include <gtest/gtest.h>

#include <string>

namespace anynpu::service {
namespace {

std::string order;
void release_first() { order += '1'; }
void release_second() { order += '2'; }

TEST(Finalize, CallsWhatWasRegisteredLastFirstAndEachOnce) {
  on_finalize(release_first);
  on_finalize(release_second);
  on_finalize(release_first);
  run_finalizers();
  EXPECT_EQ(order, "21");
  run_finalizers();
  EXPECT_EQ(order, "2121");
}

}  // namespace
}  // namespace anynpu::service
