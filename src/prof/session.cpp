// SPDX-License-Identifier: Apache-2.0
#include "prof/session.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>

#include "base/clock.h"
#include "base/fork_guard.h"
#include "base/json.h"
#include "base/log.h"
#include "device/device.h"
#include "device/device_facts.h"
#include "device/runtime.h"
#include "prof/os_calls.h"

namespace anynpu::prof {

namespace {

constexpr uint64_t kFlushEveryNs = 500'000'000;  // what a kill of the process may cost

struct Running {
  std::mutex mutex;
  std::vector<std::shared_ptr<Session>> sessions;
};

Running& running() {
  static auto* one = new Running;
  return *one;
}

bool wants_os_calls(const SessionConfig& config) {
  const auto found = config.settings.find("host_sys");
  return found != config.settings.end() && found->second.find("osrt") != std::string::npos;
}

void remember(const std::shared_ptr<Session>& session) {
  static std::once_flag once;
  std::call_once(once, [] { std::atexit(stop_all_sessions); });
  const std::lock_guard lock(running().mutex);
  running().sessions.push_back(session);
}

// What `anynpu report` shows beside the times of a device with kernels of its own.
std::string device_text(device::Device& device) {
  const device::DevicePeaks peaks = device::peaks_of(device);
  json::Value value;
  value.set("description", device.description());
  value.set("bytes_per_s", peaks.bytes);
  value.set("flops_16", peaks.flops_16);
  value.set("flops_32", peaks.flops_32);
  return value.dump();
}

}  // namespace

Session::Session(SessionConfig config, Directory directory, EventFile events)
    : Sink(categories_of(config.data_types) |
           (wants_os_calls(config) ? trace::bit(trace::Category::api) : 0)),
      config_(std::move(config)),
      directory_(std::move(directory)),
      events_(std::move(events)),
      sampler_(config_, directory_.host_data()) {}

Result<std::shared_ptr<Session>> Session::start(const SessionConfig& config) {
  static std::atomic<uint32_t> starts{0};
  mark_runtime_used();
  const uint32_t index = starts.fetch_add(1, std::memory_order_relaxed) + 1;
  ANYNPU_ASSIGN(Directory directory,
                Directory::create({config.output, index, config.devices,
                                   sample_json(config, config.output), config.app}));
  uint64_t most_bytes = 0;
  if (const auto limit = config.settings.find("storage_limit"); limit != config.settings.end())
    most_bytes = std::strtoull(limit->second.c_str(), nullptr, 10) << 20;
  auto events = EventFile::create(directory.host_data() + "/anynpu.events", most_bytes);
  if (!events.ok()) {
    directory.remove();
    return events.status();
  }
  std::shared_ptr<Session> session(new Session(config, std::move(directory), std::move(*events)));
  if (wants_os_calls(config) && !record_os_calls()) {
    ANYNPU_LOG(
        warning,
        "profiling: host_sys has osrt, but calls of the operating system are recorded only in "
        "programs that 'msprof --host-sys=osrt' starts");
  }
  session->sampler_.rest();  // however short the session: a sample at its start and its end
  if (Status status = Collector::instance().add(session); !status.ok()) {
    if (wants_os_calls(config)) release_os_calls();
    session->directory_.remove();
    session->stopped_ = status;
    return status;
  }
  remember(session);
  ANYNPU_LOG(event, "profiling starts, data in '{}'", session->path());
  return session;
}

Status Session::stop() {
  const std::lock_guard lock(stop_mutex_);
  if (!stopped_) stopped_ = finish();
  return *stopped_;
}

Status Session::finish() {
  {
    const std::lock_guard lock(running().mutex);
    std::erase_if(running().sessions, [&](const auto& one) { return one.get() == this; });
  }
  if (wants_os_calls(config_)) release_os_calls();
  Collector::instance().remove(std::static_pointer_cast<Session>(shared_from_this()));
  sampler_.finish(seen_);
  Status status = events_.finish();
  if (events_.lost() > 0) {
    ANYNPU_LOG(warning,
               "profiling: {} events were lost, because a thread recorded faster than "
               "they could be written, or more than {} threads recorded at once",
               events_.lost(), trace::kMostRings);
  }
  for (int32_t id : seen_) {
    if (id < 0) continue;
    Status added = directory_.add_device(id);
    const auto device = device::Runtime::instance().device(id);
    if (added.ok() && device.ok() && (*device)->has_own_kernels())
      added = directory_.describe_device(id, device_text(**device));
    if (status.ok()) status = std::move(added);
  }
  if (Status ended = directory_.finish(); status.ok()) status = std::move(ended);
  ANYNPU_LOG(event, "profiling ends: {} events in '{}'", events_.events(), path());
  return status;
}

void Session::take(const trace::ThreadInfo& thread, std::span<const trace::Event> events,
                   const ClockLine& clock) {
  if (config_.devices.empty()) {
    for (const trace::Event& event : events) {
      if (event.phase() == trace::Phase::detail && event.category() == trace::Category::task)
        seen_.insert(static_cast<int32_t>(event.correlation));
    }
  }
  events_.add(thread, events, clock, wants());
}

void Session::take_lost(const trace::ThreadInfo& thread, uint64_t count) {
  events_.add_lost(thread, count);
}

uint64_t Session::pause_ns() const { return std::min(Sink::pause_ns(), sampler_.pause_ns()); }

void Session::rest() {
  sampler_.rest();
  if (now_ns() - flushed_ns_ < kFlushEveryNs) return;
  flushed_ns_ = now_ns();
  events_.flush();
}

void stop_all_sessions() {
  if (in_forked_child()) return;
  std::vector<std::shared_ptr<Session>> sessions;
  {
    const std::lock_guard lock(running().mutex);
    sessions = running().sessions;
  }
  for (const auto& session : sessions) (void)session->stop();
}

}  // namespace anynpu::prof
