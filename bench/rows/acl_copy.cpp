// SPDX-License-Identifier: Apache-2.0
// A 64 MiB copy to the device against memcpy between the same two buffers, both touched before.
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

ANYNPU_BENCH(acl_copy_overlap) {
  constexpr size_t kBytes = 16u << 20;
  constexpr int kCopies = 4;
  AclSession session;
  void* host[2];
  void* device[2];
  aclrtStream streams[2];
  for (int i = 0; i < 2; ++i) {
    ANYNPU_MUST(aclrtMallocHost(&host[i], kBytes));
    ANYNPU_MUST(aclrtMalloc(&device[i], kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
    ANYNPU_MUST(aclrtCreateStream(&streams[i]));
    std::memset(host[i], i, kBytes);
    ANYNPU_MUST(aclrtMemset(device[i], kBytes, i, kBytes));
  }
  // The first stream copies to the device, the second one back: two engines.
  auto run = [&](bool two) {
    return ns_per_call(1, [&] {
      for (int n = 0; n < kCopies; ++n) {
        ANYNPU_MUST(aclrtMemcpyAsync(device[0], kBytes, host[0], kBytes, ACL_MEMCPY_HOST_TO_DEVICE,
                                     streams[0]));
        ANYNPU_MUST(aclrtMemcpyAsync(host[1], kBytes, device[1], kBytes, ACL_MEMCPY_DEVICE_TO_HOST,
                                     streams[two ? 1 : 0]));
      }
      ANYNPU_MUST(aclrtSynchronizeStream(streams[0]));
      ANYNPU_MUST(aclrtSynchronizeStream(streams[1]));
    });
  };
  report.add({"copies on two streams, against the same on one stream", 0.9, "x",
              ratio_of([&] { return run(true); }, [&] { return run(false); }), ""});
  for (int i = 0; i < 2; ++i) {
    aclrtDestroyStream(streams[i]);
    aclrtFree(device[i]);
    aclrtFreeHost(host[i]);
  }
}

}  // namespace anynpu::bench
