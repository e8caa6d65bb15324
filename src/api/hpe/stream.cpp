// SPDX-License-Identifier: Apache-2.0
// Streams, also unified ones.
#include "api/hpe/entry.h"
#include "npc/host/host.h"
#include "npc/host/objects.h"

using namespace anynpu;
using hpe::enter;
using hpe::to_handle;

stcError_t stcStreamCreate(stcStream_t* stream) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(hpe::check_pointer(stream, "stream"));
    ANYNPU_ASSIGN(auto* device, npc::current_device());
    ANYNPU_ASSIGN(auto created, npc::HostStream::create(*device));
    return hpe::insert_object(stream, std::move(created));
  });
}

stcError_t stcStreamCreateUnified(stcStream_t* stream) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(hpe::check_pointer(stream, "stream"));
    ANYNPU_TRY(npc::current_device().status());
    return hpe::insert_object(stream, npc::HostStream::create_unified());
  });
}

stcError_t stcStreamDestroy(stcStream_t stream) {
  return enter(__func__, [&] { return npc::destroy_stream(to_handle(stream)); });
}

stcError_t stcStreamSynchronize(stcStream_t stream) {
  return enter(__func__, [&] { return npc::synchronize_stream(to_handle(stream)); });
}

stcError_t stcStreamSynchronizeUnified(stcStream_t stream) {
  return enter(__func__, [&] { return npc::synchronize_unified_stream(to_handle(stream)); });
}

stcError_t stcStreamClean(stcStream_t stream) {
  return enter(__func__, [&] { return npc::clean_stream(to_handle(stream)); });
}

stcError_t stcStreamWaitEvent(stcStream_t stream, stcEvent_t event) {
  return enter(__func__, [&] { return npc::wait_event(to_handle(stream), to_handle(event)); });
}
