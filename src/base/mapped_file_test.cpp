// SPDX-License-Identifier: Apache-2.0
#include "base/mapped_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <vector>

namespace anynpu {
namespace {

std::string own_path(const char* name) {
  return testing::TempDir() + name + std::to_string(getpid());
}

TEST(MappedFile, TheBytesOfAFile) {
  const std::string path = own_path("mapped_file");
  std::ofstream(path) << "one two";
  auto file = MappedFile::open(path);
  ASSERT_TRUE(file.ok()) << file.status().to_string();
  const auto bytes = (*file)->bytes();
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), "one two");
  std::filesystem::remove(path);
}

TEST(MappedFile, WhatWasReleasedIsReadAgain) {
  const std::string path = own_path("mapped_released");
  std::ofstream(path) << std::string(1 << 20, 'x');
  const auto file = MappedFile::open(path);
  ASSERT_TRUE(file.ok()) << file.status().to_string();
  const auto bytes = (*file)->bytes();
  (*file)->release(bytes);
  (*file)->release(bytes.subspan(1, 3));
  (*file)->release({});
  std::vector<std::byte> other(1 << 16, std::byte{7});
  (*file)->release(other);  // not of the file: stays
  for (std::byte one : bytes) ASSERT_EQ(one, std::byte{'x'});
  for (std::byte one : other) ASSERT_EQ(one, std::byte{7});
  std::filesystem::remove(path);
}

TEST(MappedFile, OnesOwnFileIsNoLinkAndNotForOthersToWrite) {
  const std::string path = own_path("mapped_own"), link = path + "_link";
  std::ofstream(path) << "x";
  ASSERT_EQ(::chmod(path.c_str(), 0644), 0);
  EXPECT_TRUE(MappedFile::open_own(path).ok());
  ASSERT_EQ(::symlink(path.c_str(), link.c_str()), 0);
  EXPECT_FALSE(MappedFile::open_own(link).ok());
  EXPECT_TRUE(MappedFile::open(link).ok());
  ASSERT_EQ(::chmod(path.c_str(), 0666), 0);
  EXPECT_EQ(MappedFile::open_own(path).status().code(), Code::permission_denied);
  if (::geteuid() == 0) {  // only root gives files away
    ASSERT_EQ(::chmod(path.c_str(), 0644), 0);
    ASSERT_EQ(::chown(path.c_str(), 12345, 12345), 0);
    EXPECT_EQ(MappedFile::open_own(path).status().code(), Code::permission_denied);
  }
  std::filesystem::remove(link);
  std::filesystem::remove(path);
}

TEST(MappedFile, MissingFilesFoldersAndFifosAreRefused) {
  EXPECT_EQ(MappedFile::open("/nowhere/at/all").status().code(), Code::file_not_found);
  EXPECT_EQ(MappedFile::open(testing::TempDir()).status().code(), Code::file_invalid);
  EXPECT_EQ(MappedFile::open("").status().code(), Code::invalid_argument);
  const std::string fifo = own_path("mapped_fifo");
  ::mkfifo(fifo.c_str(), 0600);
  EXPECT_EQ(MappedFile::open(fifo).status().code(), Code::file_invalid);
  std::filesystem::remove(fifo);
}

}  // namespace
}  // namespace anynpu
