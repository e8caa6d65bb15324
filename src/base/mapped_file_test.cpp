// SPDX-License-Identifier: Apache-2.0
#include "base/mapped_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace anynpu {
namespace {

std::string own_path(const char* name) {
  return testing::TempDir() + name + std::to_string(getpid());
}

std::span<const std::byte> view(std::string_view text) { return std::as_bytes(std::span(text)); }

TEST(MappedFile, WhatWasWrittenIsMappedAndNothingIsLeftBeside) {
  const std::filesystem::path folder = own_path("mapped_file");
  std::filesystem::create_directories(folder);
  const std::string path = (folder / "a.bin").string();
  const std::vector<std::span<const std::byte>> parts = {view("one "), view("two")};
  ASSERT_TRUE(write_file_atomically(path, parts).ok());
  auto file = MappedFile::open(path);
  ASSERT_TRUE(file.ok()) << file.status().to_string();
  const auto bytes = (*file)->bytes();
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), "one two");
  int entries = 0;
  for ([[maybe_unused]] auto& entry : std::filesystem::directory_iterator(folder)) ++entries;
  EXPECT_EQ(entries, 1);
  std::filesystem::remove_all(folder);
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

TEST(MappedFile, WritingIntoAMissingFolderFails) {
  const std::vector<std::span<const std::byte>> parts = {view("x")};
  EXPECT_EQ(write_file_atomically("/nowhere/at/all.om", parts).code(), Code::io_error);
}

}  // namespace
}  // namespace anynpu
