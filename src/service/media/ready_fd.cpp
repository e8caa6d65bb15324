// SPDX-License-Identifier: Apache-2.0
#include "service/media/ready_fd.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace anynpu::media {

ReadyFd::~ReadyFd() { close(); }

Result<int32_t> ReadyFd::fd() {
  const std::lock_guard lock(mutex_);
  if (fd_ < 0) fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fd_ < 0) return fail(Code::internal, "no file descriptor: {}", std::strerror(errno));
  if (expected_ && !readable_) {
    eventfd_write(fd_, 1);
    readable_ = true;
  }
  return fd_;
}

void ReadyFd::close() {
  const std::lock_guard lock(mutex_);
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
  readable_ = false;
}

void ReadyFd::set(bool readable) {
  const std::lock_guard lock(mutex_);
  expected_ = readable;
  if (fd_ < 0 || readable == readable_) return;
  eventfd_t value;
  if (readable)
    eventfd_write(fd_, 1);
  else
    eventfd_read(fd_, &value);
  readable_ = readable;
}

}  // namespace anynpu::media
