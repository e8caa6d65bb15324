// SPDX-License-Identifier: Apache-2.0
#include "service/instance/print.h"

#include "base/json.h"
#include "base/log.h"
#include "base/mapped_file.h"
#include "base/whole_file.h"
#include "service/instance/tasks.h"

namespace anynpu::service {

namespace {

const char* name_of(TaskType type) {
  static constexpr const char* kNames[] = {"DEFAULT",    "KERNEL",      "EVENT_RECORD",
                                           "EVENT_WAIT", "EVENT_RESET", "VALUE_WRITE",
                                           "VALUE_WAIT"};
  return kNames[static_cast<size_t>(type)];
}

const char* text_of(const RecordedTask& task) {
  static constexpr const char* kRoles[] = {
      "work",         "record event",  "wait for event",  "reset event",   "record event outside",
      "wait outside", "wait for flag", "activate stream", "switch stream", "label",
      "switch label", "end",           "condition"};
  return task.kind ? task.kind->text : kRoles[static_cast<size_t>(task.role)];
}

std::string hex(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes) text += format("{:02x}", static_cast<unsigned>(byte));
  return text;
}

Result<std::shared_ptr<Instance>> complete_instance(Handle handle) {
  ANYNPU_ASSIGN(auto instance, find_instance(handle));
  if (instance->state() == Instance::State::ready) return instance;
  return fail(Code::instance_capturing,
              "model instance {} is not complete; end its capture or build first", instance->id());
}

json::Object describe(const RecordedTask& task, bool arguments) {
  json::Object args;
  args.emplace_back("task_id", static_cast<uint64_t>(task.number));
  args.emplace_back("task_type", name_of(type_of(task)));
  if (task.event) args.emplace_back("event_id", static_cast<uint64_t>(task.event->id()));
  if (task.disabled) args.emplace_back("disabled", true);
  if (!task.extend_info.empty()) {
    auto parsed = json::parse(task.extend_info, "extend info");
    args.emplace_back("extend_info", parsed.ok() ? *parsed : json::Value(task.extend_info));
  }
  if (task.kernel && arguments) {
    args.emplace_back("blocks", static_cast<uint64_t>(task.kernel->blocks));
    args.emplace_back("kernel_args", hex(task.kernel->arguments));
  }
  return args;
}

json::Value describe(Instance& instance, bool arguments) {
  json::Array events;
  std::lock_guard lock(instance.tasks_mutex());
  for (const Lane& lane : instance.lanes()) {
    for (const auto& task : lane.tasks) {
      json::Object args = describe(*task, arguments);
      args.emplace_back("model_id", static_cast<uint64_t>(instance.id()));
      args.emplace_back("stream_id", static_cast<uint64_t>(lane.source->id()));
      json::Object event;
      event.emplace_back("name", text_of(*task));
      event.emplace_back("ph", "X");
      event.emplace_back("pid", format("model {} {}", instance.id(), instance.name()));
      event.emplace_back("tid", format("stream {}", lane.source->id()));
      event.emplace_back("ts", static_cast<uint64_t>(task->number - 1));
      event.emplace_back("dur", 1);
      event.emplace_back("args", std::move(args));
      events.emplace_back(std::move(event));
    }
  }
  return events;
}

}  // namespace

Status log_instance(Handle handle) {
  ANYNPU_ASSIGN(auto instance, complete_instance(handle));
  ANYNPU_LOG(info, "model instance {} '{}' with {} streams", instance->id(), instance->name(),
             instance->lanes().size());
  for (const Lane& lane : instance->lanes()) {
    for (const auto& task : lane.tasks) {
      ANYNPU_LOG(info, "model instance {}, stream {}, task {}: {} ({})", instance->id(),
                 lane.source->id(), task->number, text_of(*task), name_of(type_of(*task)));
    }
  }
  return {};
}

Status print_instance(Handle handle, const char* path, bool arguments) {
  ANYNPU_ASSIGN(auto instance, complete_instance(handle));
  const std::string text = describe(*instance, arguments).dump(1);
  const std::span<const std::byte> parts[] = {std::as_bytes(std::span(text))};
  return write_file_atomically(path, parts);
}

}  // namespace anynpu::service
