// SPDX-License-Identifier: Apache-2.0
// Eight devices with four streams each, used once and then left alone: no CPU, little memory.
#include <unistd.h>

#include <vector>

#include "../acl_session.h"
#include "../harness.h"

namespace anynpu::bench {

ANYNPU_BENCH(acl_idle) {
  ANYNPU_MUST(aclInit(nullptr));
  const double before = private_memory_kib();
  uint32_t devices = 0;
  ANYNPU_MUST(aclrtGetDeviceCount(&devices));
  if (devices > 8) devices = 8;
  std::vector<aclrtStream> streams;
  aclrtEvent event = nullptr;
  for (uint32_t device = 0; device < devices; ++device) {
    ANYNPU_MUST(aclrtSetDevice(static_cast<int32_t>(device)));
    ANYNPU_MUST(aclrtCreateEvent(&event));
    for (int i = 0; i < 4; ++i) {
      aclrtStream stream = nullptr;
      ANYNPU_MUST(aclrtCreateStream(&stream));
      ANYNPU_MUST(aclrtRecordEvent(event, stream));
      ANYNPU_MUST(aclrtSynchronizeStream(stream));
      streams.push_back(stream);
    }
    ANYNPU_MUST(aclrtDestroyEvent(event));
  }
  const double grown = private_memory_kib() - before;
  usleep(100'000);
  const double cpu_before = process_cpu_ms();
  usleep(1'000'000);
  const double cpu = process_cpu_ms() - cpu_before;
  const std::string what = std::to_string(devices) + " devices x 4 streams, idle: ";
  // Half a millisecond per second is what reading the figures costs.
  report.add({what + "CPU per second", 0.5, "ms", {cpu, cpu, cpu}, ""});
  report.add({what + "memory", 2048, "KiB", {grown, grown, grown}, ""});
  for (aclrtStream stream : streams) aclrtDestroyStream(stream);
  for (uint32_t device = 0; device < devices; ++device) {
    aclrtResetDevice(static_cast<int32_t>(device));
  }
  aclFinalize();
}

}  // namespace anynpu::bench
