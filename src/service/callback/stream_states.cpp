// SPDX-License-Identifier: Apache-2.0
#include "service/callback/stream_states.h"

#include "device/stream_observer.h"
#include "service/callback/named_callbacks.h"

namespace anynpu::service {

namespace {

NamedCallbacks<Handle, uint32_t>& callbacks() {
  static auto* all = new NamedCallbacks<Handle, uint32_t>;
  return *all;
}

void tell(Handle stream, device::StreamState state) {
  callbacks().call(stream, static_cast<uint32_t>(state));
}

}  // namespace

Status set_stream_state_callback(const char* name, void* function, void* data,
                                 StreamStateCallback call) {
  ANYNPU_TRY(callbacks().set(name, function ? NamedCallbacks<Handle, uint32_t>::Function(
                                                  [=](Handle stream, uint32_t state) {
                                                    call(stream, state, function, data);
                                                  })
                                            : nullptr));
  device::stream_observer.store(tell, std::memory_order_release);
  return {};
}

}  // namespace anynpu::service
