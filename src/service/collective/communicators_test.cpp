// SPDX-License-Identifier: Apache-2.0
#include "service/collective/communicators.h"

#include <cstring>
#include <thread>

#include "service/collective/group_for_test.h"

namespace anynpu::service {
namespace {

using Communicators = TwoRanks;

TEST_F(Communicators, RanksOfOneProcessKnowTheirPlaces) {
  for (uint32_t rank = 0; rank < 2; ++rank) {
    const auto group = *find_communicator(groups[rank]);
    EXPECT_EQ(group->rank(), rank);
    EXPECT_EQ(group->size(), 2u);
    EXPECT_EQ(group->device(), static_cast<int32_t>(rank));
  }
  char names[2][collective::Communicator::kNameBytes];
  ASSERT_TRUE(communicator_name(groups[0], names[0]).ok());
  ASSERT_TRUE(communicator_name(groups[1], names[1]).ok());
  EXPECT_STREQ(names[0], names[1]);
  EXPECT_EQ(communicator_name(groups[0], nullptr).code(), Code::invalid_argument);
}

TEST_F(Communicators, AHandleEndsOnce) {
  EXPECT_TRUE(destroy_communicator(groups[0]).ok());
  EXPECT_EQ(destroy_communicator(groups[0]).code(), Code::invalid_handle);
  EXPECT_FALSE(find_communicator(groups[0]).ok());
  EXPECT_EQ(find_communicator(0).status().code(), Code::invalid_handle);
}

TEST_F(Communicators, ThreadsMeetByRootInfo) {
  std::vector<std::byte> info(collective::kRootInfoBytes);
  ASSERT_TRUE(get_root_info(info.data()).ok());
  Handle made[2] = {};
  std::thread second([&] {
    ASSERT_TRUE(runtime().set_device(1).ok());
    CommunicatorOptions options;
    options.name = "by root";
    made[1] = *init_by_root(2, info.data(), 1, options);
  });
  ASSERT_TRUE(runtime().set_device(0).ok());
  CommunicatorOptions options;
  options.name = "by root";
  const auto first = init_by_root(2, info.data(), 0, options);
  second.join();
  ASSERT_TRUE(first.ok()) << first.status().to_string();
  EXPECT_EQ((*find_communicator(*first))->name(), "by root");
  Status failure = fail(Code::internal, "to be replaced");
  ASSERT_TRUE(communicator_failure(made[1], &failure).ok());
  EXPECT_TRUE(failure.ok());
  EXPECT_TRUE(destroy_communicator(*first).ok());
  EXPECT_TRUE(destroy_communicator(made[1]).ok());
}

TEST_F(Communicators, RanksMakePartsOfThem) {
  const uint32_t turned[] = {1, 0};
  Handle parts[2] = {};
  std::thread second([&] { parts[1] = *init_sub(groups[1], turned, 4, 0, {}); });
  parts[0] = *init_sub(groups[0], turned, 4, 1, {});
  second.join();
  EXPECT_EQ((*find_communicator(parts[1]))->rank(), 0u);
  EXPECT_EQ(*init_sub(groups[0], {}, 4, 0, {}), 0u);
  const uint32_t other[] = {1};
  EXPECT_EQ(*init_sub(groups[0], other, 4, 0, {}), 0u);
  EXPECT_EQ(init_sub(groups[0], turned, 4, 0, {}).status().code(), Code::invalid_argument);
}

TEST_F(Communicators, AllResumeAfterAFailure) {
  (*find_communicator(groups[0]))->fail(fail(Code::timeout, "a fault of this test"));
  Status failure;
  ASSERT_TRUE(communicator_failure(groups[0], &failure).ok());
  EXPECT_EQ(failure.code(), Code::timeout);
  std::thread second([&] { EXPECT_TRUE(resume_communicator(groups[1]).ok()); });
  EXPECT_TRUE(resume_communicator(groups[0]).ok());
  second.join();
  ASSERT_TRUE(communicator_failure(groups[0], &failure).ok());
  EXPECT_TRUE(failure.ok());
}

}  // namespace
}  // namespace anynpu::service
