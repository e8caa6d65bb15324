// SPDX-License-Identifier: Apache-2.0
// A link carries pieces of data between two ranks, both ways, in the order they were sent. It has
// lanes that do not wait for each other. Nothing blocks: who finds no room, or nothing there, looks
// again later. The transports that make links are listed in transport.h.
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

// What a piece belongs to. Both sides know what they expect: a difference is a fault of the
// program.
struct PieceHead {
  uint64_t operation = 0;  // its number in this lane
  uint64_t total = 0;      // bytes of the part that the piece is of
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

// What a rank says to its peers at the end.
enum class Says : uint32_t { nothing, left, failed };

class Link {
 public:
  Link() = default;
  virtual ~Link() = default;
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  // Where the next piece is to be written, room for a whole one; null when there is none now.
  virtual std::byte* room(Lane lane) = 0;
  // Sends what was written there.
  virtual void send(Lane lane, const PieceHead& head) = 0;
  // Whether all that was sent has reached the peer, or lies where the peer can take it even when
  // this rank is gone.
  virtual bool flushed(Lane) { return true; }
  // The next piece that arrived; it stays there until taken().
  virtual std::optional<Arrived> arrived(Lane lane) = 0;
  virtual void taken(Lane lane) = 0;
  // Forgets what arrived, when an operation was given up.
  virtual void discard(Lane lane) = 0;
  // Why nothing more will come, or ok. What arrived before can still be taken.
  virtual Status peer_state() = 0;
  // Whether the peer is there, failed or not.
  virtual bool talks() = 0;
  // Tells the peer, where it cannot see it by itself.
  virtual void say(Says, const std::string& why) { (void)why; }
};

}  // namespace anynpu::collective
