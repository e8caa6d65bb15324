// SPDX-License-Identifier: Apache-2.0
#include "service/profile/configured.h"

#include <unistd.h>

#include "base/env.h"
#include "base/log.h"
#include "base/program_path.h"
#include "base/quiet_write.h"
#include "prof/ownership.h"
#include "prof/remote.h"
#include "prof/session.h"

namespace anynpu::service {

namespace {

// The session that runs, and msprof's control over it while the program runs.
struct ConfiguredProfiling {
  std::shared_ptr<prof::Session> session;
  bool keeps_control = false;  // from the start on, the program itself may not profile
  std::unique_ptr<prof::RemoteControl> control;
};

// Changed by whoever initialises or finalises the library, and by the thread of the control.
ConfiguredProfiling& configured() {
  static auto* one = new ConfiguredProfiling;  // never destroyed: used until the process ends
  return *one;
}

std::string default_output() {
  if (auto work = env::work_path()) return *work + "/profiling_data";
  const std::string folder = program_folder();
  return folder.empty() ? "." : folder;
}

std::string output_of(const ProfilerConfig& profiler) {
  if (profiler.output.empty()) return default_output();
  if (profiler.output.starts_with('/')) return profiler.output;
  const std::string folder = program_folder();
  return folder.empty() ? profiler.output : folder + "/" + profiler.output;
}

prof::SessionConfig session_config(const ProfilerConfig& profiler) {
  prof::SessionConfig config;
  config.output = output_of(profiler);
  config.settings = profiler.values;
  config.data_types = prof::data_types_of(profiler.values);
  const auto metrics = profiler.values.find("aic_metrics");
  for (uint32_t i = 0; metrics != profiler.values.end() && i < 9; ++i) {
    if (metrics->second == prof::metrics_name(i)) config.metrics = i;
  }
  const auto app = profiler.values.find("app");
  if (app != profiler.values.end()) config.app = app->second;
  return config;
}

Result<std::string> start_from_outside(const json::Value& section) {
  if (configured().session) {
    return fail(Code::already_exists, "the collection runs already, into '{}'; stop it first",
                configured().session->path());
  }
  ANYNPU_ASSIGN(const ProfilerConfig profiler, parse_profiler(section));
  if (!prof::claim(prof::Owner::configuration)) {
    return fail(Code::bad_call_order,
                "profiling is controlled by {}; the two ways exclude each other: end that first",
                prof::name_of(prof::owner()));
  }
  auto session = prof::Session::start(session_config(profiler));
  if (!session.ok()) {
    if (!configured().keeps_control) prof::release(prof::Owner::configuration);
    return session.status();
  }
  configured().session = std::move(*session);
  return configured().session->path();
}

Result<std::string> stop_from_outside() {
  const auto session = std::exchange(configured().session, nullptr);
  if (!session) return fail(Code::bad_call_order, "no collection runs; start one first");
  if (!configured().keeps_control) prof::release(prof::Owner::configuration);
  ANYNPU_TRY(session->stop());
  return session->path();
}

// Profiling that cannot be controlled is no reason not to run.
void listen_for_msprof(bool keeps_control) {
  configured().keeps_control = keeps_control;
  if (keeps_control && !prof::claim(prof::Owner::configuration)) {
    ANYNPU_LOG(warning, "profiling by msprof is off: it is controlled by {}",
               prof::name_of(prof::owner()));
    return;
  }
  auto control = prof::RemoteControl::listen(
      {start_from_outside, stop_from_outside, [] { return configured().session != nullptr; }});
  if (!control.ok()) {
    ANYNPU_LOG(error, "profiling: {}", control.status().to_string());
    return;
  }
  configured().control = std::move(*control);
}

// The requested folder, or the documented default when it cannot be used.
void start(const ProfilerConfig& profiler) {
  prof::SessionConfig config = session_config(profiler);
  auto session = prof::Session::start(config);
  if (!session.ok() && config.output != default_output()) {
    ANYNPU_LOG(warning, "profiling: {}; taking the default folder", session.status().to_string());
    config.output = default_output();
    session = prof::Session::start(config);
  }
  if (!session.ok()) {
    const std::string message = session.status().to_string();
    ANYNPU_LOG(error, "profiling is off: {}", message);
    write_error_text(format("anynpu: profiling is off: {}\n", message));
    return;
  }
  configured().session = std::move(*session);
}

}  // namespace

Status start_configured_profiling(const RuntimeConfig& config) {
  const std::string mode = env::text(env::Name::profiling_mode);
  if (mode == "dynamic" || mode == "delay_or_duration") {
    listen_for_msprof(mode != "dynamic");
    return {};
  }
  if (!mode.empty()) {
    ANYNPU_LOG(warning, "PROFILING_MODE is '{}' and is ignored; expected dynamic", mode);
  }
  std::optional<ProfilerConfig> profiler = config.profiler;
  if (const auto text = env::get(env::Name::profiler_sample_config); text && !text->empty()) {
    ANYNPU_ASSIGN(const json::Value parsed, json::parse(*text, "PROFILER_SAMPLECONFIG"));
    ANYNPU_ASSIGN(profiler, parse_profiler(parsed));
  }
  if (!profiler || !profiler->on) return {};
  if (!prof::claim(prof::Owner::configuration)) {
    ANYNPU_LOG(warning, "profiling by configuration is off: it is controlled by {}",
               prof::name_of(prof::owner()));
    return {};
  }
  start(*profiler);
  return {};
}

void end_configured_profiling() {
  configured().control.reset();
  if (const auto session = std::exchange(configured().session, nullptr)) {
    if (Status status = session->stop(); !status.ok())
      write_error_text(format("anynpu: the profile is not whole: {}\n", status.to_string()));
  }
  prof::release(prof::Owner::configuration);
}

}  // namespace anynpu::service
