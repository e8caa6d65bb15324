// SPDX-License-Identifier: Apache-2.0
#include "service/event/events.h"

#include "device/context.h"
#include "device/device.h"
#include "device/runtime.h"
#include "service/device/device_settings.h"

namespace anynpu::service {

using device::Event;
using device::EventUse;
using device::Runtime;
using device::Stream;
using Maker = device::Event::Maker;

namespace {

constexpr size_t kMaxEvents = 65536;

Result<Handle> insert(std::shared_ptr<Event> event) {
  if (free_events() == 0) {
    return fail(Code::out_of_events, "{} events exist, the most there may be; destroy some",
                kMaxEvents);
  }
  const Handle handle = HandleTable::instance().insert(event);
  if (!handle) {
    return fail(Code::out_of_handles, "no handle is free; destroy objects that are no longer used");
  }
  event->handle = handle;
  return handle;
}

const char* name_of(Maker maker) {
  return maker == Maker::plain     ? "aclrtCreateEvent"
         : maker == Maker::flagged ? "aclrtCreateEventWithFlag"
                                   : "aclrtCreateEventExWithFlag";
}

Status wrong_kind(const Event& event, const char* use) {
  return fail(Code::invalid_argument,
              "event {} was made by {} with flags {:#x}; such an event cannot {}", event.id(),
              name_of(event.maker()), event.flags(), use);
}

// An event and a stream that may work together: those of one context.
struct EventInStream {
  std::shared_ptr<Event> event;
  std::shared_ptr<Stream> stream;
};
// A stream of another device may wait for an event of aclrtCreateEventExWithFlag: copies between
// devices are ordered this way.
bool waits_across(const Event& event, const Stream& stream) {
  const auto from = event.context(), to = stream.context();
  return event.maker() == Maker::extended && from && to &&
         from->device()->id() != to->device()->id();
}
Result<EventInStream> pair_of(Handle event_handle, Handle stream_handle, bool to_wait = false) {
  ANYNPU_ASSIGN(auto event, resolve<Event>(event_handle));
  ANYNPU_ASSIGN(auto stream, Runtime::instance().stream(stream_handle));
  if (event->context() != stream->context() && !(to_wait && waits_across(*event, *stream))) {
    return fail(
        Code::wrong_context,
        "event {} and stream {} belong to different contexts, which do not wait for each other; "
        "create both in one context",
        event->id(), stream->id());
  }
  return EventInStream{event.share(), std::move(stream)};
}

bool can_be_waited_for(const Event& event) {
  return event.flags() & (kEventSync | kEventExternal | kEventShared);
}

Status wait_in_stream(Handle stream, Handle event, uint64_t limit_ms, EventUse use) {
  ANYNPU_ASSIGN(auto pair, pair_of(event, stream, true));
  if (!can_be_waited_for(*pair.event)) {
    return wrong_kind(*pair.event,
                      "be waited for by a stream; give it the flag ACL_EVENT_SYNC (1)");
  }
  return pair.event->wait_in(*pair.stream, limit_ms, use);
}

}  // namespace

size_t free_events() {
  const size_t live = HandleTable::instance().live(HandleTag::event);
  return live < kMaxEvents ? kMaxEvents - live : 0;
}

Result<Handle> create_event(uint32_t flags, Maker maker) {
  if (flags == 0 || (flags & ~uint32_t{kAllEventFlags})) {
    return fail(Code::invalid_argument,
                "the event flags are {:#x}; expected a combination of {:#x}", flags,
                uint32_t{kAllEventFlags});
  }
  const bool shared = flags & kEventShared;
  if ((shared && (flags != kEventShared || maker != Maker::extended)) ||
      ((flags & kEventExternal) && flags != kEventExternal)) {
    return fail(
        Code::invalid_argument,
        "the event flags are {:#x}; ACL_EVENT_EXTERNAL (0x20) and ACL_EVENT_IPC (0x40) stand "
        "alone, the latter in aclrtCreateEventExWithFlag",
        flags);
  }
  ANYNPU_ASSIGN(auto context, Runtime::instance().current());
  if (!shared) return insert(std::make_shared<Event>(context, flags, maker));
  ANYNPU_ASSIGN(auto marks, device::SharedMarks::create());
  return insert(std::make_shared<Event>(context, flags, std::move(marks)));
}

Status record_event(Handle event, Handle stream, EventUse use) {
  ANYNPU_ASSIGN(auto pair, pair_of(event, stream));
  return pair.event->record(*pair.stream, use);
}

Status wait_event_for(Handle stream, Handle event, int64_t timeout_s, EventUse use) {
  if (timeout_s < 0 || (use == EventUse::outside && timeout_s != 0)) {
    return fail(Code::invalid_argument, "the timeout is {} s; expected {}", timeout_s,
                use == EventUse::outside ? "0 with the flag EXTERNAL (1)" : "0 (for ever) or more");
  }
  return wait_in_stream(stream, event, static_cast<uint64_t>(timeout_s) * 1000, use);
}

Status wait_event(Handle stream, Handle event) {
  return wait_in_stream(stream, event, wait_limit_ms(), EventUse::inside);
}

Status reset_event(Handle event, Handle stream) {
  ANYNPU_ASSIGN(auto pair, pair_of(event, stream));
  const Event& found = *pair.event;
  if (found.maker() != Maker::flagged || !(found.flags() & (kEventSync | kEventExternal))) {
    return wrong_kind(found,
                      "be reset; make it by aclrtCreateEventWithFlag with ACL_EVENT_SYNC (1) or "
                      "ACL_EVENT_EXTERNAL (0x20)");
  }
  return pair.event->reset(*pair.stream);
}

Result<std::shared_ptr<Event>> event_to_ask(Handle handle, EventQuestion question) {
  ANYNPU_ASSIGN(auto pin, resolve<Event>(handle));
  auto event = pin.share();
  const bool shared = event->shared() != nullptr;
  switch (question) {
    case EventQuestion::completed:
    case EventQuestion::waits:
      if (event->maker() == Maker::extended) {
        return wrong_kind(*event, "be asked so; use aclrtQueryEventStatus");
      }
      break;
    case EventQuestion::time:
      if (shared) return wrong_kind(*event, "be asked for times");
      if (event->flags() & kEventTimes) break;
      return fail(
          Code::event_not_recorded,
          "event {} was created with flags {:#x}, without ACL_EVENT_TIME_LINE (8); it keeps "
          "no times",
          event->id(), event->flags());
    case EventQuestion::number:
      if (shared) return wrong_kind(*event, "be asked for its number");
      break;
    case EventQuestion::recorded:
      break;
  }
  return event;
}

Result<device::SharedMarks::Key> share_event(Handle handle) {
  ANYNPU_ASSIGN(auto event, resolve<Event>(handle));
  if (event->shared()) return event->shared()->key();
  return wrong_kind(*event,
                    "be opened by another process; make it by "
                    "aclrtCreateEventExWithFlag(ACL_EVENT_IPC)");
}

Result<Handle> open_shared_event(const device::SharedMarks::Key& key) {
  ANYNPU_ASSIGN(auto context, Runtime::instance().current());
  ANYNPU_ASSIGN(auto marks, device::SharedMarks::open(key));
  return insert(std::make_shared<Event>(context, kEventShared, std::move(marks)));
}

}  // namespace anynpu::service
