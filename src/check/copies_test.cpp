// SPDX-License-Identifier: Apache-2.0
// What copies, fills and frees are checked for.
#include <gtest/gtest.h>

#include "acl/acl.h"
#include "check/findings_for_test.h"
#include "check/hooks.h"
#include "check/order.h"

namespace anynpu::check {
namespace {

constexpr uint64_t kCopyStream = 91;

class Copies : public testing::Test {
 protected:
  ~Copies() override { all_done(); }
  // Runs a hook for a call with these arguments.
  void run(Hook hook, std::vector<uint64_t> arguments, uint64_t result = 0) {
    static constexpr Parameter kParameters[10] = {};
    Function function{"aclrtMemcpyAsync", "-", "libascendcl.so", kParameters, true};
    Call one(function, arguments);
    one.finish(result);
    hook(one);
  }
  uint64_t to() { return word(&to_); }
  uint64_t from() { return word(&from_); }

  alignas(64) char to_[128] = {};
  alignas(64) char from_[128] = {};
  Findings findings;
};

TEST_F(Copies, MoreBytesThanTheCallItselfSaysFitAreFound) {
  run(before_memcpy, {to(), 64, from(), 64, ACL_MEMCPY_HOST_TO_HOST});
  EXPECT_EQ(findings.kinds(), Kinds{});
  run(before_memcpy, {to(), 63, from(), 64, ACL_MEMCPY_HOST_TO_HOST});
  run(before_memset, {to(), 63, 0, 64});
  EXPECT_EQ(findings.kinds(), (Kinds{"past-the-end", "past-the-end"}));
}

TEST_F(Copies, AKindThatDoesNotFitTheAddressesIsFound) {
  run(before_memcpy, {to(), 64, from(), 64, ACL_MEMCPY_HOST_TO_DEVICE});
  EXPECT_EQ(findings.kinds(), Kinds{"copy-kind"}) << "both are host memory";
  run(before_memcpy_2d, {to(), 16, from(), 16, 16, 2, ACL_MEMCPY_DEVICE_TO_HOST});
  EXPECT_EQ(findings.kinds(), (Kinds{"copy-kind", "copy-kind"}));
}

TEST_F(Copies, AsynchronousCopiesNeedAddressesOnAMultipleOf64) {
  run(before_memcpy_async, {to(), 64, from(), 64, ACL_MEMCPY_HOST_TO_HOST, kCopyStream});
  EXPECT_EQ(findings.kinds(), Kinds{});
  run(before_memcpy_async, {to() + 8, 64, from(), 32, ACL_MEMCPY_HOST_TO_HOST, kCopyStream});
  run(before_memcpy_async, {to(), 64, from() + 1, 32, ACL_MEMCPY_HOST_TO_HOST, kCopyStream});
  EXPECT_EQ(findings.kinds(), (Kinds{"unaligned-async-copy", "unaligned-async-copy"}));
}

TEST_F(Copies, AQueuedCopyIsWorkOfItsStreamUnlessItFailed) {
  run(after_memcpy_async, {to(), 64, from(), 64, ACL_MEMCPY_DEVICE_TO_DEVICE, kCopyStream}, 100000);
  run(before_memcpy, {from(), 128, to(), 64, ACL_MEMCPY_HOST_TO_HOST});
  EXPECT_EQ(findings.kinds(), Kinds{});
  run(after_memcpy_async, {to(), 64, from(), 64, ACL_MEMCPY_DEVICE_TO_DEVICE, kCopyStream});
  run(before_memset, {to() + 63, 1, 0, 1});
  EXPECT_EQ(findings.kinds(), Kinds{"write-before-synchronize"});
}

TEST_F(Copies, RowsReachFromTheFirstToTheEndOfTheLast) {
  // Three rows of 8 bytes, 32 apart: bytes 0 to 71 of the target.
  run(after_memcpy_2d_async, {to(), 32, from(), 32, 8, 3, ACL_MEMCPY_HOST_TO_HOST, kCopyStream});
  run(before_memset, {to() + 72, 1, 0, 1});
  EXPECT_EQ(findings.kinds(), Kinds{});
  run(before_memset, {to() + 71, 1, 0, 1});
  EXPECT_EQ(findings.kinds().size(), 1u);
}

TEST_F(Copies, EveryCopyOfABatchCounts) {
  const uint64_t targets[] = {to(), to() + 64}, sources[] = {from(), from() + 64};
  const size_t sizes[] = {8, 8};
  run(after_batch_async,
      {word(&targets), 0, word(&sources), word(&sizes), 2, 0, 0, 0, 0, kCopyStream});
  run(before_memset, {to() + 64, 1, 0, 1});
  EXPECT_EQ(findings.kinds(), Kinds{"write-before-synchronize"});
}

}  // namespace
}  // namespace anynpu::check
