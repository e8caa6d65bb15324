// SPDX-License-Identifier: Apache-2.0
#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "base/align.h"

namespace anynpu {

namespace {

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::string& path) {
  return open_with(path, 0, false);
}

Result<std::shared_ptr<const MappedFile>> MappedFile::open_own(const std::string& path) {
  return open_with(path, O_NOFOLLOW, true);
}

Result<std::shared_ptr<const MappedFile>> MappedFile::open_with(const std::string& path, int flags,
                                                                bool own) {
  if (path.empty()) {
    return fail(Code::invalid_argument, "the path of the file is empty; pass the name of a file");
  }
  // O_NONBLOCK: opening a FIFO must not wait for a writer.
  FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags));
  if (fd.get() < 0) {
    return fail(errno == EACCES ? Code::permission_denied : Code::file_not_found,
                "cannot open '{}': {}; check the path and its permissions", path,
                std::strerror(errno));
  }
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) {
    return fail(Code::io_error, "cannot read the size of '{}': {}", path, std::strerror(errno));
  }
  if (!S_ISREG(info.st_mode)) {
    return fail(Code::file_invalid, "'{}' is not a regular file; pass the name of a file", path);
  }
  if (own && (info.st_uid != ::geteuid() || (info.st_mode & (S_IWGRP | S_IWOTH)) != 0)) {
    return fail(Code::permission_denied,
                "'{}' can be written by others than user {}; remove it, or take their right to",
                path, ::geteuid());
  }
  const auto size = static_cast<size_t>(info.st_size);
  void* data = nullptr;
  if (size > 0) {
    data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
    if (data == MAP_FAILED) {
      return fail(Code::out_of_memory, "cannot map the {} bytes of '{}': {}", size, path,
                  std::strerror(errno));
    }
  }
  return std::shared_ptr<const MappedFile>(
      new MappedFile(path, static_cast<const std::byte*>(data), size));
}

void MappedFile::release(std::span<const std::byte> bytes) const {
  static const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto first = reinterpret_cast<uintptr_t>(data_);
  const auto address = reinterpret_cast<uintptr_t>(bytes.data());
  if (address < first || address + bytes.size() > first + size_) return;
  const uintptr_t begin = round_up(address, page), end = round_down(address + bytes.size(), page);
  if (end > begin) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

MappedFile::~MappedFile() {
  if (data_) ::munmap(const_cast<std::byte*>(data_), size_);
}

}  // namespace anynpu
