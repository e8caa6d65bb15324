// SPDX-License-Identifier: Apache-2.0
#include "service/collective/settings.h"

#include <atomic>

namespace anynpu::service {

namespace {

std::atomic<int32_t> deterministic{0};

Status check_setting(int64_t setting) {
  if (setting == 0) return {};
  return fail(Code::invalid_argument, "the setting is {}; expected 0 (HCCL_DETERMINISTIC)",
              setting);
}

}  // namespace

Status set_collective_setting(int64_t setting, int32_t value) {
  ANYNPU_TRY(check_setting(setting));
  if (value < 0 || value > 2) {
    return fail(Code::invalid_argument, "HCCL_DETERMINISTIC is {}; expected 0, 1 or 2", value);
  }
  deterministic.store(value, std::memory_order_relaxed);
  return {};
}

Result<int32_t> collective_setting(int64_t setting) {
  ANYNPU_TRY(check_setting(setting));
  return deterministic.load(std::memory_order_relaxed);
}

}  // namespace anynpu::service
