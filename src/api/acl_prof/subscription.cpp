// SPDX-License-Identifier: Apache-2.0
// Subscriptions to the operators of a model, and the getters for what comes out of the pipe.
#include "prof/subscription.h"

#include <cstring>

#include "acl/acl_prof.h"
#include "api/acl/entry.h"
#include "api/acl/model_table.h"
#include "api/acl_prof/control.h"
#include "prof/config.h"
#include "prof/ownership.h"

namespace anynpu::acl {

namespace {

constexpr size_t kLongestText = 4096;

Result<prof::SubscribeConfig> make_config(int8_t times, uint32_t metrics, const void* fd) {
  if (times != 0 && times != 1) {
    return fail(Code::invalid_argument, "timeInfoSwitch is {}; expected 0 or 1",
                static_cast<int>(times));
  }
  if (prof::metrics_name(metrics).empty()) {
    return fail(Code::invalid_argument, "aicoreMetrics is {}; expected 0 to 8, or 255 for none",
                metrics);
  }
  const auto number = reinterpret_cast<uintptr_t>(fd);
  const int descriptor = number > 0 && number <= INT32_MAX ? static_cast<int>(number) : -1;
  return prof::make_subscribe_config(descriptor, times != 0, metrics);
}

Failure subscribe(uint32_t model_id, const aclprofSubscribeConfig* handle) {
  auto config = resolve<prof::SubscribeConfig>(to_handle(handle));
  if (!config.ok()) return config.status();
  auto model = ModelTable::instance().find(model_id);
  if (!model.ok()) return {ACL_ERROR_INVALID_MODEL_ID, model.status()};
  if (prof::owner() == prof::Owner::program) {
    return {ACL_ERROR_PROF_API_CONFLICT,
            fail(Code::bad_call_order,
                 "a model cannot be subscribed between aclprofInit and aclprofFinalize; call "
                 "aclprofFinalize first")};
  }
  if (!(*config)->times && (*config)->metrics == prof::kNoMetrics) {
    return fail(
        Code::invalid_argument,
        "the configuration asks for nothing: timeInfoSwitch is 0 and aicoreMetrics is none; "
        "set one of them");
  }
  const bool mine = prof::owner() == prof::Owner::subscription;
  if (!prof::claim(prof::Owner::subscription)) return owned_by_other();
  Status status = prof::subscribe(model_id, (*model)->device_id, **config);
  if (status.ok()) return {};
  if (!mine) prof::release(prof::Owner::subscription);
  if (status.code() == Code::already_exists)
    return {ACL_ERROR_PROF_REPEAT_SUBSCRIBE, std::move(status)};
  if (status.code() == Code::invalid_config)
    return {ACL_ERROR_INVALID_PROFILING_CONFIG, std::move(status)};
  return status;
}

// The text of a record into the caller's buffer, with a closing zero. Cut where it does not fit.
Status copy_text(std::string_view text, char* to, size_t room) {
  ANYNPU_TRY(check_pointer(to, "the buffer"));
  if (room == 0 || room > kLongestText) {
    return fail(Code::invalid_argument, "the buffer has {} bytes; expected 1 to {}", room,
                kLongestText);
  }
  const size_t count = std::min(text.size(), room - 1);
  std::memcpy(to, text.data(), count);
  to[count] = 0;
  return {};
}

uint64_t time_of(const char* function, const void* data, size_t bytes, uint32_t index,
                 uint64_t prof::OpRecord::*time) {
  return enter_value(function, uint64_t{0}, [&]() -> Result<uint64_t> {
    ANYNPU_ASSIGN(const prof::OpRecord record, prof::read_record(data, bytes, index));
    return record.*time;
  });
}

}  // namespace

}  // namespace anynpu::acl

using namespace anynpu;
using namespace anynpu::acl;

extern "C" {

aclprofSubscribeConfig* aclprofCreateSubscribeConfig(int8_t timeInfoSwitch,
                                                     aclprofAicoreMetrics aicoreMetrics, void* fd) {
  return enter_value(__func__, static_cast<aclprofSubscribeConfig*>(nullptr),
                     [&]() -> Result<aclprofSubscribeConfig*> {
                       ANYNPU_ASSIGN(
                           prof::SubscribeConfig config,
                           make_config(timeInfoSwitch, static_cast<uint32_t>(aicoreMetrics), fd));
                       return insert_object<aclprofSubscribeConfig*>(
                           std::make_shared<prof::SubscribeConfig>(std::move(config)));
                     });
}

aclError aclprofDestroySubscribeConfig(const aclprofSubscribeConfig* profSubscribeConfig) {
  return enter(__func__, [&]() -> Status {
    return remove_object<prof::SubscribeConfig>(profSubscribeConfig);
  });
}

aclError aclprofModelSubscribe(uint32_t modelId,
                               const aclprofSubscribeConfig* profSubscribeConfig) {
  return enter(__func__, [&] { return subscribe(modelId, profSubscribeConfig); });
}

aclError aclprofModelUnSubscribe(uint32_t modelId) {
  return enter(__func__, [&]() -> Failure {
    Status status = prof::unsubscribe(modelId);
    if (status.ok()) return {};
    return {ACL_ERROR_INVALID_MODEL_ID, std::move(status)};
  });
}

aclError aclprofGetOpDescSize(size_t* opDescSize) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(opDescSize, "opDescSize"));
    *opDescSize = sizeof(prof::OpRecord);
    return {};
  });
}

