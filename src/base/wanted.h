// SPDX-License-Identifier: Apache-2.0
// Work that may go on for any time (a loop inside a model) asks now and then whether somebody still
// wants it. Whoever runs work on behalf of others, a stream, opens a scope around it.
#pragma once

#include <cstdint>

#include "base/status.h"

namespace anynpu {

// While it lives, check_wanted() of this thread asks `wanted(owner, number)`. Scopes nest; the
// innermost counts.
class WantedScope {
 public:
  using Ask = bool (*)(const void* owner, uint64_t number);
  WantedScope(Ask wanted, const void* owner, uint64_t number);
  ~WantedScope();
  WantedScope(const WantedScope&) = delete;
  WantedScope& operator=(const WantedScope&) = delete;

 private:
  friend Status check_wanted();
  const Ask wanted_;
  const void* const owner_;
  const uint64_t number_;
  WantedScope* const outer_;
};

// aborted when the owner of the work gave it up; cancelled on Ctrl-C in the main thread, which is
// looked at every 50 ms. A few nanoseconds otherwise.
Status check_wanted();

}  // namespace anynpu
