// SPDX-License-Identifier: Apache-2.0
// Captures of streams, and task groups in them.
#include "service/instance/capture.h"

#include "acl/rt/model_instance.h"
#include "api/acl/entry.h"
#include "service/instance/task_group.h"

using namespace anynpu;
using acl::check_pointer;
using acl::enter;
using acl::from_handle;
using acl::to_handle;

aclError aclmdlRICaptureBegin(aclrtStream stream, aclmdlRICaptureMode mode) {
  return enter(__func__, [&] { return service::begin_capture(to_handle(stream), mode); });
}

aclError aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI* modelRI) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(modelRI, "modelRI"));
    ANYNPU_ASSIGN(const Handle instance, service::end_capture(to_handle(stream)));
    *modelRI = from_handle<aclmdlRI>(instance);
    return {};
  });
}

aclError aclmdlRICaptureGetInfo(aclrtStream stream, aclmdlRICaptureStatus* status,
                                aclmdlRI* modelRI) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(status, "status"));
    ANYNPU_TRY(check_pointer(modelRI, "modelRI"));
    ANYNPU_ASSIGN(const auto info, service::capture_info(to_handle(stream)));
    *status = static_cast<aclmdlRICaptureStatus>(info.status);
    *modelRI = from_handle<aclmdlRI>(info.instance);
    return {};
  });
}

aclError aclmdlRICaptureThreadExchangeMode(aclmdlRICaptureMode* mode) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(mode, "mode"));
    ANYNPU_ASSIGN(const int32_t before, service::exchange_capture_mode(*mode));
    *mode = static_cast<aclmdlRICaptureMode>(before);
    return {};
  });
}

aclError aclmdlRICaptureToModelRIBegin(aclrtStream stream, aclmdlRI modelRI,
                                       aclmdlRICaptureMode mode) {
  return enter(__func__, [&] {
    return service::begin_capture_into(to_handle(stream), to_handle(modelRI), mode);
  });
}

aclError aclmdlRICaptureTaskGrpBegin(aclrtStream stream) {
  return enter(__func__, [&] { return service::begin_task_group(to_handle(stream)); });
}

aclError aclmdlRICaptureTaskGrpEnd(aclrtStream stream, aclrtTaskGrp* handle) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(handle, "handle"));
    ANYNPU_ASSIGN(const Handle group, service::end_task_group(to_handle(stream)));
    *handle = from_handle<aclrtTaskGrp>(group);
    return {};
  });
}

aclError aclmdlRICaptureTaskUpdateBegin(aclrtStream stream, aclrtTaskGrp handle) {
  return enter(__func__,
               [&] { return service::begin_group_update(to_handle(stream), to_handle(handle)); });
}

aclError aclmdlRICaptureTaskUpdateEnd(aclrtStream stream) {
  return enter(__func__, [&] { return service::end_group_update(to_handle(stream)); });
}
