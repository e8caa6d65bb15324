// SPDX-License-Identifier: Apache-2.0
#include "service/event/counting_notifies.h"

#include "device/runtime.h"

namespace anynpu::service {

using device::CountingNotify;
using device::Runtime;

namespace {

constexpr size_t kMost = 65536;

Status check_value(uint32_t value) {
  if (value > 0) return {};
  return fail(Code::invalid_argument, "the value is 0; expected 1 to 4294967295");
}

}  // namespace

Result<Handle> create_counting_notify(uint64_t flag) {
  if (flag != 0) return fail(Code::invalid_argument, "flag is {}; expected 0", flag);
  ANYNPU_TRY(Runtime::instance().current().status());
  if (HandleTable::instance().live(HandleTag::counting_notify) >= kMost) {
    return fail(Code::out_of_notifies, "{} counting notifies exist, the most there may be", kMost);
  }
  const Handle handle = HandleTable::instance().insert(std::make_shared<CountingNotify>());
  if (handle) return handle;
  return fail(Code::out_of_handles, "no handle is free for another counting notify");
}

Status record_counting_notify(Handle notify, Handle stream, uint32_t mode, uint32_t value) {
  if (mode != 0 && mode != 1 && mode != 2 && mode != 4) {
    return fail(Code::invalid_argument,
                "the mode is {}; expected 0 (set), 1 (add), 2 (or) or 4 (and)", mode);
  }
  ANYNPU_TRY(check_value(value));
  ANYNPU_ASSIGN(auto found, resolve<CountingNotify>(notify));
  ANYNPU_ASSIGN(auto on, Runtime::instance().stream(stream));
  return found->record(*on, static_cast<CountingNotify::Change>(mode), value);
}

Status wait_counting_notify(Handle notify, Handle stream, uint32_t mode,
                            CountingNotify::Wait wait) {
  if (mode > 4) return fail(Code::invalid_argument, "the mode is {}; expected 0 to 4", mode);
  ANYNPU_TRY(check_value(wait.value));
  ANYNPU_ASSIGN(auto found, resolve<CountingNotify>(notify));
  ANYNPU_ASSIGN(auto on, Runtime::instance().stream(stream));
  wait.until = static_cast<CountingNotify::Until>(mode);
  return found->wait(*on, wait);
}

Status reset_counting_notify(Handle notify, Handle stream) {
  ANYNPU_ASSIGN(auto found, resolve<CountingNotify>(notify));
  ANYNPU_ASSIGN(auto on, Runtime::instance().stream(stream));
  return found->reset(*on);
}

}  // namespace anynpu::service
