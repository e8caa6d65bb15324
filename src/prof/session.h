// SPDX-License-Identifier: Apache-2.0
// A profiling session: from its start to its stop, the events of the categories it asks for go into
// a PROF_* directory of its own. Several may run at once when their devices differ. When writing
// fails, the program goes on and stop() tells. Thread-safe.
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
  // Makes the directory and collects from now on. Fails with io_error when it cannot be written.
  static Result<std::shared_ptr<Session>> start(const SessionConfig& config);
  // Writes what is left; the outcome of all writing. Again: nothing but the same outcome.
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

// Ends every session that runs: when the process ends, or the library.
void stop_all_sessions();

}  // namespace anynpu::prof
