// SPDX-License-Identifier: Apache-2.0
// Communicators by handle: creation, queries, destruction. Creating one waits for the other ranks,
// at most HCCL_CONNECT_TIMEOUT. A communicator belongs to the current device of its creator.
// Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/handle_table.h"
#include "collective/communicator.h"
#include "collective/root_info.h"

namespace anynpu::service {

using collective::CommunicatorOptions;

// For a handle that is not valid the failure says why.
Result<std::shared_ptr<collective::Communicator>> find_communicator(Handle handle);

// The communicator of this name on this device. Several ranks of one process may share a name; each
// is on its own device.
Result<Handle> find_communicator(std::string_view name, int32_t device);

Status get_root_info(void* info);
Result<Handle> init_by_root(uint32_t ranks, const void* info, uint32_t rank,
                            const CommunicatorOptions& options);
// All ranks are in this process, one per device.
Status init_all(std::span<const int32_t> devices, Handle* handles);
// The ranks are described by the rank table file at `path`.
Result<Handle> init_by_table(const char* path, uint32_t rank, const CommunicatorOptions& options);
// A communicator of some ranks of `parent`. The result is 0 for a rank that is not listed.
Result<Handle> init_sub(Handle parent, std::span<const uint32_t> ranks, uint64_t id,
                        uint32_t sub_rank, const CommunicatorOptions& options);
Status destroy_communicator(Handle handle);
Status resume_communicator(Handle handle);
// The first failure since the communicator was created or resumed; ok if there was none.
Status communicator_failure(Handle handle, Status* failure);
// Writes at most 128 bytes, including the terminating zero.
Status communicator_name(Handle handle, char* name);

}  // namespace anynpu::service
