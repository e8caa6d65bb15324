// SPDX-License-Identifier: Apache-2.0
#include "base/shared_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <string>

#include "base/align.h"
#include "base/clock.h"
#include "base/quiet_write.h"

namespace anynpu {

namespace {

constexpr uint64_t kMagic = 0x31656c6966796e61;  // "anyfile1"

uint64_t new_secret() {
  uint64_t secret = 0;
  if (getrandom(&secret, sizeof secret, 0) != sizeof secret) {
    secret = now_ns() * 0x9e3779b97f4a7c15u;
  }
  return secret | 1;  // 0 means closed
}

std::string reason() { return std::strerror(errno); }

// One lock for the rare calls that change who may open a block of this process.
std::mutex& gate_mutex() {
  static auto* mutex = new std::mutex;
  return *mutex;
}

}  // namespace

// The last page of the block. Another process may write anything here: readers trust no field.
struct SharedFile::Gate {
  uint64_t magic;
  uint64_t data_bytes;
  uint64_t label;
  std::atomic<uint64_t> secret;  // 0: closed to others
  std::atomic<uint32_t> anyone;
  std::atomic<uint32_t> pid_count;
  std::atomic<int32_t> pids[kMostPids];

  bool admits(int32_t pid) const {
    if (anyone.load(std::memory_order_acquire)) return true;
    const size_t count = std::min<size_t>(pid_count.load(std::memory_order_acquire), kMostPids);
    for (size_t i = 0; i < count; ++i) {
      if (pids[i].load(std::memory_order_relaxed) == pid) return true;
    }
    return false;
  }
};

std::string to_key(std::string_view kind, const ShareTicket& ticket) {
  return format("{}-{}-{}-{:016x}", kind, ticket.pid, ticket.fd, ticket.secret);
}

Result<ShareTicket> from_key(std::string_view kind, std::string_view key) {
  ShareTicket ticket;
  unsigned long long secret = 0;
  int used = 0;
  const std::string rest(key.starts_with(kind) ? key.substr(kind.size()) : "");
  if (key.size() < 65 &&
      std::sscanf(rest.c_str(), "-%9d-%9d-%16llx%n", &ticket.pid, &ticket.fd, &secret, &used) ==
          3 &&
      static_cast<size_t>(used) == rest.size()) {
    ticket.secret = secret;
    return ticket;
  }
  return fail(Code::invalid_argument, "'{}' is no key of this kind; pass what the export returned",
              key.substr(0, 64));
}

Result<std::shared_ptr<SharedFile>> SharedFile::create(size_t bytes, uint64_t label) {
  static_assert(sizeof(Gate) <= kPageBytes);
  if (bytes == 0 || bytes > (size_t{1} << 46)) {
    return fail(Code::out_of_memory, "{} bytes of shared memory were asked for; expected 1 to 2^46",
                bytes);
  }
  bytes = round_up(bytes, kPageBytes);
  const int fd = memfd_create("anynpu", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) {
    return fail(
        Code::out_of_memory,
        "cannot create shared memory of {} bytes ({}); close files or memory of the process", bytes,
        reason());
  }
  // A sealed size: those who map it can never run past its end.
  const QuietWrite quiet;
  if (ftruncate(fd, static_cast<off_t>(bytes + kPageBytes)) != 0 ||
      fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    Status failed =
        fail(Code::out_of_memory, "cannot size shared memory to {} bytes ({})", bytes, reason());
    ::close(fd);
    return failed;
  }
  ANYNPU_ASSIGN(auto file, adopt(fd, bytes));
  file->gate_->magic = kMagic;
  file->gate_->data_bytes = bytes;
  file->gate_->label = label;
  return file;
}

Result<std::shared_ptr<SharedFile>> SharedFile::adopt(int fd, size_t bytes) {
  void* gate =
      mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, static_cast<off_t>(bytes));
  if (gate == MAP_FAILED) {
    Status failed = fail(Code::out_of_memory, "cannot map shared memory ({})", reason());
    ::close(fd);
    return failed;
  }
  return std::shared_ptr<SharedFile>(new SharedFile(fd, bytes, static_cast<Gate*>(gate)));
}

