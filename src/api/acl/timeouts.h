// SPDX-License-Identifier: Apache-2.0
// Time limits that a program sets once for all its waits.
#pragma once

#include <cstdint>

namespace anynpu::acl {

// How long a stream may wait for an event (aclrtSetOpWaitTimeout); 0 = for ever.
uint64_t op_wait_limit_ms();

}  // namespace anynpu::acl
