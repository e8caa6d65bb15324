// SPDX-License-Identifier: Apache-2.0
// The table of transports: the first that can connect a pair of ranks creates the link. Shared
// memory connects ranks of one machine, also within one process; the network connects the others.
#pragma once

#include <memory>

#include "collective/exchange.h"
#include "collective/link.h"
#include "collective/segment.h"

namespace anynpu::collective {

// Two ranks to be linked.
struct Ends {
  const RankRecord& mine;
  const RankRecord& theirs;
  uint32_t my_rank;
  uint32_t their_rank;
  const std::shared_ptr<Segment>& segment;  // of this rank
  uint64_t key;                             // of the communicator: the same on both sides
  size_t piece;
};

struct Transport {
  const char* name;
  bool (*reaches)(const Ends& ends);
  Result<std::unique_ptr<Link>> (*connect)(const Ends& ends);
};

Result<std::unique_ptr<Link>> connect(const Ends& ends);

}  // namespace anynpu::collective
