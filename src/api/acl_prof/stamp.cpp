// SPDX-License-Identifier: Apache-2.0
// The program's own marks, ranges and steps (msproftx). All of them fail with -1 when nobody
// records them, as documented.
#include <cstring>

#include "acl/acl_prof.h"
#include "api/acl/entry.h"
#include "device/runtime.h"
#include "prof/stamps.h"

namespace anynpu::acl {

namespace {

constexpr aclError kTxFailure = -1;

Status check_on() {
  if (prof::stamps_on()) return {};
  return fail(Code::bad_call_order,
              "marks are not being recorded; call aclprofStart with ACL_PROF_MSPROFTX (0x80) among "
              "the data types first");
}

Failure tx(Status status) {
  if (status.ok()) return {};
  return {kTxFailure, std::move(status)};
}

Failure tx_on() { return tx(check_on()); }

Result<trace::NameId> message_of(const char* text, size_t length) {
  ANYNPU_TRY(check_pointer(text, "msg"));
  if (length == 0 || length > prof::kLongestMessage) {
    return fail(Code::invalid_argument, "the text has {} bytes; expected 1 to {}", length,
                prof::kLongestMessage);
  }
  if (strnlen(text, length) < length) {
    return fail(Code::invalid_argument,
                "the message is shorter than the {} bytes that were said; pass its length", length);
  }
  return trace::intern({text, length});
}

struct Step {
  std::atomic<uint64_t> begin{0};
  std::atomic<bool> ended{false};
};

// Calls with the stamp of a handle.
template <typename Call>
Failure with_stamp(void* handle, Call call) {
  if (Failure failure = tx_on(); !failure.ok()) return failure;
  auto stamp = resolve<prof::Stamp>(to_handle(handle));
  if (!stamp.ok()) return stamp.status();
  return call(**stamp);
}

Failure mark_ex(const char* text, size_t length, Handle handle) {
  if (Failure failure = tx_on(); !failure.ok()) return failure;
  auto message = message_of(text, length);
  if (!message.ok()) return tx(message.status());
  if (handle == 0) {
    return tx(fail(Code::invalid_argument, "stream is 0; pass the stream that gets the mark"));
  }
  auto stream = device::Runtime::instance().stream(handle);
  if (!stream.ok()) return tx(stream.status());
  return tx(prof::mark_ex({*message}, **stream));
}

Failure step_stamp(aclprofStepInfo* handle, aclprofStepTag tag, Handle stream_handle) {
  auto step = resolve<Step>(to_handle(handle));
  if (!step.ok()) return step.status();
  auto stream = device::Runtime::instance().stream(stream_handle);
  if (!stream.ok()) return stream.status();
  if (tag != ACL_STEP_START && tag != ACL_STEP_END) {
    return fail(Code::invalid_argument, "tag is {}; expected 0 (start) or 1 (end)",
                static_cast<int>(tag));
  }
  Step& one = **step;
  if (tag == ACL_STEP_START) {
    uint64_t none = 0;
    if (one.begin.compare_exchange_strong(none, ticks())) return {};
    return fail(Code::invalid_argument,
                "this step was started already; create a step information for each step");
  }
  if (one.begin.load() == 0 || one.ended.exchange(true)) {
    return fail(Code::invalid_argument,
                "this step was {}; give each step information one start and one end",
                one.begin.load() == 0 ? "never started" : "ended already");
  }
  prof::step(one.begin.load(), (*stream)->id());
  return {};
}

}  // namespace

}  // namespace anynpu::acl

namespace anynpu {
ANYNPU_HANDLE_TYPE(acl::Step, prof_step);
}

using namespace anynpu;
using namespace anynpu::acl;

