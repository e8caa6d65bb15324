// SPDX-License-Identifier: Apache-2.0
// Events (acl.rt.create_event and its kin).
#include "acl/rt/event.h"

#include "api/acl/entry.h"
#include "device/event.h"
#include "device/runtime.h"
#include "service/device/device_settings.h"

using namespace anynpu;
using acl::check_pointer;
using acl::enter;
using acl::insert_object;
using acl::remove_object;
using acl::to_handle;
using device::Event;
using device::EventState;
using device::Runtime;
using device::Stream;

namespace {

constexpr size_t kMaxEvents = 65536;
constexpr uint32_t kEventFlags = ACL_EVENT_SYNC | ACL_EVENT_CAPTURE_STREAM_PROGRESS |
                                 ACL_EVENT_TIME_LINE | ACL_EVENT_DEVICE_USE_ONLY |
                                 ACL_EVENT_EXTERNAL | ACL_EVENT_IPC;
// Flag bits whose events may be asked for times; without flags an event can do everything.
constexpr uint32_t kEverything =
    ACL_EVENT_SYNC | ACL_EVENT_CAPTURE_STREAM_PROGRESS | ACL_EVENT_TIME_LINE;

Status create_event(aclrtEvent* event, uint32_t flags) {
  ANYNPU_TRY(check_pointer(event, "event"));
  if (flags == 0 || (flags & ~kEventFlags)) {
    return fail(Code::invalid_argument,
                "the event flags are {:#x}; expected a combination of {:#x}", flags, kEventFlags);
  }
  ANYNPU_ASSIGN(auto context, Runtime::instance().current());
  if (HandleTable::instance().live(HandleTag::event) >= kMaxEvents) {
    return fail(Code::out_of_events, "{} events exist, the most there may be; destroy some",
                kMaxEvents);
  }
  ANYNPU_ASSIGN(*event, insert_object<aclrtEvent>(std::make_shared<Event>(context, flags)));
  return {};
}

// An event and a stream that may work together: those of one context.
struct EventInStream {
  std::shared_ptr<Event> event;
  std::shared_ptr<Stream> stream;
};
Result<EventInStream> pair_of(aclrtEvent event_handle, aclrtStream stream_handle) {
  ANYNPU_ASSIGN(auto event, resolve<Event>(to_handle(event_handle)));
  ANYNPU_ASSIGN(auto stream, Runtime::instance().stream(to_handle(stream_handle)));
  if (event->context() != stream->context()) {
    return fail(
        Code::wrong_context,
        "event {} and stream {} belong to different contexts, which do not wait for each other; "
        "create both in one context",
        event->id(), stream->id());
  }
  return EventInStream{event.share(), std::move(stream)};
}

Status synchronize_event(aclrtEvent handle, const Deadline& deadline) {
  ANYNPU_ASSIGN(auto pin, resolve<Event>(to_handle(handle)));
  const auto event = pin.share();
  return event->synchronize(deadline);
}

// Times are kept for events made for them.
Result<std::shared_ptr<Event>> timed_event(aclrtEvent handle) {
  ANYNPU_ASSIGN(auto event, resolve<Event>(to_handle(handle)));
  if (event->flags() & ACL_EVENT_TIME_LINE) return event.share();
  return fail(
      Code::event_not_recorded,
      "event {} was created with flags {:#x}, without ACL_EVENT_TIME_LINE (8); it keeps no times",
      event->id(), event->flags());
}

Result<float> elapsed_ms(aclrtEvent start_event, aclrtEvent end_event) {
  ANYNPU_ASSIGN(auto start, timed_event(start_event));
  ANYNPU_ASSIGN(auto end, timed_event(end_event));
  ANYNPU_ASSIGN(const float elapsed, device::elapsed_ms(*start, *end));
  if (elapsed >= 0) return elapsed;
  return fail(Code::time_reversed,
              "the end event was passed {} ms before the start event; swap them", -elapsed);
}

}  // namespace

aclError aclrtCreateEvent(aclrtEvent* event) {
  return enter(__func__, [&] { return create_event(event, kEverything); });
}

aclError aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t flag) {
  return enter(__func__, [&] { return create_event(event, flag); });
}

aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t flag) {
  return enter(__func__, [&] { return create_event(event, flag); });
}

aclError aclrtDestroyEvent(aclrtEvent event) {
  return enter(__func__, [&] { return remove_object<Event>(event); });
}

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto pair, pair_of(event, stream));
    return pair.event->record(*pair.stream);
  });
}

aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto pair, pair_of(event, stream));
    return pair.event->reset(*pair.stream);
  });
}

aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto pair, pair_of(event, stream));
    return pair.event->wait_in(*pair.stream, service::wait_limit_ms());
  });
}

aclError aclrtSynchronizeEvent(aclrtEvent event) {
  return enter(__func__, [&] { return synchronize_event(event, Deadline::never()); });
}

aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout) {
  return enter(__func__, [&]() -> Status {
    if (timeout < -1) {
      return fail(Code::invalid_argument, "the timeout is {} ms; expected -1 (for ever) or more",
                  timeout);
    }
    return synchronize_event(event, Deadline::after_ms(timeout));
  });
}

aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus* status) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(status, "status"));
    ANYNPU_ASSIGN(auto found, resolve<Event>(to_handle(event)));
    *status = found->state() == EventState::complete ? ACL_EVENT_STATUS_COMPLETE
                                                     : ACL_EVENT_STATUS_NOT_READY;
    return {};
  });
}

aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus* status) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(status, "status"));
    ANYNPU_ASSIGN(auto found, resolve<Event>(to_handle(event)));
    *status = found->state() == EventState::complete ? ACL_EVENT_RECORDED_STATUS_COMPLETE
                                                     : ACL_EVENT_RECORDED_STATUS_NOT_READY;
    return {};
  });
}

aclError aclrtQueryEventWaitStatus(aclrtEvent event, aclrtEventWaitStatus* status) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(status, "status"));
    ANYNPU_ASSIGN(auto found, resolve<Event>(to_handle(event)));
    *status =
        found->all_waits_done() ? ACL_EVENT_WAIT_STATUS_COMPLETE : ACL_EVENT_WAIT_STATUS_NOT_READY;
    return {};
  });
}

aclError aclrtEventElapsedTime(float* ms, aclrtEvent startEvent, aclrtEvent endEvent) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(ms, "ms"));
    ANYNPU_ASSIGN(*ms, elapsed_ms(startEvent, endEvent));
    return {};
  });
}

aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t* timestamp) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(timestamp, "timestamp"));
    ANYNPU_ASSIGN(auto found, timed_event(event));
    ANYNPU_ASSIGN(const uint64_t stamp, found->timestamp_ns());
    *timestamp = stamp / 1000;
    return {};
  });
}

aclError aclrtGetEventId(aclrtEvent event, uint32_t* eventId) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(eventId, "eventId"));
    ANYNPU_ASSIGN(auto found, resolve<Event>(to_handle(event)));
    *eventId = found->id();
    return {};
  });
}

aclError aclrtGetEventAvailNum(uint32_t* eventCount) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(eventCount, "eventCount"));
    ANYNPU_TRY(Runtime::instance().current().status());
    *eventCount =
        static_cast<uint32_t>(kMaxEvents - HandleTable::instance().live(HandleTag::event));
    return {};
  });
}
