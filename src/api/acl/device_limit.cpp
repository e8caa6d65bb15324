// SPDX-License-Identifier: Apache-2.0
// Limits, modes, system parameters and timeouts (acl.rt.device_set_limit and its kin), which last
// until aclFinalize.
#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>

#include "acl/rt/device.h"
#include "acl/rt/stream.h"
#include "api/acl/config.h"
#include "api/acl/entry.h"
#include "api/acl/lifecycle.h"
#include "api/acl/timeouts.h"
#include "base/align.h"
#include "base/thread_pool.h"
#include "device/runtime.h"

using namespace anynpu;
using acl::check_pointer;
using acl::enter;
using acl::Failure;
using device::Runtime;

namespace {

// Name, unit of rounding, least and most, as acl.json documents them.
struct LimitRule {
  const char* name;
  uint64_t unit;
  uint64_t least;
  uint64_t most;
};
constexpr std::array kLimitRules = {
    LimitRule{"SIMT stack size", 128, 128, 1u << 20},
    LimitRule{"SIMT divergence stack size", 128, 128, 1u << 20},
    LimitRule{"SIMD stack size", 16u << 10, 32u << 10, 7680u << 10},
    LimitRule{"printf buffer per core", 8, 1u << 10, 64u << 20},
    LimitRule{"SIMT printf buffer", 8, 1u << 20, 64u << 20},
};

struct Limits {
  std::mutex mutex;
  std::array<uint64_t, kLimitRules.size()> values{};  // 0: as configured
};
Limits& limits() {
  static auto* all = new Limits;
  return *all;
}

Status check_limit(aclrtDeviceLimit limit) {
  if (static_cast<size_t>(limit) < kLimitRules.size()) return {};
  return fail(Code::invalid_argument, "limit {} is unknown; expected 0 to {}", limit,
              kLimitRules.size() - 1);
}

uint64_t configured_limit(aclrtDeviceLimit limit) {
  const auto config = acl::current_config();
  const uint64_t values[] = {config->simt_stack_size, config->simt_divergence_stack_size,
                             config->aicore_stack_size, config->simd_printf_fifo_size_per_core,
                             config->simt_printf_fifo_size};
  return values[limit];
}

// Cores a program may use, per device; the number of threads of a CPU device does not change.
struct CoreLimits {
  std::mutex mutex;
  std::array<std::array<uint32_t, 2>, 64> of_device{};  // 0: all
};
CoreLimits& core_limits() {
  static auto* all = new CoreLimits;
  return *all;
}

uint32_t all_cores() { return static_cast<uint32_t>(ThreadPool::instance().threads()); }

Status check_core_type(aclrtDevResLimitType type) {
  if (type == ACL_RT_DEV_RES_CUBE_CORE || type == ACL_RT_DEV_RES_VECTOR_CORE) return {};
  return fail(Code::invalid_argument,
              "resource type {} is unknown; expected 0 (cube) or 1 (vector)", type);
}

struct SystemOptions {
  std::mutex mutex;
  std::array<std::optional<int64_t>, 8> values;
};
SystemOptions& system_options() {
  static auto* all = new SystemOptions;
  return *all;
}

Status check_option(aclSysParamOpt opt) {
  if (opt >= 0 && static_cast<size_t>(opt) < system_options().values.size()) return {};
  return fail(Code::invalid_argument, "system parameter {} is unknown", opt);
}

std::atomic<uint64_t> op_wait_seconds{0};
std::atomic<uint64_t> op_execute_us{0};

void forget_settings() {
  {
    std::lock_guard lock(limits().mutex);
    limits().values = {};
  }
  {
    std::lock_guard lock(core_limits().mutex);
    core_limits().of_device = {};
  }
  {
    std::lock_guard lock(system_options().mutex);
    system_options().values = {};
  }
  op_wait_seconds = 0;
  op_execute_us = 0;
}
const bool kForgottenAtTheEnd = (acl::on_finalize(forget_settings), true);

}  // namespace

namespace anynpu::acl {
uint64_t op_wait_limit_ms() { return op_wait_seconds.load(std::memory_order_relaxed) * 1000; }
}  // namespace anynpu::acl

aclError aclrtDeviceSetLimit(aclrtDeviceLimit limit, size_t value) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_limit(limit));
    ANYNPU_TRY(Runtime::instance().current().status());
    const LimitRule& rule = kLimitRules[limit];
    if (value == 0 || value > rule.most) {
      return fail(Code::invalid_argument, "the {} is {}; expected 1 to {}", rule.name, value,
                  rule.most);
    }
    const uint64_t rounded = round_up(std::max<uint64_t>(value, rule.least), rule.unit);
    std::lock_guard lock(limits().mutex);
    limits().values[limit] = rounded;
    return {};
  });
}

