// SPDX-License-Identifier: Apache-2.0
#include "collective/segment.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "base/align.h"

namespace anynpu::collective {

namespace {

constexpr uint64_t kMagic = 0x31676573796e61;  // "anyseg1"
constexpr size_t kWhyBytes = 1024;
constexpr uint32_t kMostRanks = 1u << 16;
constexpr size_t kMostPiece = size_t{64} << 20;

size_t ring_bytes(size_t piece) {
  return round_up(sizeof(RingHead) + kSlots * (kSlotHeadBytes + piece), SharedFile::kPageBytes);
}

}  // namespace

struct Segment::Head {
  uint64_t magic;
  uint32_t ranks;
  uint64_t piece;
  std::atomic<uint32_t> left;
  std::atomic<uint32_t> failed;
  char why[kWhyBytes];
};

std::byte* Ring::room() {
  if (mine_ - other_ >= kSlots) {
    other_ = head().taken.load(std::memory_order_acquire);
    if (mine_ - other_ >= kSlots) return nullptr;
  }
  return slot(mine_) + kSlotHeadBytes;
}

void Ring::send(const PieceHead& piece) {
  std::memcpy(slot(mine_), &piece, sizeof piece);
  head().written.store(++mine_, std::memory_order_release);
}

std::optional<Arrived> Ring::arrived() {
  if (mine_ == other_) {
    other_ = head().written.load(std::memory_order_acquire);
    if (mine_ == other_) return std::nullopt;
  }
  Arrived arrived;
  std::memcpy(&arrived.head, slot(mine_), sizeof arrived.head);
  arrived.head.bytes = static_cast<uint32_t>(std::min<size_t>(arrived.head.bytes, piece_));
  arrived.data = slot(mine_) + kSlotHeadBytes;
  return arrived;
}

void Ring::taken() { head().taken.store(++mine_, std::memory_order_release); }

void Ring::discard() {
  mine_ = other_ = head().written.load(std::memory_order_acquire);
  head().taken.store(mine_, std::memory_order_release);
}

Result<std::shared_ptr<Segment>> Segment::create(uint32_t ranks, size_t piece) {
  static_assert(sizeof(Head) <= SharedFile::kPageBytes && sizeof(PieceHead) <= kSlotHeadBytes);
  const size_t bytes = SharedFile::kPageBytes + ranks * kLanes * ring_bytes(piece);
  ANYNPU_ASSIGN(auto file, SharedFile::create(bytes, kMagic));
  ANYNPU_ASSIGN(void* at, file->map(nullptr, bytes, 0));
  auto segment =
      std::shared_ptr<Segment>(new Segment(file, static_cast<std::byte*>(at), bytes, ranks, piece));
  Head& head = segment->head();
  head.ranks = ranks;
  head.piece = piece;
  head.magic = kMagic;
  file->share(SharedFile::Admit::anyone);
  return segment;
}

Result<std::shared_ptr<Segment>> Segment::open(const ShareTicket& ticket) {
  ANYNPU_ASSIGN(auto file, SharedFile::open(ticket));
  const size_t bytes = file->bytes();
  ANYNPU_ASSIGN(void* at, file->map(nullptr, bytes, 0));
  const Head& head = *static_cast<Head*>(at);
  const uint32_t ranks = head.ranks;
  const size_t piece = head.piece;
  if (file->label() != kMagic || head.magic != kMagic || ranks == 0 || ranks > kMostRanks ||
      piece == 0 || piece > kMostPiece ||
      SharedFile::kPageBytes + ranks * kLanes * ring_bytes(piece) > bytes) {
    munmap(at, bytes);
    return fail(Code::version_mismatch,
                "process {} shares memory of another form; use one release of AnyNPU for all ranks",
                ticket.pid);
  }
  return std::shared_ptr<Segment>(
      new Segment(std::move(file), static_cast<std::byte*>(at), bytes, ranks, piece));
}

Segment::~Segment() { munmap(at_, bytes_); }

Ring Segment::ring(uint32_t sender, Lane lane) const {
  const size_t number = sender * kLanes + static_cast<size_t>(lane);
  return {at_ + SharedFile::kPageBytes + number * ring_bytes(piece_), piece_};
}

void Segment::set_left() { head().left.store(1, std::memory_order_release); }

void Segment::set_failed(const std::string& why) {
  const size_t length = std::min(why.size(), kWhyBytes - 1);
  std::memcpy(head().why, why.data(), length);
  head().why[length] = 0;
  head().failed.store(1, std::memory_order_release);
}

void Segment::clear_failed() { head().failed.store(0, std::memory_order_release); }

bool Segment::left() const { return head().left.load(std::memory_order_acquire) != 0; }
bool Segment::failed() const { return head().failed.load(std::memory_order_acquire) != 0; }
std::string Segment::why() const { return {head().why, strnlen(head().why, kWhyBytes)}; }

SharedLink::SharedLink(std::shared_ptr<Segment> mine, uint32_t my_rank,
                       std::shared_ptr<Segment> theirs, uint32_t their_rank, int32_t their_pid)
    : mine_(std::move(mine)),
      theirs_(std::move(theirs)),
      their_rank_(their_rank),
      process_(their_pid) {
  for (size_t lane = 0; lane < kLanes; ++lane) {
    out_[lane] = theirs_->ring(my_rank, static_cast<Lane>(lane));
    in_[lane] = mine_->ring(their_rank, static_cast<Lane>(lane));
  }
}

Status SharedLink::peer_state() {
  if (theirs_->failed()) {
    return fail(Code::task_failed, "rank {} (process {}) failed: {}", their_rank_, process_.pid(),
                theirs_->why());
  }
  if (theirs_->left()) {
    return fail(Code::task_failed,
                "rank {} (process {}) destroyed its communicator; all ranks must make the same "
                "calls before they destroy it",
                their_rank_, process_.pid());
  }
  if (!process_.alive()) {
    return fail(Code::task_failed,
                "process {} of rank {} ended without destroying its communicator; look for its "
                "own message",
                process_.pid(), their_rank_);
  }
  return {};
}

}  // namespace anynpu::collective
