// SPDX-License-Identifier: Apache-2.0
// Callbacks that the program registers under a name, called when something changes.
// Thread-safe; functions are called with no lock held, and may register others.
#pragma once

#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "service/check_pointer.h"

namespace anynpu::service {

template <typename... Args>
class NamedCallbacks {
 public:
  using Function = std::function<void(Args...)>;

  // An empty function removes the name. One function per name.
  Status set(const char* name, Function function) {
    ANYNPU_TRY(check_pointer(name, "regName"));
    if (!*name) return fail(Code::invalid_argument, "regName is empty; pass a name");
    const std::lock_guard lock(mutex_);
    if (!function) {
      if (functions_.erase(name)) return {};
      return fail(Code::not_found, "no callback is registered as '{}'", name);
    }
    if (functions_.emplace(name, std::move(function)).second) return {};
    return fail(Code::already_exists,
                "a callback is registered as '{}' already; pass null to take it out first", name);
  }

  // In the order of the names.
  void call(Args... args) {
    std::vector<Function> functions;
    {
      const std::lock_guard lock(mutex_);
      for (const auto& [name, function] : functions_) functions.push_back(function);
    }
    for (const Function& function : functions) function(args...);
  }

 private:
  std::mutex mutex_;
  std::map<std::string, Function> functions_;
};

}  // namespace anynpu::service
