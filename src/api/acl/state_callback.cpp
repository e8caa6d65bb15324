// SPDX-License-Identifier: Apache-2.0
// Functions that are called when the library begins and ends, and when devices change
// (acl/rt/state_callback.h).
#include "acl/rt/state_callback.h"

#include "api/acl/entry.h"
#include "base/log.h"
#include "service/callback/life_callbacks.h"
#include "service/device/device_life.h"

using namespace anynpu;
using acl::enter;
using acl::When;

namespace {

template <typename Function>
const void* key_of(Function* function) {
  return reinterpret_cast<const void*>(function);
}

service::DeviceObserver observer_of(aclrtDeviceStateCallback callback, void* args) {
  if (!callback) return {};
  return [=](int32_t id, service::DeviceChange change) {
    callback(id, static_cast<aclrtDeviceState>(change), args);
  };
}

service::AbortObserver observer_of(aclrtDeviceTaskAbortCallback callback, void* args) {
  if (!callback) return {};
  return [=](int32_t id, service::AbortStage stage, uint32_t timeout) {
    const int32_t code = callback(id, static_cast<aclrtDeviceTaskAbortStage>(stage), timeout, args);
    if (code != 0) ANYNPU_LOG(warning, "a callback of aborts returned {}", code);
  };
}

}  // namespace

extern "C" {

aclError aclInitCallbackRegister(aclRegisterCallbackType type, aclInitCallbackFunc cbFunc,
                                 void* userData) {
  return enter<When::before_init>(__func__, [&] {
    return service::add_init_callback(type, key_of(cbFunc), [=](const char* text, size_t length) {
      return cbFunc(text, length, userData);
    });
  });
}

aclError aclInitCallbackUnRegister(aclRegisterCallbackType type, aclInitCallbackFunc cbFunc) {
  return enter<When::before_init>(
      __func__, [&] { return service::remove_init_callback(type, key_of(cbFunc)); });
}

aclError aclFinalizeCallbackRegister(aclRegisterCallbackType type, aclFinalizeCallbackFunc cbFunc,
                                     void* userData) {
  return enter<When::before_init>(__func__, [&] {
    return service::add_finalize_callback(type, key_of(cbFunc), [=] { return cbFunc(userData); });
  });
}

aclError aclFinalizeCallbackUnRegister(aclRegisterCallbackType type,
                                       aclFinalizeCallbackFunc cbFunc) {
  return enter<When::before_init>(
      __func__, [&] { return service::remove_finalize_callback(type, key_of(cbFunc)); });
}

aclError aclrtRegDeviceStateCallback(const char* regName, aclrtDeviceStateCallback callback,
                                     void* args) {
  return enter<When::before_init>(
      __func__, [&] { return service::observe_devices(regName, observer_of(callback, args)); });
}

aclError aclrtSetDeviceTaskAbortCallback(const char* regName, aclrtDeviceTaskAbortCallback callback,
                                         void* args) {
  return enter<When::before_init>(
      __func__, [&] { return service::observe_aborts(regName, observer_of(callback, args)); });
}

}  // extern "C"
