// SPDX-License-Identifier: Apache-2.0
// Calls of the operating system (host_sys=osrt): recorded as slices of the category api with a
// detail, when the program was started with os_calls/preload.c before it. Thread-safe.
#pragma once

namespace anynpu::prof {

// Records until the matching number of releases; false when the library was not preloaded, so that
// nothing can be recorded.
bool record_os_calls();
void release_os_calls();
// For our own threads, whose calls are not the program's.
void ignore_os_calls_of_this_thread();

}  // namespace anynpu::prof
