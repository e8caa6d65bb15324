// SPDX-License-Identifier: Apache-2.0
#include "service/media/epoll.h"

#include <gtest/gtest.h>

#include "service/media/ready_fd.h"

namespace anynpu::media {
namespace {

class EpollTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto made = create_epoll(1);
    ASSERT_TRUE(made.ok());
    epoll = *made;
  }
  void TearDown() override { EXPECT_TRUE(close_epoll(epoll).ok()); }
  size_t events() {
    const auto found = wait_epoll(epoll, 4, 0);
    EXPECT_TRUE(found.ok()) << found.status().message();
    return found.ok() ? found->size() : 99;
  }

  int32_t epoll = -1;
  ReadyFd ready;
};

TEST_F(EpollTest, a_descriptor_is_readable_while_something_is_ready) {
  int tag = 0;
  const auto fd = ready.fd();
  ASSERT_TRUE(fd.ok());
  ASSERT_TRUE(change_epoll(epoll, EpollChange::add, *fd, {true, false, false, &tag}).ok());
  EXPECT_EQ(events(), 0u);
  ready.set(true);
  const auto found = wait_epoll(epoll, 4, 1000);
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found->size(), 1u);
  EXPECT_TRUE((*found)[0].readable);
  EXPECT_FALSE((*found)[0].writable);
  EXPECT_EQ((*found)[0].data, &tag);
  ready.set(false);
  EXPECT_EQ(events(), 0u);
}

TEST_F(EpollTest, a_descriptor_opened_late_shows_what_is_ready_already) {
  ready.set(true);
  const auto fd = ready.fd();
  ASSERT_TRUE(fd.ok());
  ASSERT_TRUE(change_epoll(epoll, EpollChange::add, *fd, {true, false, false, nullptr}).ok());
  EXPECT_EQ(events(), 1u);
  EXPECT_EQ(change_epoll(epoll, EpollChange::add, *fd, {}).code(), Code::already_exists);
  EXPECT_TRUE(change_epoll(epoll, EpollChange::remove, *fd, {}).ok());
  EXPECT_EQ(events(), 0u);
}

TEST_F(EpollTest, sizes_times_and_descriptors_are_checked) {
  EXPECT_EQ(create_epoll(0).status().code(), Code::invalid_argument);
  EXPECT_EQ(wait_epoll(epoll, 0, 0).status().code(), Code::invalid_argument);
  EXPECT_EQ(wait_epoll(epoll, 4097, 0).status().code(), Code::invalid_argument);
  EXPECT_EQ(wait_epoll(epoll, 1, -2).status().code(), Code::invalid_argument);
  EXPECT_EQ(wait_epoll(-1, 1, 0).status().code(), Code::invalid_argument);
  EXPECT_EQ(close_epoll(-1).code(), Code::invalid_argument);
}

}  // namespace
}  // namespace anynpu::media
