// SPDX-License-Identifier: Apache-2.0
#include "api/acl/profiling_start.h"

#include <unistd.h>

#include <cstdio>

#include "api/acl/lifecycle.h"
#include "base/env.h"
#include "base/log.h"
#include "base/program_path.h"
#include "prof/ownership.h"
#include "prof/remote.h"
#include "prof/session.h"

namespace anynpu::acl {

namespace {

std::shared_ptr<prof::Session>& configured() {
  static auto* one = new std::shared_ptr<prof::Session>;
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
  prof::SessionConfig wanted;
  wanted.output = output_of(profiler);
  wanted.settings = profiler.values;
  wanted.data_types = prof::data_types_of(profiler.values);
  const auto metrics = profiler.values.find("aic_metrics");
  for (uint32_t i = 0; metrics != profiler.values.end() && i < 9; ++i) {
    if (metrics->second == prof::metrics_name(i)) wanted.metrics = i;
  }
  const auto app = profiler.values.find("app");
  if (app != profiler.values.end()) wanted.app = app->second;
  return wanted;
}

// The collection that msprof switches on and off while the program runs. `keeps_control`: from
// aclInit on, the program itself may not profile.
struct Remote {
  bool keeps_control = false;
  std::unique_ptr<prof::RemoteControl> control;
};

Remote& remote() {
  static auto* one = new Remote;
  return *one;
}

Result<std::string> start_from_outside(const json::Value& section) {
  if (configured()) {
    return fail(Code::already_exists, "the collection runs already, into '{}'; stop it first",
                configured()->path());
  }
  ProfilerConfig profiler;
  if (Failure failure = parse_profiler(section, profiler); !failure.ok()) return failure.status;
  if (!prof::claim(prof::Owner::configuration)) {
    return fail(Code::bad_call_order,
                "profiling is controlled by {}; the two ways exclude each other: end that first",
                prof::name_of(prof::owner()));
  }
  auto session = prof::Session::start(session_config(profiler));
  if (!session.ok()) {
    if (!remote().keeps_control) prof::release(prof::Owner::configuration);
    return session.status();
  }
  configured() = std::move(*session);
  return configured()->path();
}

Result<std::string> stop_from_outside() {
  const auto session = std::exchange(configured(), nullptr);
  if (!session) return fail(Code::bad_call_order, "no collection runs; start one first");
  if (!remote().keeps_control) prof::release(prof::Owner::configuration);
  ANYNPU_TRY(session->stop());
  return session->path();
}

// Profiling that cannot be controlled is no reason not to run.
void listen_for_msprof(bool keeps_control) {
  remote().keeps_control = keeps_control;
  if (keeps_control && !prof::claim(prof::Owner::configuration)) {
    ANYNPU_LOG(warning, "profiling by msprof is off: it is controlled by {}",
               prof::name_of(prof::owner()));
    return;
  }
  auto control = prof::RemoteControl::listen(
      {start_from_outside, stop_from_outside, [] { return configured() != nullptr; }});
  if (!control.ok()) {
    ANYNPU_LOG(error, "profiling: {}", control.status().to_string());
    return;
  }
  remote().control = std::move(*control);
}

// The folder that was asked for, or the documented default when it cannot be used.
void start(const ProfilerConfig& profiler) {
  prof::SessionConfig wanted = session_config(profiler);
  auto session = prof::Session::start(wanted);
  if (!session.ok() && wanted.output != default_output()) {
    ANYNPU_LOG(warning, "profiling: {}; taking the default folder", session.status().to_string());
    wanted.output = default_output();
    session = prof::Session::start(wanted);
  }
  if (!session.ok()) {
    const std::string sentence = session.status().to_string();
    ANYNPU_LOG(error, "profiling is off: {}", sentence);
    std::fprintf(stderr, "anynpu: profiling is off: %s\n", sentence.c_str());
    return;
  }
  configured() = std::move(*session);
}

}  // namespace

Failure start_configured_profiling(const AclConfig& config) {
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
    auto parsed = json::parse(*text, "PROFILER_SAMPLECONFIG");
    if (!parsed.ok()) return parsed.status();
    profiler.emplace();
    if (Failure failure = parse_profiler(*parsed, *profiler); !failure.ok()) return failure;
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
  remote().control.reset();
  if (const auto session = std::exchange(configured(), nullptr)) {
    if (Status status = session->stop(); !status.ok())
      std::fprintf(stderr, "anynpu: the profile is not whole: %s\n", status.to_string().c_str());
  }
  prof::release(prof::Owner::configuration);
}

}  // namespace anynpu::acl
