// SPDX-License-Identifier: Apache-2.0
// Whether a pointer that a program passed can be read or written, tested by touching it: a load, or
// an atomic "or 0", a few nanoseconds. A fault at exactly these instructions means no
// (fault_guard.h); every other fault goes to the program, as before. For variables and structs
// passed by pointer; for whole buffers the kernel is asked (memory_probe.h). If the program
// replaced our signal handler, a bad pointer crashes the process as it would without us.
#pragma once

#include <cstddef>

namespace anynpu {

// Touches the first and the last byte, which are on one page or two.
bool can_read(const void* at, size_t bytes);
bool can_write(void* at, size_t bytes);

// For the handler: where to continue after a fault of the touch at `place`; 0: not ours.
unsigned long after_touch(unsigned long place);

}  // namespace anynpu
