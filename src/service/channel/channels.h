// SPDX-License-Identifier: Apache-2.0
// Channels: bounded queues of sets of tensors, based on device/buffer_queue.h. Sent sets are
// copied; a received set has its own memory. Thread-safe; finalising stops all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

#include "base/handle_table.h"
#include "base/result.h"

namespace anynpu::service {

struct DataChannel {
  const uint32_t device;
  const std::string name;
  uint32_t queue = 0;  // set before the first use
  std::mutex mutex{};
  bool stopped = false;

  ~DataChannel();
};

// A name that no other channel of the device has; 2 to 8192 sets.
Result<Handle> create_channel(uint32_t device, const char* name, size_t capacity);
// Threads that wait in it return with a failure.
Status destroy_channel(Handle channel);
// The same, and later sends and receives are refused.
Status stop_channel(Handle channel);
// Drops the sets in it.
Status clean_channel(Handle channel);
Result<size_t> sets_in_channel(Handle channel);

// `set` is a set of tensor_set.h. A timeout of -1 waits forever; 0 does not wait. Failures are
// queue_full and queue_empty.
Status send_set(Handle channel, Handle set, int32_t timeout_ms);
Status receive_set(Handle channel, Handle set, int32_t timeout_ms);

}  // namespace anynpu::service

namespace anynpu {
ANYNPU_HANDLE_TYPE(service::DataChannel, data_channel);
}
