// SPDX-License-Identifier: Apache-2.0
// Events.
#include "api/hpe/entry.h"
#include "api/hpe/stream.h"
#include "npc/host/host.h"

using namespace anynpu;
using hpe::enter;
using hpe::Failure;

namespace {
constexpr size_t kMaxNpcEvents = 65536;
}

stcError_t stcEventCreate(stcEvent_t* event) {
  return enter(__func__, [&]() -> Failure {
    ANYNPU_TRY(hpe::check_pointer(event, "event"));
    ANYNPU_ASSIGN(auto* device, npc::current_device());
    if (HandleTable::instance().live(HandleTag::npc_event) >= kMaxNpcEvents) {
      return fail(Code::out_of_events, "{} events exist, the most there may be; destroy some",
                  kMaxNpcEvents);
    }
    return hpe::insert_object(event, std::make_shared<npc::HostEvent>(*device));
  });
}

stcError_t stcEventDestroy(stcEvent_t event) {
  return enter(__func__, [&]() -> Failure {
    auto& handles = HandleTable::instance();
    if (handles.remove<npc::HostEvent>(hpe::to_handle(event))) return {};
    return {stcErrorInvalidEvent, handles.explain(hpe::to_handle(event), HandleTag::npc_event)};
  });
}

stcError_t stcEventSynchronize(stcEvent_t event) {
  return enter(__func__, [&]() -> Failure {
    std::shared_ptr<npc::HostEvent> mark;
    if (Failure failure = hpe::find_event(event, &mark); !failure.ok()) return failure;
    return mark->synchronize(Deadline::never());
  });
}

stcError_t stcEventRecord(stcEvent_t event, stcStream_t stream) {
  return enter(__func__, [&]() -> Failure {
    std::shared_ptr<npc::HostEvent> mark;
    if (Failure failure = hpe::find_event(event, &mark); !failure.ok()) return failure;
    if (!stream) return mark->record(mark->host().lanes());
    std::shared_ptr<npc::Lane> lane;
    if (Failure failure = hpe::find_lane(stream, mark->host(), &lane); !failure.ok()) {
      return failure;
    }
    return mark->record({lane});
  });
}

stcError_t stcEventElapsedTime(float* ms, stcEvent_t start, stcEvent_t end) {
  return enter(__func__, [&]() -> Failure {
    ANYNPU_TRY(hpe::check_pointer(ms, "ms"));
    std::shared_ptr<npc::HostEvent> from;
    std::shared_ptr<npc::HostEvent> to;
    if (Failure failure = hpe::find_event(start, &from); !failure.ok()) return failure;
    if (Failure failure = hpe::find_event(end, &to); !failure.ok()) return failure;
    ANYNPU_ASSIGN(const uint64_t begun, from->timestamp_ns());
    ANYNPU_ASSIGN(const uint64_t ended, to->timestamp_ns());
    *ms = static_cast<float>((static_cast<double>(ended) - static_cast<double>(begun)) * 1e-6);
    return {};
  });
}
