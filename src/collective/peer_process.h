// SPDX-License-Identifier: Apache-2.0
// Another process of this machine: whether it still runs. A number that the system gives to a new
// process later is not mistaken for it. Thread-safe.
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
  int descriptor_ = -1;  // -1: asked by number
  bool gone_ = false;
};

// 16 bytes that are the same for processes that can map memory of each other: one boot of one
// machine, one namespace of process numbers, one user.
struct MachineId {
  uint8_t bytes[16] = {};
  bool operator==(const MachineId&) const = default;
};
MachineId this_machine();

}  // namespace anynpu::collective
