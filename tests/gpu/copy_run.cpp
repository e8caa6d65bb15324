// SPDX-License-Identifier: Apache-2.0
// Copies 1 GiB of pinned host memory to device 0 and prints the median throughput in GB/s.
#include <acl/acl.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

void check(aclError code, const char* what) {
  if (code == ACL_SUCCESS) return;
  const char* const why = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s: %d %s\n", what, code, why ? why : "");
  std::exit(2);
}

}  // namespace

int main() {
  constexpr size_t kBytes = size_t{1} << 30;
  constexpr int kRuns = 15;
  check(aclInit(nullptr), "aclInit");
  check(aclrtSetDevice(0), "aclrtSetDevice");
  aclrtStream stream = nullptr;
  check(aclrtCreateStream(&stream), "aclrtCreateStream");
  void *from = nullptr, *to = nullptr;
  check(aclrtMallocHost(&from, kBytes), "aclrtMallocHost");
  check(aclrtMalloc(&to, kBytes, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
  std::vector<double> rates;
  for (int run = 0; run < kRuns; ++run) {
    const auto start = std::chrono::steady_clock::now();
    check(aclrtMemcpyAsync(to, kBytes, from, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream),
          "aclrtMemcpyAsync");
    check(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    rates.push_back(static_cast<double>(kBytes) / taken.count() / 1e9);
  }
  std::sort(rates.begin(), rates.end());
  std::printf("copy: median %.2f GB/s\n", rates[rates.size() / 2]);
  aclFinalize();
  return 0;
}
