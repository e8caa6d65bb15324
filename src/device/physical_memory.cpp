// SPDX-License-Identifier: Apache-2.0
#include "device/physical_memory.h"

#include <unistd.h>

#include <map>
#include <mutex>

#include "base/fork_guard.h"
#include "device/device_memory.h"

namespace anynpu::device {

namespace {

// A shareable number: process id (22 bits), descriptor (20), low part of the secret (21).
constexpr int kSecretBits = 21;
constexpr int kFdBits = 20;

uint64_t to_number(const ShareTicket& ticket) {
  return static_cast<uint64_t>(ticket.pid) << (kFdBits + kSecretBits) |
         static_cast<uint64_t>(ticket.fd) << kSecretBits |
         (ticket.secret & ((uint64_t{1} << kSecretBits) - 1));
}

ShareTicket to_ticket(uint64_t number) {
  return {static_cast<int32_t>(number >> (kFdBits + kSecretBits)),
          static_cast<int32_t>(number >> kSecretBits & ((1u << kFdBits) - 1)),
          number & ((uint64_t{1} << kSecretBits) - 1)};
}

// Numbers that this process exported. Entries of freed memory are dropped on the way.
struct Exported {
  std::mutex mutex;
  std::map<uint64_t, std::weak_ptr<SharedFile>> files;
};
Exported& exported() {
  static auto* all = new Exported;
  return *all;
}

}  // namespace

Result<std::shared_ptr<PhysicalMemory>> PhysicalMemory::create(Device* device, size_t bytes) {
  if (bytes == 0) return fail(Code::invalid_argument, "the size is 0; ask for at least one byte");
  mark_runtime_used();
  auto memory = std::shared_ptr<PhysicalMemory>(new PhysicalMemory);
  if (device) {
    ANYNPU_TRY(check_shared_memory(*device));
    ANYNPU_ASSIGN(auto counts, device->memory());
    const uintptr_t counted = counts->take(bytes, SharedFile::kPageBytes);
    if (!counted) {
      return fail(
          Code::out_of_memory,
          "{} bytes of physical memory were asked for, but device {} has {} of {} free; free "
          "memory, or raise ANYNPU_DEVICE_MEMORY",
          bytes, device->id(), counts->total() - counts->used(), counts->total());
    }
    memory->counted_ = counted;
    memory->device_memory_ = std::move(counts);
    memory->device_id_ = device->id();
  }
  auto file = SharedFile::create(bytes, static_cast<uint64_t>(memory->device_id_));
  if (!file.ok()) {
    if (memory->device_memory_) memory->device_memory_->give_back(memory->counted_, bytes);
    memory->device_memory_ = nullptr;
    return file.status();
  }
  memory->file_ = *file;
  return memory;
}

Result<std::shared_ptr<PhysicalMemory>> PhysicalMemory::import(uint64_t shareable, Device& device) {
  ANYNPU_TRY(check_shared_memory(device));
  mark_runtime_used();
  auto memory = std::shared_ptr<PhysicalMemory>(new PhysicalMemory);
  ANYNPU_ASSIGN(memory->file_, SharedFile::open(to_ticket(shareable), kSecretBits),
                "while importing the shareable handle {:#x}", shareable);
  memory->device_id_ = device.id();
  memory->imported_ = true;
  return memory;
}

PhysicalMemory::~PhysicalMemory() {
  if (device_memory_) device_memory_->give_back(counted_, file_->bytes());
}

Result<Handle> PhysicalMemory::retain() {
  const std::lock_guard lock(handle_mutex_);
  if (handle_uses_ == 0) handle_ = HandleTable::instance().insert(shared_from_this());
  if (!handle_) {
    return fail(Code::out_of_handles, "no handle is free; destroy objects that are no longer used");
  }
  ++handle_uses_;
  return handle_;
}

Status PhysicalMemory::release(Handle handle) {
  const std::lock_guard lock(handle_mutex_);
  if (handle_uses_ > 1) {
    --handle_uses_;
    return {};
  }
  handle_uses_ = 0;
  if (HandleTable::instance().remove<PhysicalMemory>(handle)) return {};
  return HandleTable::instance().explain(handle, HandleTag::physical_memory);
}

Result<uint64_t> PhysicalMemory::export_number(SharedFile::Admit admit) {
  if (imported_) {
    return fail(Code::invalid_argument,
                "the memory was imported; export it in the process that allocated it");
  }
  auto& all = exported();
  std::lock_guard lock(all.mutex);
  std::erase_if(all.files, [&](const auto& entry) { return entry.second.expired(); });
  for (const auto& [number, file] : all.files) {
    if (file.lock() != file_) continue;
    return fail(Code::already_exists,
                "the memory was exported already, as {:#x}; export it once and pass that number on",
                number);
  }
  const uint64_t number = to_number(file_->share(admit));
  all.files[number] = file_;
  return number;
}

Status check_importer(uint64_t shareable) {
  if (to_ticket(shareable).pid != getpid()) return {};
  return fail(Code::invalid_argument,
              "shareable handle {:#x} was exported by this process; import it in another one, and "
              "use the handle of the memory here",
              shareable);
}

Status let_in(uint64_t shareable, std::span<const int32_t> pids) {
  auto& all = exported();
  std::lock_guard lock(all.mutex);
  const auto found = all.files.find(shareable);
  const auto file = found == all.files.end() ? nullptr : found->second.lock();
  if (!file) {
    return fail(
        Code::not_found,
        "shareable handle {:#x} was not exported by this process, or its memory was freed; pass "
        "what mem_export_to_shareable_handle returned",
        shareable);
  }
  return file->let_in(pids);
}

}  // namespace anynpu::device
