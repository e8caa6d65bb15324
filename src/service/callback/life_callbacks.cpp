// SPDX-License-Identifier: Apache-2.0
#include "service/callback/life_callbacks.h"

#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "base/log.h"
#include "service/check_pointer.h"
#include "service/config/config.h"
#include "service/lifecycle.h"

namespace anynpu::service {

namespace {

constexpr int kMostPart = 7, kOtherPart = 0xFFFF;

using Key = std::pair<int, const void*>;

template <typename Callback>
class LifeCallbacks {
 public:
  Status add(int type, const void* key, Callback callback) {
    ANYNPU_TRY(check(type, key));
    const std::lock_guard lock(mutex_);
    callbacks_[{type, key}] = std::move(callback);
    return {};
  }

  Status remove(int type, const void* key) {
    ANYNPU_TRY(check(type, key));
    const std::lock_guard lock(mutex_);
    if (callbacks_.erase({type, key})) return {};
    return fail(Code::invalid_argument, "this function is not registered for type {}", type);
  }

  template <typename Call>
  void run(const char* what, Call call) {
    std::map<Key, Callback> callbacks;
    {
      const std::lock_guard lock(mutex_);
      callbacks = callbacks_;
    }
    for (const auto& [key, callback] : callbacks) {
      if (const int32_t code = call(callback); code != 0) {
        ANYNPU_LOG(warning, "a callback of type {} returned {} at the {}", key.first, code, what);
      }
    }
  }

 private:
  static Status check(int type, const void* key) {
    ANYNPU_TRY(check_pointer(key, "cbFunc"));
    if ((type >= 0 && type <= kMostPart) || type == kOtherPart) return {};
    return fail(Code::invalid_argument, "type is {}; expected 0 to {}, or {}", type, kMostPart,
                kOtherPart);
  }

  std::mutex mutex_;
  std::map<Key, Callback> callbacks_;
};

LifeCallbacks<InitCallback>& init_callbacks() {
  static auto* all = new LifeCallbacks<InitCallback>;
  return *all;
}

LifeCallbacks<FinalizeCallback>& finalize_callbacks() {
  static auto* all = new LifeCallbacks<FinalizeCallback>;
  return *all;
}

int32_t call_with_text(const InitCallback& callback) {
  const auto config = current_config();
  return callback(config->text.c_str(), config->text.size());
}

}  // namespace

Status add_init_callback(int type, const void* key, InitCallback callback) {
  ANYNPU_TRY(init_callbacks().add(type, key, callback));
  if (!initialised()) return {};
  if (const int32_t code = call_with_text(callback); code != 0) {
    ANYNPU_LOG(warning, "a callback of type {} returned {} when it was registered", type, code);
  }
  return {};
}

Status remove_init_callback(int type, const void* key) {
  return init_callbacks().remove(type, key);
}

Status add_finalize_callback(int type, const void* key, FinalizeCallback callback) {
  return finalize_callbacks().add(type, key, std::move(callback));
}

Status remove_finalize_callback(int type, const void* key) {
  return finalize_callbacks().remove(type, key);
}

void run_init_callbacks() { init_callbacks().run("initialisation", call_with_text); }

void run_finalize_callbacks() {
  finalize_callbacks().run("end", [](const FinalizeCallback& callback) { return callback(); });
}

}  // namespace anynpu::service
