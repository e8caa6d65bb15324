// SPDX-License-Identifier: Apache-2.0
// The program's use of init, finalize and devices, and queries to the real library.
#pragma once

#include <cstdint>

namespace anynpu::check {

class Call;

struct ContextNow {
  uint64_t context = 0;  // 0: none
  int32_t device = -1;
};
ContextNow context_now();
// The handle of a stream argument: 0 means the default stream of the current context.
uint64_t stream_of(uint64_t argument);
// ACL_DEVICE: there is no host memory apart.
bool runs_on_device();
// Whether the real library knows the address as device memory.
bool is_device_memory(uint64_t address);
// Whether it is in memory that the real library has allocated, for the program or for itself.
bool is_allocated(uint64_t address);

// Counts set_device and reset_device, init and finalize. The device whose last use ended; -1.
int32_t note_devices(Call& call);
void report_devices();

}  // namespace anynpu::check
