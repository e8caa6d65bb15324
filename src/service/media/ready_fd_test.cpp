// SPDX-License-Identifier: Apache-2.0
#include "service/media/ready_fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>

namespace anynpu::media {
namespace {

bool readable(int fd) {
  pollfd entry{fd, POLLIN, 0};
  return ::poll(&entry, 1, 0) == 1 && (entry.revents & POLLIN) != 0;
}

TEST(ReadyFdTest, it_is_readable_while_there_is_something_to_fetch) {
  ReadyFd ready;
  const int fd = ready.fd().value();
  EXPECT_FALSE(readable(fd));
  ready.set(true);
  ready.set(true);
  EXPECT_TRUE(readable(fd));
  ready.set(false);
  EXPECT_FALSE(readable(fd)) << "set twice, cleared once";
  EXPECT_EQ(ready.fd().value(), fd) << "the same each time";
}

TEST(ReadyFdTest, it_starts_in_the_state_that_was_set_before_it_was_opened) {
  ReadyFd ready;
  ready.set(true);
  EXPECT_TRUE(readable(ready.fd().value()));
  ready.close();
  EXPECT_TRUE(readable(ready.fd().value())) << "opened again";
  ready.close();
  ready.set(false);
  EXPECT_FALSE(readable(ready.fd().value()));
}

TEST(ReadyFdTest, it_is_closed_with_its_channel) {
  int fd = -1;
  {
    ReadyFd ready;
    fd = ready.fd().value();
    EXPECT_NE(::fcntl(fd, F_GETFD), -1);
  }
  EXPECT_EQ(::fcntl(fd, F_GETFD), -1);
}

}  // namespace
}  // namespace anynpu::media
