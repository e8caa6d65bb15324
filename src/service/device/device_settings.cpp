// SPDX-License-Identifier: Apache-2.0
#include "service/device/device_settings.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <set>
#include <utility>

#include "base/align.h"
#include "base/thread_pool.h"
#include "device/runtime.h"
#include "service/finalize.h"

namespace anynpu::service {

namespace {

using device::Runtime;
using device::Stream;

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

static_assert(kLimitRules.size() == kDeviceLimits);

constexpr size_t kMostDevices = 64;

struct Settings {
  std::mutex mutex;
  std::array<uint64_t, kDeviceLimits> limits{};               // 0: as configured
  std::array<std::array<uint32_t, 2>, kMostDevices> cores{};  // cube, vector; 0: all
  std::array<std::optional<int64_t>, 8> options;
  std::set<std::pair<int32_t, int32_t>> peers;  // (device, peer)
  std::atomic<uint64_t> wait_seconds{0};
  std::atomic<uint64_t> execute_us{0};
};

void forget_settings();

Settings& settings() {
  static auto* all = [] {
    on_finalize(forget_settings);
    return new Settings;
  }();
  return *all;
}

void forget_settings() {
  Settings& all = settings();
  const std::lock_guard lock(all.mutex);
  all.limits = {};
  all.cores = {};
  all.options = {};
  all.wait_seconds = 0;
  all.execute_us = 0;
}

Status check_limit(int limit) {
  if (static_cast<size_t>(limit) < kLimitRules.size()) return {};
  return fail(Code::invalid_argument, "limit {} is unknown; expected 0 to {}", limit,
              kLimitRules.size() - 1);
}

uint32_t all_cores() { return static_cast<uint32_t>(ThreadPool::instance().threads()); }

Status check_core_kind(int kind) {
  if (kind == 0 || kind == 1) return {};
  return fail(Code::invalid_argument,
              "resource type {} is unknown; expected 0 (cube) or 1 (vector)", kind);
}

Status check_cores(uint32_t cores) {
  if (cores >= 1 && cores <= all_cores()) return {};
  return fail(Code::invalid_argument, "the core limit is {}; expected 1 to {}", cores, all_cores());
}

uint32_t cores_of(const Stream& stream, int kind) {
  const uint32_t set = stream.core_limit[kind];
  return set ? set : all_cores();
}

// The stream whose core limits the calling thread has taken over; 0 = none.
thread_local Handle stream_in_use = 0;

Status check_option(int option) {
  if (option >= 0 && static_cast<size_t>(option) < settings().options.size()) return {};
  return fail(Code::invalid_argument, "system parameter {} is unknown", option);
}

// The current device and `peer`, checked: two different devices.
Result<std::pair<int32_t, int32_t>> pair_with(int32_t peer) {
  ANYNPU_ASSIGN(auto context, Runtime::instance().current());
  ANYNPU_TRY(Runtime::instance().device(peer).status());
  const int32_t own = context->device()->id();
  if (own == peer) {
    return fail(Code::invalid_argument, "device {} is the current device; a peer is another one",
                peer);
  }
  return std::pair{own, peer};
}

}  // namespace

Status set_device_limit(int limit, uint64_t value) {
  ANYNPU_TRY(check_limit(limit));
  ANYNPU_TRY(Runtime::instance().current().status());
  const LimitRule& rule = kLimitRules[static_cast<size_t>(limit)];
  if (value == 0 || value > rule.most) {
    return fail(Code::invalid_argument, "the {} is {}; expected 1 to {}", rule.name, value,
                rule.most);
  }
  const uint64_t rounded = round_up(std::max(value, rule.least), rule.unit);
  const std::lock_guard lock(settings().mutex);
  settings().limits[static_cast<size_t>(limit)] = rounded;
  return {};
}

Result<std::optional<uint64_t>> device_limit(int limit) {
  ANYNPU_TRY(check_limit(limit));
  ANYNPU_TRY(Runtime::instance().current().status());
  const std::lock_guard lock(settings().mutex);
  const uint64_t set = settings().limits[static_cast<size_t>(limit)];
  return set ? std::optional<uint64_t>(set) : std::nullopt;
}

Status set_core_limit(int32_t device, int kind, uint32_t cores) {
  ANYNPU_TRY(Runtime::instance().device(device).status());
  ANYNPU_TRY(check_core_kind(kind));
  ANYNPU_TRY(check_cores(cores));
  const std::lock_guard lock(settings().mutex);
  settings().cores[static_cast<size_t>(device)][static_cast<size_t>(kind)] = cores;
  return {};
}

Result<uint32_t> core_limit(int32_t device, int kind) {
  ANYNPU_TRY(Runtime::instance().device(device).status());
  ANYNPU_TRY(check_core_kind(kind));
  const std::lock_guard lock(settings().mutex);
  const uint32_t set = settings().cores[static_cast<size_t>(device)][static_cast<size_t>(kind)];
  return set ? set : all_cores();
}

Status reset_core_limits(int32_t device) {
  ANYNPU_TRY(Runtime::instance().device(device).status());
  const std::lock_guard lock(settings().mutex);
  settings().cores[static_cast<size_t>(device)] = {};
  return {};
}

Status set_stream_core_limit(Handle stream, int kind, uint32_t cores) {
  ANYNPU_TRY(check_core_kind(kind));
  ANYNPU_TRY(check_cores(cores));
  ANYNPU_ASSIGN(auto found, Runtime::instance().stream(stream));
  found->core_limit[kind] = cores;
  return {};
}

Result<uint32_t> stream_core_limit(Handle stream, int kind) {
  ANYNPU_TRY(check_core_kind(kind));
  ANYNPU_ASSIGN(auto found, Runtime::instance().stream(stream));
  return cores_of(*found, kind);
}

Status reset_stream_core_limits(Handle stream) {
  ANYNPU_ASSIGN(auto found, Runtime::instance().stream(stream));
  for (auto& limit : found->core_limit) limit = 0;
  return {};
}

Status use_stream_core_limits(Handle stream, bool use) {
  ANYNPU_TRY(Runtime::instance().stream(stream).status());
  stream_in_use = use ? stream : 0;
  return {};
}

Result<uint32_t> thread_core_limit(int kind) {
  ANYNPU_TRY(check_core_kind(kind));
  if (auto found = HandleTable::instance().find<Stream>(stream_in_use)) {
    return cores_of(*found, kind);
  }
  ANYNPU_ASSIGN(auto context, Runtime::instance().current());
  return core_limit(context->device()->id(), kind);
}

// Programs set it before they set a device.
Status set_overflow_mode(int mode) {
  if (mode == 1) return {};
  if (mode == 0) {
    return fail(
        Code::unsupported_feature,
        "saturation (mode 0) is not available: a CPU device computes with infinities and NaN "
        "(mode 1)");
  }
  return fail(Code::invalid_argument, "the mode is {}; expected 0 (saturation) or 1 (inf/nan)",
              mode);
}

Status set_system_option(int option, int64_t value) {
  ANYNPU_TRY(check_option(option));
  const std::lock_guard lock(settings().mutex);
  settings().options[static_cast<size_t>(option)] = value;
  return {};
}

Result<int64_t> system_option(int option) {
  ANYNPU_TRY(check_option(option));
  const std::lock_guard lock(settings().mutex);
  return settings().options[static_cast<size_t>(option)].value_or(0);
}

Status set_wait_limit_s(uint64_t seconds) {
  ANYNPU_TRY(Runtime::instance().current().status());
  settings().wait_seconds = seconds;
  return {};
}

uint64_t wait_limit_ms() { return settings().wait_seconds.load(std::memory_order_relaxed) * 1000; }

Status set_execute_limit_us(uint64_t microseconds) {
  ANYNPU_TRY(Runtime::instance().current().status());
  settings().execute_us = microseconds;
  return {};
}

Result<uint64_t> execute_limit_us() {
  ANYNPU_TRY(Runtime::instance().current().status());
  return settings().execute_us.load();
}

Status enable_peer_access(int32_t peer) {
  ANYNPU_ASSIGN(const auto pair, pair_with(peer));
  const std::lock_guard lock(settings().mutex);
  settings().peers.insert(pair);
  return {};
}

Status disable_peer_access(int32_t peer) {
  ANYNPU_ASSIGN(const auto pair, pair_with(peer));
  const std::lock_guard lock(settings().mutex);
  if (settings().peers.erase(pair)) return {};
  return fail(Code::bad_call_order,
              "peer access from device {} to device {} is not enabled; enable it first", pair.first,
              pair.second);
}

Result<bool> peer_access(int32_t device, int32_t peer) {
  ANYNPU_TRY(Runtime::instance().device(device).status());
  ANYNPU_TRY(Runtime::instance().device(peer).status());
  const std::lock_guard lock(settings().mutex);
  return settings().peers.count({device, peer}) > 0;
}

}  // namespace anynpu::service
