// SPDX-License-Identifier: Apache-2.0
// Model instances built from bound streams, their labels and switches.
#include "acl/rt/model_instance.h"
#include "api/acl/entry.h"
#include "api/acl/random_request.h"
#include "service/instance/build.h"
#include "service/instance/label.h"
#include "service/instance/task_update.h"

using namespace anynpu;
using acl::check_pointer;
using acl::enter;
using acl::from_handle;
using acl::to_handle;

namespace {

Status create_label_list(aclrtLabel* labels, size_t num, aclrtLabelList* list) {
  ANYNPU_TRY(check_pointer(labels, "labels"));
  ANYNPU_TRY(check_pointer(list, "labelList"));
  static_assert(sizeof(aclrtLabel) == sizeof(Handle));
  ANYNPU_ASSIGN(const Handle made,
                service::create_label_list({reinterpret_cast<const Handle*>(labels), num}));
  *list = from_handle<aclrtLabelList>(made);
  return {};
}

Result<service::TaskUpdate> random_update(const aclrtRandomTaskUpdateAttr& attr) {
  if (attr.size < sizeof(aclrtRandomNumTaskInfo)) {
    return fail(Code::invalid_argument, "size is {}; expected {}, that of aclrtRandomNumTaskInfo",
                attr.size, sizeof(aclrtRandomNumTaskInfo));
  }
  service::TaskUpdate update;
  update.source = attr.srcAddr;
  update.bytes = sizeof(aclrtRandomNumTaskInfo);
  update.read = acl::read_random_bytes;
  return update;
}

service::TaskUpdate kernel_update(const aclrtAicAivTaskUpdateAttr& attr) {
  service::TaskUpdate update;
  update.kind = service::TaskUpdate::Kind::kernel;
  update.binary = to_handle(attr.binHandle);
  update.entry = attr.funcEntryAddr;
  update.blocks = attr.blockDimAddr;
  return update;
}

Result<service::TaskUpdate> read_update(const aclrtTaskUpdateInfo* info) {
  ANYNPU_TRY(check_pointer(info, "info"));
  switch (info->id) {
    case ACL_RT_UPDATE_RANDOM_TASK:
      return random_update(info->val.randomTaskAttr);
    case ACL_RT_UPDATE_AIC_AIV_TASK:
      return kernel_update(info->val.aicAivTaskAttr);
  }
  return fail(Code::invalid_argument,
              "the id of the update is {}; expected 1 (random) or 2 (kernel)",
              static_cast<int>(info->id));
}

}  // namespace

aclError aclmdlRIBuildBegin(aclmdlRI* modelRI, uint32_t flag) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(modelRI, "modelRI"));
    if (flag != 0) return fail(Code::invalid_argument, "flag is {}; expected 0", flag);
    ANYNPU_ASSIGN(const Handle made, service::begin_build());
    *modelRI = from_handle<aclmdlRI>(made);
    return {};
  });
}

aclError aclmdlRIBindStream(aclmdlRI modelRI, aclrtStream stream, uint32_t flag) {
  return enter(__func__,
               [&] { return service::bind_stream(to_handle(modelRI), to_handle(stream), flag); });
}

aclError aclmdlRIUnbindStream(aclmdlRI modelRI, aclrtStream stream) {
  return enter(__func__,
               [&] { return service::unbind_stream(to_handle(modelRI), to_handle(stream)); });
}

aclError aclmdlRIEndTask(aclmdlRI modelRI, aclrtStream stream) {
  return enter(__func__,
               [&] { return service::add_end_task(to_handle(modelRI), to_handle(stream)); });
}

aclError aclmdlRIBuildEnd(aclmdlRI modelRI, void* reserve) {
  return enter(__func__, [&]() -> Status {
    if (reserve) return fail(Code::invalid_argument, "reserve is {}; expected null", reserve);
    return service::end_build(to_handle(modelRI));
  });
}

aclError aclrtPersistentTaskClean(aclrtStream stream) {
  return enter(__func__, [&] { return service::clean_persistent_tasks(to_handle(stream)); });
}

aclError aclrtActiveStream(aclrtStream activeStream, aclrtStream stream) {
  return enter(__func__, [&] {
    return service::activate_stream(to_handle(activeStream), to_handle(stream));
  });
}

aclError aclrtSwitchStream(void* leftValue, aclrtCondition cond, void* rightValue,
                           aclrtCompareDataType dataType, aclrtStream trueStream,
                           aclrtStream falseStream, aclrtStream stream) {
  return enter(__func__, [&]() -> Status {
    if (falseStream) return fail(Code::invalid_argument, "falseStream is set; expected null");
    return service::switch_stream(
        {leftValue, rightValue, static_cast<uint32_t>(cond), static_cast<uint32_t>(dataType)},
        to_handle(trueStream), to_handle(stream));
  });
}

aclError aclrtCreateLabel(aclrtLabel* label) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(label, "label"));
    ANYNPU_ASSIGN(const Handle made, service::create_label());
    *label = from_handle<aclrtLabel>(made);
    return {};
  });
}

aclError aclrtDestroyLabel(aclrtLabel label) {
  return enter(__func__, [&] { return service::destroy_label(to_handle(label)); });
}

aclError aclrtCreateLabelList(aclrtLabel* labels, size_t num, aclrtLabelList* labelList) {
  return enter(__func__, [&] { return create_label_list(labels, num, labelList); });
}

aclError aclrtDestroyLabelList(aclrtLabelList labelList) {
  return enter(__func__, [&] { return service::destroy_label_list(to_handle(labelList)); });
}

aclError aclrtSetLabel(aclrtLabel label, aclrtStream stream) {
  return enter(__func__, [&] { return service::set_label(to_handle(label), to_handle(stream)); });
}

aclError aclrtSwitchLabelByIndex(void* ptr, uint32_t maxValue, aclrtLabelList labelList,
                                 aclrtStream stream) {
  return enter(__func__, [&] {
    return service::switch_label(ptr, maxValue, to_handle(labelList), to_handle(stream));
  });
}

aclError aclrtTaskUpdateAsync(aclrtStream taskStream, uint32_t taskId, aclrtTaskUpdateInfo* info,
                              aclrtStream execStream) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(const service::TaskUpdate update, read_update(info));
    return service::update_task_async(to_handle(taskStream), taskId, update, to_handle(execStream));
  });
}
