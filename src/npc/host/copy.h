// SPDX-License-Identifier: Apache-2.0
// Copies between the host and clusters, and between clusters. Ranges are checked when the copy is
// requested; a queued copy keeps the device memory it uses alive, and notifies the owner of the
// host memory when it is done. Thread-safe.
#pragma once

#include <cstddef>
#include <memory>

#include "npc/host/lane.h"

namespace anynpu::npc {

// One side of a copy: a host address, or an address of a cluster.
struct CopyEnd {
  ClusterHost* host = nullptr;  // null: memory of the host
  const void* address = nullptr;
};

// Called once, from any thread: when the copy ran, or when it will never run. May not wait.
struct CopyRelease {
  void (*call)(void*) = nullptr;
  void* data = nullptr;
};

struct CopyRequest {
  CopyEnd to;
  CopyEnd from;
  size_t bytes = 0;
};

// Checks both sides: invalid_address for device memory that is not allocated, invalid_argument for
// a copy past the end of an allocation and for host memory that is not there.
Status check_copy(const CopyRequest& request);
// Queues the copy in `lane` and waits for it.
Status copy(const CopyRequest& request, const std::shared_ptr<Lane>& lane);
// `release` is called also when this fails.
Status copy_async(const CopyRequest& request, const std::shared_ptr<Lane>& lane,
                  CopyRelease release = {});

}  // namespace anynpu::npc
