// SPDX-License-Identifier: Apache-2.0
// A profiling session: from start to stop, the events of its categories are written to its own
// PROF_* directory. Several may run at once if their devices differ. If writing fails, the program
// continues and stop() returns the error. Thread-safe.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "prof/collector.h"
#include "prof/config.h"
#include "prof/directory.h"
#include "prof/event_file.h"
#include "prof/sampler.h"

namespace anynpu::prof {

class Session : public Sink {
 public:
  // Creates the directory and starts collecting. Fails with io_error if it cannot be written.
  static Result<std::shared_ptr<Session>> start(const SessionConfig& config);
  // Writes what is left; returns the outcome of all writing. A second call returns the same.
  Status stop();

  const SessionConfig& config() const { return config_; }
  const std::string& path() const { return directory_.path(); }

  void take(const trace::ThreadInfo& thread, std::span<const trace::Event> events,
            const ClockLine& clock) override;
  void take_lost(const trace::ThreadInfo& thread, uint64_t count) override;
  void rest() override;
  uint64_t pause_ns() const override;

 private:
  Status finish();
  Session(SessionConfig config, Directory directory, EventFile events);

  const SessionConfig config_;
  Directory directory_;
  EventFile events_;
  Sampler sampler_;
  std::set<int32_t> seen_;  // devices that had tasks
  uint64_t flushed_ns_ = 0;
  std::mutex stop_mutex_;
  std::optional<Status> stopped_;
};

// Stops all running sessions, at the end of the process or of the library.
void stop_all_sessions();

}  // namespace anynpu::prof
