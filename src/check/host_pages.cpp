// SPDX-License-Identifier: Apache-2.0
#include "check/host_pages.h"

#include <unistd.h>

#include <map>
#include <mutex>

#include "acl/acl.h"
#include "base/align.h"
#include "check/call.h"
#include "check/guard.h"

namespace anynpu::check {

namespace {

struct State {
  std::mutex mutex;
  std::map<uint64_t, void*> real;  // what the program has -> what the library gave
};
State& state() {
  static auto* s = new State;
  return *s;
}

uint64_t page_size() {
  static const auto size = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return size;
}

aclError free_pages(void* address, decltype(&aclrtFreeHost) real) {
  void* whole = address;
  {
    const std::lock_guard lock(state().mutex);
    const auto found = state().real.find(word(address));
    if (found != state().real.end()) {
      whole = found->second;
      state().real.erase(found);  // before another thread can get the same block
    }
  }
  const aclError result = real(whole);
  if (result != ACL_SUCCESS && whole != address) {
    const std::lock_guard lock(state().mutex);
    state().real[word(address)] = whole;
  }
  return result;
}

aclError give_pages(void** target, size_t size, decltype(&aclrtMallocHost) real) {
  void* whole = nullptr;
  const aclError result = real(&whole, round_up(size, page_size()) + page_size());
  if (result != ACL_SUCCESS) return result;
  const uint64_t start = round_up(word(whole), page_size());
  const std::lock_guard lock(state().mutex);
  state().real[start] = whole;
  *target = reinterpret_cast<void*>(start);
  return result;
}

}  // namespace

bool owns_its_pages(uint64_t base) {
  const std::lock_guard lock(state().mutex);
  return state().real.contains(base);
}

}  // namespace anynpu::check

using namespace anynpu::check;

#pragma GCC visibility push(default)

extern "C" aclError aclrtMallocHost(void** hostPtr, size_t size) {
  static constexpr Parameter parameters[] = {{"host_ptr", Parameter::other},
                                             {"size", Parameter::other}};
  static Function function{"aclrtMallocHost", "acl.rt.malloc_host", "libascendcl.so", parameters,
                           true};
  static auto* real = reinterpret_cast<decltype(&aclrtMallocHost)>(function.resolve());
  const uint64_t words[] = {word(hostPtr), word(size)};
  Call call(function, words);
  const bool own = call.counts() && may_guard() && hostPtr && size != 0 && size < SIZE_MAX / 2;
  return call.finish(own ? give_pages(hostPtr, size, real) : real(hostPtr, size));
}

extern "C" aclError aclrtFreeHost(void* hostPtr) {
  static constexpr Parameter parameters[] = {{"host_ptr", Parameter::memory}};
  static Function function{"aclrtFreeHost", "acl.rt.free_host", "libascendcl.so", parameters, true};
  static auto* real = reinterpret_cast<decltype(&aclrtFreeHost)>(function.resolve());
  const uint64_t words[] = {word(hostPtr)};
  Call call(function, words);
  return call.finish(free_pages(hostPtr, real));
}

extern "C" aclError aclrtFreeHostWithDevSync(void* hostPtr) {
  static constexpr Parameter parameters[] = {{"host_ptr", Parameter::memory}};
  static Function function{"aclrtFreeHostWithDevSync", "-", "libascendcl.so", parameters, true};
  static auto* real = reinterpret_cast<decltype(&aclrtFreeHostWithDevSync)>(function.resolve());
  const uint64_t words[] = {word(hostPtr)};
  Call call(function, words);
  return call.finish(free_pages(hostPtr, real));
}
