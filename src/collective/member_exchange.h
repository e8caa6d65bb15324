// SPDX-License-Identifier: Apache-2.0
// How members of a communicator create a sub-communicator: they exchange records over its links.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "collective/exchange.h"

namespace anynpu::collective {

class Communicator;

// Keys of messages: those of resume() are above all others.
inline constexpr uint64_t kResumeKey = uint64_t{1} << 63;

class MemberExchange : public Exchange {
 public:
  // `members` are ranks of `parent`; this rank is number `self` of them. All pass the same `id`.
  MemberExchange(std::shared_ptr<Communicator> parent, std::span<const uint32_t> members,
                 uint32_t self, uint64_t id);
  Status publish(const RankRecord& mine) override;
  Result<std::vector<RankRecord>> collect(const Deadline& deadline) override;
  Status mark_connected() override;
  Status wait_connected(const Deadline& deadline) override;
  void give_up(const Status& why) override;

 private:
  // Sends a message to all other members, and receives one from each.
  Status send_to_members(uint64_t key, std::span<const std::byte> bytes, const Deadline& deadline);
  uint64_t connected_key() const { return key_ | 1; }

  const std::shared_ptr<Communicator> parent_;
  const std::vector<uint32_t> members_;
  const uint32_t self_;
  const uint64_t key_;
  RankRecord mine_;
};

}  // namespace anynpu::collective
