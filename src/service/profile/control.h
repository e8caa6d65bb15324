// SPDX-License-Identifier: Apache-2.0
// Profiling that the program controls: initialise, start, stop, finalise, in this order. One
// instance per process, for all threads. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/handle_table.h"
#include "prof/session.h"

namespace anynpu::service {

// What one session records.
struct ProfilingConfig {
  std::vector<int32_t> devices;
  uint32_t metrics = 0;
  uint64_t data_types = 0;  // as given
};

// Fails when a device does not exist or is listed twice, or when nothing would be recorded.
Result<ProfilingConfig> make_profiling_config(const uint32_t* devices, uint32_t count,
                                              uint32_t metrics, uint64_t data_types);

class ProfilingControl {
 public:
  static ProfilingControl& instance();

  // `path`: the folder for profiles, of `length` bytes. Fails with already_initialized, or as
  // owned_by_other when profiling is controlled elsewhere.
  Status initialise(const char* path, size_t length);
  // A setting for the next start. Fails with invalid_profiling_config.
  Status set(int32_t type, const char* value, size_t length);
  // The others fail with profiling_not_running before initialise.
  // Everything that start does before recording: its checks, and the folder.
  Status warm_up(Handle config);
  // Fails with profiling_running for a device that is being profiled.
  Status start(Handle config);
  // The session that was started with these devices and data types.
  Status stop(Handle config);
  // Ends every session.
  Status finalise();

 private:
  struct Running {
    ProfilingConfig config;
    std::shared_ptr<prof::Session> session;
  };
  ProfilingControl() = default;
  void end_all();
  Status check_devices(const ProfilingConfig& config) const;
  Status check_start(const char* call, const ProfilingConfig& config) const;
  std::string output_folder() const;

  std::mutex mutex_;  // sessions start and stop under it, one at a time
  std::string output_;
  prof::Settings settings_;
  std::vector<Running> running_;
};

// The failure of a call while profiling is controlled elsewhere: profiling_conflict or
// profiling_running.
Status owned_by_other();

}  // namespace anynpu::service

namespace anynpu {
ANYNPU_HANDLE_TYPE(service::ProfilingConfig, prof_config);
}
