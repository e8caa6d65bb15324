// SPDX-License-Identifier: Apache-2.0
// Two events recorded one after the other with nothing in between: the shortest time that a program
// can measure on a stream. Zero would mean that the clock is too coarse, so zeros count as 1 ms.
#include "../acl_session.h"
#include "../harness.h"

namespace anynpu::bench {

ANYNPU_BENCH(acl_event_resolution) {
  AclSession session;
  aclrtStream stream = nullptr;
  aclrtEvent events[2] = {};
  ANYNPU_MUST(aclrtCreateStream(&stream));
  for (auto& event : events) ANYNPU_MUST(aclrtCreateEventWithFlag(&event, ACL_EVENT_TIME_LINE));
  auto smallest = [&] {
    double least = 1e9;
    for (int i = 0; i < 50; ++i) {
      ANYNPU_MUST(aclrtRecordEvent(events[0], stream));
      ANYNPU_MUST(aclrtRecordEvent(events[1], stream));
      ANYNPU_MUST(aclrtSynchronizeStream(stream));
      float ms = 0;
      ANYNPU_MUST(aclrtEventElapsedTime(&ms, events[0], events[1]));
      const double us = ms > 0 ? static_cast<double>(ms) * 1e3 : 1e3;
      if (us < least) least = us;
    }
    return least;
  };
  report.add({"shortest time between two events of a stream", 1, "us", value_of(smallest), ""});
  for (auto& event : events) aclrtDestroyEvent(event);
  aclrtDestroyStream(stream);
}

}  // namespace anynpu::bench
