// SPDX-License-Identifier: Apache-2.0
// Lists of arguments for kernels, one argument after the other. A list lies in memory of ours or in
// the program's; then the program's memory for the handle holds a mark and our own handle.
#include <cstring>

#include "acl/rt/kernel.h"
#include "api/acl/entry.h"
#include "api/acl/kernel_objects.h"
#include "base/align.h"
#include "device/memory.h"

namespace anynpu::acl {

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

KernelArgs::~KernelArgs() {
  for (const Parameter& p : parameters) HandleTable::instance().remove<KernelParam>(p.handle);
}

Result<std::shared_ptr<KernelArgs>> find_args(const void* handle) {
  auto pin = resolve<KernelArgs>(to_handle(handle));
  if (pin.ok()) return pin->share();
  HandleInMemory memory;
  const auto range = device::check_range(handle, sizeof memory, device::Access::read, "argsHandle");
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

Result<Handle> open_list(aclrtFuncHandle function, std::byte* room, size_t bytes) {
  ANYNPU_ASSIGN(auto pin, resolve<KernelFunction>(to_handle(function)));
  auto list = std::make_shared<KernelArgs>();
  list->kernel = pin->kernel;
  list->room = room;
  list->room_bytes = bytes;
  const Handle handle = HandleTable::instance().insert(std::move(list));
  if (!handle) return fail(Code::limit_exceeded, "no handle is free; unload binaries");
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

Status append_parameter(const void* handle, const void* from, size_t bytes, aclrtParamHandle* out) {
  ANYNPU_TRY(check_pointer(out, "paramHandle"));
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
  ANYNPU_ASSIGN(*out, insert_object<aclrtParamHandle>(std::move(name)));
  parameter.handle = to_handle(*out);
  list->parameters.push_back(std::move(parameter));
  return {};
}

// The parameter of `list` that a handle names; the list's mutex is held.
Result<KernelArgs::Parameter*> find_param(KernelArgs& list, aclrtParamHandle handle) {
  ANYNPU_ASSIGN(auto pin, resolve<KernelParam>(to_handle(handle)));
  if (pin->list.lock().get() != &list) {
    return fail(Code::invalid_handle, "the parameter {} is of another list of arguments", handle);
  }
  return &list.parameters[pin->index];
}

Status place_holder_buffer(KernelArgs& list, aclrtParamHandle handle, size_t bytes, void** out) {
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

Status update_param(KernelArgs& list, aclrtParamHandle handle, const void* from, size_t bytes) {
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

}  // namespace anynpu::acl

using namespace anynpu;
using namespace anynpu::acl;

extern "C" {

aclError aclrtKernelArgsInit(aclrtFuncHandle funcHandle, aclrtArgsHandle* argsHandle) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(argsHandle, "argsHandle"));
    ANYNPU_ASSIGN(const Handle list, open_list(funcHandle, nullptr, 0));
    *argsHandle = from_handle<aclrtArgsHandle>(list);
    return {};
  });
}

aclError aclrtKernelArgsGetHandleMemSize(aclrtFuncHandle funcHandle, size_t* memSize) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(memSize, "memSize"));
    ANYNPU_TRY(resolve<KernelFunction>(to_handle(funcHandle)).status());
    *memSize = sizeof(HandleInMemory);
    return {};
  });
}

aclError aclrtKernelArgsGetMemSize(aclrtFuncHandle funcHandle, size_t userArgsSize,
                                   size_t* actualArgsSize) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(actualArgsSize, "actualArgsSize"));
    ANYNPU_TRY(resolve<KernelFunction>(to_handle(funcHandle)).status());
    ANYNPU_TRY(check_bytes(userArgsSize, "userArgsSize"));
    *actualArgsSize = slot_of(userArgsSize) + kMostArgs * kSlot;  // with the gaps between them
    return {};
  });
}

aclError aclrtKernelArgsInitByUserMem(aclrtFuncHandle funcHandle, aclrtArgsHandle argsHandle,
                                      void* userHostMem, size_t actualArgsSize) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_bytes(actualArgsSize, "actualArgsSize"));
    HandleInMemory memory{kMark, 0};
    if (!device::check_range(argsHandle, sizeof memory, device::Access::write, "argsHandle").ok()) {
      return fail(Code::invalid_handle,
                  "argsHandle is {}; expected {} bytes of the program's memory, as "
                  "aclrtKernelArgsGetHandleMemSize says",
                  argsHandle, sizeof memory);
    }
    ANYNPU_ASSIGN(auto room, device::check_range(userHostMem, actualArgsSize, device::Access::write,
                                                 "userHostMem"));
    ANYNPU_ASSIGN(memory.list, open_list(funcHandle, reinterpret_cast<std::byte*>(room.address),
                                         actualArgsSize));
    std::memcpy(argsHandle, &memory, sizeof memory);
    return {};
  });
}

aclError aclrtKernelArgsAppend(aclrtArgsHandle argsHandle, void* param, size_t paramSize,
                               aclrtParamHandle* paramHandle) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_bytes(paramSize, "paramSize"));
    ANYNPU_TRY(device::check_range(param, paramSize, device::Access::read, "param").status());
    return append_parameter(argsHandle, param, paramSize, paramHandle);
  });
}

aclError aclrtKernelArgsAppendPlaceHolder(aclrtArgsHandle argsHandle,
                                          aclrtParamHandle* paramHandle) {
  return enter(__func__, [&] { return append_parameter(argsHandle, nullptr, 0, paramHandle); });
}

aclError aclrtKernelArgsGetPlaceHolderBuffer(aclrtArgsHandle argsHandle,
                                             aclrtParamHandle paramHandle, size_t dataSize,
                                             void** bufferAddr) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(bufferAddr, "bufferAddr"));
    ANYNPU_TRY(check_bytes(dataSize, "dataSize"));
    ANYNPU_ASSIGN(auto list, find_args(argsHandle));
    return place_holder_buffer(*list, paramHandle, dataSize, bufferAddr);
  });
}

aclError aclrtKernelArgsParaUpdate(aclrtArgsHandle argsHandle, aclrtParamHandle paramHandle,
                                   void* param, size_t paramSize) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_bytes(paramSize, "paramSize"));
    ANYNPU_TRY(device::check_range(param, paramSize, device::Access::read, "param").status());
    ANYNPU_ASSIGN(auto list, find_args(argsHandle));
    return update_param(*list, paramHandle, param, paramSize);
  });
}

aclError aclrtKernelArgsFinalize(aclrtArgsHandle argsHandle) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto list, find_args(argsHandle));
    return finish_list(*list);
  });
}

}  // extern "C"
