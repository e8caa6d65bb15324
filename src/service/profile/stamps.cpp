// SPDX-License-Identifier: Apache-2.0
#include "service/profile/stamps.h"

#include <cstring>

#include "device/runtime.h"
#include "service/check_pointer.h"

namespace anynpu::service {

namespace {

constexpr Code kNotRecorded = Code::stamp_not_recorded;

Status check_on(Code code) {
  if (prof::stamps_on()) return {};
  return fail(code,
              "marks are not being recorded; call aclprofStart with ACL_PROF_MSPROFTX (0x80) among "
              "the data types first");
}

Result<trace::NameId> intern_message(const char* text, size_t length) {
  ANYNPU_TRY(check_pointer(text, "msg").with_code(kNotRecorded));
  if (length == 0 || length > prof::kLongestMessage) {
    return fail(kNotRecorded, "the text has {} bytes; expected 1 to {}", length,
                prof::kLongestMessage);
  }
  if (strnlen(text, length) < length) {
    return fail(kNotRecorded,
                "the message is shorter than the {} bytes that were said; pass its length", length);
  }
  return trace::intern({text, length});
}

// The stamp of a handle, at any time. A program that did not ask for marks has none: that is said
// first, and not that the handle is null.
Result<HandleTable::Pin<prof::Stamp>> stamp_of(Handle handle) {
  auto stamp = resolve<prof::Stamp>(handle);
  if (!stamp.ok()) ANYNPU_TRY(check_on(kNotRecorded));
  return stamp;
}

// The stamp of a handle, while marks are recorded.
Result<HandleTable::Pin<prof::Stamp>> find_stamp(Handle handle) {
  ANYNPU_TRY(check_on(kNotRecorded));
  return resolve<prof::Stamp>(handle);
}

Status start_step(ProfilingStep& step) {
  uint64_t none = 0;
  if (step.begin.compare_exchange_strong(none, ticks())) return {};
  return fail(Code::invalid_argument,
              "this step was started already; create a step information for each step");
}

Status end_step(ProfilingStep& step, uint32_t stream_id) {
  const uint64_t begin = step.begin.load();
  if (begin == 0 || step.ended.exchange(true)) {
    return fail(Code::invalid_argument,
                "this step was {}; give each step information one start and one end",
                begin == 0 ? "never started" : "ended already");
  }
  prof::step(begin, stream_id);
  return {};
}

}  // namespace

Result<std::shared_ptr<prof::Stamp>> make_stamp() {
  ANYNPU_TRY(check_on(Code::bad_call_order));
  return std::make_shared<prof::Stamp>();
}

Status set_stamp_message(Handle handle, const char* text, size_t length) {
  ANYNPU_ASSIGN(auto stamp, stamp_of(handle));
  ANYNPU_ASSIGN(const trace::NameId message, intern_message(text, length));
  stamp->message.store(message, std::memory_order_relaxed);
  return {};
}

Status set_stamp_category(Handle handle, uint32_t category) {
  ANYNPU_ASSIGN(auto stamp, stamp_of(handle));
  stamp->category.store(prof::category_name(category), std::memory_order_relaxed);
  return {};
}

Status name_category(uint32_t category, const char* name) {
  ANYNPU_TRY(check_pointer(name, "categoryName"));
  ANYNPU_ASSIGN(const trace::NameId id,
                intern_message(name, strnlen(name, prof::kLongestMessage + 1)));
  prof::name_category(category, id);
  return {};
}

Status mark(Handle handle) {
  ANYNPU_ASSIGN(auto stamp, find_stamp(handle));
  prof::mark(stamp->label());
  return {};
}

Status mark_on_stream(const char* text, size_t length, Handle handle) {
  ANYNPU_TRY(check_on(kNotRecorded));
  ANYNPU_ASSIGN(const trace::NameId message, intern_message(text, length));
  if (handle == 0) return fail(kNotRecorded, "stream is 0; pass the stream that gets the mark");
  const auto stream = device::Runtime::instance().stream(handle);
  if (!stream.ok()) return stream.status().with_code(kNotRecorded);
  return prof::mark_ex({message}, **stream).with_code(kNotRecorded);
}

Status push_range(Handle handle) {
  ANYNPU_ASSIGN(auto stamp, find_stamp(handle));
  prof::push(stamp->label());
  return {};
}

Status pop_range() {
  ANYNPU_TRY(check_on(kNotRecorded));
  return prof::pop().with_code(kNotRecorded);
}

Status start_range(Handle handle, uint32_t* range) {
  ANYNPU_ASSIGN(auto stamp, find_stamp(handle));
  ANYNPU_TRY(check_pointer(range, "rangeId"));
  *range = prof::start_range(stamp->label());
  return {};
}

Status stop_range(uint32_t range) {
  ANYNPU_TRY(check_on(kNotRecorded));
  return prof::stop_range(range).with_code(kNotRecorded);
}

Status stamp_step(Handle handle, StepTag tag, Handle stream_handle) {
  ANYNPU_ASSIGN(auto step, resolve<ProfilingStep>(handle));
  ANYNPU_ASSIGN(auto stream, device::Runtime::instance().stream(stream_handle));
  switch (tag) {
    case StepTag::start:
      return start_step(*step);
    case StepTag::end:
      return end_step(*step, stream->id());
  }
  return fail(Code::invalid_argument, "tag is {}; expected 0 (start) or 1 (end)",
              static_cast<int>(tag));
}

}  // namespace anynpu::service
