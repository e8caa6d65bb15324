// SPDX-License-Identifier: Apache-2.0
// Rendezvous with ranks of other machines: each sends its record to the process that created the
// root info and gets those of all ranks back. That process publishes the records while one of its
// ranks waits (NetworkRemoteRanks).
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "collective/network.h"
#include "collective/rendezvous.h"

namespace anynpu::collective {

// A rank on another machine than the process that created the root info.
class NetworkExchange : public Exchange {
 public:
  static Result<std::unique_ptr<Exchange>> join(NetworkEngine& engine,
                                                std::span<const uint8_t> root_address, uint64_t key,
                                                uint32_t rank, uint32_t ranks);
  Status publish(const RankRecord& mine) override;
  Result<std::vector<RankRecord>> collect(const Deadline& deadline) override;
  Status mark_connected() override;
  Status wait_connected(const Deadline& deadline) override;
  void give_up(const Status& why) override;

  // Message to the root: a record, or that this rank gave up.
  struct Note {
    uint32_t failed = 0;
    uint32_t ranks = 0;  // as this rank was created with
    char why[504] = {};
    RankRecord record;
  };

 private:
  NetworkExchange(NetworkEngine& engine, std::shared_ptr<Endpoint> root, uint64_t key,
                  uint32_t rank, uint32_t ranks)
      : engine_(engine), root_(std::move(root)), key_(key), rank_(rank), ranks_(ranks) {
    note_.ranks = ranks;
  }
  Status send_to_root(uint8_t use);
  // Receives `bytes` from the root; they begin with 0, or with a text that says why it failed.
  Status receive_from_root(uint8_t use, std::vector<std::byte>& bytes, const Deadline& deadline);

  NetworkEngine& engine_;
  const std::shared_ptr<Endpoint> root_;
  const uint64_t key_;
  const uint32_t rank_, ranks_;
  Note note_;
  std::vector<std::unique_ptr<Message>> sent_;
  std::vector<std::byte> buffer_;
};

// The ranks of other machines, as the process of the root info serves them. Used by one thread.
class NetworkRemoteRanks : public Rendezvous::RemoteRanks {
 public:
  NetworkRemoteRanks(NetworkEngine& engine, Rendezvous& rendezvous, uint32_t ranks);
  ~NetworkRemoteRanks() override;
  void serve() override;

 private:
  struct RemoteRank;
  void take(uint32_t rank, uint8_t use, NetworkExchange::Note& note,
            std::unique_ptr<Message>& message);
  void answer(uint8_t use, std::span<const std::byte> bytes);

  NetworkEngine& engine_;
  Rendezvous& rendezvous_;
  const uint32_t ranks_;
  std::vector<std::unique_ptr<RemoteRank>> remote_ranks_;
  std::vector<std::byte> table_, end_;
  bool table_sent_ = false, end_sent_ = false;
};

}  // namespace anynpu::collective
