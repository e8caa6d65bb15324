// SPDX-License-Identifier: Apache-2.0
// Whether another process of this machine still runs. A reused process id is not mistaken for it.
// Thread-safe.
#pragma once

#include <cstdint>

namespace anynpu::collective {

class PeerProcess {
 public:
  explicit PeerProcess(int32_t pid);
  ~PeerProcess();
  PeerProcess(const PeerProcess&) = delete;
  PeerProcess& operator=(const PeerProcess&) = delete;

  // A system call, unless it is this process.
  bool alive() const;
  int32_t pid() const { return pid_; }

 private:
  const int32_t pid_;
  int descriptor_ = -1;  // pidfd; -1: the process id is used
  bool gone_ = false;
};

// 16 bytes that are equal for processes that can map each other's memory: one boot of one machine,
// one pid namespace, one user.
struct MachineId {
  uint8_t bytes[16] = {};
  bool operator==(const MachineId&) const = default;
};
MachineId this_machine();

}  // namespace anynpu::collective
