// SPDX-License-Identifier: Apache-2.0
#include "service/collective/windows.h"

#include "service/collective/group_for_test.h"

namespace anynpu::service {
namespace {

using Windows = TwoRanks;

TEST_F(Windows, RangesAreSetOnceAndPartsLieInThem) {
  char* base = static_cast<char*>(memory[0]);
  EXPECT_EQ(set_memory_range(groups[0], nullptr, 4096).code(), Code::invalid_argument);
  ASSERT_TRUE(set_memory_range(groups[0], base, kBytes).ok());
  EXPECT_EQ(set_memory_range(groups[0], base + 100, 100).code(), Code::already_exists);
  EXPECT_TRUE(activate_memory(groups[0], base + 4096, 4096).ok());
  EXPECT_EQ(activate_memory(groups[0], base + kBytes - 1, 2).code(), Code::not_found);
  EXPECT_EQ(activate_memory(groups[1], base, 1).code(), Code::not_found);
  EXPECT_TRUE(deactivate_memory(groups[0], base + 4096).ok());
  EXPECT_EQ(deactivate_memory(groups[0], base + 4096).code(), Code::not_found);
  EXPECT_TRUE(unset_memory_range(groups[0], base).ok());
  EXPECT_EQ(unset_memory_range(groups[0], base).code(), Code::not_found);
}

TEST_F(Windows, AWindowIsOfItsCommunicator) {
  const auto window = register_window(groups[0], memory[0], kBytes);
  ASSERT_TRUE(window.ok());
  const uint32_t peers[] = {1}, far[] = {2};
  EXPECT_TRUE(exchange_window(groups[0], *window, peers, 1).ok());
  EXPECT_EQ(exchange_window(groups[0], *window, far, 1).code(), Code::invalid_argument);
  EXPECT_EQ(exchange_window(groups[1], *window, peers, 1).code(), Code::not_found);
  EXPECT_TRUE(deregister_window(groups[0], *window).ok());
  EXPECT_EQ(deregister_window(groups[0], *window).code(), Code::not_found);
  EXPECT_FALSE(register_window(groups[0], reinterpret_cast<void*>(64), 64).ok());
}

TEST_F(Windows, ThereIsNoBackupCard) {
  const uint32_t ranks[] = {0, 1};
  const bool none[] = {false, false}, one[] = {false, true};
  EXPECT_TRUE(set_working_cards(groups[0], ranks, none, 2).ok());
  EXPECT_EQ(set_working_cards(groups[0], ranks, one, 2).code(), Code::unsupported_feature);
  EXPECT_EQ(set_working_cards(groups[0], nullptr, none, 2).code(), Code::invalid_argument);
}

}  // namespace
}  // namespace anynpu::service
