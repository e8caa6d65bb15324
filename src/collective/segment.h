// SPDX-License-Identifier: Apache-2.0
// The memory that a rank shares with the ranks of its machine: for each of them and each lane a
// ring of pieces that they write and this rank reads, and the state of this rank. It is anonymous
// (base/shared_file.h) and ends with its last user, however that ended. Other processes may write
// anything into it: sizes are checked before use.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/shared_file.h"
#include "collective/link.h"
#include "collective/peer_process.h"

namespace anynpu::collective {

inline constexpr uint32_t kSlots = 32;  // pieces in a ring
inline constexpr size_t kSlotHeadBytes = 64;

struct RingHead {
  alignas(64) std::atomic<uint64_t> written;  // pieces, by the sender
  alignas(64) std::atomic<uint64_t> taken;    // pieces, by the receiver
};

// One side's view of a ring: its own counter is local, the other side's is read.
class Ring {
 public:
  Ring() = default;
  Ring(std::byte* at, size_t piece) : at_(at), piece_(piece) {}

  std::byte* room();
  void send(const PieceHead& head);
  std::optional<Arrived> arrived();
  void taken();
  // Drops its contents; for the receiver.
  void discard();

 private:
  RingHead& head() const { return *reinterpret_cast<RingHead*>(at_); }
  std::byte* slot(uint64_t number) const {
    return at_ + sizeof(RingHead) + number % kSlots * (kSlotHeadBytes + piece_);
  }
  std::byte* at_ = nullptr;
  size_t piece_ = 0;
  uint64_t mine_ = 0;   // the counter of this side
  uint64_t other_ = 0;  // the other side's counter when last read
};

class Segment {
 public:
  // Of this process, for `ranks` ranks.
  static Result<std::shared_ptr<Segment>> create(uint32_t ranks, size_t piece);
  static Result<std::shared_ptr<Segment>> open(const ShareTicket& ticket);
  ~Segment();

  ShareTicket ticket() const { return file_->ticket(); }
  // Once all have opened it.
  void close_to_others() { file_->close_to_others(); }
  uint32_t ranks() const { return ranks_; }
  size_t piece() const { return piece_; }
  // The ring that `sender` writes.
  Ring ring(uint32_t sender, Lane lane) const;

  // The final state of the rank: it left, or it failed, which ends the communicator for all.
  void set_left();
  void set_failed(const std::string& why);
  void clear_failed();
  bool left() const;
  bool failed() const;
  std::string why() const;

  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

 private:
  struct Head;
  Segment(std::shared_ptr<SharedFile> file, std::byte* at, size_t bytes, uint32_t ranks,
          size_t piece)
      : file_(std::move(file)), at_(at), bytes_(bytes), ranks_(ranks), piece_(piece) {}
  Head& head() const { return *reinterpret_cast<Head*>(at_); }

  const std::shared_ptr<SharedFile> file_;
  std::byte* const at_;
  const size_t bytes_;
  const uint32_t ranks_;
  const size_t piece_;
};

// The link between two ranks of one machine.
class SharedLink : public Link {
 public:
  SharedLink(std::shared_ptr<Segment> mine, uint32_t my_rank, std::shared_ptr<Segment> theirs,
             uint32_t their_rank, int32_t their_pid);
  std::byte* room(Lane lane) override { return out_[index(lane)].room(); }
  void send(Lane lane, const PieceHead& head) override { out_[index(lane)].send(head); }
  std::optional<Arrived> arrived(Lane lane) override { return in_[index(lane)].arrived(); }
  void taken(Lane lane) override { in_[index(lane)].taken(); }
  void discard(Lane lane) override { in_[index(lane)].discard(); }
  Status peer_state() override;
  bool peer_alive() override { return !theirs_->left() && process_.alive(); }

 private:
  static size_t index(Lane lane) { return static_cast<size_t>(lane); }
  const std::shared_ptr<Segment> mine_, theirs_;
  const uint32_t their_rank_;
  const PeerProcess process_;
  Ring out_[kLanes], in_[kLanes];
};

}  // namespace anynpu::collective
