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

Status NetworkExchange::tell_root(uint8_t use) {
  ANYNPU_ASSIGN(auto message, engine_.send(root_, tag_of(key_, rank_, 0, use),
                                           std::as_bytes(std::span(&note_, 1))));
  sent_.push_back(std::move(message));
  return {};
}

Status NetworkExchange::hear_root(uint8_t use, std::vector<std::byte>& bytes,
                                  const Deadline& deadline) {
  ANYNPU_ASSIGN(auto message, engine_.receive(tag_of(key_, 0, rank_, use), bytes));
  Status failure;
  ANYNPU_ASSIGN(const bool came, look_until(deadline, [&] {
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
  return tell_root(use_of(TagUse::join));
}

Result<std::vector<RankRecord>> NetworkExchange::collect(const Deadline& deadline) {
  buffer_.assign(kWhyBytes + ranks_ * sizeof(RankRecord), std::byte{0});
  ANYNPU_TRY(hear_root(use_of(TagUse::table), buffer_, deadline));
  std::vector<RankRecord> records(ranks_);
  std::memcpy(records.data(), buffer_.data() + kWhyBytes, ranks_ * sizeof(RankRecord));
  return records;
}

Status NetworkExchange::mark_connected() { return tell_root(use_of(TagUse::connected)); }

Status NetworkExchange::wait_connected(const Deadline& deadline) {
  buffer_.assign(kWhyBytes, std::byte{0});
  return hear_root(use_of(TagUse::all_connected), buffer_, deadline);
}

void NetworkExchange::give_up(const Status& why) {
  note_.failed = 1;
  const std::string& text = why.message();
  std::memcpy(note_.why, text.data(), std::min(text.size(), sizeof note_.why - 1));
  // The root waits for one of the two.
  (void)tell_root(use_of(TagUse::connected));
  (void)tell_root(use_of(TagUse::join));
  (void)look_until(Deadline::after_ms(100), [&] {
    bool all = true;
    for (auto& sent : sent_) {
      auto done = sent->done();
      all = all && (!done.ok() || *done);
    }
    return all;
  });
}

struct NetworkGuests::Guest {
  NetworkExchange::Note join, connected;
  std::unique_ptr<Message> joining, connecting;
  std::shared_ptr<Endpoint> peer;  // once it has joined
  std::vector<std::unique_ptr<Message>> answers;
};

NetworkGuests::NetworkGuests(NetworkEngine& engine, Board& board, uint32_t ranks)
    : engine_(engine), board_(board), ranks_(ranks) {
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    auto guest = std::make_unique<Guest>();
    const auto expect = [&](TagUse use, NetworkExchange::Note& note) -> std::unique_ptr<Message> {
      auto message = engine.receive(tag_of(board.ticket().secret, rank, 0, use_of(use)),
                                    std::as_writable_bytes(std::span(&note, 1)));
      return message.ok() ? std::move(message).value() : nullptr;
    };
    guest->joining = expect(TagUse::join, guest->join);
    guest->connecting = expect(TagUse::connected, guest->connected);
    guests_.push_back(std::move(guest));
  }
}

NetworkGuests::~NetworkGuests() {
  serve();
  (void)look_until(Deadline::after_ms(kPartingMs), [&] {
    bool all = true;
    for (auto& guest : guests_) {
      for (auto& answer : guest->answers) {
        auto done = answer->done();
        all = all && (!done.ok() || *done);
      }
    }
    return all;
  });
}

void NetworkGuests::take(uint32_t rank, uint8_t use, NetworkExchange::Note& note,
                         std::unique_ptr<Message>& message) {
  auto done = message ? message->done() : Result<bool>(false);
  if (!done.ok() || !*done) return;
  message.reset();
  note.why[sizeof note.why - 1] = 0;
  if (note.failed) return board_.give_up(rank, fail(Code::task_failed, "{}", note.why));
  if (use == use_of(TagUse::connected)) return board_.mark_connected(rank);
  const Status place = board_.take_place(rank, note.ranks);
  auto peer =
      engine_.connect(std::span(note.record.address, std::min<size_t>(note.record.address_bytes,
                                                                      sizeof note.record.address)));
  if (peer.ok()) guests_[rank]->peer = std::move(peer).value();
  if (!place.ok()) return board_.give_up(rank, place);
  if (!guests_[rank]->peer) return board_.give_up(rank, peer.status());
  board_.publish(rank, note.record);
}

void NetworkGuests::answer(uint8_t use, std::span<const std::byte> bytes) {
  for (uint32_t rank = 0; rank < ranks_; ++rank) {
    if (!guests_[rank]->peer) continue;
    auto message =
        engine_.send(guests_[rank]->peer, tag_of(board_.ticket().secret, 0, rank, use), bytes);
    if (message.ok()) guests_[rank]->answers.push_back(std::move(message).value());
  }
}

void NetworkGuests::serve() {
  for (uint32_t rank = 0; rank < ranks_; ++rank) {
    Guest& guest = *guests_[rank];
    take(rank, use_of(TagUse::join), guest.join, guest.joining);
    take(rank, use_of(TagUse::connected), guest.connected, guest.connecting);
    for (auto& sent : guest.answers) (void)sent->done();
  }
  const std::string why = board_.failure();
  const bool failed = !why.empty();
  if (!told_table_ && (failed || board_.missing(ranks_).empty())) {
    told_table_ = true;
    table_ = answer_bytes(why, ranks_ * sizeof(RankRecord));
    for (uint32_t rank = 0; rank < ranks_ && !failed; ++rank) {
      const RankRecord record = board_.record(rank);
      std::memcpy(table_.data() + kWhyBytes + rank * sizeof record, &record, sizeof record);
    }
    answer(use_of(TagUse::table), table_);
  }
  if (told_table_ && !told_end_ && (failed || board_.unconnected(ranks_).empty())) {
    told_end_ = true;
    end_ = answer_bytes(why, 0);
    answer(use_of(TagUse::all_connected), end_);
  }
}

}  // namespace anynpu::collective
