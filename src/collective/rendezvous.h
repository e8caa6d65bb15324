// SPDX-License-Identifier: Apache-2.0
// The rendezvous of the ranks of one machine: shared memory of the process that created it, with a
// slot for each rank. Its ticket is part of the root info, which the program sends to the others.
// The creator keeps it until all ranks have met, or the library is finalised. Thread-safe.
#pragma once

#include <memory>

#include "collective/exchange.h"

namespace anynpu::collective {

class Rendezvous {
 public:
  static constexpr uint32_t kMostRanks = 4096;

  // Created and kept by this process.
  static Result<std::shared_ptr<Rendezvous>> create();
  // That of a ticket: this process's own, or opened.
  static Result<std::shared_ptr<Rendezvous>> open(const ShareTicket& ticket);
  // Releases all that this process keeps.
  static void release_all();
  ~Rendezvous();

  ShareTicket ticket() const { return ticket_; }
  bool is_of_this_process() const;

  // Ranks of other machines: served while a rank of this process waits.
  class RemoteRanks {
   public:
    virtual ~RemoteRanks() = default;
    virtual void serve() = 0;
  };

  // Takes the slot of a rank. Fails when it is taken, or when ranks disagree about their number.
  Status take_slot(uint32_t rank, uint32_t ranks);
  void publish(uint32_t rank, const RankRecord& record);
  void mark_connected(uint32_t rank);
  Result<std::vector<RankRecord>> collect(uint32_t ranks, const Deadline& deadline,
                                          RemoteRanks* remote_ranks = nullptr);
  Status wait_connected(uint32_t ranks, const Deadline& deadline,
                        RemoteRanks* remote_ranks = nullptr);
  void give_up(uint32_t rank, const Status& why);
  // The ranks that have not published yet.
  std::vector<uint32_t> missing(uint32_t ranks) const { return below(ranks, Stage::published); }
  std::vector<uint32_t> unconnected(uint32_t ranks) const { return below(ranks, Stage::connected); }
  RankRecord record(uint32_t rank) const;
  // Why a rank gave up; "" when none did.
  std::string failure() const;

  Rendezvous(const Rendezvous&) = delete;
  Rendezvous& operator=(const Rendezvous&) = delete;

 private:
  enum class Stage : uint32_t { free, taken, published, connected };
  struct Slot;
  struct Page;
  Rendezvous(std::shared_ptr<SharedFile> file, Page* page, const ShareTicket& ticket)
      : file_(std::move(file)), page_(page), ticket_(ticket), maker_(ticket.pid) {}
  static Result<std::shared_ptr<Rendezvous>> attach(std::shared_ptr<SharedFile> file,
                                                    const ShareTicket& ticket);
  std::vector<uint32_t> below(uint32_t ranks, Stage stage) const;
  Status wait_for(uint32_t ranks, Stage stage, const char* what, const Deadline& deadline,
                  RemoteRanks* remote_ranks);
  Status lost(uint32_t ranks) const;

  const std::shared_ptr<SharedFile> file_;
  Page* const page_;
  const ShareTicket ticket_;
  const PeerProcess maker_;
};

// One rank at a rendezvous.
class RendezvousExchange : public Exchange {
 public:
  // Takes the slot.
  static Result<std::unique_ptr<RendezvousExchange>> join(std::shared_ptr<Rendezvous> rendezvous,
                                                          uint32_t rank, uint32_t ranks);
  void set_remote_ranks(std::unique_ptr<Rendezvous::RemoteRanks> remote_ranks) {
    remote_ranks_ = std::move(remote_ranks);
  }
  Status publish(const RankRecord& mine) override {
    rendezvous_->publish(rank_, mine);
    return {};
  }
  Result<std::vector<RankRecord>> collect(const Deadline& deadline) override {
    return rendezvous_->collect(ranks_, deadline, remote_ranks_.get());
  }
  Status mark_connected() override {
    rendezvous_->mark_connected(rank_);
    return {};
  }
  Status wait_connected(const Deadline& deadline) override {
    return rendezvous_->wait_connected(ranks_, deadline, remote_ranks_.get());
  }
  void give_up(const Status& why) override { rendezvous_->give_up(rank_, why); }

 private:
  RendezvousExchange(std::shared_ptr<Rendezvous> rendezvous, uint32_t rank, uint32_t ranks)
      : rendezvous_(std::move(rendezvous)), rank_(rank), ranks_(ranks) {}
  const std::shared_ptr<Rendezvous> rendezvous_;
  const uint32_t rank_, ranks_;
  std::unique_ptr<Rendezvous::RemoteRanks> remote_ranks_;
};

}  // namespace anynpu::collective
