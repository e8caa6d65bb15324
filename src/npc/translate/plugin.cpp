// SPDX-License-Identifier: Apache-2.0
#include "npc/translate/plugin.h"

#include <mutex>

#include "base/env.h"
#include "base/plugin.h"
#include "npc/translate/fiber.h"
#include "npc/translate/jit_api.h"

namespace anynpu::npc {

namespace {

Jit* open(std::string& why) {
#if defined(__SANITIZE_THREAD__)
  why = "this build has the thread sanitizer, which cannot follow translated code";
  return nullptr;
#endif
  if (!Fiber::supported()) {
    why = "translated kernels need an x86-64 processor";
    return nullptr;
  }
  const auto entry = plugin_symbol("npc", "anynpu_npc_jit");
  if (!entry.ok()) {
    why = entry.status().message();
    return nullptr;
  }
  Jit* jit = reinterpret_cast<Jit* (*)()>(*entry)();
  if (jit->signature().empty()) {
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
