// SPDX-License-Identifier: Apache-2.0
#include "base/page_release.h"

#include <gtest/gtest.h>

#include <vector>

namespace anynpu {
namespace {

TEST(PageRelease, KeepsWhatTheMemoryHolds) {
  std::vector<std::byte> memory(1 << 20, std::byte{7});
  release_pages(memory);
  release_pages(std::span(memory).subspan(1, 3));
  release_pages({});
  for (std::byte one : memory) ASSERT_EQ(one, std::byte{7});
}

}  // namespace
}  // namespace anynpu
