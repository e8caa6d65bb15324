// SPDX-License-Identifier: Apache-2.0
// Attributes of streams: failure mode, switches, core limits (acl.rt.set_stream_attribute ...).
#include "acl/rt/stream.h"
#include "api/acl/entry.h"
#include "base/thread_pool.h"
#include "device/runtime.h"
#include "service/device/device_settings.h"
#include "service/instance/capture.h"

using namespace anynpu;
using acl::check_pointer;
using acl::enter;
using acl::to_handle;
using device::FailureMode;
using device::Runtime;
using device::Stream;

namespace {

Result<std::shared_ptr<Stream>> stream_of(aclrtStream stream) {
  return Runtime::instance().stream(to_handle(stream));
}

Status set_failure_mode(Stream& stream, uint64_t mode) {
  if (mode != ACL_CONTINUE_ON_FAILURE && mode != ACL_STOP_ON_FAILURE) {
    return fail(Code::invalid_argument, "the failure mode is {}; expected 0 (carry on) or 1 (stop)",
                mode);
  }
  return stream.set_failure_mode(mode == ACL_STOP_ON_FAILURE ? FailureMode::stop
                                                             : FailureMode::carry_on);
}

Status set_priority(Stream& stream, uint32_t priority) {
  if (priority >= ThreadPool::kPriorities) {
    return fail(Code::invalid_argument, "the priority is {}; expected 0 (highest) to {}", priority,
                ThreadPool::kPriorities - 1);
  }
  stream.set_priority(priority);
  return {};
}

Status set_switch(std::atomic<uint32_t>& target, uint32_t value) {
  if (value > 1)
    return fail(Code::invalid_argument, "the switch is {}; expected 0 (off) or 1 (on)", value);
  target = value;
  return {};
}

Status unknown_attribute(aclrtStreamAttr attr) {
  return fail(Code::invalid_argument, "stream attribute {} is unknown; expected 1 to 5", attr);
}

Status set_attribute(Stream& stream, aclrtStreamAttr attribute, const aclrtStreamAttrValue& value) {
  switch (attribute) {
    case ACL_STREAM_ATTR_FAILURE_MODE:
      return set_failure_mode(stream, value.failureMode);
    case ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK:
      return set_switch(stream.overflow_switch, value.overflowSwitch);
    case ACL_STREAM_ATTR_USER_CUSTOM_TAG:
      stream.custom_tag = value.userCustomTag;
      return {};
    case ACL_STREAM_ATTR_CACHE_OP_INFO:
      return set_switch(stream.cache_op_info, value.cacheOpInfoSwitch);
    case ACL_STREAM_ATTR_PRIORITY:
      return set_priority(stream, value.streamPriority);
  }
  return unknown_attribute(attribute);
}

Status get_attribute(const Stream& stream, aclrtStreamAttr attribute, aclrtStreamAttrValue& value) {
  value = {};
  switch (attribute) {
    case ACL_STREAM_ATTR_FAILURE_MODE:
      value.failureMode = stream.failure_mode() == FailureMode::stop ? ACL_STOP_ON_FAILURE
                                                                     : ACL_CONTINUE_ON_FAILURE;
      return {};
    case ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK:
      value.overflowSwitch = stream.overflow_switch;
      return {};
    case ACL_STREAM_ATTR_USER_CUSTOM_TAG:
      value.userCustomTag = stream.custom_tag;
      return {};
    case ACL_STREAM_ATTR_CACHE_OP_INFO:
      value.cacheOpInfoSwitch = service::caches_op_info(stream);
      return {};
    case ACL_STREAM_ATTR_PRIORITY:
      value.streamPriority = stream.priority();
      return {};
  }
  return unknown_attribute(attribute);
}

}  // namespace

aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode) {
  return enter(__func__, [&]() -> Status {
    if (!stream) {
      return fail(Code::invalid_handle,
                  "the default stream has no failure mode; create a stream for it");
    }
    ANYNPU_ASSIGN(auto found, stream_of(stream));
    return set_failure_mode(*found, mode);
  });
}

aclError aclrtSetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType,
                                 aclrtStreamAttrValue* value) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(value, "value"));
    ANYNPU_ASSIGN(auto found, stream_of(stream));
    return set_attribute(*found, stmAttrType, *value);
  });
}

aclError aclrtGetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType,
                                 aclrtStreamAttrValue* value) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(value, "value"));
    ANYNPU_ASSIGN(auto found, stream_of(stream));
    return get_attribute(*found, stmAttrType, *value);
  });
}

aclError aclrtSetStreamOverflowSwitch(aclrtStream stream, uint32_t flag) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto found, stream_of(stream));
    return set_switch(found->overflow_switch, flag);
  });
}

aclError aclrtGetStreamOverflowSwitch(aclrtStream stream, uint32_t* flag) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(flag, "flag"));
    ANYNPU_ASSIGN(auto found, stream_of(stream));
    *flag = found->overflow_switch;
    return {};
  });
}

aclError aclrtSetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t value) {
  return enter(__func__,
               [&] { return service::set_stream_core_limit(to_handle(stream), type, value); });
}

aclError aclrtGetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t* value) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(value, "value"));
    ANYNPU_ASSIGN(*value, service::stream_core_limit(to_handle(stream), type));
    return {};
  });
}

aclError aclrtResetStreamResLimit(aclrtStream stream) {
  return enter(__func__, [&] { return service::reset_stream_core_limits(to_handle(stream)); });
}

aclError aclrtUseStreamResInCurrentThread(aclrtStream stream) {
  return enter(__func__, [&] { return service::use_stream_core_limits(to_handle(stream), true); });
}

aclError aclrtUnuseStreamResInCurrentThread(aclrtStream stream) {
  return enter(__func__, [&] { return service::use_stream_core_limits(to_handle(stream), false); });
}

aclError aclrtGetResInCurrentThread(aclrtDevResLimitType type, uint32_t* value) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(value, "value"));
    ANYNPU_ASSIGN(*value, service::thread_core_limit(type));
    return {};
  });
}
