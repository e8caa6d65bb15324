// SPDX-License-Identifier: Apache-2.0
// Shared by all functions that create a stream.
#pragma once

#include <cstdint>

#include "acl/rt/stream.h"
#include "base/status.h"

namespace anynpu::acl {

// A stream of the current context. Priorities are 0 (highest) to 7; unknown flag bits are
// ignored.
Status create_stream(aclrtStream* stream, uint32_t priority, uint64_t flags);

}  // namespace anynpu::acl
