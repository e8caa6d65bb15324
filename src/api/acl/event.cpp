// SPDX-License-Identifier: Apache-2.0
// Events (acl.rt.create_event and similar).
#include "acl/rt/event.h"

#include "api/acl/entry.h"
#include "device/runtime.h"
#include "service/event/events.h"

using namespace anynpu;
using acl::check_pointer;
using acl::enter;
using acl::from_handle;
using acl::remove_object;
using acl::to_handle;
using device::Event;
using device::EventState;
using device::EventUse;
using device::Runtime;
using service::event_to_ask;
using service::EventQuestion;

namespace {

Status create_event(aclrtEvent* event, uint32_t flags, Event::Maker maker) {
  ANYNPU_TRY(check_pointer(event, "event"));
  ANYNPU_ASSIGN(const Handle handle, service::create_event(flags, maker));
  *event = from_handle<aclrtEvent>(handle);
  return {};
}

Status synchronize_event(aclrtEvent handle, const Deadline& deadline) {
  ANYNPU_ASSIGN(auto pin, resolve<Event>(to_handle(handle)));
  const auto event = pin.share();
  return event->synchronize(deadline);
}

Result<float> elapsed_ms(aclrtEvent start_event, aclrtEvent end_event) {
  ANYNPU_ASSIGN(auto start, event_to_ask(to_handle(start_event), EventQuestion::time));
  ANYNPU_ASSIGN(auto end, event_to_ask(to_handle(end_event), EventQuestion::time));
  ANYNPU_ASSIGN(const float elapsed, device::elapsed_ms(*start, *end));
  if (elapsed >= 0) return elapsed;
  return fail(Code::time_reversed,
              "the end event was passed {} ms before the start event; swap them", -elapsed);
}

Result<bool> is_complete(aclrtEvent handle, EventQuestion question) {
  ANYNPU_ASSIGN(auto event, event_to_ask(to_handle(handle), question));
  ANYNPU_ASSIGN(const EventState state, event->query());
  return state == EventState::complete;
}

}  // namespace

aclError aclrtCreateEvent(aclrtEvent* event) {
  return enter(__func__,
               [&] { return create_event(event, service::kPlainEvent, Event::Maker::plain); });
}

aclError aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t flag) {
  return enter(__func__, [&] { return create_event(event, flag, Event::Maker::flagged); });
}

aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t flag) {
  return enter(__func__, [&] { return create_event(event, flag, Event::Maker::extended); });
}

aclError aclrtDestroyEvent(aclrtEvent event) {
  return enter(__func__, [&] { return remove_object<Event>(event); });
}

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) {
  return enter(__func__, [&] {
    return service::record_event(to_handle(event), to_handle(stream), EventUse::inside);
  });
}

aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream) {
  return enter(__func__, [&] { return service::reset_event(to_handle(event), to_handle(stream)); });
}

aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event) {
  return enter(__func__, [&] { return service::wait_event(to_handle(stream), to_handle(event)); });
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
    ANYNPU_ASSIGN(const bool complete, is_complete(event, EventQuestion::completed));
    *status = complete ? ACL_EVENT_STATUS_COMPLETE : ACL_EVENT_STATUS_NOT_READY;
    return {};
  });
}

aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus* status) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(status, "status"));
    ANYNPU_ASSIGN(const bool complete, is_complete(event, EventQuestion::recorded));
    *status = complete ? ACL_EVENT_RECORDED_STATUS_COMPLETE : ACL_EVENT_RECORDED_STATUS_NOT_READY;
    return {};
  });
}

aclError aclrtQueryEventWaitStatus(aclrtEvent event, aclrtEventWaitStatus* status) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(status, "status"));
    ANYNPU_ASSIGN(auto found, event_to_ask(to_handle(event), EventQuestion::waits));
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
    ANYNPU_ASSIGN(auto found, event_to_ask(to_handle(event), EventQuestion::time));
    ANYNPU_ASSIGN(const uint64_t stamp, found->timestamp_ns());
    *timestamp = stamp / 1000;
    return {};
  });
}

aclError aclrtGetEventId(aclrtEvent event, uint32_t* eventId) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(eventId, "eventId"));
    ANYNPU_ASSIGN(auto found, event_to_ask(to_handle(event), EventQuestion::number));
    *eventId = found->id();
    return {};
  });
}

aclError aclrtGetEventAvailNum(uint32_t* eventCount) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(eventCount, "eventCount"));
    ANYNPU_TRY(Runtime::instance().current().status());
    *eventCount = static_cast<uint32_t>(service::free_events());
    return {};
  });
}
