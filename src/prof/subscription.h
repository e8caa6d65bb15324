// SPDX-License-Identifier: Apache-2.0
// Subscriptions: the operators of a model are written to a pipe as packed records while it runs.
// Records of one execution are written when it ends. A slow reader blocks the collector's thread; a
// pipe without a reader is abandoned. Ending a subscription writes what is left and closes the pipe
// if no other subscription uses it. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/handle_table.h"
#include "base/result.h"

namespace anynpu::prof {

// The record of one operator; readers use only the getters below.
struct OpRecord {
  uint32_t checksum;  // of the rest
  uint32_t model_id;
  uint32_t flag;
  uint32_t thread_id;
  uint64_t op;        // name and description, as the trace numbers them
  uint64_t duration;  // microseconds, as the other times
  uint64_t start;
  uint64_t end;
  uint64_t execution_time;
  uint64_t cube_fops;
  uint64_t vector_fops;
  uint32_t device_id;
  uint32_t unused;
};
static_assert(sizeof(OpRecord) == 80);

// The write end of a program's pipe.
class Pipe;
struct SubscribeConfig {
  std::shared_ptr<Pipe> pipe;
  int fd = -1;
  bool times = true;
  uint32_t metrics = 0xFF;
};
// Fails when `fd` is not open for writing.
Result<SubscribeConfig> make_subscribe_config(int fd, bool times, uint32_t metrics);

// Fails with already_exists for a model that is subscribed, with invalid_config when another model
// of the device has other settings.
Status subscribe(uint32_t model_id, int32_t device_id, const SubscribeConfig& config);
// Fails with not_found. Succeeds once for a model that was unloaded while it was subscribed.
Status unsubscribe(uint32_t model_id);
// Flushes and closes the model's subscription, if any.
void model_unloaded(uint32_t model_id);

// The record `index` of `bytes` at `data`. Fails with invalid_argument: null, not whole records,
// out of range, or overwritten.
Result<OpRecord> read_record(const void* data, size_t bytes, uint32_t index);
Result<uint32_t> count_records(const void* data, size_t bytes);
std::string_view name_of(const OpRecord& record);
std::string_view type_of(const OpRecord& record);

}  // namespace anynpu::prof

namespace anynpu {
ANYNPU_HANDLE_TYPE(prof::SubscribeConfig, prof_subscription);
}
