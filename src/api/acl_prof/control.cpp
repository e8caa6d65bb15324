// SPDX-License-Identifier: Apache-2.0
#include "api/acl_prof/control.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "api/acl/lifecycle.h"
#include "base/env.h"
#include "base/json.h"
#include "base/program_path.h"
#include "base/soc.h"
#include "prof/directory.h"
#include "prof/ownership.h"
#include "prof/session.h"

namespace anynpu::acl {

namespace {

constexpr size_t kLongestPath = 4096;
constexpr size_t kLongestSetting = 256;

struct Started {
  ProfConfig config;
  std::shared_ptr<prof::Session> session;
};

// Guarded by its mutex; sessions start and stop under it, one at a time.
struct State {
  std::mutex mutex;
  std::string output;
  prof::Settings settings;
  std::vector<Started> started;
};

State& state() {
  static auto* one = new State;
  return *one;
}

void end_all() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  for (Started& one : s.started) (void)one.session->stop();
  s.started.clear();
  s.settings.clear();
  prof::release(prof::Owner::program);
}

Failure not_initialised(const char* call) {
  return {ACL_ERROR_PROF_NOT_RUN,
          fail(Code::bad_call_order, "{} came before aclprofInit; call aclprofInit first", call)};
}

Failure check_owner(const char* call) {
  const prof::Owner owner = prof::owner();
  if (owner == prof::Owner::program) return {};
  return owner == prof::Owner::nobody ? not_initialised(call) : owned_by_other();
}

// Relative to the program's folder, as other paths of the API.
std::string absolute(const std::string& path) {
  if (path.starts_with('/')) return path;
  const std::string folder = program_folder();
  return folder.empty() ? path : folder + "/" + path;
}

Failure check_path(std::string_view path) {
  const size_t at = path.find_first_of("\n\r\"'\\%><|&$;`");
  if (at == std::string_view::npos) return {};
  return {ACL_ERROR_INVALID_FILE,
          fail(Code::file_invalid,
               "the path {} has a character at {} that is not allowed; choose a folder without "
               "quotes and without any of \\ % > < | & $ ; `",
               json::quote(path), at)};
}

Failure check_types(const ProfConfig& config) {
  if (config.data_types == 0) {
    return fail(Code::invalid_argument,
                "dataTypeConfig is 0; set at least one bit, for example ACL_PROF_TASK_TIME (0x2)");
  }
  if (const uint64_t unknown = config.data_types & ~prof::bits::kAll) {
    return {
        ACL_ERROR_PROF_MODULES_UNSUPPORTED,
        fail(Code::unsupported_feature,
             "dataTypeConfig has the bits {:#x}, which stand for nothing; use the ACL_PROF_* bits "
             "of the documents",
             unknown)};
  }
  const bool wants_metrics = config.data_types & prof::bits::kAicoreMetrics;
  if (wants_metrics && prof::metrics_name(config.metrics).empty()) {
    return fail(Code::invalid_argument,
                "aicore_metrics is {}; expected 0 to 8, or 255 for none (ACL_AICORE_*)",
                config.metrics);
  }
  if (wants_metrics && !prof::chip_has_metrics(soc_name(), config.metrics)) {
    return fail(Code::invalid_argument,
                "aicore_metrics is {} ({}), which {} does not count; choose others, or name the "
                "chip of the program in ANYNPU_SOC",
                config.metrics, prof::metrics_name(config.metrics), soc_name());
  }
  return {};
}

Failure check_devices(const State& s, const ProfConfig& config) {
  for (const Started& one : s.started) {
    for (int32_t id : config.devices) {
      const auto& running = one.config.devices;
      if (std::find(running.begin(), running.end(), id) == running.end()) continue;
      return {ACL_ERROR_PROF_ALREADY_RUN,
              fail(Code::already_exists,
                   "device {} is being profiled already; call aclprofStop with its configuration "
                   "first, or start other devices",
                   id)};
    }
    if (config.devices.empty() && one.config.devices.empty()) {
      return {ACL_ERROR_PROF_ALREADY_RUN,
              fail(Code::already_exists, "the host is being profiled already; stop it first")};
    }
  }
  return {};
}

Failure check_start(const State& s, const char* call, const ProfConfig& config) {
  if (Failure failure = check_owner(call); !failure.ok()) return failure;
  if (Failure failure = check_types(config); !failure.ok()) return failure;
  return check_devices(s, config);
}

std::string output_of(const State& s) {
  const auto set = s.settings.find("output");
  return set == s.settings.end() ? s.output : absolute(set->second);
}

}  // namespace

