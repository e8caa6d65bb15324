// SPDX-License-Identifier: Apache-2.0
// One call of the C API by the program under `anynpu check`. The library of this folder is
// preloaded (LD_PRELOAD) and has a function of the same name for each API function, generated from
// the API tables: it runs the hooks of that function before and after the real one. Programs that
// are not checked never load it, so it costs them nothing.
//
// Only calls of the program are checked: a call from inside another one passes through, except from
// functions that run the program's callbacks.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "check/site.h"

namespace anynpu::check {

class Call;
using Hook = void (*)(Call&);

// The role of a parameter; generated.
struct Parameter {
  enum Kind : uint8_t { other, memory, model };
  const char* name;
  Kind kind;
};

// A function of the API.
struct Function {
  const char* name;    // "aclrtMalloc"
  const char* python;  // "acl.rt.malloc", or "-"
  const char* library;
  std::span<const Parameter> parameters;
  bool returns_code;
  Hook before = nullptr, after = nullptr;
  bool runs_callbacks = false;  // what is called inside is the program's

  // The name as the program writes it (C or Python).
  const char* shown() const;
  // The real function, and the hooks; never null.
  void* resolve();
};

// The real function of a name, for our own calls.
void* find_real(const char* name, const char* library = "libascendcl.so");

template <typename T>
uint64_t word(T value) {
  if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<uintptr_t>(value);
  } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
    return static_cast<uint64_t>(value);
  } else {
    return 0;
  }
}

class Call {
 public:
  Call(Function& function, std::span<const uint64_t> arguments);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // After the real function has returned.
  void finish() { finished(0); }
  template <typename T>
  T finish(T result) {
    finished(word(result));
    return result;
  }

  const Function& function() const { return function_; }
  bool counts() const { return counts_; }
  uint64_t argument(size_t index) const { return arguments_[index]; }
  size_t arguments() const { return arguments_.size(); }
  template <typename T = void>
  T* pointer(size_t index) const {
    return reinterpret_cast<T*>(arguments_[index]);
  }
  uint64_t result() const { return result_; }
  // The function succeeded (one that returns an object: it is not null).
  bool worked() const { return function_.returns_code ? static_cast<int32_t>(result_) == 0 : true; }
  // Something about this call was reported already.
  bool told() const;
  // True for the first question about this address: one mistake is one finding.
  bool is_new(uint64_t address);
  // The call site in the program. Must not be called with a lock held: it takes the GIL.
  const Site& site();

 private:
  void finished(uint64_t result);

  Function& function_;
  std::span<const uint64_t> arguments_;
  uint64_t result_ = 0;
  uint64_t reported_before_;
  bool counts_;
  bool has_site_ = false;
  Site site_;
  std::vector<uint64_t> asked_;
};

// Calls inside this scope are not checked.
class Unseen {
 public:
  Unseen();
  ~Unseen();
};

// Hooks of a function by its name; nullptr when it has none.
struct Hooks {
  Hook before = nullptr, after = nullptr;
};
Hooks hooks_of(std::string_view name);

// True in the process that `anynpu check` started (and in its children), not in a forked copy.
bool is_on();

}  // namespace anynpu::check
