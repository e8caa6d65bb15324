// SPDX-License-Identifier: Apache-2.0
// Contexts (acl.rt.create_context and similar).
#include "acl/rt/context.h"

#include "api/acl/entry.h"
#include "device/runtime.h"

using namespace anynpu;
using acl::check_pointer;
using acl::enter;
using acl::from_handle;
using acl::to_handle;
using device::Runtime;

aclError aclrtCreateContext(aclrtContext* context, int32_t deviceId) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(context, "context"));
    ANYNPU_ASSIGN(const Handle handle, Runtime::instance().create_context(deviceId));
    *context = from_handle<aclrtContext>(handle);
    return {};
  });
}

aclError aclrtDestroyContext(aclrtContext context) {
  return enter(__func__, [&] { return Runtime::instance().destroy_context(to_handle(context)); });
}

aclError aclrtSetCurrentContext(aclrtContext context) {
  return enter(__func__, [&] { return Runtime::instance().set_current(to_handle(context)); });
}

aclError aclrtGetCurrentContext(aclrtContext* context) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(context, "context"));
    ANYNPU_ASSIGN(auto current, Runtime::instance().current());
    *context = from_handle<aclrtContext>(current->handle());
    return {};
  });
}

aclError aclrtGetPrimaryCtxState(int32_t deviceId, uint32_t* flags, int32_t* active) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(active, "active"));
    ANYNPU_TRY(Runtime::instance().device(deviceId).status());
    ANYNPU_TRY(acl::check_optional(flags, "flags"));
    if (flags) *flags = 0;
    *active = Runtime::instance().uses(deviceId) > 0;
    return {};
  });
}

aclError aclrtCtxGetCurrentDefaultStream(aclrtStream* stream) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(stream, "stream"));
    ANYNPU_ASSIGN(auto current, Runtime::instance().current());
    *stream = from_handle<aclrtStream>(current->default_stream_handle());
    return {};
  });
}

aclError aclrtCtxSetSysParamOpt(aclSysParamOpt opt, int64_t value) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto current, Runtime::instance().current());
    return current->set_option(opt, value);
  });
}

aclError aclrtCtxGetSysParamOpt(aclSysParamOpt opt, int64_t* value) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(value, "value"));
    ANYNPU_ASSIGN(auto current, Runtime::instance().current());
    ANYNPU_ASSIGN(*value, current->option(opt));
    return {};
  });
}
