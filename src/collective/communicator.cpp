// SPDX-License-Identifier: Apache-2.0
#include "collective/communicator.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/align.h"
#include "base/env.h"
#include "collective/member_exchange.h"
#include "collective/network.h"
#include "collective/transport.h"

namespace anynpu::collective {

namespace {

constexpr size_t kLeastPiece = 4096;
constexpr size_t kMostPiece = 256 << 10;  // a few of them fit the cache of a core

size_t piece_for(uint64_t buffer_bytes, uint32_t ranks) {
  const uint64_t share = buffer_bytes / (uint64_t{ranks} * kLanes * kSlots);
  return round_down(std::clamp<uint64_t>(share, kLeastPiece, kMostPiece), kLeastPiece);
}

uint64_t exec_limit(int64_t seconds) {
  if (seconds < 0) seconds = env::integer(env::Name::hccl_exec_timeout);
  if (seconds <= 0) return UINT64_MAX;
  return static_cast<uint64_t>(std::min<int64_t>(seconds, 1 << 30)) * 1'000'000'000u;
}

std::string made_up_name(const RankRecord& root) {
  return format("anynpu_{}_{:016x}", root.pid, root.segment.secret);
}

}  // namespace

Communicator::Communicator(uint32_t rank, uint32_t size, int32_t device)
    : rank_(rank), size_(size), device_(device), links_(size), sends_(size), receives_(size) {}

Result<std::shared_ptr<Communicator>> Communicator::publish(std::unique_ptr<Exchange> exchange,
                                                            uint32_t rank, uint32_t ranks,
                                                            int32_t device,
                                                            const CommunicatorOptions& options) {
  auto made = std::shared_ptr<Communicator>(new Communicator(rank, ranks, device));
  made->name_ = options.name;
  made->exec_timeout_ns_ = exec_limit(options.exec_seconds);
  const int64_t mib = std::clamp<int64_t>(env::integer(env::Name::hccl_buffsize), 1, 1 << 20);
  const uint64_t buffer =
      options.buffer_bytes ? options.buffer_bytes : static_cast<uint64_t>(mib) << 20;
  auto segment = Segment::create(ranks, piece_for(buffer, ranks));
  if (!segment.ok()) {
    exchange->give_up(segment.status());
    return segment.status();
  }
  made->segment_ = std::move(segment).value();
  made->record_.machine = this_machine();
  made->record_.pid = getpid();
  made->record_.device = device;
  made->record_.segment = made->segment_->ticket();
  made->record_.piece = made->segment_->piece();
  ANYNPU_ASSIGN(const NetworkEngine* engine, network_engine());
  if (engine && engine->address().size() <= sizeof made->record_.address) {
    made->record_.address_bytes = static_cast<uint32_t>(engine->address().size());
    std::copy(engine->address().begin(), engine->address().end(), made->record_.address);
  }
  ANYNPU_TRY(exchange->publish(made->record_));
  made->exchange_ = std::move(exchange);
  return made;
}

Status Communicator::connect(const Deadline& deadline) {
  const auto connect_all = [&]() -> Status {
    ANYNPU_ASSIGN(const auto records, exchange_->collect(deadline));
    piece_ = record_.piece;
    for (const RankRecord& record : records) piece_ = std::min<size_t>(piece_, record.piece);
    if (piece_ < kLeastPiece || piece_ % 16) {
      return anynpu::fail(Code::version_mismatch, "a rank asks for pieces of {} bytes", piece_);
    }
    if (name_.empty()) name_ = made_up_name(records[0]);
    for (uint32_t peer = 0; peer < size_; ++peer) {
      if (peer == rank_) continue;
      ANYNPU_ASSIGN(links_[peer],
                    collective::connect({record_, records[peer], rank_, peer, segment_,
                                         records[0].segment.secret, piece_}));
    }
    return exchange_->mark_connected();
  };
  Status status = connect_all();
  if (!status.ok()) exchange_->give_up(status);
  return status;
}

Status Communicator::wait_connected(const Deadline& deadline) {
  Status status = exchange_->wait_connected(deadline);
  if (!status.ok()) exchange_->give_up(status);
  if (status.ok()) segment_->close_to_others();
  exchange_.reset();
  return status;
}

Result<std::shared_ptr<Communicator>> Communicator::make(std::unique_ptr<Exchange> exchange,
                                                         uint32_t rank, uint32_t ranks,
                                                         int32_t device,
                                                         const CommunicatorOptions& options) {
  const Deadline deadline = connect_deadline();
  ANYNPU_ASSIGN(auto made, publish(std::move(exchange), rank, ranks, device, options));
  ANYNPU_TRY(made->connect(deadline));
  ANYNPU_TRY(made->wait_connected(deadline));
  return made;
}

Communicator::~Communicator() {
  if (segment_) segment_->set_left();
  for (auto& link : links_) {
    if (link) link->notify(RankState::left, {});
  }
}

Status Communicator::failure() const {
  if (!failed_.load(std::memory_order_acquire)) [[likely]]
    return {};
  std::lock_guard lock(failure_mutex_);
  return failure_;
}

void Communicator::fail(const Status& why) {
  std::lock_guard lock(failure_mutex_);
  if (failed_.load(std::memory_order_relaxed)) return;
  failure_ = why;
  failed_.store(true, std::memory_order_release);
  segment_->set_failed(why.message());
  for (auto& link : links_) {
    if (link) link->notify(RankState::failed, why.message());
  }
}

Status Communicator::enter_step(uint64_t epoch) {
  steps_.fetch_add(1);
  Status status = failure();
  if (status.ok() && epoch != this->epoch()) {
    status = anynpu::fail(Code::aborted, "the communicator was resumed meanwhile");
  }
  if (!status.ok()) leave_step();
  return status;
}

Status Communicator::resume(const Deadline& deadline) {
  // An operation that still runs ends at this failure.
  fail(anynpu::fail(Code::aborted, "rank {} resumes the communicator", rank_));
  const uint64_t turn = epoch_.fetch_add(1, std::memory_order_acq_rel) + 1;
  ANYNPU_ASSIGN(const bool quiet, poll_until(deadline, [&] { return steps_.load() == 0; }));
  if (!quiet) return anynpu::fail(Code::timeout, "an operation of rank {} does not end", rank_);
  // Two barriers: first all ranks have stopped writing, then all of them have cleaned up.
  for (const uint64_t step : {2 * turn, 2 * turn + 1}) {
    for (uint32_t peer = 0; peer < size_; ++peer) {
      if (peer != rank_) ANYNPU_TRY(send_message(peer, kResumeKey + step, {}, deadline));
    }
    for (uint32_t peer = 0; peer < size_; ++peer) {
      if (peer != rank_) ANYNPU_TRY(receive_message(peer, kResumeKey + step, deadline).status());
    }
    if (step % 2) break;
    for (uint32_t peer = 0; peer < size_; ++peer) {
      if (peer == rank_) continue;
      links_[peer]->discard(Lane::collective);
      links_[peer]->discard(Lane::pair);
      sends_[peer].now.store(0), sends_[peer].next.store(0);
      receives_[peer].now.store(0), receives_[peer].next.store(0);
    }
    collectives_.now.store(0), collectives_.next.store(0);
    segment_->clear_failed();
  }
  std::lock_guard lock(failure_mutex_);
  failure_ = {};
  failed_.store(false, std::memory_order_release);
  return {};
}

Result<std::shared_ptr<Communicator>> Communicator::make_sub(std::span<const uint32_t> members,
                                                             uint64_t id, uint32_t sub_rank,
                                                             const CommunicatorOptions& options) {
  ANYNPU_TRY(failure());
  auto exchange = std::make_unique<MemberExchange>(shared_from_this(), members, sub_rank, id);
  return make(std::move(exchange), sub_rank, static_cast<uint32_t>(members.size()), device_,
              options);
}

Status Communicator::send_message(uint32_t peer, uint64_t key, std::span<const std::byte> bytes,
                                  const Deadline& deadline) {
  std::unique_lock lock(messages_mutex_);
  std::byte* room = nullptr;
  Status gone;
  ANYNPU_ASSIGN(const bool sent, poll_until(deadline, [&] {
                  room = links_[peer]->room(Lane::control);
                  if (!room) take_messages(peer);  // it may wait for room as well
                  return room != nullptr || !(gone = lost_peer(peer)).ok();
                }));
  if (!gone.ok()) return gone;
  if (!sent) {
    return anynpu::fail(Code::timeout, "rank {} took no message within {}", peer, connect_limit());
  }
  if (!bytes.empty()) std::memcpy(room, bytes.data(), bytes.size());
  links_[peer]->send(Lane::control, {key, bytes.size(), 0, static_cast<uint32_t>(bytes.size())});
  return {};
}

void Communicator::take_messages(uint32_t peer) {
  while (const auto arrived = links_[peer]->arrived(Lane::control)) {
    messages_[{peer, arrived->head.operation}].emplace_back(arrived->data,
                                                            arrived->data + arrived->head.bytes);
    links_[peer]->taken(Lane::control);
  }
}

// A failed rank can still be reached; a dead one cannot.
Status Communicator::lost_peer(uint32_t peer) {
  Status state = links_[peer]->peer_state();
  if (!state.ok() && failed_.load(std::memory_order_relaxed)) {
    return links_[peer]->peer_alive() ? Status() : state;
  }
  return state;
}

Result<Communicator::Bytes> Communicator::receive_message(uint32_t peer, uint64_t key,
                                                          const Deadline& deadline) {
  Bytes received;
  Status gone;
  ANYNPU_ASSIGN(const bool came, poll_until(deadline, [&] {
                  std::lock_guard lock(messages_mutex_);
                  gone = lost_peer(peer);  // asked first: what it sent before is taken then
                  take_messages(peer);
                  const auto at = messages_.find({peer, key});
                  if (at == messages_.end()) return !gone.ok();
                  gone = {};
                  received = std::move(at->second.front());
                  at->second.erase(at->second.begin());
                  if (at->second.empty()) messages_.erase(at);
                  return true;
                }));
  if (!gone.ok()) return gone;
  if (came) return received;
  return anynpu::fail(Code::timeout,
                      "rank {} sent no answer within {}; look whether it makes the "
                      "same call",
                      peer, connect_limit());
}

}  // namespace anynpu::collective
