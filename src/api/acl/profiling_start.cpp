// SPDX-License-Identifier: Apache-2.0
#include "api/acl/profiling_start.h"

#include <unistd.h>

#include <cstdio>

#include "api/acl/lifecycle.h"
#include "base/env.h"
#include "base/log.h"
#include "base/program_path.h"
#include "prof/ownership.h"
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
  if (const auto session = std::exchange(configured(), nullptr)) {
    if (Status status = session->stop(); !status.ok())
      std::fprintf(stderr, "anynpu: the profile is not whole: %s\n", status.to_string().c_str());
  }
  prof::release(prof::Owner::configuration);
}

}  // namespace anynpu::acl
