// SPDX-License-Identifier: Apache-2.0
// The rank table: a JSON file that lists machines, their devices and the rank of each. Ranks of one
// machine find each other by the content of the table; rank 0 sends them a root info.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "collective/exchange.h"

namespace anynpu::collective {

struct RankTable {
  struct Rank {
    std::string server;
    int64_t device = 0;
  };
  std::vector<Rank> ranks;
  std::string text;  // of the file: ranks with different tables do not connect

  // The error says which entry is wrong.
  static Result<RankTable> read(const std::string& path);
  static Result<RankTable> parse(std::string text);
};

// Rendezvous with the other ranks of the table; waits for them, at most HCCL_CONNECT_TIMEOUT.
Result<std::unique_ptr<Exchange>> join_table(const RankTable& table, uint32_t rank);

}  // namespace anynpu::collective
