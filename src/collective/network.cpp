// SPDX-License-Identifier: Apache-2.0
#include "collective/network.h"

#include <cstdlib>
#include <mutex>
#include <utility>

#include "base/env.h"
#include "base/plugin.h"

namespace anynpu::collective {

Result<NetworkEngine*> network_engine() {
  const std::string ip = env::text(env::Name::hccl_if_ip);
  if (ip.empty()) return static_cast<NetworkEngine*>(nullptr);
  static std::mutex mutex;
  static NetworkEngine* engine = nullptr;  // for the life of the process
  std::lock_guard lock(mutex);
  if (engine) return engine;
  // UCX reads these while it is loaded: signals and memory functions of the program are its own,
  // and failures have messages of ours.
  for (const auto& [name, value] : {std::pair{"UCX_HANDLE_ERRORS", "none"},
                                    {"UCX_ERROR_SIGNALS", ""},
                                    {"UCX_MEM_EVENTS", "n"},
                                    {"UCX_LOG_LEVEL", "fatal"}}) {
    setenv(name, value, 0);
  }
  ANYNPU_ASSIGN(void* symbol, plugin_symbol("ucx", "anynpu_ucx_engine"));
  ANYNPU_TRY(reinterpret_cast<OpenEngine>(symbol)(ip.c_str(), &engine));
  return engine;
}

}  // namespace anynpu::collective
