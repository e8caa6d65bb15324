// SPDX-License-Identifier: Apache-2.0
// Who waits for whom: synchronize calls, queries, events and notifies.
#include <gtest/gtest.h>

#include "acl/acl.h"
#include "check/findings_for_test.h"
#include "check/hooks.h"
#include "check/order.h"

namespace anynpu::check {
namespace {

constexpr uint64_t kStream = 93, kOther = 94, kEvent = 95;

class Waits : public testing::Test {
 protected:
  ~Waits() override { all_done(); }
  static void run(Hook hook, std::vector<uint64_t> arguments, uint64_t result = 0) {
    static constexpr Parameter kParameters[8] = {};
    Function function{"aclrtSomething", "-", "libascendcl.so", kParameters, true};
    Call one(function, arguments);
    one.finish(result);
    hook(one);
  }
  void queue(uint64_t stream = kStream) {
    run(after_memset_async, {word(memory_), 64, 0, 64, stream});
  }
  // Whether the host may use the memory now.
  bool host_may_read() {
    const size_t before = findings.kinds().size();
    run(before_memset, {word(memory_), 1, 0, 1});
    return findings.kinds().size() == before;
  }

  char memory_[64] = {};
  Findings findings;
};

TEST_F(Waits, ASynchronizedStreamIsDoneAlsoWhenATaskFailed) {
  queue();
  EXPECT_FALSE(host_may_read());
  run(after_synchronize_stream, {kStream}, 507000);
  EXPECT_TRUE(host_may_read());
}

TEST_F(Waits, AWaitThatGaveUpSaysNothing) {
  queue();
  run(after_synchronize_stream, {kStream}, static_cast<uint64_t>(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT));
  EXPECT_FALSE(host_may_read());
}

TEST_F(Waits, AnEventStandsForWhatWasQueuedBeforeItWasRecorded) {
  queue();
  run(after_record, {kEvent, kStream});
  run(after_synchronize_event, {kEvent});
  EXPECT_TRUE(host_may_read());
  queue();
  run(after_synchronize_event, {kEvent});
  EXPECT_FALSE(host_may_read()) << "queued after the event";
}

TEST_F(Waits, AQueryCountsWhenItSaysComplete) {
  int32_t status = ACL_STREAM_STATUS_NOT_READY;
  queue();
  run(after_query_stream, {kStream, word(&status)});
  EXPECT_FALSE(host_may_read());
  status = ACL_STREAM_STATUS_COMPLETE;
  run(after_query_stream, {kStream, word(&status)});
  EXPECT_TRUE(host_may_read());
}

TEST_F(Waits, AStreamThatWaitsForAnEventIsOrderedBehindIt) {
  queue();
  run(after_record, {kEvent, kStream});
  run(after_wait_event, {kOther, kEvent});
  queue(kOther);
  EXPECT_EQ(findings.kinds(), Kinds{}) << "no race";
  run(after_synchronize_stream, {kOther});
  EXPECT_TRUE(host_may_read()) << "both are done";
}

TEST_F(Waits, NotifiesOrderStreamsToo) {
  queue();
  run(after_record, {kEvent, kStream});
  run(after_wait_notify, {kEvent, kOther, 0});
  queue(kOther);
  EXPECT_EQ(findings.kinds(), Kinds{});
}

TEST_F(Waits, ADestroyedStreamIsDone) {
  queue();
  run(before_destroy_stream, {kStream});
  EXPECT_TRUE(host_may_read());
}

}  // namespace
}  // namespace anynpu::check