extern "C" {

void* aclprofCreateStamp(void) {
  return enter_value(__func__, static_cast<void*>(nullptr), []() -> Result<void*> {
    ANYNPU_TRY(check_on());
    return insert_object<void*>(std::make_shared<prof::Stamp>());
  });
}

void aclprofDestroyStamp(void* stamp) {
  (void)enter(__func__, [&]() -> Status { return remove_object<prof::Stamp>(stamp); });
}

aclError aclprofSetStampTraceMessage(void* stamp, const char* msg, uint32_t msgLen) {
  return enter(__func__, [&]() -> Failure {
    auto found = resolve<prof::Stamp>(to_handle(stamp));
    if (!found.ok()) return found.status();
    auto message = message_of(msg, msgLen);
    if (!message.ok()) return tx(message.status());
    (*found)->message.store(*message, std::memory_order_relaxed);
    return {};
  });
}

aclError aclprofSetCategoryName(uint32_t category, const char* categoryName) {
  return enter(__func__, [&]() -> Failure {
    if (Status status = check_pointer(categoryName, "categoryName"); !status.ok()) return status;
    auto name = message_of(categoryName, strnlen(categoryName, prof::kLongestMessage + 1));
    if (!name.ok()) return tx(name.status());
    prof::name_category(category, *name);
    return {};
  });
}

aclError aclprofSetStampCategory(void* stamp, uint32_t category) {
  return enter(__func__, [&]() -> Failure {
    auto found = resolve<prof::Stamp>(to_handle(stamp));
    if (!found.ok()) return found.status();
    (*found)->category.store(prof::category_name(category), std::memory_order_relaxed);
    return {};
  });
}

aclError aclprofMark(void* stamp) {
  return enter(__func__, [&] {
    return with_stamp(stamp, [](prof::Stamp& one) -> Failure {
      prof::mark(one.label());
      return {};
    });
  });
}

aclError aclprofMarkEx(const char* msg, size_t msgLen, aclrtStream stream) {
  return enter(__func__, [&] { return mark_ex(msg, msgLen, to_handle(stream)); });
}

aclError aclprofPush(void* stamp) {
  return enter(__func__, [&] {
    return with_stamp(stamp, [](prof::Stamp& one) -> Failure {
      prof::push(one.label());
      return {};
    });
  });
}

aclError aclprofPop(void) {
  return enter(__func__, []() -> Failure {
    if (Failure failure = tx_on(); !failure.ok()) return failure;
    return tx(prof::pop());
  });
}

aclError aclprofRangeStart(void* stamp, uint32_t* rangeId) {
  return enter(__func__, [&] {
    return with_stamp(stamp, [&](prof::Stamp& one) -> Failure {
      if (Status status = check_pointer(rangeId, "rangeId"); !status.ok()) return status;
      *rangeId = prof::start_range(one.label());
      return {};
    });
  });
}

aclError aclprofRangeStop(uint32_t rangeId) {
  return enter(__func__, [&]() -> Failure {
    if (Failure failure = tx_on(); !failure.ok()) return failure;
    return tx(prof::stop_range(rangeId));
  });
}

uint64_t aclprofStr2Id(const char* message) {
  return enter_value(__func__, UINT64_MAX, [&]() -> Result<uint64_t> {
    ANYNPU_TRY(check_pointer(message, "message"));
    return uint64_t{trace::intern(message)};
  });
}

aclprofStepInfo* aclprofCreateStepInfo(void) {
  return enter_value(__func__, static_cast<aclprofStepInfo*>(nullptr),
                     [] { return insert_object<aclprofStepInfo*>(std::make_shared<Step>()); });
}

void aclprofDestroyStepInfo(aclprofStepInfo* stepinfo) {
  (void)enter(__func__, [&]() -> Status { return remove_object<Step>(stepinfo); });
}

aclError aclprofGetStepTimestamp(aclprofStepInfo* stepInfo, aclprofStepTag tag,
                                 aclrtStream stream) {
  return enter(__func__, [&] { return step_stamp(stepInfo, tag, to_handle(stream)); });
}

}  // extern "C"
