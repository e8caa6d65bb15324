// SPDX-License-Identifier: Apache-2.0
// Who controls profiling in this process: one party at a time, as the documents ask. Thread-safe.
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

// As sentences name it: "aclprofInit".
const char* name_of(Owner owner);

Owner owner();
// Takes over from nobody, or goes on when `who` has it already; false when somebody else has it.
bool claim(Owner who);
// Gives it back when `who` has it.
void release(Owner who);

}  // namespace anynpu::prof
