// SPDX-License-Identifier: Apache-2.0
// The link between two ranks of different machines: each lane has a few pieces in flight in each
// direction, as messages of the network engine. Timers of the thread pool drive them, so that
// a rank that does other work keeps nobody waiting. Thread-safe.
#pragma once

#include <memory>

#include "collective/link.h"
#include "collective/network.h"

namespace anynpu::collective {

// What a message tag is used for, besides the lanes (0 to 2).
enum class TagUse : uint8_t { state = 3, join = 4, table = 5, connected = 6, all_connected = 7 };
// `key` is that of the communicator, or of the rendezvous of its ranks.
uint64_t tag_of(uint64_t key, uint32_t from, uint32_t to, uint8_t use);

class NetworkLink : public Link {
 public:
  NetworkLink(NetworkEngine& engine, std::shared_ptr<Endpoint> peer, uint64_t key, uint32_t my_rank,
              uint32_t their_rank, size_t piece);
  // Waits a moment for messages in flight.
  ~NetworkLink() override;

  std::byte* room(Lane lane) override;
  void send(Lane lane, const PieceHead& head) override;
  bool flushed(Lane lane) override;
  std::optional<Arrived> arrived(Lane lane) override;
  void taken(Lane lane) override;
  void discard(Lane lane) override;
  Status peer_state() override;
  bool peer_alive() override;
  void notify(RankState what, const std::string& why) override;

 private:
  struct Wires;
  const std::shared_ptr<Wires> wires_;
};

}  // namespace anynpu::collective
