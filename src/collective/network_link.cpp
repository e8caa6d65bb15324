// SPDX-License-Identifier: Apache-2.0
#include "collective/network_link.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "collective/exchange.h"

namespace anynpu::collective {

namespace {

constexpr size_t kUnderWay = 4;  // pieces of a lane in one direction
constexpr size_t kHeadBytes = 64;
constexpr uint64_t kFlushNs = 100'000;
constexpr int64_t kPartingMs = 2000;

// What a rank sends when it leaves or fails.
struct StateMessage {
  uint32_t what;
  char why[1020];
};

}  // namespace

uint64_t tag_of(uint64_t key, uint32_t from, uint32_t to, uint8_t use) {
  const uint64_t mixed = (key ^ (key >> 29)) * 0x9e3779b97f4a7c15u;
  return (mixed >> 27) << 27 | uint64_t{from & 0xfff} << 15 | uint64_t{to & 0xfff} << 3 | use;
}

struct NetworkLink::Wires : std::enable_shared_from_this<Wires> {
  struct Slot {
    std::vector<std::byte> bytes;
    std::unique_ptr<Message> message;  // null: free, or taken in
  };
  struct LaneWires {
    std::array<Slot, kUnderWay> out, in;
    uint64_t sent = 0, received = 0;
  };

  NetworkEngine& engine;
  std::shared_ptr<Endpoint> peer;
  uint64_t key = 0;
  uint32_t mine = 0, theirs = 0;
  size_t piece = 0;
  std::mutex mutex;
  std::array<LaneWires, kLanes> lanes;
  Status failure;
  bool flushing = false;
  StateMessage sent_state = {}, received_state = {};
  std::unique_ptr<Message> sending_state, receiving_state;

  explicit Wires(NetworkEngine& of) : engine(of) {}

