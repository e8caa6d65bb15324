// SPDX-License-Identifier: Apache-2.0
#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

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

Status write_all(int fd, std::span<const std::byte> data, const std::string& path) {
  while (!data.empty()) {
    const ssize_t written = ::write(fd, data.data(), data.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return fail(Code::io_error, "cannot write '{}': {}; check the free space of the folder", path,
                  std::strerror(errno));
    }
    data = data.subspan(static_cast<size_t>(written));
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::string& path) {
  if (path.empty()) {
    return fail(Code::invalid_argument, "the path of the file is empty; pass the name of a file");
  }
  // O_NONBLOCK: opening a FIFO must not wait for a writer.
  FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
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

MappedFile::~MappedFile() {
  if (data_) ::munmap(const_cast<std::byte*>(data_), size_);
}

Status write_file_atomically(const std::string& path,
                             std::span<const std::span<const std::byte>> parts) {
  std::string temporary = path + ".tmpXXXXXX";
  FileDescriptor fd(::mkstemp(temporary.data()));
  if (fd.get() < 0) {
    return fail(Code::io_error,
                "cannot create a file beside '{}': {}; the folder must exist and be writable", path,
                std::strerror(errno));
  }
  Status status;
  for (const auto& part : parts) {
    if (status = write_all(fd.get(), part, temporary); !status.ok()) break;
  }
  // mkstemp makes the file private; reading the umask would race with other threads.
  if (::fchmod(fd.get(), 0644) != 0 && status.ok()) {
    status =
        fail(Code::io_error, "cannot set the mode of '{}': {}", temporary, std::strerror(errno));
  }
  if (status.ok() && ::rename(temporary.c_str(), path.c_str()) != 0) {
    status = fail(Code::io_error, "cannot rename '{}' to '{}': {}", temporary, path,
                  std::strerror(errno));
  }
  if (!status.ok()) ::unlink(temporary.c_str());
  return status;
}

}  // namespace anynpu
