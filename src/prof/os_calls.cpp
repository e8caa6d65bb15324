// SPDX-License-Identifier: Apache-2.0
#include "prof/os_calls.h"

#include <dlfcn.h>

#include <mutex>
#include <unordered_map>

#include "trace/trace.h"

namespace anynpu::prof {

namespace {

thread_local bool ignored = false;

struct Hooks {  // as preload.c declares it
  uint64_t (*begin)();
  void (*end)(const char*, uint64_t);
};

uint64_t begin_call() { return !ignored && trace::enabled(trace::Category::api) ? ticks() : 0; }

// Names are literals: their address says which, and each thread keeps what it looked up.
void end_call(const char* name, uint64_t begin) {
  thread_local std::unordered_map<const char*, trace::NameId> known;
  const uint64_t end = ticks();
  trace::NameId& id = known[name];
  if (!id) id = trace::intern(name);
  trace::slice(trace::Category::api, id, begin, end, 0, 0, {1, 0, 0, 0});
}

constinit const Hooks kHooks{begin_call, end_call};

struct Users {
  std::mutex mutex;
  int count = 0;
};

Users& users() {
  static auto* one = new Users;
  return *one;
}

void set(const Hooks* hooks) {
  using Set = void (*)(const Hooks*);
  if (auto* found = reinterpret_cast<Set>(::dlsym(RTLD_DEFAULT, "anynpu_os_calls_set")))
    found(hooks);
}

}  // namespace

bool record_os_calls() {
  const std::lock_guard lock(users().mutex);
  if (users().count++ == 0) set(&kHooks);
  return ::dlsym(RTLD_DEFAULT, "anynpu_os_calls_set") != nullptr;
}

void release_os_calls() {
  const std::lock_guard lock(users().mutex);
  if (--users().count == 0) set(nullptr);
}

void ignore_os_calls_of_this_thread() { ignored = true; }

}  // namespace anynpu::prof
