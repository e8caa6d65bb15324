// SPDX-License-Identifier: Apache-2.0
// Functions of the program under names: a name is registered once, a null function takes it back.
// Thread-safe; no lock is held while they are called.
#pragma once

#include <algorithm>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"

namespace anynpu::service {

template <typename Function>
class NamedCallbacks {
 public:
  Status set(const char* name, Function function, void* data) {
    if (!name || !*name) {
      return fail(Code::invalid_argument, "the name of the callback is empty; give it one");
    }
    std::lock_guard lock(mutex_);
    const auto known = std::find_if(entries_.begin(), entries_.end(),
                                    [&](const Entry& entry) { return entry.name == name; });
    if (!function) {
      if (known == entries_.end()) {
        return fail(Code::not_found, "no callback is registered under the name '{}'", name);
      }
      entries_.erase(known);
      return {};
    }
    if (known != entries_.end()) {
      return fail(Code::already_exists,
                  "a callback is registered under the name '{}' already; unregister it with a null "
                  "function first",
                  name);
    }
    entries_.push_back({name, function, data});
    return {};
  }

  // visit(function, data) for each, in the order of registration.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    std::vector<Entry> entries;
    {
      std::lock_guard lock(mutex_);
      entries = entries_;
    }
    for (const Entry& entry : entries) visit(entry.function, entry.data);
  }

 private:
  struct Entry {
    std::string name;
    Function function;
    void* data;
  };
  mutable std::mutex mutex_;
  std::vector<Entry> entries_;
};

}  // namespace anynpu::service
