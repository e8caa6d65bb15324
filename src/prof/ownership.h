// SPDX-License-Identifier: Apache-2.0
// Who controls profiling in this process: one party at a time, as documented. Thread-safe.
#pragma once

#include <cstdint>

namespace anynpu::prof {

enum class Owner : uint8_t {
  nobody,
  configuration,  // acl.json or msprof
  program,        // between aclprofInit and aclprofFinalize
  subscription,   // a model is subscribed
  framework,      // anynpu.profiler
};

// Its name in messages: "aclprofInit".
const char* name_of(Owner owner);

Owner owner();
// Takes control, or keeps it if `who` has it already; false if another party has it.
bool claim(Owner who);
// Releases control if `who` has it.
void release(Owner who);

}  // namespace anynpu::prof
