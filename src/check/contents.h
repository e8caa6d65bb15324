// SPDX-License-Identifier: Apache-2.0
// Which bytes of device memory something has written: its contents are undefined before. Memory
// that a call without a hook was given counts as written, because what the call does with it is
// not known. Thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "check/order.h"

namespace anynpu::check {

class Call;

// A new allocation, and the end of one.
void begin_contents(uint64_t base, uint64_t bytes);
void end_contents(uint64_t base);
// The allocation that holds `address` is no longer followed; 0: none is.
void stop_following(uint64_t address);
// Reports reads of which no byte was written, then notes the writes.
void check_contents(Call& call, const std::vector<Touched>& touched);
// For a call without hooks: it may write whatever its arguments point to.
void note_unknown_writes(Call& call);

}  // namespace anynpu::check
