// SPDX-License-Identifier: Apache-2.0
// What the program created and destroyed: objects by handle, memory by range, models and channels
// by number, each with its call sites. Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "check/site.h"

namespace anynpu::check {

class Call;
struct Kind;

// Before the real call: checks for handles and memory in its arguments that were already released.
void check_arguments(Call& call);
// The same for a handle in a list.
void check_handle(Call& call, uint64_t handle);
// After it: what it created or destroyed.
void note_lifetimes(Call& call);
// At the end of the program.
void report_leaks();

// An allocation with the requested size; the real one is larger.
struct Block {
  uint64_t base = 0, bytes = 0;
  bool on_device = false;
  const Kind* kind = nullptr;
  Site created, freed;  // freed: null while it lives
};
// The live block that holds `address`; null when none does.
std::optional<Block> block_at(uint64_t address);
// Reports bytes past the end of a block or of a Python object, or in a freed one. `what`: "dst".
void check_span(Call& call, const char* what, uint64_t address, uint64_t bytes);

}  // namespace anynpu::check
