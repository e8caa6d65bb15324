// SPDX-License-Identifier: Apache-2.0
// Whether a pointer that a program passed can be read or written, found out by touching it: a load,
// or an atomic "or 0", a few nanoseconds. A fault at just these instructions is an answer
// (fault_guard.h); every other fault is the program's, as before. For the variables and structures
// of arguments; whole buffers are asked of the kernel (memory_probe.h). Where somebody took the
// signal's handler away, a bad pointer ends the process as it would without us.
#pragma once

#include <cstddef>

namespace anynpu {

// The first and the last of `bytes`, which lie on one page or two.
bool can_read(const void* at, size_t bytes);
bool can_write(void* at, size_t bytes);

// For the handler: the place that code at `place` goes on at when its touch faults; 0: not ours.
unsigned long after_touch(unsigned long place);

}  // namespace anynpu
