// SPDX-License-Identifier: Apache-2.0
#include "npc/elf.h"

#include <gtest/gtest.h>

#include "npc/object_for_test.h"

namespace anynpu::npc {
namespace {

TEST(Elf, AHeaderOfNoSectionAsksForNoMemory) {
  std::vector<std::byte> file = object_of({{"k", {kReturn}}});
  uint32_t table = 0;
  std::memcpy(&table, file.data() + 32, sizeof table);
  const uint32_t flags = ElfSection::kAlloc, bytes = 0x27000000;
  std::memcpy(file.data() + table + 8, &flags, sizeof flags);
  std::memcpy(file.data() + table + 20, &bytes, sizeof bytes);
  const auto parsed = ElfFile::parse(file);
  ASSERT_TRUE(parsed.ok()) << parsed.status().to_string();
  EXPECT_EQ(parsed->sections[0].bytes, 0u);
  EXPECT_FALSE(parsed->sections[0].has(ElfSection::kAlloc));
}

TEST(Elf, ASectionWithoutContentsIsLimited) {
  std::vector<std::byte> file = object_of({{"k", {kReturn}}});
  uint32_t table = 0;
  std::memcpy(&table, file.data() + 32, sizeof table);
  const uint32_t type = ElfSection::kNobits, bytes = 0x27000000;
  std::memcpy(file.data() + table + 4, &type, sizeof type);
  std::memcpy(file.data() + table + 20, &bytes, sizeof bytes);
  EXPECT_NE(ElfFile::parse(file).status().to_string().find("512 MiB"), std::string::npos);
}

}  // namespace
}  // namespace anynpu::npc
