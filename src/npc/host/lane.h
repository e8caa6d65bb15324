// SPDX-License-Identifier: Apache-2.0
// The host state of each cluster in use: a device for the engine limits of streams, the default
// stream, the lanes, and kernel exceptions that were not reported to the program yet. A lane is one
// queue of requests of one cluster: a device::Stream. Requests keep their lane alive, so a program
// may drop a stream with work queued. Thread-safe.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "device/device.h"
#include "device/stream.h"
#include "npc/cluster.h"

namespace anynpu::npc {

class ClusterHost;

class Lane {
 public:
  Lane(ClusterHost& host, std::shared_ptr<device::Stream> stream);
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  ClusterHost& host() const { return host_; }
  device::Stream& stream() const { return *stream_; }

  // Waits for what was submitted. Prints the call stacks of kernels that ended in an exception
  // since the last time, and returns the first such failure.
  Status synchronize(const Deadline& deadline);
  // Drops requests that have not started, without an error.
  void clean() { stream_->abort(); }

 private:
  friend class ClusterHost;
  Status wait(const Deadline& deadline);

  ClusterHost& host_;
  const std::shared_ptr<device::Stream> stream_;
};

class ClusterHost {
 public:
  // The host's side of cluster `id`; made on first use, lives as long as the process.
  static Result<ClusterHost*> get(int id);
  // Those created so far.
  static std::vector<ClusterHost*> used();

  Cluster& cluster() const { return cluster_; }
  const std::shared_ptr<Lane>& default_lane() const { return default_lane_; }
  std::shared_ptr<Lane> create_lane();
  // The live lanes, the default one first.
  std::vector<std::shared_ptr<Lane>> lanes();
  // Lane::synchronize for every lane, also those of dropped streams.
  Status synchronize(const Deadline& deadline);
  // A kernel of `lane` ended in an exception; `report` is what the next synchronize prints.
  void add_exception(const Lane& lane, Status status, std::string report);

  device::Device& device() const { return *device_; }

 private:
  friend class Lane;
  struct Exception {
    uint32_t stream;
    Status status;
    std::string report;
  };
  explicit ClusterHost(Cluster& cluster);
  // Prints and clears the exceptions of one lane, or of all; returns the first one, else `status`.
  Status tell_exceptions(const Lane* lane, const Status& status);

  Cluster& cluster_;
  const std::shared_ptr<device::Device> device_;
  std::shared_ptr<Lane> default_lane_;
  std::mutex mutex_;
  std::vector<std::weak_ptr<Lane>> lanes_;
  std::vector<Exception> exceptions_;
};

}  // namespace anynpu::npc
