// SPDX-License-Identifier: Apache-2.0
// What the host keeps for each cluster it uses: a device for the engine limits of streams, the
// default stream, and the lanes. A lane is one queue of requests of one cluster: a device::Stream
// and the exceptions of its kernels that nobody has been told about. Requests keep their lane
// alive, so a program may drop a stream with work queued. Thread-safe.
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
  // Drops requests that have not started; that is no failure.
  void clean() { stream_->abort(); }
  // A kernel ended in an exception; `report` is what the next synchronize prints.
  void add_exception(Status status, std::string report);

 private:
  struct Exception {
    Status status;
    std::string report;
  };
  ClusterHost& host_;
  const std::shared_ptr<device::Stream> stream_;
  std::mutex mutex_;
  std::vector<Exception> exceptions_;
};

class ClusterHost {
 public:
  // The host's side of cluster `id`; made on first use, lives as long as the process.
  static Result<ClusterHost*> get(int id);
  // Those made so far.
  static std::vector<ClusterHost*> used();

  Cluster& cluster() const { return cluster_; }
  const std::shared_ptr<Lane>& default_lane() const { return default_lane_; }
  std::shared_ptr<Lane> create_lane();
  // Those that are alive now, the default one first.
  std::vector<std::shared_ptr<Lane>> lanes();
  // Waits for every lane; the first failure is returned, all are waited for.
  Status synchronize(const Deadline& deadline);

  device::Device& device() const { return *device_; }

 private:
  explicit ClusterHost(Cluster& cluster);

  Cluster& cluster_;
  const std::shared_ptr<device::Device> device_;
  std::shared_ptr<Lane> default_lane_;
  std::mutex mutex_;
  std::vector<std::weak_ptr<Lane>> lanes_;
};

}  // namespace anynpu::npc
