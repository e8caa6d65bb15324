// SPDX-License-Identifier: Apache-2.0
#include "remote_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/fault_guard.h"

namespace anynpu::device {

namespace {

constexpr size_t kRemotePage = 4096;

// Set by tests: host work gets copies of its ranges, as on a device whose memory cannot be mapped.
bool stages_host_work() { return std::getenv("ANYNPU_REMOTE_STAGES") != nullptr; }

}  // namespace

Result<std::shared_ptr<RemoteMemory>> RemoteMemory::reserve(size_t bytes) {
  bytes = (bytes + kRemotePage - 1) / kRemotePage * kRemotePage;
  const int file = memfd_create("anynpu-remote", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) {
    return fail(Code::out_of_memory, "a file of {} bytes cannot be made ({})", bytes,
                std::strerror(errno));
  }
  void* const program = mmap(nullptr, bytes, PROT_NONE, MAP_SHARED | MAP_NORESERVE, file, 0);
  void* const device =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
  if (program == MAP_FAILED || device == MAP_FAILED) {
    return fail(Code::out_of_memory, "{} bytes cannot be mapped twice ({})", bytes,
                std::strerror(errno));
  }
  std::shared_ptr<RemoteMemory> memory(new RemoteMemory(
      file, reinterpret_cast<uintptr_t>(program), reinterpret_cast<uintptr_t>(device), bytes));
  explain_faults(reinterpret_cast<uintptr_t>(program), bytes,
                 "anynpu: the host accesses the memory of a remote device; copy it with "
                 "aclrtMemcpy\n");
  make_known(memory);
  return memory;
}

RemoteMemory::RemoteMemory(int file, uintptr_t program_side, uintptr_t device_side, size_t bytes)
    : DeviceMemory(Host::cannot_read),
      file_(file),
      device_side_(device_side),
      blocks_(program_side, bytes, kRemotePage) {}

RemoteMemory::~RemoteMemory() {
  munmap(reinterpret_cast<void*>(blocks_.base()), blocks_.size());
  munmap(reinterpret_cast<void*>(device_side_), blocks_.size());
  close(file_);
}

void RemoteMemory::give_back(uintptr_t base, size_t bytes) {
  fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
            static_cast<off_t>(base - blocks_.base()), static_cast<off_t>(bytes));
  blocks_.give_back(base, bytes);
}

void* RemoteMemory::device_side(const void* address) const {
  const auto at = reinterpret_cast<uintptr_t>(address);
  return reinterpret_cast<void*>(contains(at) ? at - blocks_.base() + device_side_ : at);
}

Status RemoteMemory::copy(const CopyRows& rows) {
  CopyRows seen = rows;
  seen.to = device_side(rows.to);
  seen.from = device_side(rows.from);
  copy_on_host(seen);
  return {};
}

Status RemoteMemory::fill(void* address, int value, size_t bytes) {
  std::memset(device_side(address), value, bytes);
  return {};
}

Status RemoteMemory::with_host_view(std::span<HostRange* const> ranges, const HostWork& work) {
  if (stages_host_work()) return DeviceMemory::with_host_view(ranges, work);
  for (HostRange* range : ranges) range->address = device_side(range->address);
  return work();
}

}  // namespace anynpu::device
