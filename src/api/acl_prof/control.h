// SPDX-License-Identifier: Apache-2.0
// The order of aclprofInit, Start, Stop and Finalize: one instance per process, for all threads.
// Failures carry the documented numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "api/acl/errors.h"
#include "base/handle_table.h"

namespace anynpu::acl {

struct ProfConfig {
  std::vector<int32_t> devices;
  uint32_t metrics = 0;
  uint64_t data_types = 0;  // as given
};

Failure prof_init(const char* path, size_t length);
Failure prof_set(int32_t type, const char* value, size_t length);
// What prof_start does before it records: its checks, and the folder.
Failure prof_warm_up(const ProfConfig& config);
Failure prof_start(const ProfConfig& config);
Failure prof_stop(const ProfConfig& config);
Failure prof_finalize();

// The failure of a call that somebody else's profiling forbids.
Failure owned_by_other();

}  // namespace anynpu::acl

namespace anynpu {
ANYNPU_HANDLE_TYPE(acl::ProfConfig, prof_config);
}
