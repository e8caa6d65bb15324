// SPDX-License-Identifier: Apache-2.0
// What libraries of others report to the profiler: accepted, not recorded.
#include <span>

#include "base/crc32c.h"
#include "base/ticks.h"
#include "toolchain/prof_api.h"

int32_t MsprofRegisterCallback(uint32_t, ProfCommandHandle) { return 0; }

int32_t MsprofReportApi(uint32_t, const struct MsprofApi*) { return 0; }

int32_t MsprofReportCompactInfo(uint32_t, const void*, uint32_t) { return 0; }

int32_t MsprofReportAdditionalInfo(uint32_t, const void*, uint32_t) { return 0; }

uint64_t MsprofGetHashId(const char* hashInfo, size_t length) {
  if (hashInfo == nullptr) length = 0;
  const std::span text(reinterpret_cast<const std::byte*>(hashInfo), length);
  return (uint64_t{length} + 1) << 32 | anynpu::crc32c(text);
}

uint64_t MsprofSysCycleTime(void) { return anynpu::ticks(); }
