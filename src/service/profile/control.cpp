// SPDX-License-Identifier: Apache-2.0
#include "service/profile/control.h"

#include <algorithm>
#include <cstring>

#include "base/env.h"
#include "base/json.h"
#include "base/program_path.h"
#include "base/soc.h"
#include "device/runtime.h"
#include "prof/config.h"
#include "prof/directory.h"
#include "prof/ownership.h"
#include "service/check_pointer.h"
#include "service/finalize.h"

namespace anynpu::service {

namespace {

constexpr size_t kLongestPath = 4096;
constexpr size_t kLongestSetting = 256;

Status check_owner(const char* call) {
  const prof::Owner owner = prof::owner();
  if (owner == prof::Owner::program) return {};
  if (owner != prof::Owner::nobody) return owned_by_other();
  return fail(Code::profiling_not_running, "{} came before aclprofInit; call aclprofInit first",
              call);
}

// Relative to the program's folder, as other paths of the API.
std::string absolute(const std::string& path) {
  if (path.starts_with('/')) return path;
  const std::string folder = program_folder();
  return folder.empty() ? path : folder + "/" + path;
}

Status check_path(const char* path, size_t length) {
  if (!path) return fail(Code::invalid_argument, "profilerResultPath is null; pass a folder");
  ANYNPU_TRY(check_pointer(path, "profilerResultPath"));
  const size_t found = strnlen(path, kLongestPath);
  if (length == 0 || length >= kLongestPath || found != length) {
    return fail(Code::invalid_argument,
                "length is {}, the path has {} bytes; expected the same, from 1 to {}", length,
                found, kLongestPath - 1);
  }
  const std::string_view text(path, length);
  const size_t at = text.find_first_of("\n\r\"'\\%><|&$;`");
  if (at == std::string_view::npos) return {};
  return fail(Code::file_invalid,
              "the path {} has a character at {} that is not allowed; choose a folder without "
              "quotes and without any of \\ % > < | & $ ; `",
              json::quote(text), at);
}

Status check_aicore_metrics(const ProfilingConfig& config) {
  if (!(config.data_types & prof::bits::kAicoreMetrics)) return {};
  const auto name = prof::metrics_name(config.metrics);
  if (name.empty()) {
    return fail(Code::invalid_argument,
                "aicore_metrics is {}; expected 0 to 8, or 255 for none (ACL_AICORE_*)",
                config.metrics);
  }
  if (prof::chip_has_metrics(soc_name(), config.metrics)) return {};
  return fail(Code::invalid_argument,
              "aicore_metrics is {} ({}), which {} does not count; choose others, or name the "
              "chip of the program in ANYNPU_SOC",
              config.metrics, name, soc_name());
}

Status check_types(const ProfilingConfig& config) {
  if (config.data_types == 0) {
    return fail(Code::invalid_argument,
                "dataTypeConfig is 0; set at least one bit, for example ACL_PROF_TASK_TIME (0x2)");
  }
  if (const uint64_t unknown = config.data_types & ~prof::bits::kAll) {
    return fail(
        Code::profiling_type_unknown,
        "dataTypeConfig has the bits {:#x}, which stand for nothing; use the ACL_PROF_* bits "
        "of the documents",
        unknown);
  }
  return check_aicore_metrics(config);
}

Status check_device(uint32_t id, int32_t devices, const std::vector<int32_t>& listed) {
  if (id >= static_cast<uint32_t>(devices)) {
    return fail(Code::invalid_argument, "device {} does not exist; expected 0 to {}", id,
                devices - 1);
  }
  if (std::find(listed.begin(), listed.end(), static_cast<int32_t>(id)) == listed.end()) return {};
  return fail(Code::invalid_argument, "device {} is listed twice; list each once", id);
}

}  // namespace

Result<ProfilingConfig> make_profiling_config(const uint32_t* ids, uint32_t count, uint32_t metrics,
                                              uint64_t data_types) {
  ProfilingConfig config{{}, metrics, data_types};
  const int32_t devices = device::Runtime::instance().device_count();
  if (count > 0) ANYNPU_TRY(check_pointer(ids, "deviceIdList"));
  if (count > static_cast<uint32_t>(devices)) {
    return fail(Code::invalid_argument,
                "deviceNums is {}, but there are {} devices; list each once", count, devices);
  }
  if (count == 0 && !(data_types & prof::bits::kMsproftx)) {
    return fail(Code::invalid_argument,
                "the device list is empty; name a device, or profile only the program's own marks "
                "with ACL_PROF_MSPROFTX (0x80)");
  }
  for (uint32_t i = 0; i < count; ++i) {
    ANYNPU_TRY(check_device(ids[i], devices, config.devices));
    config.devices.push_back(static_cast<int32_t>(ids[i]));
  }
  return config;
}

Status owned_by_other() {
  const prof::Owner owner = prof::owner();
  const bool subscribed = owner == prof::Owner::subscription;
  return fail(subscribed ? Code::profiling_conflict : Code::profiling_running,
              "profiling is controlled by {}; the two ways exclude each other: end that first",
              prof::name_of(owner));
}

ProfilingControl& ProfilingControl::instance() {
  static auto* one = new ProfilingControl;  // never destroyed: used until the process ends
  return *one;
}

void ProfilingControl::end_all() {
  const std::lock_guard lock(mutex_);
  for (Running& one : running_) (void)one.session->stop();
  running_.clear();
  settings_.clear();
  prof::release(prof::Owner::program);
}

Status ProfilingControl::check_devices(const ProfilingConfig& config) const {
  for (const Running& one : running_) {
    for (int32_t id : config.devices) {
      const auto& devices = one.config.devices;
      if (std::find(devices.begin(), devices.end(), id) == devices.end()) continue;
      return fail(Code::profiling_running,
                  "device {} is being profiled already; call aclprofStop with its configuration "
                  "first, or start other devices",
                  id);
    }
    if (config.devices.empty() && one.config.devices.empty()) {
      return fail(Code::profiling_running, "the host is being profiled already; stop it first");
    }
  }
  return {};
}

Status ProfilingControl::check_start(const char* call, const ProfilingConfig& config) const {
  ANYNPU_TRY(check_owner(call));
  ANYNPU_TRY(check_types(config));
  return check_devices(config);
}

std::string ProfilingControl::output_folder() const {
  const auto set = settings_.find("output");
  return set == settings_.end() ? output_ : absolute(set->second);
}

Status ProfilingControl::initialise(const char* path, size_t length) {
  ANYNPU_TRY(check_path(path, length));
  if (env::text(env::Name::profiling_mode) == "dynamic") {
    return fail(Code::unsupported_feature,
                "PROFILING_MODE is 'dynamic', so msprof alone starts and stops the collection; "
                "unset it to profile from within the program");
  }
  const std::lock_guard lock(mutex_);
  if (prof::owner() == prof::Owner::program) {
    return fail(Code::already_initialized,
                "aclprofInit was called already; call aclprofFinalize before the next one");
  }
  if (!prof::claim(prof::Owner::program)) return owned_by_other();
  on_finalize([] { instance().end_all(); });
  output_ = absolute(std::string(path, length));
  return {};
}

Status ProfilingControl::set(int32_t type, const char* value, size_t length) {
  if (!value) return fail(Code::invalid_argument, "config is null; pass the value as text");
  ANYNPU_TRY(check_pointer(value, "config"));
  if (length == 0 || length > kLongestSetting || strnlen(value, length + 1) != length) {
    return fail(Code::invalid_argument,
                "configLength is {}; expected the bytes of the text, from 1 to {}", length,
                kLongestSetting);
  }
  const std::lock_guard lock(mutex_);
  Status status = prof::add_setting(type, {value, length}, settings_);
  if (status.code() == Code::invalid_argument) return status;
  return status.with_code(Code::invalid_profiling_config);
}

Status ProfilingControl::warm_up(Handle handle) {
  ANYNPU_ASSIGN(auto config, resolve<ProfilingConfig>(handle));
  const std::lock_guard lock(mutex_);
  ANYNPU_TRY(check_start("aclprofWarmup", *config));
  return prof::make_output_folder(output_folder()).with_code(Code::file_invalid);
}

Status ProfilingControl::start(Handle handle) {
  ANYNPU_ASSIGN(auto config, resolve<ProfilingConfig>(handle));
  const std::lock_guard lock(mutex_);
  ANYNPU_TRY(check_start("aclprofStart", *config));
  prof::SessionConfig session_config;
  session_config.output = output_folder();
  session_config.devices = config->devices;
  session_config.data_types = prof::with_implied(config->data_types);
  if (config->data_types & prof::bits::kAicoreMetrics) session_config.metrics = config->metrics;
  session_config.settings = settings_;
  session_config.settings.erase("output");
  auto session = prof::Session::start(session_config);
  if (!session.ok()) return session.status().with_code(Code::file_invalid);
  running_.push_back({*config, std::move(*session)});
  return {};
}

Status ProfilingControl::stop(Handle handle) {
  ANYNPU_ASSIGN(auto config, resolve<ProfilingConfig>(handle));
  const std::lock_guard lock(mutex_);
  ANYNPU_TRY(check_owner("aclprofStop"));
  ANYNPU_TRY(check_types(*config));
  if (running_.empty()) {
    return fail(Code::profiling_not_running, "nothing was started; call aclprofStart first");
  }
  const auto found = std::find_if(running_.begin(), running_.end(), [&](const Running& one) {
    return one.config.devices == config->devices && one.config.data_types == config->data_types;
  });
  if (found == running_.end()) {
    return fail(Code::invalid_profiling_config,
                "no start had these devices and the data types {:#x}; stop with the configuration "
                "that was started",
                config->data_types);
  }
  const Status status = found->session->stop();
  running_.erase(found);
  return status.with_code(Code::profiling_failed);
}

Status ProfilingControl::finalise() {
  {
    const std::lock_guard lock(mutex_);
    ANYNPU_TRY(check_owner("aclprofFinalize"));
  }
  end_all();
  return {};
}

}  // namespace anynpu::service
