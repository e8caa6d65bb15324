// SPDX-License-Identifier: Apache-2.0
#include "collective/peer_process.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>

#include "base/content_hash.h"
#include "base/format.h"

namespace anynpu::collective {

PeerProcess::PeerProcess(int32_t pid) : pid_(pid) {
  if (pid == getpid()) return;
  descriptor_ = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (descriptor_ < 0 && errno == ESRCH) gone_ = true;
}

PeerProcess::~PeerProcess() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool PeerProcess::alive() const {
  if (gone_) return false;
  if (pid_ == getpid()) return true;
  if (descriptor_ < 0) return kill(pid_, 0) == 0 || errno == EPERM;
  pollfd ended = {descriptor_, POLLIN, 0};
  return poll(&ended, 1, 0) == 0;
}

MachineId this_machine() {
  char boot[64] = {};
  if (FILE* file = std::fopen("/proc/sys/kernel/random/boot_id", "re")) {
    if (!std::fgets(boot, sizeof boot, file)) boot[0] = 0;
    std::fclose(file);
  }
  char space[64] = {};
  if (readlink("/proc/self/ns/pid", space, sizeof space - 1) < 0) space[0] = 0;
  const std::string text = format("{}|{}|{}", boot, space, getuid());
  const std::string hash = content_hash(std::as_bytes(std::span(text)));
  MachineId id;
  std::memcpy(id.bytes, hash.data(), std::min(hash.size(), sizeof id.bytes));
  return id;
}

}  // namespace anynpu::collective
