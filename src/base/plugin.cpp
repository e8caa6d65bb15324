// SPDX-License-Identifier: Apache-2.0
#include "base/plugin.h"

#include <dlfcn.h>
#include <unistd.h>

#include <map>
#include <mutex>

namespace anynpu {
namespace {

std::string own_folder() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&own_folder), &info) == 0 || info.dli_fname == nullptr)
    return {};
  const std::string path = info.dli_fname;
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string(".") : path.substr(0, slash);
}

struct Opened {
  void* library = nullptr;
  std::string reason;
};

Opened open_plugin(const std::string& name) {
  std::string path = own_folder() + "/libanynpu_" + name + ".so";
  // Test programs hold this code themselves and lie in the folder beside.
  if (access(path.c_str(), F_OK) != 0) path = own_folder() + "/../lib/libanynpu_" + name + ".so";
  Opened opened;
  opened.library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened.library == nullptr) {
    const char* why = dlerror();
    opened.reason = why != nullptr ? why : path + " cannot be opened";
  }
  return opened;
}

}  // namespace

Result<void*> plugin_symbol(const std::string& plugin, const char* symbol) {
  static std::mutex mutex;
  static std::map<std::string, Opened>& plugins = *new std::map<std::string, Opened>;
  const std::lock_guard lock(mutex);
  auto [at, is_new] = plugins.try_emplace(plugin);
  if (is_new) at->second = open_plugin(plugin);
  void* found = at->second.library ? dlsym(at->second.library, symbol) : nullptr;
  if (found != nullptr) return found;
  return fail(Code::unsupported_feature,
              "the part '{}' of AnyNPU cannot be used: {}; build it with the packages that "
              "docs/dependencies.md lists",
              plugin, at->second.library ? std::string("it lacks ") + symbol : at->second.reason);
}

}  // namespace anynpu
