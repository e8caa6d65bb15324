// SPDX-License-Identifier: Apache-2.0
// Memory of Python objects whose address the program asked for (acl.util.bytes_to_ptr,
// numpy_to_ptr). The checker holds a reference of its own to the object: when it is the last one,
// the program uses a dangling pointer, and no other object has the address meanwhile. Objects that
// only the checker holds are given back when they take more than 64 MiB. Thread-safe.
#pragma once

#include <cstdint>
#include <optional>

#include "check/site.h"

namespace anynpu::check {

class Call;

struct HostBuffer {
  uint64_t base = 0, bytes = 0;
  const char* type = "";  // "bytes", "ndarray"
  bool is_dead = false;   // only the checker holds it
  Site taken;             // where the program asked for the address
};

// The buffer that holds `address`.
std::optional<HostBuffer> host_buffer_at(uint64_t address);
// Reports the use of a dead buffer and of bytes past the end of a living one; true: it was a
// buffer.
bool check_host_buffer(Call& call, const char* what, uint64_t address, uint64_t bytes);
// Reports buffers that died while queued work used them; when the host has waited for that work.
void check_host_buffer_of_task(const char* function, uint64_t address, const Site& queued);

}  // namespace anynpu::check
