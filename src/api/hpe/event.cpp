// SPDX-License-Identifier: Apache-2.0
// Events.
#include "api/hpe/entry.h"
#include "npc/host/objects.h"

using namespace anynpu;
using hpe::enter;
using hpe::to_handle;

stcError_t stcEventCreate(stcEvent_t* event) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(hpe::check_pointer(event, "event"));
    ANYNPU_ASSIGN(auto created, npc::create_event());
    return hpe::insert_object(event, std::move(created));
  });
}

stcError_t stcEventDestroy(stcEvent_t event) {
  return enter(__func__, [&] { return npc::destroy_event(to_handle(event)); });
}

stcError_t stcEventSynchronize(stcEvent_t event) {
  return enter(__func__, [&] { return npc::synchronize_event(to_handle(event)); });
}

stcError_t stcEventRecord(stcEvent_t event, stcStream_t stream) {
  return enter(__func__, [&] { return npc::record_event(to_handle(event), to_handle(stream)); });
}

stcError_t stcEventElapsedTime(float* ms, stcEvent_t start, stcEvent_t end) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(hpe::check_pointer(ms, "ms"));
    ANYNPU_ASSIGN(*ms, npc::elapsed_ms(to_handle(start), to_handle(end)));
    return {};
  });
}
