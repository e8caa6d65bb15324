// SPDX-License-Identifier: Apache-2.0
#include "collective/network_exchange.h"

#include <algorithm>
#include <cstring>

#include "collective/network_link.h"

namespace anynpu::collective {

namespace {

constexpr size_t kWhyBytes = 512;
constexpr int64_t kPartingMs = 2000;

uint8_t use_of(TagUse use) { return static_cast<uint8_t>(use); }

// Answers of the root begin with a text of fixed size: empty when all is well.
std::vector<std::byte> answer_bytes(const std::string& why, size_t more) {
  std::vector<std::byte> bytes(kWhyBytes + more);
  std::memcpy(bytes.data(), why.data(), std::min(why.size(), kWhyBytes - 1));
  return bytes;
}

}  // namespace

Result<std::unique_ptr<Exchange>> NetworkExchange::join(NetworkEngine& engine,
                                                        std::span<const uint8_t> root_address,
                                                        uint64_t key, uint32_t rank,
                                                        uint32_t ranks) {
  auto root = engine.connect(root_address);
  if (!root.ok()) {
    return fail(Code::task_failed, "the process that made the root info cannot be reached: {}",
                root.status().message());
  }
  return std::unique_ptr<Exchange>(
      new NetworkExchange(engine, std::move(root).value(), key, rank, ranks));
}

Status NetworkExchange::send_to_root(uint8_t use) {
  ANYNPU_ASSIGN(auto message, engine_.send(root_, tag_of(key_, rank_, 0, use),
                                           std::as_bytes(std::span(&note_, 1))));
  sent_.push_back(std::move(message));
  return {};
}

Status NetworkExchange::receive_from_root(uint8_t use, std::vector<std::byte>& bytes,
                                          const Deadline& deadline) {
  ANYNPU_ASSIGN(auto message, engine_.receive(tag_of(key_, 0, rank_, use), bytes));
  Status failure;
  ANYNPU_ASSIGN(const bool came, poll_until(deadline, [&] {
                  auto done = message->done();
                  failure = done.ok() ? root_->state() : done.status();
                  for (auto& sent : sent_) (void)sent->done();
                  if (done.ok() && *done) failure = {};
                  return !failure.ok() || *done;
                }));
  if (!failure.ok()) {
    return fail(Code::task_failed, "the process that made the root info cannot be reached: {}",
                failure.message());
  }
  if (!came) {
    return fail(Code::timeout,
                "the process that made the root info did not answer rank {} within {}; all ranks "
                "must join",
                rank_, connect_limit());
  }
  const auto* why = reinterpret_cast<const char*>(bytes.data());
  if (why[0] == 0) return {};
  return fail(Code::task_failed, "{}", std::string(why, strnlen(why, kWhyBytes)));
}

Status NetworkExchange::publish(const RankRecord& mine) {
  note_.record = mine;
  return send_to_root(use_of(TagUse::join));
}

Result<std::vector<RankRecord>> NetworkExchange::collect(const Deadline& deadline) {
  buffer_.assign(kWhyBytes + ranks_ * sizeof(RankRecord), std::byte{0});
  ANYNPU_TRY(receive_from_root(use_of(TagUse::table), buffer_, deadline));
  std::vector<RankRecord> records(ranks_);
  std::memcpy(records.data(), buffer_.data() + kWhyBytes, ranks_ * sizeof(RankRecord));
  return records;
}

Status NetworkExchange::mark_connected() { return send_to_root(use_of(TagUse::connected)); }

Status NetworkExchange::wait_connected(const Deadline& deadline) {
  buffer_.assign(kWhyBytes, std::byte{0});
  return receive_from_root(use_of(TagUse::all_connected), buffer_, deadline);
}

void NetworkExchange::give_up(const Status& why) {
  note_.failed = 1;
  const std::string& text = why.message();
  std::memcpy(note_.why, text.data(), std::min(text.size(), sizeof note_.why - 1));
  // The root waits for one of the two.
  (void)send_to_root(use_of(TagUse::connected));
  (void)send_to_root(use_of(TagUse::join));
  (void)poll_until(Deadline::after_ms(100), [&] {
    bool all = true;
    for (auto& sent : sent_) {
      auto done = sent->done();
      all = all && (!done.ok() || *done);
    }
    return all;
  });
}

struct NetworkRemoteRanks::RemoteRank {
  NetworkExchange::Note join, connected;
  std::unique_ptr<Message> joining, connecting;
  std::shared_ptr<Endpoint> peer;  // once it has joined
  std::vector<std::unique_ptr<Message>> answers;
};

NetworkRemoteRanks::NetworkRemoteRanks(NetworkEngine& engine, Rendezvous& rendezvous,
                                       uint32_t ranks)
    : engine_(engine), rendezvous_(rendezvous), ranks_(ranks) {
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    auto remote = std::make_unique<RemoteRank>();
    const auto expect = [&](TagUse use, NetworkExchange::Note& note) -> std::unique_ptr<Message> {
      auto message = engine.receive(tag_of(rendezvous.ticket().secret, rank, 0, use_of(use)),
                                    std::as_writable_bytes(std::span(&note, 1)));
      return message.ok() ? std::move(message).value() : nullptr;
    };
    remote->joining = expect(TagUse::join, remote->join);
    remote->connecting = expect(TagUse::connected, remote->connected);
    remote_ranks_.push_back(std::move(remote));
  }
}

