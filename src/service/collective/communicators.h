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

// Fails with the reason for a handle that is none.
Result<std::shared_ptr<collective::Communicator>> find_communicator(Handle handle);

// That of a name on a device. Several ranks of one process may share a name, on devices of their own.
Result<Handle> find_communicator(std::string_view name, int32_t device);

Status get_root_info(void* info);
Result<Handle> init_by_root(uint32_t ranks, const void* info, uint32_t rank,
                            const CommunicatorOptions& options);
// All ranks in this process, one a device.
Status init_all(std::span<const int32_t> devices, Handle* handles);
// By the file with the rank table.
Result<Handle> init_by_table(const char* path, uint32_t rank, const CommunicatorOptions& options);
// A part of the ranks of `parent`. A rank that is not listed gets 0.
Result<Handle> init_sub(Handle parent, std::span<const uint32_t> ranks, uint64_t id,
                        uint32_t sub_rank, const CommunicatorOptions& options);
Status destroy_communicator(Handle handle);
Status resume_communicator(Handle handle);
// What went wrong since it was made or resumed; ok when nothing did.
Status communicator_failure(Handle handle, Status* failure);
// Writes at most 128 bytes with the zero.
Status communicator_name(Handle handle, char* name);

}  // namespace anynpu::service
