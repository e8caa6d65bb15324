// SPDX-License-Identifier: Apache-2.0
#include "base/guarded_touch.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <thread>

namespace anynpu {
namespace {

void* address(uintptr_t number) { return reinterpret_cast<void*>(number); }

TEST(GuardedTouch, VariablesCanBeReadAndWrittenAndStayAsTheyAre) {
  int64_t value = -5;
  EXPECT_TRUE(can_read(&value, sizeof value));
  EXPECT_TRUE(can_write(&value, sizeof value));
  EXPECT_EQ(value, -5);
}

TEST(GuardedTouch, AddressesThatAreNotMappedAreNoCrash) {
  for (const uintptr_t number :
       {uintptr_t{1}, uintptr_t{0x1000}, uintptr_t{0xdeadbeef}, uintptr_t{0x7fff00000000},
        uintptr_t{0x8000000000000000}, UINTPTR_MAX - 8, UINTPTR_MAX}) {
    EXPECT_FALSE(can_read(address(number), 8)) << number;
    EXPECT_FALSE(can_write(address(number), 8)) << number;
  }
}

TEST(GuardedTouch, PagesSayWhatTheyAllowAndBothEndsCount) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  auto* pages = static_cast<char*>(
      mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(pages, MAP_FAILED);
  mprotect(pages + page, page, PROT_READ);
  mprotect(pages + 2 * page, page, PROT_NONE);
  EXPECT_TRUE(can_write(pages, 8));
  EXPECT_TRUE(can_read(pages + page, 8));
  EXPECT_FALSE(can_write(pages + page, 8));
  EXPECT_FALSE(can_write(pages + page - 4, 8));
  EXPECT_TRUE(can_read(pages + page - 4, 8));
  EXPECT_FALSE(can_read(pages + 2 * page - 4, 8));
  munmap(pages, 3 * page);
}

TEST(GuardedTouch, EveryThreadHasIt) {
  std::thread([] { EXPECT_FALSE(can_write(address(16), 4)); }).join();
}

TEST(GuardedTouchDeathTest, OtherFaultsAreTheProgramsOwn) {
  EXPECT_FALSE(can_read(address(16), 1));  // the handler is there
  EXPECT_DEATH(*static_cast<volatile int*>(address(16)) = 1, "");
}

}  // namespace
}  // namespace anynpu
