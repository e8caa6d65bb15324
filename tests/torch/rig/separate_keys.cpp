// SPDX-License-Identifier: Apache-2.0
// Lets the CUDA build of torch and torch_npu live in one process; test rig only. Both register the
// same option names of their allocators with c10, which ends the process at import. This function
// stands in front of c10's (start.py loads it first, with RTLD_GLOBAL) and gives libraries named
// *_cuda* a set of their own. Users take the +cpu build of torch and need none of this.
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <unordered_set>

namespace {

using Keys = std::unordered_set<std::string>;

constexpr const char* kName =
    "_ZN3c1016CachingAllocator26AcceleratorAllocatorConfig14getMutableKeysB5cxx11Ev";

Keys& real_keys() {
  void* c10 = dlopen("libc10.so", RTLD_LAZY | RTLD_NOLOAD);
  auto* real = c10 ? reinterpret_cast<Keys& (*)()>(dlsym(c10, kName)) : nullptr;
  if (!real) std::abort();  // another torch than the one this rig was written for
  return real();
}

}  // namespace

Keys& separate_keys() asm(
    "_ZN3c1016CachingAllocator26AcceleratorAllocatorConfig14getMutableKeysB5cxx11Ev");

Keys& separate_keys() {
  static Keys scratch;
  Dl_info caller;
  if (dladdr(__builtin_return_address(0), &caller) && std::strstr(caller.dli_fname, "_cuda")) {
    return scratch;
  }
  return real_keys();
}
