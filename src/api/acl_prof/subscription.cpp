// SPDX-License-Identifier: Apache-2.0
// Subscriptions to the operators of a model, and the getters for what comes out of the pipe.
#include "service/profile/subscription.h"

#include "acl/acl_prof.h"
#include "api/acl/entry.h"

using namespace anynpu;
using namespace anynpu::acl;

namespace {

// The handle of a new configuration.
Result<aclprofSubscribeConfig*> insert_config(Result<prof::SubscribeConfig> config) {
  ANYNPU_TRY(config.status());
  return insert_object<aclprofSubscribeConfig*>(
      std::make_shared<prof::SubscribeConfig>(std::move(*config)));
}

// Bytes of a text with its closing zero.
Status store_length(const Result<std::string_view>& text, size_t* length) {
  ANYNPU_TRY(text.status());
  *length = text->size() + 1;
  return {};
}

Status store_text(const Result<std::string_view>& text, char* to, size_t room) {
  ANYNPU_TRY(text.status());
  return service::copy_text(*text, to, room);
}

template <typename T, typename Field>
T field_of(const char* function, const void* data, size_t bytes, uint32_t index, T failed,
           Field prof::OpRecord::*field) {
  return enter_value(function, failed, [&]() -> Result<T> {
    ANYNPU_ASSIGN(const prof::OpRecord record, prof::read_record(data, bytes, index));
    return static_cast<T>(record.*field);
  });
}

uint64_t time_of(const char* function, const void* data, size_t bytes, uint32_t index,
                 uint64_t prof::OpRecord::*time) {
  return field_of(function, data, bytes, index, uint64_t{0}, time);
}

}  // namespace

extern "C" {

aclprofSubscribeConfig* aclprofCreateSubscribeConfig(int8_t timeInfoSwitch,
                                                     aclprofAicoreMetrics aicoreMetrics, void* fd) {
  return enter_value(__func__, static_cast<aclprofSubscribeConfig*>(nullptr), [&] {
    return insert_config(
        service::make_subscribe_config(timeInfoSwitch, static_cast<uint32_t>(aicoreMetrics), fd));
  });
}

aclError aclprofDestroySubscribeConfig(const aclprofSubscribeConfig* profSubscribeConfig) {
  return enter(__func__, [&]() -> Status {
    return remove_object<prof::SubscribeConfig>(profSubscribeConfig);
  });
}

aclError aclprofModelSubscribe(uint32_t modelId,
                               const aclprofSubscribeConfig* profSubscribeConfig) {
  return enter(__func__,
               [&] { return service::subscribe_model(modelId, to_handle(profSubscribeConfig)); });
}

aclError aclprofModelUnSubscribe(uint32_t modelId) {
  return enter(__func__, [&] { return service::unsubscribe_model(modelId); });
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
    return store_length(service::record_type(opInfo, opInfoLen, index), opTypeLen);
  });
}

aclError aclprofGetOpType(const void* opInfo, size_t opInfoLen, uint32_t index, char* opType,
                          size_t opTypeLen) {
  return enter(__func__, [&] {
    return store_text(service::record_type(opInfo, opInfoLen, index), opType, opTypeLen);
  });
}

aclError aclprofGetOpNameLen(const void* opInfo, size_t opInfoLen, uint32_t index,
                             size_t* opNameLen) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(opNameLen, "opNameLen"));
    return store_length(service::record_name(opInfo, opInfoLen, index), opNameLen);
  });
}

aclError aclprofGetOpName(const void* opInfo, size_t opInfoLen, uint32_t index, char* opName,
                          size_t opNameLen) {
  return enter(__func__, [&] {
    return store_text(service::record_name(opInfo, opInfoLen, index), opName, opNameLen);
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
  return field_of(__func__, opInfo, opInfoLen, index, size_t{0}, &prof::OpRecord::model_id);
}

aclprofSubscribeOpFlag aclprofGetOpFlag(const void* opInfo, size_t opInfoLen, uint32_t index) {
  return field_of(__func__, opInfo, opInfoLen, index, ACL_SUBSCRIBE_NONE, &prof::OpRecord::flag);
}

const char* aclprofGetOpAttriValue(const void* opInfo, size_t opInfoLen, uint32_t index,
                                   aclprofSubscribeOpAttri attri) {
  return enter_value(__func__, static_cast<const char*>(nullptr), [&]() -> Result<const char*> {
    if (attri != ACL_SUBSCRIBE_ATTRI_THREADID) {
      return fail(Code::invalid_argument, "attri is {}; expected 0 (ACL_SUBSCRIBE_ATTRI_THREADID)",
                  static_cast<int>(attri));
    }
    return service::record_thread(opInfo, opInfoLen, index);
  });
}

}  // extern "C"
