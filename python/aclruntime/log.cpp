// SPDX-License-Identifier: Apache-2.0
#include "aclruntime/log.h"

#include <atomic>
#include <cstdio>

namespace anynpu::aclruntime {

namespace {
std::atomic<int> lowest{static_cast<int>(LogLevel::info)};
}

void set_log_level(int level) { lowest.store(level, std::memory_order_relaxed); }

bool logs(LogLevel level) {
  return static_cast<int>(level) >= lowest.load(std::memory_order_relaxed);
}

void log_line(LogLevel level, const std::string& text) {
  static constexpr const char* kNames[] = {"", "DEBUG", "INFO", "WARN", "ERROR"};
  if (!logs(level)) return;
  std::fprintf(stdout, "[%s] %s\n", kNames[static_cast<int>(level)], text.c_str());
  std::fflush(stdout);  // in order with what Python prints
}

}  // namespace anynpu::aclruntime
