// SPDX-License-Identifier: Apache-2.0
#include "base/shared_file.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstring>

namespace anynpu {
namespace {

TEST(SharedFile, TwoMappingsSeeTheSameBytes) {
  auto file = *SharedFile::create(10000, 7);
  EXPECT_EQ(file->bytes(), 3 * SharedFile::kPageBytes);
  auto* first = static_cast<char*>(*file->map(nullptr, 4096, 4096));
  auto opened = SharedFile::open(file->share(SharedFile::Admit::anyone));
  ASSERT_TRUE(opened.ok()) << opened.status().to_string();
  EXPECT_EQ((*opened)->label(), 7u);
  auto* second = static_cast<char*>(*(*opened)->map(nullptr, 8192, 4096));
  std::strcpy(first, "here");
  EXPECT_STREQ(second, "here");
  munmap(first, 4096);
  munmap(second, 8192);
}

TEST(SharedFile, OnlyListedProcessesGetIn) {
  auto file = *SharedFile::create(1, 0);
  const ShareTicket ticket = file->share(SharedFile::Admit::listed);
  EXPECT_EQ(SharedFile::open(ticket).status().code(), Code::permission_denied);
  const std::array<int32_t, 2> pids = {1, getpid()};
  EXPECT_TRUE(file->let_in(pids).ok());
  EXPECT_TRUE(SharedFile::open(ticket).ok());
  EXPECT_EQ(file->let_in(std::array<int32_t, 1>{-4}).code(), Code::invalid_argument);
}

TEST(SharedFile, ClosedAndEarlierTicketsOpenNothing) {
  auto file = *SharedFile::create(1, 0);
  const ShareTicket first = file->share(SharedFile::Admit::anyone);
  file->close_to_others();
  EXPECT_EQ(SharedFile::open(first).status().code(), Code::not_found);
  const ShareTicket second = file->share(SharedFile::Admit::anyone);
  EXPECT_EQ(SharedFile::open(first).status().code(), Code::not_found);
  EXPECT_TRUE(SharedFile::open(second).ok());
}

TEST(SharedFile, MadeUpTicketsAreRefusedWhateverTheDescriptorIs) {
  EXPECT_EQ(SharedFile::open({0, 0, 1}).status().code(), Code::not_found);
  EXPECT_EQ(SharedFile::open({getpid(), 0, 1}).status().code(), Code::not_found);
  EXPECT_EQ(SharedFile::open({getpid(), 1 << 20, 1}).status().code(), Code::not_found);
  EXPECT_EQ(SharedFile::open({1 << 22, 3, 1}).status().code(), Code::not_found);
}

TEST(SharedFile, KeysReadBackAndNothingElseDoes) {
  const ShareTicket ticket{123456, 789, 0xfedcba9876543211};
  const std::string key = to_key("anynpu-memory", ticket);
  EXPECT_LE(key.size(), 64u);
  const auto back = from_key("anynpu-memory", key);
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->pid, ticket.pid);
  EXPECT_EQ(back->fd, ticket.fd);
  EXPECT_EQ(back->secret, ticket.secret);
  EXPECT_FALSE(from_key("anynpu-notify", key).ok());
  EXPECT_FALSE(from_key("anynpu-memory", "").ok());
  EXPECT_FALSE(from_key("anynpu-memory", key + "0").ok());
  EXPECT_FALSE(from_key("anynpu-memory", "anynpu-memory-1-2").ok());
}

TEST(SharedFile, SizesAndOffsetsThatDoNotFitAreRefused) {
  EXPECT_EQ(SharedFile::create(0, 0).status().code(), Code::out_of_memory);
  EXPECT_EQ(SharedFile::create(SIZE_MAX, 0).status().code(), Code::out_of_memory);
  auto file = *SharedFile::create(4096, 0);
  EXPECT_FALSE(file->map(nullptr, 8192, 0).ok());
  EXPECT_FALSE(file->map(nullptr, 1, 1).ok());
  EXPECT_FALSE(file->map(nullptr, 4096, 4096).ok());
}

}  // namespace
}  // namespace anynpu
