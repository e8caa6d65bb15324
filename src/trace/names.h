// SPDX-License-Identifier: Apache-2.0
// Names of trace events. A name is interned once (when a model is loaded, a kernel registered or a
// trace point first hit) and is a 32-bit id from then on; id 0 is the empty name. Ids stay valid
// until the process ends. Thread-safe; intern takes a lock, so never call it per event.
// Memory is bounded: past kMostNames, or for a name that is too long, a stand-in is returned.
#pragma once

#include <atomic>
#include <cstddef>
#include <string_view>

#include "trace/event.h"

namespace anynpu::trace {

constexpr size_t kMostNames = size_t{1} << 20;
constexpr size_t kLongestName = 4096;  // longer ones are cut

NameId intern(std::string_view name);

// The text of an id; "" for 0 and "unknown name" for an id that does not exist. The view
// stays valid until the process ends.
std::string_view name_of(NameId id);

// Number of names so far, the empty one included: ids are 0 .. name_count() - 1.
size_t name_count();

// A literal at a trace point. Constant-initialised, so that it costs nothing until the first
// enabled event passes, which interns it.
class StaticName {
 public:
  constexpr explicit StaticName(const char* text) : text_(text) {}
  NameId id() {
    const NameId known = id_.load(std::memory_order_relaxed);
    return known ? known : look_up();
  }

 private:
  NameId look_up();
  const char* text_;
  std::atomic<NameId> id_{0};
};

}  // namespace anynpu::trace
