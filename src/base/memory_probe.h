// SPDX-License-Identifier: Apache-2.0
// Asks the kernel whether an address range of this process can be read or written, so that a bad
// pointer becomes an error code and not a crash. A few system calls, about 1 us; used at API
// boundaries for host pointers that are not ours. Before Linux 6.11 a guard page in the middle of
// the range, with memory on both sides of it, is not detected.
#pragma once

#include <cstddef>

namespace anynpu {

bool probe_readable(const void* address, size_t bytes);
bool probe_writable(void* address, size_t bytes);

}  // namespace anynpu