Failure owned_by_other() {
  const prof::Owner owner = prof::owner();
  const bool subscribed = owner == prof::Owner::subscription;
  return {subscribed ? ACL_ERROR_PROF_API_CONFLICT : ACL_ERROR_PROF_ALREADY_RUN,
          fail(Code::bad_call_order,
               "profiling is controlled by {}; the two ways exclude each other: end that first",
               prof::name_of(owner))};
}

Failure prof_init(const char* path, size_t length) {
  if (!path) return fail(Code::invalid_argument, "profilerResultPath is null; pass a folder");
  const size_t found = strnlen(path, kLongestPath);
  if (length == 0 || length >= kLongestPath || found != length) {
    return fail(Code::invalid_argument,
                "length is {}, the path has {} bytes; expected the same, from 1 to {}", length,
                found, kLongestPath - 1);
  }
  if (Failure failure = check_path({path, length}); !failure.ok()) return failure;
  if (env::text(env::Name::profiling_mode) == "dynamic") {
    return {ACL_ERROR_FEATURE_UNSUPPORTED,
            fail(Code::unsupported_feature,
                 "PROFILING_MODE is 'dynamic', so msprof alone starts and stops the collection; "
                 "unset it to profile from within the program")};
  }
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (prof::owner() == prof::Owner::program) {
    return {ACL_ERROR_REPEAT_INITIALIZE,
            fail(Code::already_initialized,
                 "aclprofInit was called already; call aclprofFinalize before the next one")};
  }
  if (!prof::claim(prof::Owner::program)) return owned_by_other();
  on_finalize(end_all);
  s.output = absolute(std::string(path, length));
  return {};
}

Failure prof_set(int32_t type, const char* value, size_t length) {
  if (!value) return fail(Code::invalid_argument, "config is null; pass the value as text");
  if (length == 0 || length > kLongestSetting || strnlen(value, length + 1) != length) {
    return fail(Code::invalid_argument,
                "configLength is {}; expected the bytes of the text, from 1 to {}", length,
                kLongestSetting);
  }
  State& s = state();
  const std::lock_guard lock(s.mutex);
  Status status = prof::add_setting(type, {value, length}, s.settings);
  if (status.ok() || status.code() == Code::invalid_argument) return status;
  return {ACL_ERROR_INVALID_PROFILING_CONFIG, std::move(status)};
}

Failure prof_warm_up(const ProfConfig& config) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (Failure failure = check_start(s, "aclprofWarmup", config); !failure.ok()) return failure;
  Status status = prof::make_output_folder(output_of(s));
  if (status.ok()) return {};
  return {ACL_ERROR_INVALID_FILE, std::move(status)};
}

Failure prof_start(const ProfConfig& config) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (Failure failure = check_start(s, "aclprofStart", config); !failure.ok()) return failure;
  prof::SessionConfig wanted;
  wanted.output = output_of(s);
  wanted.devices = config.devices;
  wanted.data_types = prof::with_implied(config.data_types);
  if (config.data_types & prof::bits::kAicoreMetrics) wanted.metrics = config.metrics;
  wanted.settings = s.settings;
  wanted.settings.erase("output");
  auto session = prof::Session::start(wanted);
  if (!session.ok()) return {ACL_ERROR_INVALID_FILE, session.status()};
  s.started.push_back({config, std::move(*session)});
  return {};
}

Failure prof_stop(const ProfConfig& config) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (Failure failure = check_owner("aclprofStop"); !failure.ok()) return failure;
  if (Failure failure = check_types(config); !failure.ok()) return failure;
  if (s.started.empty()) {
    return {ACL_ERROR_PROF_NOT_RUN,
            fail(Code::bad_call_order, "nothing was started; call aclprofStart first")};
  }
  const auto found = std::find_if(s.started.begin(), s.started.end(), [&](const Started& one) {
    return one.config.devices == config.devices && one.config.data_types == config.data_types;
  });
  if (found == s.started.end()) {
    return {ACL_ERROR_INVALID_PROFILING_CONFIG,
            fail(Code::invalid_config,
                 "no start had these devices and the data types {:#x}; stop with the configuration "
                 "that was started",
                 config.data_types)};
  }
  Status status = found->session->stop();
  s.started.erase(found);
  if (status.ok()) return {};
  return {ACL_ERROR_PROFILING_FAILURE, std::move(status)};
}

Failure prof_finalize() {
  {
    State& s = state();
    const std::lock_guard lock(s.mutex);
    if (Failure failure = check_owner("aclprofFinalize"); !failure.ok()) return failure;
  }
  end_all();
  return {};
}

}  // namespace anynpu::acl