Result<std::shared_ptr<SharedFile>> SharedFile::open(const ShareTicket& ticket, int secret_bits) {
  const std::string path = format("/proc/{}/fd/{}", ticket.pid, ticket.fd);
  // No other kind of file is opened, even for a moment: that could block or have side effects.
  char target[64] = {};
  const ssize_t length =
      ticket.pid > 0 && ticket.fd >= 0 ? readlink(path.c_str(), target, sizeof target - 1) : -1;
  const bool ours = length > 0 && std::string_view(target).starts_with("/memfd:anynpu");
  const int fd = ours ? ::open(path.c_str(), O_RDWR | O_CLOEXEC) : -1;
  if (fd < 0 && length < 0 && errno == EACCES) {
    return fail(Code::permission_denied,
                "memory of process {} belongs to another user; share between processes of one user",
                ticket.pid);
  }
  struct stat info = {};
  const int seals = fd < 0 ? 0 : fcntl(fd, F_GET_SEALS);
  if (fd < 0 || fstat(fd, &info) != 0 || info.st_size < static_cast<off_t>(2 * kPageBytes) ||
      (seals & F_SEAL_SHRINK) == 0) {
    if (fd >= 0) ::close(fd);
    return fail(
        Code::not_found,
        "process {} shares no memory under this key: it ended, freed the memory, or the key "
        "is wrong; export again and pass the new key",
        ticket.pid);
  }
  ANYNPU_ASSIGN(auto file, adopt(fd, static_cast<size_t>(info.st_size) - kPageBytes));
  const uint64_t mask = secret_bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << secret_bits) - 1;
  const uint64_t secret = file->gate_->secret.load(std::memory_order_acquire);
  if (file->gate_->magic != kMagic || secret == 0 || ((secret ^ ticket.secret) & mask) != 0) {
    return fail(Code::not_found,
                "process {} does not share memory under this key any more: it was closed, or the "
                "key is of an earlier export; export again and pass the new key",
                ticket.pid);
  }
  if (!file->gate_->admits(getpid())) {
    return fail(Code::permission_denied,
                "process {} may not import this memory of process {}; add its id there, or export "
                "with the flag that disables the check of process ids",
                getpid(), ticket.pid);
  }
  return file;
}

SharedFile::~SharedFile() {
  munmap(gate_, kPageBytes);
  ::close(fd_);
}

Result<void*> SharedFile::map(void* at, size_t bytes, size_t offset) const {
  if (offset % kPageBytes || offset > bytes_ || bytes > bytes_ - offset || bytes == 0) {
    return fail(Code::invalid_argument, "{} bytes at offset {} do not lie in {} bytes of memory",
                bytes, offset, bytes_);
  }
  void* address = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | (at ? MAP_FIXED : 0), fd_,
                       static_cast<off_t>(offset));
  if (address == MAP_FAILED) {
    return fail(Code::out_of_memory, "cannot map {} bytes of shared memory ({})", bytes, reason());
  }
  return address;
}

uint64_t SharedFile::label() const { return gate_->label; }

ShareTicket SharedFile::share(Admit admit) {
  std::lock_guard lock(gate_mutex());
  gate_->pid_count.store(0, std::memory_order_release);
  gate_->anyone.store(admit == Admit::anyone, std::memory_order_release);
  gate_->secret.store(new_secret(), std::memory_order_release);
  return ticket();
}

ShareTicket SharedFile::ticket() const {
  return {getpid(), fd_, gate_->secret.load(std::memory_order_acquire)};
}

Status SharedFile::let_in(std::span<const int32_t> pids) {
  for (const int32_t pid : pids) {
    if (pid <= 0) return fail(Code::invalid_argument, "process id {} is not positive", pid);
  }
  std::lock_guard lock(gate_mutex());
  for (const int32_t pid : pids) {
    if (gate_->admits(pid) && !gate_->anyone.load(std::memory_order_relaxed)) continue;
    const uint32_t count = gate_->pid_count.load(std::memory_order_relaxed);
    if (count >= kMostPids) {
      return fail(Code::limit_exceeded,
                  "at most {} processes may be let in; disable the check of "
                  "process ids at export instead",
                  kMostPids);
    }
    gate_->pids[count].store(pid, std::memory_order_relaxed);
    gate_->pid_count.store(count + 1, std::memory_order_release);
  }
  return {};
}

void SharedFile::let_anyone_in() { gate_->anyone.store(1, std::memory_order_release); }

void SharedFile::close_to_others() { gate_->secret.store(0, std::memory_order_release); }

bool SharedFile::is_shared() const { return gate_->secret.load(std::memory_order_acquire) != 0; }

}  // namespace anynpu
