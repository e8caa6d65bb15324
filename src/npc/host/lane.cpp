// SPDX-License-Identifier: Apache-2.0
#include "npc/host/lane.h"

#include <array>

#include "base/fork_guard.h"
#include "base/quiet_write.h"

namespace anynpu::npc {

namespace {

// Streams ask their device how many tasks of an engine may run at once: one kernel a cluster.
class ClusterDevice : public device::Device {
 public:
  explicit ClusterDevice(int id) : Device(id, id) { limit(device::Engine::npc, 1); }
  std::string description() const override { return format("NPC cluster {}", id()); }
  const device::Capabilities& capabilities() const override {
    static constexpr device::Capabilities kCluster{.backend = "npc", .kernels = "npc"};
    return kCluster;
  }
  Result<std::shared_ptr<device::DeviceMemory>> memory() override {
    return fail(Code::unsupported_feature, "memory of an NPC cluster has addresses of its own");
  }
  size_t memory_total() const override { return kGlobalEnd - kGlobalBase; }
  size_t memory_used() const override { return 0; }
};

std::mutex& hosts_mutex() {
  static std::mutex& mutex = *new std::mutex;
  return mutex;
}
std::array<ClusterHost*, kClusters> hosts{};  // guarded by hosts_mutex

// The wait ended, not the work.
bool gave_up(const Status& status) {
  return status.code() == Code::cancelled || status.code() == Code::timeout;
}

}  // namespace

Lane::Lane(ClusterHost& host, std::shared_ptr<device::Stream> stream)
    : host_(host), stream_(std::move(stream)) {}

Status Lane::wait(const Deadline& deadline) {
  Status status = stream_->synchronize(deadline);
  return status.code() == Code::aborted ? Status() : status;  // cleaned by the program
}

Status Lane::synchronize(const Deadline& deadline) {
  Status status = wait(deadline);
  if (gave_up(status)) return status;
  return host_.tell_exceptions(this, std::move(status));
}

void ClusterHost::add_exception(const Lane& lane, Status status, std::string report) {
  std::lock_guard lock(mutex_);
  exceptions_.push_back({lane.stream().id(), std::move(status), std::move(report)});
}

Status ClusterHost::tell_exceptions(const Lane* lane, const Status& status) {
  std::vector<Exception> told;
  {
    std::lock_guard lock(mutex_);
    std::erase_if(exceptions_, [&](Exception& exception) {
      if (lane && exception.stream != lane->stream().id()) return false;
      told.push_back(std::move(exception));
      return true;
    });
  }
  for (const Exception& exception : told) write_error_text(exception.report);
  return told.empty() ? status : told.front().status;
}

ClusterHost::ClusterHost(Cluster& cluster)
    : cluster_(cluster), device_(std::make_shared<ClusterDevice>(cluster.id())) {}

std::vector<ClusterHost*> ClusterHost::used() {
  std::lock_guard lock(hosts_mutex());
  std::vector<ClusterHost*> made;
  for (ClusterHost* host : hosts) {
    if (host) made.push_back(host);
  }
  return made;
}

Result<ClusterHost*> ClusterHost::get(int id) {
  std::lock_guard lock(hosts_mutex());
  if (id < 0 || id >= kClusters) {
    return fail(Code::invalid_device, "there is no NPC cluster {}; expected 0 to {}", id,
                kClusters - 1);
  }
  if (hosts[id]) return hosts[id];
  mark_runtime_used();
  ANYNPU_ASSIGN(Cluster * cluster, Cluster::get(id));
  std::unique_ptr<ClusterHost> host(new ClusterHost(*cluster));
  host->default_lane_ = host->create_lane();
  hosts[id] = host.release();
  return hosts[id];
}

std::shared_ptr<Lane> ClusterHost::create_lane() {
  auto stream = std::make_shared<device::Stream>(device_, std::weak_ptr<device::Context>(),
                                                 device::StreamOptions{});
  auto lane = std::make_shared<Lane>(*this, std::move(stream));
  std::lock_guard lock(mutex_);
  std::erase_if(lanes_, [](const auto& entry) { return entry.expired(); });
  lanes_.push_back(lane);
  return lane;
}

std::vector<std::shared_ptr<Lane>> ClusterHost::lanes() {
  std::vector<std::shared_ptr<Lane>> alive;
  std::lock_guard lock(mutex_);
  for (const auto& entry : lanes_) {
    if (auto lane = entry.lock()) alive.push_back(std::move(lane));
  }
  return alive;
}

Status ClusterHost::synchronize(const Deadline& deadline) {
  Status first;
  for (const auto& lane : lanes()) {
    Status status = lane->wait(deadline);
    if (gave_up(status)) return status;
    if (first.ok()) first = std::move(status);
  }
  return tell_exceptions(nullptr, std::move(first));
}

}  // namespace anynpu::npc
