// SPDX-License-Identifier: Apache-2.0
#include "service/callback/stream_states.h"

#include "device/stream_observer.h"
#include "service/callback/named_callbacks.h"

namespace anynpu::service {

namespace {

NamedCallbacks<void*>& callbacks() {
  static auto* all = new NamedCallbacks<void*>;
  return *all;
}

// The door that registers: there is one.
std::atomic<StreamStateCallback> caller{nullptr};

void tell(Handle stream, device::StreamState state) {
  const auto call = caller.load(std::memory_order_acquire);
  callbacks().for_each([&](void* function, void* data) {
    call(stream, static_cast<uint32_t>(state), function, data);
  });
}

}  // namespace

Status set_stream_state_callback(const char* name, void* function, void* data,
                                 StreamStateCallback call) {
  ANYNPU_TRY(callbacks().set(name, function, data));
  caller.store(call, std::memory_order_release);
  device::stream_observer.store(tell, std::memory_order_release);
  return {};
}

}  // namespace anynpu::service
