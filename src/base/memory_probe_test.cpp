// SPDX-License-Identifier: Apache-2.0
#include "base/memory_probe.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/utsname.h>

#include <cstdio>

namespace anynpu {
namespace {

TEST(MemoryProbe, TellsMappedFromUnmappedReadOnlyAndGuardPages) {
  constexpr size_t kPage = 4096;
  auto* base = static_cast<char*>(
      mmap(nullptr, 4 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  EXPECT_TRUE(probe_readable(base, 4 * kPage));
  EXPECT_TRUE(probe_writable(base + 10, 3 * kPage));
  mprotect(base, kPage, PROT_READ);
  EXPECT_TRUE(probe_readable(base, kPage));
  EXPECT_FALSE(probe_writable(base, kPage));
  mprotect(base, kPage, PROT_NONE);
  EXPECT_FALSE(probe_readable(base, kPage));
  munmap(base + 2 * kPage, kPage);
  EXPECT_FALSE(probe_readable(base + kPage, 3 * kPage));
  EXPECT_FALSE(probe_readable(nullptr, 1));
  EXPECT_FALSE(probe_readable(reinterpret_cast<void*>(0x1000), 16));
  EXPECT_FALSE(probe_readable(base + kPage, SIZE_MAX));
  munmap(base, 2 * kPage);
  munmap(base + 3 * kPage, kPage);
}

bool kernel_describes_mappings() {
  utsname name{};
  uname(&name);
  int major = 0, minor = 0;
  return std::sscanf(name.release, "%d.%d", &major, &minor) == 2 &&
         (major > 6 || (major == 6 && minor >= 11));
}

TEST(MemoryProbe, FindsAGuardPageInTheMiddle) {
  if (!kernel_describes_mappings()) GTEST_SKIP() << "Linux 6.11 and later";
  constexpr size_t kPage = 4096;
  auto* base = static_cast<char*>(
      mmap(nullptr, 3 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  mprotect(base + kPage, kPage, PROT_NONE);
  EXPECT_FALSE(probe_readable(base, 3 * kPage));
  mprotect(base + kPage, kPage, PROT_READ);
  EXPECT_TRUE(probe_readable(base, 3 * kPage));
  EXPECT_FALSE(probe_writable(base, 3 * kPage));
  munmap(base, 3 * kPage);
}

}  // namespace
}  // namespace anynpu
