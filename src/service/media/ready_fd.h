// SPDX-License-Identifier: Apache-2.0
// A file descriptor that programs wait for with epoll, select or poll: readable while the channel
// has something to fetch. Thread-safe.
#pragma once

#include <cstdint>
#include <mutex>

#include "base/result.h"

namespace anynpu::media {

class ReadyFd {
 public:
  ReadyFd() = default;
  ReadyFd(const ReadyFd&) = delete;
  ReadyFd& operator=(const ReadyFd&) = delete;
  ~ReadyFd();

  // Opens it on first use.
  Result<int32_t> fd();
  void close();
  // Also before it is opened: the descriptor starts in the state set last.
  void set(bool readable);

 private:
  std::mutex mutex_;
  int fd_ = -1;
  bool expected_ = false;  // what set() was told last
  bool readable_ = false;  // what the descriptor shows
};

}  // namespace anynpu::media
