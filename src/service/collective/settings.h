// SPDX-License-Identifier: Apache-2.0
// Settings of collectives for the whole process. They are stored for queries only: results are
// always bitwise reproducible here. Thread-safe.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace anynpu::service {

// Setting 0: whether results are to be reproducible (0, 1, or 2 for strictly).
Status set_collective_setting(int64_t setting, int32_t value);
Result<int32_t> collective_setting(int64_t setting);

}  // namespace anynpu::service
