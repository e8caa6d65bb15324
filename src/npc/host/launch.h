// SPDX-License-Identifier: Apache-2.0
// Modules of an HPE program, and launches as requests of a lane. A queued launch keeps its module
// and every allocation that one of its parameters points into alive. Thread-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>

#include "base/handle_table.h"
#include "npc/host/lane.h"
#include "npc/module.h"

namespace anynpu::npc {

class HostModule {
 public:
  // Links `object` for the host's cluster; codes as in npc/cluster.h.
  static Result<std::shared_ptr<HostModule>> load(ClusterHost& host,
                                                  std::span<const std::byte> object);

  ClusterHost& host() const { return host_; }
  const Module& module() const { return *module_; }
  // Launches that are queued or running.
  int launches() const { return launches_.load(std::memory_order_acquire); }

 private:
  friend struct LaunchJob;
  HostModule(ClusterHost& host, std::shared_ptr<Module> module)
      : host_(host), module_(std::move(module)) {}

  ClusterHost& host_;
  const std::shared_ptr<Module> module_;
  std::atomic<int> launches_{0};
};

// Checks the request and queues it. Lane::synchronize reports an exception of the kernel.
Status launch(const std::shared_ptr<HostModule>& module, LaunchRequest request,
              const std::shared_ptr<Lane>& lane);

}  // namespace anynpu::npc

namespace anynpu {
ANYNPU_HANDLE_TYPE(npc::HostModule, npc_module);
}
