// SPDX-License-Identifier: Apache-2.0
// A link carries chunks of data ("pieces") between two ranks, in both directions, in order. It has
// lanes that do not wait for each other. Nothing blocks: if there is no room, or nothing has
// arrived, the caller tries again later. transport.h lists the transports that create links.
//
// One thread at a time uses one direction of one lane.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace anynpu::collective {

enum class Lane : uint8_t { collective, pair, control };
inline constexpr size_t kLanes = 3;

// The header of a piece. Both sides know what they expect: a mismatch is an error in the
// program.
struct PieceHead {
  uint64_t operation = 0;  // its number in this lane
  uint64_t total = 0;      // bytes of the whole part
  uint32_t what = 0;       // operation, type and phase, packed
  uint32_t bytes = 0;      // of this piece

  bool same_part(const PieceHead& other) const {
    return operation == other.operation && total == other.total && what == other.what;
  }
};

struct Arrived {
  PieceHead head;
  const std::byte* data;
};

// The state that a rank sends to its peers.
enum class RankState : uint32_t { running, left, failed };

class Link {
 public:
  Link() = default;
  virtual ~Link() = default;
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  // The buffer for the next piece, with room for a full one; null when there is none now.
  virtual std::byte* room(Lane lane) = 0;
  // Sends the piece written there.
  virtual void send(Lane lane, const PieceHead& head) = 0;
  // Whether everything sent has reached the peer, or is where the peer can read it even after this
  // rank is gone.
  virtual bool flushed(Lane) { return true; }
  // The next piece that arrived; it stays there until taken().
  virtual std::optional<Arrived> arrived(Lane lane) = 0;
  virtual void taken(Lane lane) = 0;
  // Drops what arrived, when an operation was given up.
  virtual void discard(Lane lane) = 0;
  // Why nothing more will arrive, or ok. Pieces that arrived before can still be taken.
  virtual Status peer_state() = 0;
  // Whether the peer still exists, failed or not.
  virtual bool peer_alive() = 0;
  // Notifies the peer, if it cannot see the state by itself.
  virtual void notify(RankState, const std::string& why) { (void)why; }
};

}  // namespace anynpu::collective
