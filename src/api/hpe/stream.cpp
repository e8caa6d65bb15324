// SPDX-License-Identifier: Apache-2.0
// Streams, also unified ones.
#include "api/hpe/stream.h"

#include "api/hpe/entry.h"
#include "npc/host/host.h"

namespace anynpu::hpe {

Failure find_stream(stcStream_t stream, std::shared_ptr<npc::HostStream>* found) {
  auto pin = resolve<npc::HostStream>(to_handle(stream));
  if (!pin.ok()) return {stcErrorInvalidStream, pin.status()};
  *found = pin->share();
  return {};
}

Failure find_event(stcEvent_t event, std::shared_ptr<npc::HostEvent>* found) {
  auto pin = resolve<npc::HostEvent>(to_handle(event));
  if (!pin.ok()) return {stcErrorInvalidEvent, pin.status()};
  *found = pin->share();
  return {};
}

Failure find_lane(stcStream_t stream, npc::ClusterHost& host, std::shared_ptr<npc::Lane>* lane) {
  if (!stream) {
    *lane = host.default_lane();
    return {};
  }
  std::shared_ptr<npc::HostStream> found;
  if (Failure failure = find_stream(stream, &found); !failure.ok()) return failure;
  auto next = found->next_lane(host);
  if (!next.ok()) return next.status();
  *lane = std::move(*next);
  return {};
}

}  // namespace anynpu::hpe

using namespace anynpu;
using hpe::enter;
using hpe::Failure;

stcError_t stcStreamCreate(stcStream_t* stream) {
  return enter(__func__, [&]() -> Failure {
    ANYNPU_TRY(hpe::check_pointer(stream, "stream"));
    ANYNPU_ASSIGN(auto* device, npc::current_device());
    ANYNPU_ASSIGN(auto created, npc::HostStream::create(*device));
    return hpe::insert_object(stream, std::move(created));
  });
}

stcError_t stcStreamCreateUnified(stcStream_t* stream) {
  return enter(__func__, [&]() -> Failure {
    ANYNPU_TRY(hpe::check_pointer(stream, "stream"));
    ANYNPU_TRY(npc::current_device().status());
    return hpe::insert_object(stream, npc::HostStream::create_unified());
  });
}

stcError_t stcStreamDestroy(stcStream_t stream) {
  return enter(__func__, [&]() -> Failure {
    auto removed = HandleTable::instance().remove<npc::HostStream>(hpe::to_handle(stream));
    if (!removed) {
      return {stcErrorInvalidStream,
              HandleTable::instance().explain(hpe::to_handle(stream), HandleTag::npc_stream)};
    }
    for (const auto& lane : removed->lanes()) {
      ANYNPU_TRY(lane->stream().wait_for(lane->stream().submitted(), Deadline::never()));
    }
    return {};
  });
}

stcError_t stcStreamSynchronize(stcStream_t stream) {
  return enter(__func__, [&]() -> Failure {
    if (!stream) {
      ANYNPU_ASSIGN(auto* device, npc::current_device());
      return device->default_lane()->synchronize(Deadline::never());
    }
    std::shared_ptr<npc::HostStream> found;
    if (Failure failure = hpe::find_stream(stream, &found); !failure.ok()) return failure;
    return found->synchronize(Deadline::never());
  });
}

stcError_t stcStreamSynchronizeUnified(stcStream_t stream) {
  return enter(__func__, [&]() -> Failure {
    std::shared_ptr<npc::HostStream> found;
    if (Failure failure = hpe::find_stream(stream, &found); !failure.ok()) return failure;
    if (!found->unified()) {
      return {stcErrorInvalidStream,
              fail(Code::invalid_argument,
                   "the stream belongs to one device; expected one of stcStreamCreateUnified")};
    }
    return found->synchronize(Deadline::never());
  });
}

stcError_t stcStreamClean(stcStream_t stream) {
  return enter(__func__, [&]() -> Failure {
    if (!stream) {
      ANYNPU_ASSIGN(auto* device, npc::current_device());
      device->default_lane()->clean();
      return {};
    }
    std::shared_ptr<npc::HostStream> found;
    if (Failure failure = hpe::find_stream(stream, &found); !failure.ok()) return failure;
    found->clean();
    return {};
  });
}

stcError_t stcStreamWaitEvent(stcStream_t stream, stcEvent_t event) {
  return enter(__func__, [&]() -> Failure {
    std::shared_ptr<npc::HostEvent> mark;
    if (Failure failure = hpe::find_event(event, &mark); !failure.ok()) return failure;
    if (!stream) {
      ANYNPU_ASSIGN(auto* device, npc::current_device());
      return mark->wait_in(*device->default_lane());
    }
    std::shared_ptr<npc::HostStream> found;
    if (Failure failure = hpe::find_stream(stream, &found); !failure.ok()) return failure;
    // A unified stream that was never used waits in the lane of the event's cluster.
    if (found->unified()) {
      ANYNPU_ASSIGN(auto lane, found->next_lane(mark->host()));
      return mark->wait_in(*lane);
    }
    return mark->wait_in(*found->lanes().front());
  });
}
