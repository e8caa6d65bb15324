// SPDX-License-Identifier: Apache-2.0
#include "service/kernel/kernel_args.h"

#include <cstring>

#include "base/align.h"
#include "device/memory.h"

namespace anynpu::service {

namespace {

constexpr size_t kMostArgs = 256;  // words that a kernel takes
constexpr size_t kMostBytes = size_t{1} << 26;
constexpr size_t kSlot = 8;  // arguments and their data start at multiples of it

// What a handle in the program's memory holds.
struct HandleInMemory {
  uint64_t mark = 0;
  Handle list = 0;
};
constexpr uint64_t kMark = 0x5347524131504e41;

size_t slot_of(size_t bytes) { return round_up(bytes, kSlot); }

}  // namespace

Result<std::shared_ptr<KernelArgs>> find_args(const void* handle) {
  auto pin = resolve<KernelArgs>(reinterpret_cast<Handle>(handle));
  if (pin.ok()) return pin->share();
  HandleInMemory memory;
  const auto range =
      device::check_host_range(handle, sizeof memory, device::Access::read, "argsHandle");
  if (!range.ok()) return pin.status();
  std::memcpy(&memory, handle, sizeof memory);
  if (memory.mark != kMark) {
    return fail(Code::invalid_handle,
                "the memory at {} holds no list of arguments; call aclrtKernelArgsInitByUserMem "
                "for it",
                handle);
  }
  ANYNPU_ASSIGN(auto inside, resolve<KernelArgs>(memory.list));
  return inside.share();
}

namespace {

Result<Handle> open_list(Handle function, std::byte* room, size_t bytes) {
  ANYNPU_ASSIGN(auto pin, resolve<KernelFunction>(function));
  auto list = std::make_shared<KernelArgs>();
  list->kernel = pin->kernel;
  list->room = room;
  list->room_bytes = bytes;
  const Handle handle = HandleTable::instance().insert(std::move(list));
  if (!handle) return fail(Code::out_of_handles, "no handle is free; unload binaries");
  pin->keep(handle);
  return handle;
}

Status check_bytes(size_t bytes, const char* name) {
  if (bytes > 0 && bytes <= kMostBytes) return {};
  return fail(Code::invalid_argument, "{} is {}; expected 1 to {}", name, bytes, kMostBytes);
}

// Gives the parameter memory, which stays where it is.
Status take_room(KernelArgs& list, size_t bytes, KernelArgs::Parameter& parameter) {
  if (!list.room) {
    parameter.own = std::make_unique<std::byte[]>(bytes);
    parameter.data = parameter.own.get();
  } else if (slot_of(bytes) > list.room_bytes - list.used) {
    return fail(Code::limit_exceeded,
                "{} bytes do not fit the {} that are left of {}; ask aclrtKernelArgsGetMemSize "
                "for the size of all arguments",
                bytes, list.room_bytes - list.used, list.room_bytes);
  } else {
    parameter.data = list.room + list.used;
    list.used += slot_of(bytes);
  }
  parameter.bytes = bytes;
  return {};
}

Result<Handle> append_parameter(const void* handle, const void* from, size_t bytes) {
  ANYNPU_ASSIGN(auto list, find_args(handle));
  const std::lock_guard lock(list->mutex);
  if (list->finished) {
    return fail(Code::bad_call_order,
                "the list of arguments is finalised; aclrtKernelArgsParaUpdate changes one");
  }
  if (list->parameters.size() >= kMostArgs) {
    return fail(Code::limit_exceeded, "the list has {} arguments, which is the most", kMostArgs);
  }
  KernelArgs::Parameter parameter;
  parameter.place_holder = from == nullptr;
  if (from) {
    ANYNPU_TRY(take_room(*list, bytes, parameter));
    std::memcpy(parameter.data, from, bytes);
  }
  auto name = std::make_shared<KernelParam>();
  name->list = list;
  name->index = list->parameters.size();
  parameter.handle = HandleTable::instance().insert(std::move(name));
  if (!parameter.handle) {
    return fail(Code::out_of_handles, "no handle is free; destroy objects that are no longer used");
  }
  list->parameters.push_back(std::move(parameter));
  return list->parameters.back().handle;
}

// The parameter of `list` that a handle names; the list's mutex is held.
Result<KernelArgs::Parameter*> find_param(KernelArgs& list, Handle handle) {
  ANYNPU_ASSIGN(auto pin, resolve<KernelParam>(handle));
  if (pin->list.lock().get() != &list) {
    return fail(Code::invalid_handle, "the parameter {} is of another list of arguments",
                reinterpret_cast<const void*>(handle));
  }
  return &list.parameters[pin->index];
}

Status place_holder_buffer(KernelArgs& list, Handle handle, size_t bytes, void** out) {
  const std::lock_guard lock(list.mutex);
  ANYNPU_ASSIGN(KernelArgs::Parameter * parameter, find_param(list, handle));
  if (!parameter->place_holder) {
    return fail(Code::invalid_argument,
                "the parameter is no place holder; aclrtKernelArgsAppendPlaceHolder makes one");
  }
  if (parameter->bytes != bytes) {
    if (list.finished) {
      return fail(Code::bad_call_order,
                  "the list of arguments is finalised with {} bytes for this place holder; {} are "
                  "asked for",
                  parameter->bytes, bytes);
    }
    ANYNPU_TRY(take_room(list, bytes, *parameter));
    std::memset(parameter->data, 0, bytes);
  }
  *out = parameter->data;
  return {};
}

Status finish_list(KernelArgs& list) {
  const std::lock_guard lock(list.mutex);
  for (size_t i = 0; i < list.parameters.size(); ++i) {
    if (list.parameters[i].data) continue;
    return fail(Code::bad_call_order,
                "argument {} is a place holder without data; call "
                "aclrtKernelArgsGetPlaceHolderBuffer for it",
                i);
  }
  list.finished = true;
  return {};
}

Status update_param(KernelArgs& list, Handle handle, const void* from, size_t bytes) {
  const std::lock_guard lock(list.mutex);
  ANYNPU_ASSIGN(KernelArgs::Parameter * parameter, find_param(list, handle));
  if (parameter->place_holder || parameter->bytes != bytes) {
    return fail(Code::invalid_argument, "the parameter {}; {} bytes were passed",
                parameter->place_holder ? std::string("is a place holder: write to its buffer")
                                        : format("has {} bytes", parameter->bytes),
                bytes);
  }
  std::memcpy(parameter->data, from, bytes);
  return {};
}

}  // namespace

Result<Handle> open_kernel_args(Handle function) { return open_list(function, nullptr, 0); }

Result<size_t> kernel_args_handle_bytes(Handle function) {
  ANYNPU_TRY(resolve<KernelFunction>(function).status());
  return sizeof(HandleInMemory);
}

Result<size_t> kernel_args_bytes(Handle function, size_t argument_bytes) {
  ANYNPU_TRY(resolve<KernelFunction>(function).status());
  ANYNPU_TRY(check_bytes(argument_bytes, "userArgsSize"));
  return slot_of(argument_bytes) + kMostArgs * kSlot;  // with the gaps between them
}

Status open_kernel_args_in(Handle function, void* handle_memory, void* memory, size_t bytes) {
  ANYNPU_TRY(check_bytes(bytes, "actualArgsSize"));
  HandleInMemory inside{kMark, 0};
  if (!device::check_host_range(handle_memory, sizeof inside, device::Access::write, "argsHandle")
           .ok()) {
    return fail(Code::invalid_handle,
                "argsHandle is {}; expected {} bytes of the program's memory, as "
                "aclrtKernelArgsGetHandleMemSize says",
                handle_memory, sizeof inside);
  }
  ANYNPU_ASSIGN(auto room,
                device::check_host_range(memory, bytes, device::Access::write, "userHostMem"));
  ANYNPU_ASSIGN(inside.list,
                open_list(function, reinterpret_cast<std::byte*>(room.address), bytes));
  std::memcpy(handle_memory, &inside, sizeof inside);
  return {};
}

Result<Handle> append_kernel_arg(const void* list, const void* from, size_t bytes) {
  ANYNPU_TRY(check_bytes(bytes, "paramSize"));
  ANYNPU_TRY(device::check_host_range(from, bytes, device::Access::read, "param").status());
  return append_parameter(list, from, bytes);
}

Result<Handle> append_place_holder(const void* list) { return append_parameter(list, nullptr, 0); }

Result<void*> place_holder_memory(const void* handle, Handle parameter, size_t bytes) {
  ANYNPU_TRY(check_bytes(bytes, "dataSize"));
  ANYNPU_ASSIGN(auto list, find_args(handle));
  void* memory = nullptr;
  ANYNPU_TRY(place_holder_buffer(*list, parameter, bytes, &memory));
  return memory;
}

Status update_kernel_arg(const void* handle, Handle parameter, const void* from, size_t bytes) {
  ANYNPU_TRY(check_bytes(bytes, "paramSize"));
  ANYNPU_TRY(device::check_host_range(from, bytes, device::Access::read, "param").status());
  ANYNPU_ASSIGN(auto list, find_args(handle));
  return update_param(*list, parameter, from, bytes);
}

Status finish_kernel_args(const void* handle) {
  ANYNPU_ASSIGN(auto list, find_args(handle));
  return finish_list(*list);
}

}  // namespace anynpu::service