aclError aclrtDeviceGetLimit(aclrtDeviceLimit limit, size_t* value) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(value, "value"));
    ANYNPU_TRY(check_limit(limit));
    ANYNPU_TRY(Runtime::instance().current().status());
    std::lock_guard lock(limits().mutex);
    *value = limits().values[limit] ? limits().values[limit] : configured_limit(limit);
    return {};
  });
}

aclError aclrtSetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t value) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(Runtime::instance().device(deviceId).status());
    ANYNPU_TRY(check_core_type(type));
    if (value == 0 || value > all_cores()) {
      return fail(Code::invalid_argument, "the core limit is {}; expected 1 to {}", value,
                  all_cores());
    }
    std::lock_guard lock(core_limits().mutex);
    core_limits().of_device[static_cast<size_t>(deviceId)][type] = value;
    return {};
  });
}

aclError aclrtGetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t* value) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(value, "value"));
    ANYNPU_TRY(Runtime::instance().device(deviceId).status());
    ANYNPU_TRY(check_core_type(type));
    std::lock_guard lock(core_limits().mutex);
    const uint32_t set = core_limits().of_device[static_cast<size_t>(deviceId)][type];
    *value = set ? set : all_cores();
    return {};
  });
}

aclError aclrtResetDeviceResLimit(int32_t deviceId) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(Runtime::instance().device(deviceId).status());
    std::lock_guard lock(core_limits().mutex);
    core_limits().of_device[static_cast<size_t>(deviceId)] = {};
    return {};
  });
}

aclError aclrtSetDeviceSatMode(aclrtFloatOverflowMode mode) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(Runtime::instance().current().status());
    if (mode == ACL_RT_OVERFLOW_MODE_INFNAN) return {};
    if (mode == ACL_RT_OVERFLOW_MODE_SATURATION) {
      return fail(
          Code::unsupported_feature,
          "saturation (mode 0) is not available: a CPU device computes with infinities and NaN "
          "(mode 1)");
    }
    return fail(Code::invalid_argument, "the mode is {}; expected 0 (saturation) or 1 (inf/nan)",
                mode);
  });
}

aclError aclrtGetDeviceSatMode(aclrtFloatOverflowMode* mode) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(mode, "mode"));
    ANYNPU_TRY(Runtime::instance().current().status());
    *mode = ACL_RT_OVERFLOW_MODE_INFNAN;
    return {};
  });
}

aclError aclrtSetSysParamOpt(aclSysParamOpt opt, int64_t value) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_option(opt));
    std::lock_guard lock(system_options().mutex);
    system_options().values[static_cast<size_t>(opt)] = value;
    return {};
  });
}

aclError aclrtGetSysParamOpt(aclSysParamOpt opt, int64_t* value) {
  return enter(__func__, [&]() -> Failure {
    ANYNPU_TRY(check_pointer(value, "value"));
    ANYNPU_TRY(check_option(opt));
    std::lock_guard lock(system_options().mutex);
    const auto& set = system_options().values[static_cast<size_t>(opt)];
    if (!set) {
      return {ACL_ERROR_RT_SYSPARAMOPT_NOT_SET,
              fail(Code::not_found, "system parameter {} was never set; set it before you read it",
                   opt)};
    }
    *value = *set;
    return {};
  });
}

aclError aclrtSetOpWaitTimeout(uint32_t timeout) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(Runtime::instance().current().status());
    op_wait_seconds = timeout;
    return {};
  });
}

aclError aclrtSetOpExecuteTimeOut(uint32_t timeout) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(Runtime::instance().current().status());
    op_execute_us = uint64_t{timeout} * 1'000'000;
    return {};
  });
}

aclError aclrtSetOpExecuteTimeOutV2(uint64_t timeout, uint64_t* actualTimeout) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(actualTimeout, "actualTimeout"));
    ANYNPU_TRY(Runtime::instance().current().status());
    op_execute_us = timeout;
    *actualTimeout = timeout;
    return {};
  });
}

aclError aclrtGetOpExecuteTimeout(uint32_t* const timeoutMs) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(timeoutMs, "timeoutMs"));
    ANYNPU_TRY(Runtime::instance().current().status());
    *timeoutMs = static_cast<uint32_t>(std::min<uint64_t>(op_execute_us.load() / 1000, UINT32_MAX));
    return {};
  });
}

aclError aclrtGetOpTimeOutInterval(uint64_t* interval) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(interval, "interval"));
    ANYNPU_TRY(Runtime::instance().current().status());
    *interval = 1;  // microseconds: the timer of the pool
    return {};
  });
}