NetworkRemoteRanks::~NetworkRemoteRanks() {
  serve();
  (void)poll_until(Deadline::after_ms(kPartingMs), [&] {
    bool all = true;
    for (auto& remote : remote_ranks_) {
      for (auto& answer : remote->answers) {
        auto done = answer->done();
        all = all && (!done.ok() || *done);
      }
    }
    return all;
  });
}

void NetworkRemoteRanks::take(uint32_t rank, uint8_t use, NetworkExchange::Note& note,
                              std::unique_ptr<Message>& message) {
  auto done = message ? message->done() : Result<bool>(false);
  if (!done.ok() || !*done) return;
  message.reset();
  note.why[sizeof note.why - 1] = 0;
  if (note.failed) return rendezvous_.give_up(rank, fail(Code::task_failed, "{}", note.why));
  if (use == use_of(TagUse::connected)) return rendezvous_.mark_connected(rank);
  const Status slot = rendezvous_.take_slot(rank, note.ranks);
  auto peer =
      engine_.connect(std::span(note.record.address, std::min<size_t>(note.record.address_bytes,
                                                                      sizeof note.record.address)));
  if (peer.ok()) remote_ranks_[rank]->peer = std::move(peer).value();
  if (!slot.ok()) return rendezvous_.give_up(rank, slot);
  if (!remote_ranks_[rank]->peer) return rendezvous_.give_up(rank, peer.status());
  rendezvous_.publish(rank, note.record);
}

void NetworkRemoteRanks::answer(uint8_t use, std::span<const std::byte> bytes) {
  for (uint32_t rank = 0; rank < ranks_; ++rank) {
    if (!remote_ranks_[rank]->peer) continue;
    auto message = engine_.send(remote_ranks_[rank]->peer,
                                tag_of(rendezvous_.ticket().secret, 0, rank, use), bytes);
    if (message.ok()) remote_ranks_[rank]->answers.push_back(std::move(message).value());
  }
}

void NetworkRemoteRanks::serve() {
  for (uint32_t rank = 0; rank < ranks_; ++rank) {
    RemoteRank& remote = *remote_ranks_[rank];
    take(rank, use_of(TagUse::join), remote.join, remote.joining);
    take(rank, use_of(TagUse::connected), remote.connected, remote.connecting);
    for (auto& sent : remote.answers) (void)sent->done();
  }
  const std::string why = rendezvous_.failure();
  const bool failed = !why.empty();
  if (!table_sent_ && (failed || rendezvous_.missing(ranks_).empty())) {
    table_sent_ = true;
    table_ = answer_bytes(why, ranks_ * sizeof(RankRecord));
    for (uint32_t rank = 0; rank < ranks_ && !failed; ++rank) {
      const RankRecord record = rendezvous_.record(rank);
      std::memcpy(table_.data() + kWhyBytes + rank * sizeof record, &record, sizeof record);
    }
    answer(use_of(TagUse::table), table_);
  }
  if (table_sent_ && !end_sent_ && (failed || rendezvous_.unconnected(ranks_).empty())) {
    end_sent_ = true;
    end_ = answer_bytes(why, 0);
    answer(use_of(TagUse::all_connected), end_);
  }
}

}  // namespace anynpu::collective
