// SPDX-License-Identifier: Apache-2.0
// A service runs for months: creating and destroying a million objects of each kind must not make
// the process grow. Growth is private resident memory after a warm-up of 20,000 pairs.
#include <cstdio>
#include <functional>
#include <string>

#include "../acl_session.h"
#include "../harness.h"

namespace anynpu::bench {
namespace {

constexpr int kChurnPairs = 1'000'000;
constexpr int kWarmUp = 20'000;
constexpr double kAllowedKib = 64;  // a few pages of the allocator's own

// One create/destroy pair; false when either side fails.
using Pair = bool (*)();

const struct {
  const char* kind;
  Pair pair;
} kKinds[] = {
    {"context",
     [] {
       aclrtContext context = nullptr;
       return aclrtCreateContext(&context, 0) == ACL_SUCCESS &&
              aclrtDestroyContext(context) == ACL_SUCCESS;
     }},
    {"stream",
     [] {
       aclrtStream stream = nullptr;
       return aclrtCreateStream(&stream) == ACL_SUCCESS &&
              aclrtDestroyStream(stream) == ACL_SUCCESS;
     }},
    {"event",
     [] {
       aclrtEvent event = nullptr;
       return aclrtCreateEvent(&event) == ACL_SUCCESS && aclrtDestroyEvent(event) == ACL_SUCCESS;
     }},
    {"notify",
     [] {
       aclrtNotify notify = nullptr;
       return aclrtCreateNotify(&notify, 0) == ACL_SUCCESS &&
              aclrtDestroyNotify(notify) == ACL_SUCCESS;
     }},
    {"tensor description",
     [] {
       const int64_t dims[] = {1, 3, 224, 224};
       aclTensorDesc* desc = aclCreateTensorDesc(ACL_FLOAT, 4, dims, ACL_FORMAT_NCHW);
       aclDestroyTensorDesc(desc);
       return desc != nullptr;
     }},
    {"data buffer",
     [] {
       char data[16];
       aclDataBuffer* buffer = aclCreateDataBuffer(data, sizeof data);
       return buffer && aclDestroyDataBuffer(buffer) == ACL_SUCCESS;
     }},
    {"dataset",
     [] {
       aclmdlDataset* dataset = aclmdlCreateDataset();
       return dataset && aclmdlDestroyDataset(dataset) == ACL_SUCCESS;
     }},
    {"model description",
     [] {
       aclmdlDesc* desc = aclmdlCreateDesc();
       return desc && aclmdlDestroyDesc(desc) == ACL_SUCCESS;
     }},
    {"model load configuration",
     [] {
       aclmdlConfigHandle* config = aclmdlCreateConfigHandle();
       return config && aclmdlDestroyConfigHandle(config) == ACL_SUCCESS;
     }},
    {"stream configuration",
     [] {
       aclrtStreamConfigHandle* config = aclrtCreateStreamConfigHandle();
       return config && aclrtDestroyStreamConfigHandle(config) == ACL_SUCCESS;
     }},
    {"allocator description",
     [] {
       aclrtAllocatorDesc desc = aclrtAllocatorCreateDesc();
       return desc && aclrtAllocatorDestroyDesc(desc) == ACL_SUCCESS;
     }},
    {"group information",
     [] {
       aclrtGroupInfo* info = aclrtCreateGroupInfo();
       return info && aclrtDestroyGroupInfo(info) == ACL_SUCCESS;
     }},
    {"device memory",
     [] {
       void* memory = nullptr;
       return aclrtMalloc(&memory, 4096, ACL_MEM_MALLOC_NORMAL_ONLY) == ACL_SUCCESS &&
              aclrtFree(memory) == ACL_SUCCESS;
     }},
};

}  // namespace

ANYNPU_BENCH(acl_churn) {
  AclSession session;
  for (const auto& [kind, pair] : kKinds) {
    const std::string what = std::string("growth over 1,000,000 pairs: ") + kind;
    ANYNPU_MUST(aclrtSetDevice(0));  // the pairs of contexts left none current
    bool ok = true;
    for (int i = 0; i < kWarmUp && ok; ++i) ok = pair();
    if (!ok) {
      const char* message = aclGetRecentErrMsg();
      report.skip(what, message ? message : "the call failed");
      continue;
    }
    const double before = private_memory_kib();
    const double ns = ns_per_call(kChurnPairs, [&] { ok = pair() && ok; });
    const double growth = private_memory_kib() - before;
    char note[64];
    std::snprintf(note, sizeof note, "%.2f us per pair%s", ns / 1e3, ok ? "" : ", SOME FAILED");
    report.add({what, kAllowedKib, "KiB", {growth, growth, growth}, note});
  }
}

}  // namespace anynpu::bench
