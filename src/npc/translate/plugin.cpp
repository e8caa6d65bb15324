// SPDX-License-Identifier: Apache-2.0
#include "npc/translate/plugin.h"

#include <dlfcn.h>

#include <mutex>

#include "base/env.h"
#include "base/format.h"
#include "npc/translate/fiber.h"
#include "npc/translate/jit_api.h"

namespace anynpu::npc {

namespace {

// Beside the library that holds this code; a test binary has it in the folder of the build.
std::string plugin_path() {
  Dl_info here{};
  if (dladdr(reinterpret_cast<void*>(&translator), &here) && here.dli_fname) {
    const std::string own = here.dli_fname;
    const std::string folder = own.substr(0, own.rfind('/') + 1);
    for (const char* name : {"libanynpu_npc.so", "../lib/libanynpu_npc.so"}) {
      std::string path = folder + name;
      if (FILE* file = std::fopen(path.c_str(), "rb")) {
        std::fclose(file);
        return path;
      }
    }
  }
  return "libanynpu_npc.so";
}

Jit* open(std::string& why) {
#if defined(__SANITIZE_THREAD__)
  why = "this build has the thread sanitizer, which cannot follow translated code";
  return nullptr;
#endif
  if (!Fiber::supported()) {
    why = "translated kernels need an x86-64 processor";
    return nullptr;
  }
  void* plugin = dlopen(plugin_path().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!plugin) {
    why = format("the plug-in does not open: {}", dlerror());
    return nullptr;
  }
  auto* entry = reinterpret_cast<Jit* (*)()>(dlsym(plugin, "anynpu_npc_jit"));
  Jit* jit = entry ? entry() : nullptr;
  if (!jit || jit->signature().empty()) {
    why = "the plug-in does not know this processor";
    return nullptr;
  }
  return jit;
}

}  // namespace

Jit* translator(std::string& why) {
  if (env::flag(env::Name::npc_interpret)) {
    why = "ANYNPU_NPC_INTERPRET is set";
    return nullptr;
  }
  static std::mutex mutex;
  static bool tried = false;
  static Jit* jit = nullptr;
  static std::string reason;
  std::lock_guard lock(mutex);
  if (!tried) {
    tried = true;
    jit = open(reason);
  }
  why = reason;
  return jit;
}

}  // namespace anynpu::npc
