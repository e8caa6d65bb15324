// SPDX-License-Identifier: Apache-2.0
#include "device/runtime.h"

#include <algorithm>

#include "base/env.h"
#include "base/fork_guard.h"
#include "base/log.h"
#include "device/device_list.h"
#include "device/process_page.h"
#include "device/range_map.h"
#include "device/report.h"
#include "device/stream_observer.h"

namespace anynpu::device {

namespace {

thread_local Handle current_context = 0;

}  // namespace

Runtime& Runtime::instance() {
  static auto* runtime = new Runtime;
  return *runtime;
}

Runtime::Runtime() {
  DeviceList list =
      list_devices(env::text(env::Name::devices), env::get(env::Name::visible_devices));
  problem_ = std::move(list.problem);
  if (!problem_.empty()) ANYNPU_LOG(warning, "{}", problem_);
  for (auto& device : list.devices) devices_.push_back({std::move(device), 0, nullptr, {}});
}

Result<Runtime::DeviceEntry*> Runtime::device_entry(int32_t id) {
  if (id >= 0 && id < device_count()) return &devices_[static_cast<size_t>(id)];
  if (devices_.empty()) {
    return fail(Code::invalid_device, "device {} does not exist: no device is visible; {}", id,
                problem_.empty() ? "set ANYNPU_DEVICES" : problem_);
  }
  return fail(Code::invalid_device,
              "device {} does not exist; expected 0 to {} (ANYNPU_DEVICES and "
              "ASCEND_RT_VISIBLE_DEVICES decide which are there)",
              id, device_count() - 1);
}

Result<std::shared_ptr<Device>> Runtime::device(int32_t id) {
  std::lock_guard lock(mutex_);
  ANYNPU_ASSIGN(DeviceEntry * found, device_entry(id));
  return found->device;
}

Status Runtime::set_device(int32_t id) {
  mark_runtime_used();
  Handle made = 0;
  {
    std::lock_guard lock(mutex_);
    ANYNPU_ASSIGN(DeviceEntry * found, device_entry(id));
    if (!found->default_context) {
      ANYNPU_ASSIGN(auto context, Context::create(found->device, Context::Origin::implicit));
      context->set_handle(HandleTable::instance().insert(context));
      made = context->default_stream_handle();
      publish_device(id, found->device->physical_id());
      found->default_context = std::move(context);
    }
    ++found->uses;
    current_context = found->default_context->handle();
  }
  if (made) tell_stream_state(made, StreamState::made);
  return {};
}

Status Runtime::reset_device(int32_t id, Reset how) {
  return reset_device(id, how, Deadline::after_ms(Stream::kPatienceMs));
}

Status Runtime::reset_device(int32_t id, Reset how, const Deadline& patience) {
  DeviceEntry ended;
  {
    std::lock_guard lock(mutex_);
    ANYNPU_ASSIGN(DeviceEntry * found, device_entry(id));
    if (found->uses == 0 && !found->default_context && found->contexts.empty()) {
      return fail(
          Code::invalid_device,
          "device {} is not in use: reset_device without a set_device or create_context; call each "
          "reset once per set",
          id);
    }
    found->uses = how == Reset::force ? 0 : std::max(0, found->uses - 1);
    if (found->uses > 0) return {};
    ended = {found->device, 0, std::move(found->default_context), std::move(found->contexts)};
    found->default_context = nullptr;
    found->contexts.clear();
  }
  end_device(ended, patience);
  return {};
}

void Runtime::end_device(const DeviceEntry& ended, const Deadline& patience) {
  auto& handles = HandleTable::instance();
  // Explicit contexts keep their handles, so that a later destroy_context still finds them.
  for (const auto& context : ended.contexts) context->shut_down(Stream::Close::drain, patience);
  if (ended.default_context) {
    ended.default_context->shut_down(Stream::Close::drain, patience);
    handles.remove<Context>(ended.default_context->handle());
  }
  const auto left = RangeMap::instance().remove_device(ended.device->id());
  if (!left.empty()) {
    ANYNPU_LOG(
        warning,
        "device {}: {} allocations were not freed before reset_device; they are released now",
        ended.device->id(), left.size());
  }
}

void Runtime::reset_all() {
  const Deadline patience = Deadline::after_ms(Stream::kPatienceMs);
  for (int32_t id = 0; id < device_count(); ++id) {
    if (uses(id) > 0) (void)reset_device(id, Reset::force, patience);
  }
  current_context = 0;
}

int Runtime::uses(int32_t id) const {
  std::lock_guard lock(mutex_);
  if (id < 0 || id >= static_cast<int32_t>(devices_.size())) return 0;
  const DeviceEntry& found = devices_[static_cast<size_t>(id)];
  return found.default_context || !found.contexts.empty() ? std::max(1, found.uses) : found.uses;
}

void Runtime::set_default_device(int32_t id) {
  std::lock_guard lock(mutex_);
  default_device_ = id;
}

Result<Handle> Runtime::create_context(int32_t device_id) {
  mark_runtime_used();
  std::shared_ptr<Context> context;
  {
    std::lock_guard lock(mutex_);
    ANYNPU_ASSIGN(DeviceEntry * found, device_entry(device_id));
    ANYNPU_ASSIGN(context, Context::create(found->device, Context::Origin::explicitly));
    context->set_handle(HandleTable::instance().insert(context));
    found->contexts.push_back(context);
    publish_device(device_id, found->device->physical_id());
    // It stands for a set_device, so that a pair of set and reset elsewhere does not end the
    // device.
    if (found->uses == 0) found->uses = 1;
    current_context = context->handle();
  }
  tell_stream_state(context->default_stream_handle(), StreamState::made);
  return context->handle();
}

Status Runtime::destroy_context(Handle handle) {
  auto& handles = HandleTable::instance();
  {
    ANYNPU_ASSIGN(auto context, handles.resolve<Context>(handle));
    if (context->is_default()) {
      return fail(
          Code::invalid_argument,
          "context {:#x} is the default context of device {}, which set_device made; it ends with "
          "reset_device and is not destroyed",
          handle, context->device()->id());
    }
  }
  auto context = handles.remove<Context>(handle);
  if (!context) return handles.explain(handle, HandleTag::context);
  context->shut_down(Stream::Close::drain, Deadline::after_ms(Stream::kPatienceMs));
  std::lock_guard lock(mutex_);
  for (DeviceEntry& candidate : devices_) std::erase(candidate.contexts, context);
  return {};
}

Status Runtime::set_current(Handle handle) {
  ANYNPU_ASSIGN(auto context, resolve<Context>(handle));
  if (context->ended()) {
    return fail(Code::no_context,
                "the device of context {:#x} was reset; the context can only be destroyed now",
                handle);
  }
  current_context = context->handle();
  return {};
}

Result<std::shared_ptr<Context>> Runtime::current() {
  if (auto context = HandleTable::instance().find<Context>(current_context);
      context && !context->ended()) {
    return context.share();
  }
  int32_t fallback;
  {
    std::lock_guard lock(mutex_);
    fallback = default_device_;
  }
  if (fallback >= 0 && current_context == 0) {
    ANYNPU_TRY(set_device(fallback), "while using the default device of the configuration");
    return current();
  }
  if (current_context) {
    return fail(Code::no_context,
                "the current context of this thread was destroyed or its device was reset; "
                "call set_device, create_context or set_context");
  }
  return fail(Code::no_context,
              "this thread has no context; call set_device, create_context or set_context in it "
              "first");
}

Result<std::shared_ptr<Stream>> Runtime::stream(Handle handle) {
  if (handle == 0) {
    ANYNPU_ASSIGN(auto context, current());
    return context->default_stream();
  }
  ANYNPU_ASSIGN(auto stream, resolve<Stream>(handle));
  return stream.share();
}

Status Runtime::destroy_stream(Handle handle, Stream::Close how) {
  auto& handles = HandleTable::instance();
  if (handle == 0) {
    return fail(Code::invalid_handle,
                "the stream handle is 0, the default stream; it ends with its context and is not "
                "destroyed");
  }
  {
    ANYNPU_ASSIGN(auto stream, handles.resolve<Stream>(handle));
    auto context = stream->context();
    if (context && context->default_stream().get() == stream.get()) {
      return fail(
          Code::invalid_argument,
          "stream {:#x} is the default stream of its context; it ends with the context and is not "
          "destroyed",
          handle);
    }
  }
  tell_stream_state(handle, StreamState::ending);
  auto stream = handles.remove<Stream>(handle);
  if (!stream) return handles.explain(handle, HandleTag::stream);
  stream->set_recorder(nullptr);
  stream->close(how);
  if (auto context = stream->context()) context->forget_stream(*stream);
  ReportQueues::instance().forget(*stream);
  ReportQueues::host_functions().forget(*stream);
  stream->give_place();
  return {};
}

std::vector<std::shared_ptr<Context>> Runtime::contexts_of(const Device& device) {
  std::lock_guard lock(mutex_);
  DeviceEntry& found = devices_[static_cast<size_t>(device.id())];
  auto list = found.contexts;
  if (found.default_context) list.push_back(found.default_context);
  return list;
}

Status Runtime::synchronize_device(const Deadline& deadline) {
  ANYNPU_ASSIGN(auto context, current());
  Status first;
  for (const auto& each : contexts_of(*context->device())) {
    Status status = each->synchronize(deadline);
    if (status.code() == Code::cancelled) return status;
    if (first.ok()) first = std::move(status);
  }
  return first;
}

Status Runtime::abort_device(int32_t id, const Deadline& deadline) {
  ANYNPU_ASSIGN(auto found, device(id));
  const auto contexts = contexts_of(*found);
  for (const auto& context : contexts) context->abort();
  for (const auto& context : contexts) {
    Status status = context->synchronize(deadline);
    if (status.code() == Code::timeout || status.code() == Code::cancelled) return status;
  }
  return {};
}

}  // namespace anynpu::device
