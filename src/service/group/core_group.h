// SPDX-License-Identifier: Apache-2.0
// Scheduling groups: a device is one group, number 0, with all its cores. All calls except creating
// an information object need a current context. Thread-safe.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

#include "base/handle_table.h"

namespace anynpu::service {

// What a program asks about the groups of a device; empty until it is filled.
struct GroupInfo {
  std::mutex mutex;
  std::optional<uint32_t> cores;
};

// As the documents number them.
enum class GroupAttribute {
  cores,
  vector_cores,
  cube_cores,
  copy_engines,
  stream_queues,
  group_id
};

// Fails for a group that does not exist.
Status use_group(int32_t group);
Result<uint32_t> count_groups();
Status fill_group_info(Handle info);
// Fails with bad_call_order before the information was filled.
Result<uint32_t> group_attribute(Handle info, int32_t group, GroupAttribute attribute);

}  // namespace anynpu::service

namespace anynpu {
ANYNPU_HANDLE_TYPE(service::GroupInfo, group_info);
}
