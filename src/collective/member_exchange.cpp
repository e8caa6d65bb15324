// SPDX-License-Identifier: Apache-2.0
#include "collective/member_exchange.h"

#include <cstring>

#include "collective/communicator.h"

namespace anynpu::collective {

namespace {

// Even, and the same for the same members and id: groups of other members do not connect.
uint64_t key_of(std::span<const uint32_t> members, uint64_t id) {
  uint64_t key = id * 0x9e3779b97f4a7c15u + members.size();
  for (const uint32_t rank : members) key = (key ^ rank) * 0x100000001b3u + (key >> 29);
  return key & (kResumeKey - 1) & ~uint64_t{1};
}

}  // namespace

MemberExchange::MemberExchange(std::shared_ptr<Communicator> parent,
                               std::span<const uint32_t> members, uint32_t self, uint64_t id)
    : parent_(std::move(parent)),
      members_(members.begin(), members.end()),
      self_(self),
      key_(key_of(members, id)) {}

Status MemberExchange::send_to_members(uint64_t key, std::span<const std::byte> bytes,
                                       const Deadline& deadline) {
  for (uint32_t i = 0; i < members_.size(); ++i) {
    if (i != self_) ANYNPU_TRY(parent_->send_message(members_[i], key, bytes, deadline));
  }
  return {};
}

// The first byte says whether a record or the reason of a failure follows.
Status MemberExchange::publish(const RankRecord& mine) {
  mine_ = mine;
  std::vector<std::byte> message(1 + sizeof mine, std::byte{0});
  std::memcpy(message.data() + 1, &mine, sizeof mine);
  return send_to_members(key_, message, connect_deadline());
}

Result<std::vector<RankRecord>> MemberExchange::collect(const Deadline& deadline) {
  std::vector<RankRecord> records(members_.size());
  for (uint32_t i = 0; i < members_.size(); ++i) {
    if (i == self_) {
      records[i] = mine_;
      continue;
    }
    ANYNPU_ASSIGN(const auto message, parent_->receive_message(members_[i], key_, deadline),
                  "while rank {} waits for rank {} to make a communicator of {} of its ranks",
                  parent_->rank(), members_[i], members_.size());
    if (message.size() != 1 + sizeof(RankRecord)) {
      return fail(Code::task_failed, "rank {} gave up making the communicator", members_[i]);
    }
    std::memcpy(&records[i], message.data() + 1, sizeof(RankRecord));
  }
  return records;
}

Status MemberExchange::mark_connected() {
  return send_to_members(connected_key(), {}, connect_deadline());
}

Status MemberExchange::wait_connected(const Deadline& deadline) {
  for (uint32_t i = 0; i < members_.size(); ++i) {
    if (i == self_) continue;
    ANYNPU_ASSIGN(const auto message,
                  parent_->receive_message(members_[i], connected_key(), deadline));
    if (!message.empty()) {
      return fail(Code::task_failed, "rank {} gave up making the communicator", members_[i]);
    }
  }
  return {};
}

void MemberExchange::give_up(const Status&) {
  const std::byte gave_up[] = {std::byte{1}};
  for (const uint64_t key : {key_, connected_key()}) {
    if (!send_to_members(key, gave_up, Deadline::after_ms(100)).ok()) return;
  }
}

}  // namespace anynpu::collective
