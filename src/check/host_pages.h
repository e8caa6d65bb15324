// SPDX-License-Identifier: Apache-2.0
// Memory of aclrtMallocHost starts on a page of its own while a program is checked, so that a guard
// (guard.h) can protect blocks of any size. Thread-safe.
#pragma once

#include <cstdint>

namespace anynpu::check {

// True when the block that starts at `base` shares no page with anything else.
bool owns_its_pages(uint64_t base);

}  // namespace anynpu::check
