// SPDX-License-Identifier: Apache-2.0
// Streams and events of an HPE program. A stream has one lane or, if it is unified over all
// clusters, one per cluster, linked so that its requests run strictly in order. An event marks one
// lane or all lanes of its cluster. Thread-safe.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <vector>

#include "base/handle_table.h"
#include "device/event.h"
#include "npc/host/lane.h"

namespace anynpu::npc {

class HostStream {
 public:
  // Fails with out_of_streams at the limit (ANYNPU_MAX_STREAMS). A stream that the program dropped
  // does not count, even while its requests run.
  static Result<std::shared_ptr<HostStream>> create(ClusterHost& host);
  static std::shared_ptr<HostStream> create_unified();
  ~HostStream();
  HostStream(const HostStream&) = delete;
  HostStream& operator=(const HostStream&) = delete;

  bool unified() const { return unified_; }
  // The lane for the next request to `host`'s cluster; in a unified stream it waits for the
  // request before. Fails with wrong_context when the stream belongs to another cluster.
  Result<std::shared_ptr<Lane>> next_lane(ClusterHost& host);
  // Every lane that was used.
  std::vector<std::shared_ptr<Lane>> lanes();
  Status synchronize(const Deadline& deadline);
  void clean();

 private:
  explicit HostStream(bool unified) : unified_(unified) {}

  const bool unified_;
  std::mutex mutex_;
  std::array<std::shared_ptr<Lane>, kClusters> lanes_;
  std::shared_ptr<Lane> last_;
};

class HostEvent {
 public:
  explicit HostEvent(ClusterHost& host) : host_(host) {}

  ClusterHost& host() const { return host_; }
  // Marks the present end of each lane; replaces the marks before.
  Status record(const std::vector<std::shared_ptr<Lane>>& lanes);
  // Requests of `lane` from now on wait for the marks. Fails with event_not_recorded.
  Status wait_in(Lane& lane);
  Status synchronize(const Deadline& deadline);
  // When the last mark was passed.
  Result<uint64_t> timestamp_ns();

 private:
  Result<std::vector<std::shared_ptr<device::Event>>> marks();

  ClusterHost& host_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<device::Event>> marks_;
};

}  // namespace anynpu::npc

namespace anynpu {
ANYNPU_HANDLE_TYPE(npc::HostStream, npc_stream);
ANYNPU_HANDLE_TYPE(npc::HostEvent, npc_event);
}  // namespace anynpu
