// SPDX-License-Identifier: Apache-2.0
// What needs Python's objects is tested by whole programs (tests/python/check/test_bugs.py).
#include "check/host_buffers.h"

#include <gtest/gtest.h>

#include "anynpu.h"
#include "check/findings_for_test.h"

namespace anynpu::check {
namespace {

TEST(HostBuffers, MemoryThatIsNoPythonObjectIsLeftAlone) {
  const Findings findings;
  char own[64] = {};
  Function function = made_up("aclrtMemcpy");
  Call one(function, {});
  EXPECT_FALSE(host_buffer_at(word(&own)));
  EXPECT_FALSE(check_host_buffer(one, "src", word(&own), 1 << 20));
  check_host_buffer_of_task("aclrtMemcpyAsync", word(&own), nullptr);
  EXPECT_EQ(findings.kinds(), Kinds{});
}

TEST(HostBuffers, AProcessWithoutPythonHasNoObjectsToHold) {
  uint64_t object[8] = {1};
  anynpu_acl_note_buffer(object, &object[4]);
  anynpu_acl_note_buffer(nullptr, nullptr);
  EXPECT_FALSE(host_buffer_at(word(&object[4])));
}

}  // namespace
}  // namespace anynpu::check