aclError aclprofGetOpNum(const void* opInfo, size_t opInfoLen, uint32_t* opNumber) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(opNumber, "opNumber"));
    ANYNPU_ASSIGN(*opNumber, prof::count_records(opInfo, opInfoLen));
    return {};
  });
}

aclError aclprofGetOpTypeLen(const void* opInfo, size_t opInfoLen, uint32_t index,
                             size_t* opTypeLen) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(opTypeLen, "opTypeLen"));
    ANYNPU_ASSIGN(const prof::OpRecord record, prof::read_record(opInfo, opInfoLen, index));
    *opTypeLen = prof::type_of(record).size() + 1;
    return {};
  });
}

aclError aclprofGetOpType(const void* opInfo, size_t opInfoLen, uint32_t index, char* opType,
                          size_t opTypeLen) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(const prof::OpRecord record, prof::read_record(opInfo, opInfoLen, index));
    return copy_text(prof::type_of(record), opType, opTypeLen);
  });
}

aclError aclprofGetOpNameLen(const void* opInfo, size_t opInfoLen, uint32_t index,
                             size_t* opNameLen) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(opNameLen, "opNameLen"));
    ANYNPU_ASSIGN(const prof::OpRecord record, prof::read_record(opInfo, opInfoLen, index));
    *opNameLen = prof::name_of(record).size() + 1;
    return {};
  });
}

aclError aclprofGetOpName(const void* opInfo, size_t opInfoLen, uint32_t index, char* opName,
                          size_t opNameLen) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(const prof::OpRecord record, prof::read_record(opInfo, opInfoLen, index));
    return copy_text(prof::name_of(record), opName, opNameLen);
  });
}

uint64_t aclprofGetOpStart(const void* opInfo, size_t opInfoLen, uint32_t index) {
  return time_of(__func__, opInfo, opInfoLen, index, &prof::OpRecord::start);
}

uint64_t aclprofGetOpEnd(const void* opInfo, size_t opInfoLen, uint32_t index) {
  return time_of(__func__, opInfo, opInfoLen, index, &prof::OpRecord::end);
}

uint64_t aclprofGetOpDuration(const void* opInfo, size_t opInfoLen, uint32_t index) {
  return time_of(__func__, opInfo, opInfoLen, index, &prof::OpRecord::duration);
}

size_t aclprofGetModelId(const void* opInfo, size_t opInfoLen, uint32_t index) {
  return enter_value(__func__, size_t{0}, [&]() -> Result<size_t> {
    ANYNPU_ASSIGN(const prof::OpRecord record, prof::read_record(opInfo, opInfoLen, index));
    return size_t{record.model_id};
  });
}

aclprofSubscribeOpFlag aclprofGetOpFlag(const void* opInfo, size_t opInfoLen, uint32_t index) {
  return enter_value(__func__, ACL_SUBSCRIBE_NONE, [&]() -> Result<aclprofSubscribeOpFlag> {
    ANYNPU_ASSIGN(const prof::OpRecord record, prof::read_record(opInfo, opInfoLen, index));
    return static_cast<aclprofSubscribeOpFlag>(record.flag);
  });
}

const char* aclprofGetOpAttriValue(const void* opInfo, size_t opInfoLen, uint32_t index,
                                   aclprofSubscribeOpAttri attri) {
  return enter_value(__func__, static_cast<const char*>(nullptr), [&]() -> Result<const char*> {
    if (attri != ACL_SUBSCRIBE_ATTRI_THREADID) {
      return fail(Code::invalid_argument, "attri is {}; expected 0 (ACL_SUBSCRIBE_ATTRI_THREADID)",
                  static_cast<int>(attri));
    }
    ANYNPU_ASSIGN(const prof::OpRecord record, prof::read_record(opInfo, opInfoLen, index));
    thread_local std::string text;
    text = std::to_string(record.thread_id);
    return text.c_str();
  });
}

}  // extern "C"
