// SPDX-License-Identifier: Apache-2.0
// Events of programs: allowed uses by creation function and flags; interprocess events; counting
// notifies. Thread-safe.
#pragma once

#include <cstdint>
#include <memory>

#include "base/handle_table.h"
#include "base/result.h"
#include "device/event.h"

namespace anynpu::service {

// Flags of events, as in the interface.
enum EventFlag : uint32_t {
  kEventSync = 1,
  kEventProgress = 2,
  kEventTimes = 8,
  kEventDeviceOnly = 16,
  kEventExternal = 32,
  kEventShared = 64,
  kAllEventFlags = 127 & ~4u,
  // Flags of an event made without any.
  kPlainEvent = kEventSync | kEventProgress | kEventTimes,
};

Result<Handle> create_event(uint32_t flags, device::Event::Maker maker);
size_t free_events();

Status record_event(Handle event, Handle stream, device::EventUse use);
// Seconds, 0: forever.
Status wait_event_for(Handle stream, Handle event, int64_t timeout_s, device::EventUse use);
// With the time limit of the device settings.
Status wait_event(Handle stream, Handle event);
Status reset_event(Handle event, Handle stream);

// Whether an event supports a query; the error says why not.
enum class EventQuestion : uint8_t { completed, waits, recorded, time, number };
Result<std::shared_ptr<device::Event>> event_to_ask(Handle event, EventQuestion question);

// The 64-byte key with which another process opens an interprocess event, and opening it.
Result<device::SharedMarks::Key> share_event(Handle event);
Result<Handle> open_shared_event(const device::SharedMarks::Key& key);

}  // namespace anynpu::service
