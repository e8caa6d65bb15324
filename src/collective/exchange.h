// SPDX-License-Identifier: Apache-2.0
// How ranks find each other when a communicator is created: each publishes its address and
// collects the records of the others; then all wait until everyone has connected, because shared
// memory can only be opened while its owner keeps it. Calls of one rank come from one thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/shared_file.h"
#include "collective/peer_process.h"

namespace anynpu::collective {

// What a rank publishes. Sent as bytes between processes of one release.
struct RankRecord {
  MachineId machine;
  int32_t pid = 0;
  int32_t device = 0;
  ShareTicket segment;
  uint64_t piece = 0;          // bytes of a chunk; the smallest of all ranks is used
  uint32_t address_bytes = 0;  // network address; 0: only ranks of this machine reach it
  uint8_t address[780] = {};
};
static_assert(sizeof(RankRecord) <= 1000);

class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual Status publish(const RankRecord& mine) = 0;
  // In rank order. Fails if ranks are missing at the deadline, and names them.
  virtual Result<std::vector<RankRecord>> collect(const Deadline& deadline) = 0;
  // This rank has connected; all have.
  virtual Status mark_connected() = 0;
  virtual Status wait_connected(const Deadline& deadline) = 0;
  // Notifies the others that this rank gave up.
  virtual void give_up(const Status& why) = 0;
};

// Polls, with sleeps that grow to a millisecond, until `over` returns true. False at the deadline;
// fails when the program is interrupted.
Result<bool> poll_until(const Deadline& deadline, const std::function<bool()>& over);

// "ranks 1, 3 and 4"; at most eight are named.
std::string list_ranks(const std::vector<uint32_t>& ranks);

// HCCL_CONNECT_TIMEOUT.
Deadline connect_deadline();
std::string connect_limit();  // "120 s (HCCL_CONNECT_TIMEOUT)"

}  // namespace anynpu::collective
