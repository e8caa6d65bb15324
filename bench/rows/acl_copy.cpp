// SPDX-License-Identifier: Apache-2.0
// A 64 MiB copy to the device against memcpy between the same two buffers, both touched before.
#include <algorithm>
#include <cstring>

#include "../acl_session.h"
#include "../harness.h"

namespace anynpu::bench {

ANYNPU_BENCH(acl_copy_h2d) {
  constexpr size_t kBytes = 64u << 20;
  AclSession session;
  void* host = nullptr;
  void* device = nullptr;
  ANYNPU_MUST(aclrtMallocHost(&host, kBytes));
  ANYNPU_MUST(aclrtMalloc(&device, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  std::memset(host, 1, kBytes);
  ANYNPU_MUST(aclrtMemset(device, kBytes, 2, kBytes));
  auto acl_copy = [&] {
    return ns_per_call(1, [&] {
      ANYNPU_MUST(aclrtMemcpy(device, kBytes, host, kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
    });
  };
  double last = 0;
  auto plain_copy = [&] {
    last = ns_per_call(1, [&] {
      std::memcpy(device, host, kBytes);
      keep(device);
    });
    return last;
  };
  const Estimate ratio = ratio_of(acl_copy, plain_copy, 41);
  char note[64];
  std::snprintf(note, sizeof note, "memcpy: %.1f GB/s", kBytes / last);
  report.add({"64 MiB copy to the device, against memcpy", 1.05, "x", ratio, note});
  aclrtFree(device);
  aclrtFreeHost(host);
}

// Two streams with the same copies, each between two events. Copies that overlap really run at the
// same time by the events' clocks; whether that also saves time depends on the memory of the
// machine, so the saving stands beside it.
ANYNPU_BENCH(acl_copy_overlap) {
  constexpr size_t kBytes = 4u << 20;
  constexpr int kCopies = 16;
  AclSession session;
  void* host[2];
  void* device[2];
  aclrtStream streams[2];
  aclrtEvent begin[2], end[2];
  for (int i = 0; i < 2; ++i) {
    ANYNPU_MUST(aclrtMallocHost(&host[i], kBytes));
    ANYNPU_MUST(aclrtMalloc(&device[i], kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
    ANYNPU_MUST(aclrtCreateStream(&streams[i]));
    ANYNPU_MUST(aclrtCreateEventWithFlag(&begin[i], ACL_EVENT_TIME_LINE));
    ANYNPU_MUST(aclrtCreateEventWithFlag(&end[i], ACL_EVENT_TIME_LINE));
    std::memset(host[i], i, kBytes);
    ANYNPU_MUST(aclrtMemset(device[i], kBytes, i, kBytes));
  }
  // The first stream copies to the device, the second one back: two engines.
  auto copies = [&](int i, aclrtStream stream) {
    ANYNPU_MUST(aclrtRecordEvent(begin[i], stream));
    for (int n = 0; n < kCopies; ++n) {
      void* to = i == 0 ? device[i] : host[i];
      void* from = i == 0 ? host[i] : device[i];
      ANYNPU_MUST(aclrtMemcpyAsync(to, kBytes, from, kBytes,
                                   i == 0 ? ACL_MEMCPY_HOST_TO_DEVICE : ACL_MEMCPY_DEVICE_TO_HOST,
                                   stream));
    }
    ANYNPU_MUST(aclrtRecordEvent(end[i], stream));
  };
  auto run = [&](bool two) {
    return ns_per_call(1, [&] {
      copies(0, streams[0]);
      copies(1, streams[two ? 1 : 0]);
      ANYNPU_MUST(aclrtSynchronizeStream(streams[0]));
      ANYNPU_MUST(aclrtSynchronizeStream(streams[1]));
    });
  };
  // Per cent of the time from the first begin to the last end in which only one stream copied.
  auto alone = [&] {
    run(true);
    uint64_t from[2], to[2];
    for (int i = 0; i < 2; ++i) {
      ANYNPU_MUST(aclrtEventGetTimestamp(begin[i], &from[i]));
      ANYNPU_MUST(aclrtEventGetTimestamp(end[i], &to[i]));
    }
    const auto first = static_cast<double>(std::min(from[0], from[1]));
    const auto last = static_cast<double>(std::max(to[0], to[1]));
    const double both = static_cast<double>(std::min(to[0], to[1])) -
                        static_cast<double>(std::max(from[0], from[1]));
    return 100.0 * (1 - std::max(0.0, both) / (last - first));
  };
  const Estimate ratio = ratio_of([&] { return run(true); }, [&] { return run(false); }, 21);
  char note[80];
  std::snprintf(note, sizeof note, "wall time against one stream: %.2f x", ratio.median);
  report.add(
      {"copies on two streams: time in which only one copies", 50, "%", value_of(alone), note});
  for (int i = 0; i < 2; ++i) {
    aclrtDestroyEvent(begin[i]);
    aclrtDestroyEvent(end[i]);
    aclrtDestroyStream(streams[i]);
    aclrtFree(device[i]);
    aclrtFreeHost(host[i]);
  }
}

}  // namespace anynpu::bench
