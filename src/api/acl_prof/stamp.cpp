// SPDX-License-Identifier: Apache-2.0
// The program's own marks, ranges and steps (msproftx). All of them fail with -1 when nobody
// records them, as documented.
#include "acl/acl_prof.h"
#include "api/acl/object_calls.h"
#include "service/profile/stamps.h"

using namespace anynpu;
using namespace anynpu::acl;
using service::ProfilingStep;

static_assert(ACL_STEP_START == static_cast<int>(service::StepTag::start) &&
              ACL_STEP_END == static_cast<int>(service::StepTag::end));

extern "C" {

void* aclprofCreateStamp(void) {
  return enter_value(__func__, static_cast<void*>(nullptr), []() -> Result<void*> {
    ANYNPU_ASSIGN(auto stamp, service::make_stamp());
    return insert_object<void*>(std::move(stamp));
  });
}

void aclprofDestroyStamp(void* stamp) {
  (void)enter(__func__, [&] { return remove_object<prof::Stamp>(stamp); });
}

aclError aclprofSetStampTraceMessage(void* stamp, const char* msg, uint32_t msgLen) {
  return enter(__func__, [&] { return service::set_stamp_message(to_handle(stamp), msg, msgLen); });
}

aclError aclprofSetCategoryName(uint32_t category, const char* categoryName) {
  return enter(__func__, [&] { return service::name_category(category, categoryName); });
}

aclError aclprofSetStampCategory(void* stamp, uint32_t category) {
  return enter(__func__, [&] { return service::set_stamp_category(to_handle(stamp), category); });
}

aclError aclprofMark(void* stamp) {
  return enter(__func__, [&] { return service::mark(to_handle(stamp)); });
}

aclError aclprofMarkEx(const char* msg, size_t msgLen, aclrtStream stream) {
  return enter(__func__, [&] { return service::mark_on_stream(msg, msgLen, to_handle(stream)); });
}

aclError aclprofPush(void* stamp) {
  return enter(__func__, [&] { return service::push_range(to_handle(stamp)); });
}

aclError aclprofPop(void) {
  return enter(__func__, [] { return service::pop_range(); });
}

aclError aclprofRangeStart(void* stamp, uint32_t* rangeId) {
  return enter(__func__, [&] { return service::start_range(to_handle(stamp), rangeId); });
}

aclError aclprofRangeStop(uint32_t rangeId) {
  return enter(__func__, [&] { return service::stop_range(rangeId); });
}

uint64_t aclprofStr2Id(const char* message) {
  return enter_value(__func__, UINT64_MAX, [&]() -> Result<uint64_t> {
    ANYNPU_TRY(check_pointer(message, "message"));
    return uint64_t{trace::intern(message)};
  });
}

aclprofStepInfo* aclprofCreateStepInfo(void) {
  return create<aclprofStepInfo*, ProfilingStep>(__func__);
}

void aclprofDestroyStepInfo(aclprofStepInfo* stepinfo) {
  (void)enter(__func__, [&] { return remove_object<ProfilingStep>(stepinfo); });
}

aclError aclprofGetStepTimestamp(aclprofStepInfo* stepInfo, aclprofStepTag tag,
                                 aclrtStream stream) {
  return enter(__func__, [&] {
    return service::stamp_step(to_handle(stepInfo), static_cast<service::StepTag>(tag),
                               to_handle(stream));
  });
}

}  // extern "C"
