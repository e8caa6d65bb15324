// SPDX-License-Identifier: Apache-2.0
// The table of transports: for each pair of ranks the first one that reaches makes the link. Shared
// memory serves ranks of one machine, several in one process too; the network serves the others.
#pragma once

#include <memory>

#include "collective/exchange.h"
#include "collective/link.h"
#include "collective/segment.h"

namespace anynpu::collective {

// Two ranks that want a link.
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
