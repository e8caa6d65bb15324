// SPDX-License-Identifier: Apache-2.0
#include "check/call.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/text.h"
#include "check/contents.h"
#include "check/guard.h"
#include "check/lifetimes.h"
#include "check/report.h"

namespace anynpu::check {

namespace {

thread_local int depth = 0;

// Functions that call the program back: reports of streams and media, the selector of an operator.
constexpr std::string_view kCallbackRunners[] = {"aclrtProcessReport", "aclopUpdateParams"};

bool is_one_of(std::string_view name, std::span<const std::string_view> names) {
  return contains(names, name);
}

// Libraries that a Python module brought along are not in the global scope.
void* look_up(const char* name, const char* library) {
  if (void* found = dlsym(RTLD_NEXT, name)) return found;
  void* handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  return handle ? dlsym(handle, name) : nullptr;
}

}  // namespace

const char* Function::shown() const { return python[0] != '-' && python_is_here() ? python : name; }

void* Function::resolve() {
  const Hooks hooks = hooks_of(name);
  before = hooks.before;
  after = hooks.after;
  runs_callbacks = is_one_of(name, kCallbackRunners);
  return find_real(name, library);
}

void* find_real(const char* name, const char* library) {
  if (void* found = look_up(name, library)) return found;
  std::fprintf(stderr, "anynpu check: %s is not in %s; libraries of different versions are mixed\n",
               name, library);
  std::abort();
}

Unseen::Unseen() { ++depth; }
Unseen::~Unseen() { --depth; }

Call::Call(Function& function, std::span<const uint64_t> arguments)
    : function_(function),
      arguments_(arguments),
      reported_before_(reported_by_thread()),
      counts_(depth == 0 && is_on()) {
  if (counts_) {
    note_media(*this);
    check_arguments(*this);
    note_unknown_writes(*this);
    lift_guards(*this);
    if (function_.before) function_.before(*this);
  }
  if (!function_.runs_callbacks) ++depth;
}

Call::~Call() {
  if (!function_.runs_callbacks) --depth;
}

void Call::finished(uint64_t result) {
  result_ = result;
  if (!counts_) return;
  if (function_.after) function_.after(*this);
  note_lifetimes(*this);
  if (!worked()) note_failure(*this);
}

bool Call::told() const { return reported_by_thread() != reported_before_; }

bool Call::is_new(uint64_t address) {
  if (contains(asked_, address)) return false;
  asked_.push_back(address);
  return true;
}

const Site& Call::site() {
  if (!has_site_) {
    site_ = current_site();
    has_site_ = true;
  }
  return site_;
}

}  // namespace anynpu::check
