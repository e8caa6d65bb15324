// SPDX-License-Identifier: Apache-2.0
// Objects by number: attributes of queues, and buffers outside of them.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>

#include "base/result.h"

namespace anynpu::service {

// Objects by numbers that are neither addresses nor handles and are never reused. Not thread-safe:
// the owner locks.
template <typename T>
class NumberedObjects {
 public:
  // `family` tells the objects of two tables apart: 254 or 255, which are no HandleTag.
  NumberedObjects(uint64_t family, const char* name) : next_(family << 55 | 1), name_(name) {}

  void* add(T object) {
    put_back(reinterpret_cast<void*>(next_), std::move(object));
    return reinterpret_cast<void*>(next_++);
  }
  void put_back(const void* number, T object) { objects_.emplace(number, std::move(object)); }
  Result<T*> find(const void* number) {
    const auto found = objects_.find(number);
    if (found != objects_.end()) return &found->second;
    return fail(Code::invalid_handle,
                "{} is no {}; pass one that its create function gave and that was not destroyed, "
                "freed or put into a queue",
                number, name_);
  }
  // After find() has found it.
  T remove(const void* number) { return std::move(objects_.extract(number).mapped()); }
  void clear() { objects_.clear(); }

 private:
  std::unordered_map<const void*, T> objects_;
  uint64_t next_;
  const char* const name_;
};

}  // namespace anynpu::service
