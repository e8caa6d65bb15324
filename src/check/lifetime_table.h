// SPDX-License-Identifier: Apache-2.0
// Which functions create and destroy what.
#pragma once

#include <cstdint>
#include <string_view>

namespace anynpu::check {

struct Kind {
  const char* name;    // "stream"
  const char* python;  // how to end it
  const char* c;
  bool numbered = false;  // known by a number of its own, not by a handle
  uint64_t none = 0;      // what is returned in place of one by a call that fails
};

struct LifetimeRow {
  const char* function;
  const Kind* kind;
  enum Role { create, destroy, share } role;  // share: it is destroyed once more often
  int argument;            // that holds it (create: points to it); kReturned: what is returned
  int size = -1;           // of memory: the argument with its bytes
  bool by_pointer = true;  // create: the argument points to the new object
};
constexpr int kReturned = -1;

extern const Kind kDeviceMemory, kHostMemory, kMediaMemory, kPoolMemory, kStream, kContext, kModel,
    kBundle, kEvent;

// Up to two rows of a function; null ends them.
struct Rows {
  const LifetimeRow* first = nullptr;
  const LifetimeRow* second = nullptr;
};
Rows lifetimes_of(std::string_view function);

}  // namespace anynpu::check
