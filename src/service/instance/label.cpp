// SPDX-License-Identifier: Apache-2.0
#include "service/instance/label.h"

#include "device/memory.h"
#include "device/runtime.h"
#include "service/instance/build.h"

namespace anynpu::service {

using device::Runtime;
using device::Stream;

Result<Handle> create_label() {
  ANYNPU_ASSIGN(auto context, Runtime::instance().current());
  if (HandleTable::instance().live(HandleTag::label) >= Label::kMost) {
    return fail(Code::limit_exceeded, "{} labels exist, the most there may be; destroy some",
                Label::kMost);
  }
  auto label = std::make_shared<Label>();
  label->context = context;
  const Handle handle = HandleTable::instance().insert(std::move(label));
  if (handle) return handle;
  return fail(Code::out_of_handles, "no handle is free for another label");
}

Status destroy_label(Handle handle) {
  if (HandleTable::instance().remove<Label>(handle)) return {};
  return HandleTable::instance().explain(handle, HandleTag::label);
}

Result<Handle> create_label_list(std::span<const Handle> labels) {
  if (labels.empty() || labels.size() > Label::kMost) {
    return fail(Code::invalid_argument, "num is {}; expected 1 to {}", labels.size(), Label::kMost);
  }
  auto list = std::make_shared<LabelList>();
  for (size_t i = 0; i < labels.size(); ++i) {
    ANYNPU_ASSIGN(auto pin, resolve<Label>(labels[i]), "label {} of the list", i);
    list->labels.push_back(pin.share());
  }
  const Handle handle = HandleTable::instance().insert(std::move(list));
  if (handle) return handle;
  return fail(Code::out_of_handles, "no handle is free for another list of labels");
}

Status destroy_label_list(Handle handle) {
  if (HandleTable::instance().remove<LabelList>(handle)) return {};
  return HandleTable::instance().explain(handle, HandleTag::label_list);
}

namespace {
Status check_context(const Label& label, const Stream& stream) {
  if (label.context.lock() == stream.context()) return {};
  return fail(Code::label_of_other_context, "the label and stream {} are of different contexts",
              stream.id());
}
}  // namespace

Status set_label(Handle label_handle, Handle stream_handle) {
  ANYNPU_ASSIGN(auto label, resolve<Label>(label_handle));
  ANYNPU_ASSIGN(auto stream, Runtime::instance().stream(stream_handle));
  ANYNPU_TRY(check_context(*label, *stream));
  ANYNPU_ASSIGN(auto bound, bound_stream(*stream));
  if (label->set) {
    return fail(Code::bad_call_order, "the label was set before; set each label once");
  }
  ANYNPU_ASSIGN(RecordedTask * task, bound->add(*stream, TaskRole::label));
  label->set = true;
  label->instance = bound->instance();
  task->label = label.share();
  return {};
}

Status switch_label(const void* index, uint32_t count, Handle list_handle, Handle stream_handle) {
  ANYNPU_ASSIGN(auto list, resolve<LabelList>(list_handle));
  if (count == 0 || count > list->labels.size()) {
    return fail(Code::invalid_argument, "maxValue is {}; expected {}, the labels of the list",
                count, list->labels.size());
  }
  ANYNPU_ASSIGN(auto stream, Runtime::instance().stream(stream_handle));
  for (const auto& label : list->labels) ANYNPU_TRY(check_context(*label, *stream));
  ANYNPU_ASSIGN(auto bound, bound_stream(*stream));
  ANYNPU_ASSIGN(auto range,
                device::check_range(index, sizeof(uint32_t), device::Access::read, "ptr"));
  ANYNPU_ASSIGN(RecordedTask * task, bound->add(*stream, TaskRole::switch_label));
  task->labels = list.share();
  task->index = std::move(range);
  return {};
}

}  // namespace anynpu::service
