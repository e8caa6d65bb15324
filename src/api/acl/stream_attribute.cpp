// SPDX-License-Identifier: Apache-2.0
// Attributes of streams: failure mode, switches, core limits (acl.rt.set_stream_attribute and kin).
#include "acl/rt/stream.h"
#include "api/acl/entry.h"
#include "base/thread_pool.h"
#include "device/runtime.h"

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
  stream.set_failure_mode(mode == ACL_STOP_ON_FAILURE ? FailureMode::stop : FailureMode::carry_on);
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

// Cores per stream are noted and read back: the threads of a CPU device are shared by all streams.
Status check_cores(aclrtDevResLimitType type, uint32_t value) {
  if (type != ACL_RT_DEV_RES_CUBE_CORE && type != ACL_RT_DEV_RES_VECTOR_CORE) {
    return fail(Code::invalid_argument,
                "resource type {} is unknown; expected 0 (cube) or 1 (vector)", type);
  }
  const size_t most = ThreadPool::instance().threads();
  if (value >= 1 && value <= most) return {};
  return fail(Code::invalid_argument, "the core limit is {}; expected 1 to {}", value, most);
}

uint32_t cores_of(const Stream& stream, aclrtDevResLimitType type) {
  const uint32_t set = stream.core_limit[type];
  return set ? set : static_cast<uint32_t>(ThreadPool::instance().threads());
}

// The stream whose core limits the calling thread has taken over; 0 = none.
thread_local Handle stream_in_use = 0;

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
    switch (stmAttrType) {
      case ACL_STREAM_ATTR_FAILURE_MODE:
        return set_failure_mode(*found, value->failureMode);
      case ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK:
        return set_switch(found->overflow_switch, value->overflowSwitch);
      case ACL_STREAM_ATTR_USER_CUSTOM_TAG:
        found->custom_tag = value->userCustomTag;
        return {};
      case ACL_STREAM_ATTR_CACHE_OP_INFO:
        return set_switch(found->cache_op_info, value->cacheOpInfoSwitch);
      case ACL_STREAM_ATTR_PRIORITY:
        return fail(
            Code::unsupported_feature,
            "the priority of a stream is fixed when it is created; use create_stream_with_config");
    }
    return unknown_attribute(stmAttrType);
  });
}

aclError aclrtGetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType,
                                 aclrtStreamAttrValue* value) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(value, "value"));
    ANYNPU_ASSIGN(auto found, stream_of(stream));
    *value = {};
    switch (stmAttrType) {
      case ACL_STREAM_ATTR_FAILURE_MODE:
        value->failureMode = found->failure_mode() == FailureMode::stop ? ACL_STOP_ON_FAILURE
                                                                        : ACL_CONTINUE_ON_FAILURE;
        return {};
      case ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK:
        value->overflowSwitch = found->overflow_switch;
        return {};
      case ACL_STREAM_ATTR_USER_CUSTOM_TAG:
        value->userCustomTag = found->custom_tag;
        return {};
      case ACL_STREAM_ATTR_CACHE_OP_INFO:
        value->cacheOpInfoSwitch = found->cache_op_info;
        return {};
      case ACL_STREAM_ATTR_PRIORITY:
        value->streamPriority = found->options().priority;
        return {};
    }
    return unknown_attribute(stmAttrType);
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
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_cores(type, value));
    ANYNPU_ASSIGN(auto found, stream_of(stream));
    found->core_limit[type] = value;
    return {};
  });
}

aclError aclrtGetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t* value) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(value, "value"));
    ANYNPU_TRY(check_cores(type, 1));
    ANYNPU_ASSIGN(auto found, stream_of(stream));
    *value = cores_of(*found, type);
    return {};
  });
}

aclError aclrtResetStreamResLimit(aclrtStream stream) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto found, stream_of(stream));
    found->core_limit[ACL_RT_DEV_RES_CUBE_CORE] = 0;
    found->core_limit[ACL_RT_DEV_RES_VECTOR_CORE] = 0;
    return {};
  });
}

aclError aclrtUseStreamResInCurrentThread(aclrtStream stream) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(stream_of(stream).status());
    stream_in_use = to_handle(stream);
    return {};
  });
}

aclError aclrtUnuseStreamResInCurrentThread(aclrtStream stream) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(stream_of(stream).status());
    stream_in_use = 0;
    return {};
  });
}

aclError aclrtGetResInCurrentThread(aclrtDevResLimitType type, uint32_t* value) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(value, "value"));
    ANYNPU_TRY(check_cores(type, 1));
    if (auto found = HandleTable::instance().find<Stream>(stream_in_use)) {
      *value = cores_of(*found, type);
      return {};
    }
    ANYNPU_ASSIGN(auto context, Runtime::instance().current());
    return aclrtGetDeviceResLimit(context->device()->id(), type, value) == ACL_SUCCESS
               ? Status()
               : fail(Code::internal, "the limit of the current device cannot be read");
  });
}