  // True when the slot's message is over. A failure is kept.
  bool over(std::unique_ptr<Message>& message) {
    if (!message) return true;
    auto done = message->done();
    if (!done.ok()) {
      if (failure.ok()) failure = done.status();
      return false;
    }
    if (*done) message.reset();
    return *done;
  }
  void listen(uint8_t lane, Slot& slot) {
    slot.bytes.resize(kHeadBytes + piece);
    auto message = engine.receive(tag_of(key, theirs, mine, lane), slot.bytes);
    if (message.ok()) {
      slot.message = std::move(message).value();
    } else if (failure.ok()) {
      failure = message.status();
    }
  }
  void listen_for_state() {
    received_state = {};
    const uint64_t tag = tag_of(key, theirs, mine, static_cast<uint8_t>(TagUse::state));
    auto message = engine.receive(tag, std::as_writable_bytes(std::span(&received_state, 1)));
    if (message.ok()) receiving_state = std::move(message).value();
  }
  bool all_sent() {
    bool all = over(sending_state);
    for (LaneWires& lane : lanes) {
      for (Slot& slot : lane.out) all = over(slot.message) && all;
    }
    return all || !failure.ok();
  }
  // With the lock held: sends go on until they are over.
  void keep_flushing() {
    if (flushing) return;
    flushing = true;
    ThreadPool::instance().submit_after(kFlushNs, [self = shared_from_this()] {
      std::lock_guard lock(self->mutex);
      self->flushing = false;
      if (!self->all_sent()) self->keep_flushing();
    });
  }
};

NetworkLink::NetworkLink(NetworkEngine& engine, std::shared_ptr<Endpoint> peer, uint64_t key,
                         uint32_t my_rank, uint32_t their_rank, size_t piece)
    : wires_(std::make_shared<Wires>(engine)) {
  wires_->peer = std::move(peer);
  wires_->key = key;
  wires_->mine = my_rank;
  wires_->theirs = their_rank;
  wires_->piece = piece;
  wires_->listen_for_state();
  for (uint8_t lane = 0; lane < kLanes; ++lane) {
    for (Wires::Slot& slot : wires_->lanes[lane].in) wires_->listen(lane, slot);
  }
}

NetworkLink::~NetworkLink() {
  const auto sent = [&] {
    std::lock_guard lock(wires_->mutex);
    return wires_->all_sent();
  };
  (void)poll_until(Deadline::after_ms(kPartingMs), sent);
  std::lock_guard lock(wires_->mutex);
  for (Wires::LaneWires& lane : wires_->lanes) {
    for (auto* slots : {&lane.out, &lane.in}) {
      for (Wires::Slot& slot : *slots) slot.message.reset();
    }
  }
  wires_->sending_state.reset();
  wires_->receiving_state.reset();
}

std::byte* NetworkLink::room(Lane lane) {
  std::lock_guard lock(wires_->mutex);
  Wires::LaneWires& wires = wires_->lanes[static_cast<size_t>(lane)];
  Wires::Slot& slot = wires.out[wires.sent % kUnderWay];
  if (!wires_->over(slot.message)) return nullptr;
  slot.bytes.resize(kHeadBytes + wires_->piece);
  return slot.bytes.data() + kHeadBytes;
}

void NetworkLink::send(Lane lane, const PieceHead& head) {
  std::lock_guard lock(wires_->mutex);
  Wires::LaneWires& wires = wires_->lanes[static_cast<size_t>(lane)];
  Wires::Slot& slot = wires.out[wires.sent++ % kUnderWay];
  std::memcpy(slot.bytes.data(), &head, sizeof head);
  const uint64_t tag =
      tag_of(wires_->key, wires_->mine, wires_->theirs, static_cast<uint8_t>(lane));
  auto message =
      wires_->engine.send(wires_->peer, tag, std::span(slot.bytes).first(kHeadBytes + head.bytes));
  if (!message.ok()) {
    if (wires_->failure.ok()) wires_->failure = message.status();
    return;
  }
  slot.message = std::move(message).value();
  if (!wires_->over(slot.message)) wires_->keep_flushing();
}

bool NetworkLink::flushed(Lane lane) {
  std::lock_guard lock(wires_->mutex);
  bool all = true;
  for (Wires::Slot& slot : wires_->lanes[static_cast<size_t>(lane)].out) {
    all = wires_->over(slot.message) && all;
  }
  return all;
}

std::optional<Arrived> NetworkLink::arrived(Lane lane) {
  std::lock_guard lock(wires_->mutex);
  Wires::LaneWires& wires = wires_->lanes[static_cast<size_t>(lane)];
  Wires::Slot& slot = wires.in[wires.received % kUnderWay];
  if (!wires_->over(slot.message)) return std::nullopt;
  Arrived arrived;
  std::memcpy(&arrived.head, slot.bytes.data(), sizeof arrived.head);
  arrived.head.bytes = static_cast<uint32_t>(std::min<size_t>(arrived.head.bytes, wires_->piece));
  arrived.data = slot.bytes.data() + kHeadBytes;
  return arrived;
}

void NetworkLink::taken(Lane lane) {
  std::lock_guard lock(wires_->mutex);
  Wires::LaneWires& wires = wires_->lanes[static_cast<size_t>(lane)];
  wires_->listen(static_cast<uint8_t>(lane), wires.in[wires.received++ % kUnderWay]);
}

// What is on its way when all have stopped arrives within moments.
void NetworkLink::discard(Lane lane) {
  for (int quiet = 0; quiet < 20; ++quiet) {
    while (arrived(lane)) taken(lane), quiet = 0;
    (void)poll_until(Deadline::after_ms(1), [] { return false; });
  }
  std::lock_guard lock(wires_->mutex);
  if (!wires_->receiving_state &&
      wires_->received_state.what == static_cast<uint32_t>(RankState::failed)) {
    wires_->listen_for_state();
  }
}

Status NetworkLink::peer_state() {
  std::lock_guard lock(wires_->mutex);
  if (wires_->receiving_state && wires_->over(wires_->receiving_state)) {
    wires_->received_state.why[sizeof wires_->received_state.why - 1] = 0;
  }
  if (!wires_->receiving_state &&
      wires_->received_state.what == static_cast<uint32_t>(RankState::failed)) {
    return fail(Code::task_failed, "rank {} (on another machine) failed: {}", wires_->theirs,
                wires_->received_state.why);
  }
  if (!wires_->receiving_state &&
      wires_->received_state.what == static_cast<uint32_t>(RankState::left)) {
    return fail(Code::task_failed,
                "rank {} (on another machine) destroyed its communicator; all ranks must make the "
                "same calls before they destroy it",
                wires_->theirs);
  }
  Status state = wires_->failure.ok() ? wires_->peer->state() : wires_->failure;
  if (state.ok()) return {};
  return fail(Code::task_failed, "rank {} (on another machine) cannot be reached: {}",
              wires_->theirs, state.message());
}

bool NetworkLink::peer_alive() {
  std::lock_guard lock(wires_->mutex);
  return wires_->failure.ok() && wires_->peer->state().ok() &&
         wires_->received_state.what != static_cast<uint32_t>(RankState::left);
}

void NetworkLink::notify(RankState what, const std::string& why) {
  std::lock_guard lock(wires_->mutex);
  if (!wires_->over(wires_->sending_state)) return;  // one of them is enough
  wires_->sent_state.what = static_cast<uint32_t>(what);
  const size_t length = std::min(why.size(), sizeof wires_->sent_state.why - 1);
  std::memcpy(wires_->sent_state.why, why.data(), length);
  wires_->sent_state.why[length] = 0;
  const uint64_t tag =
      tag_of(wires_->key, wires_->mine, wires_->theirs, static_cast<uint8_t>(TagUse::state));
  auto message =
      wires_->engine.send(wires_->peer, tag, std::as_bytes(std::span(&wires_->sent_state, 1)),
                          NetworkEngine::Until::gone);
  if (!message.ok()) return;
  wires_->sending_state = std::move(message).value();
  wires_->keep_flushing();
}

}  // namespace anynpu::collective
