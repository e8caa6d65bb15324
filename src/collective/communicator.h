// SPDX-License-Identifier: Apache-2.0
// A communicator: one rank of a group with its links to the others, the order of its operations
// and its state. The first failure of an operation ends it for all ranks, until resume().
// Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/handle_table.h"
#include "base/result.h"
#include "collective/exchange.h"
#include "collective/link.h"
#include "collective/segment.h"

namespace anynpu::collective {

// Operations that share a lane run one after the other, in the order of the calls.
struct Turn {
  std::atomic<uint64_t> next{0};
  std::atomic<uint64_t> now{0};
  uint64_t take() { return next.fetch_add(1, std::memory_order_relaxed); }
  bool is(uint64_t ticket) const { return now.load(std::memory_order_acquire) == ticket; }
  void pass() { now.fetch_add(1, std::memory_order_acq_rel); }
};

struct CommunicatorOptions {
  std::string name;           // "": generated
  uint64_t buffer_bytes = 0;  // shared with peers; 0: HCCL_BUFFSIZE
  int64_t exec_seconds = -1;  // -1: HCCL_EXEC_TIMEOUT; 0: forever
};

class Communicator : public std::enable_shared_from_this<Communicator> {
 public:
  static constexpr size_t kNameBytes = 128;  // with the zero

  // Created in steps, so that one thread can create several ranks: shares memory, publishes it ...
  static Result<std::shared_ptr<Communicator>> publish(std::unique_ptr<Exchange> exchange,
                                                       uint32_t rank, uint32_t ranks,
                                                       int32_t device,
                                                       const CommunicatorOptions& options);
  // ... connects to all others, which must publish meanwhile ...
  Status connect(const Deadline& deadline);
  // ... and waits until they have connected.
  Status wait_connected(const Deadline& deadline);
  // All three.
  static Result<std::shared_ptr<Communicator>> make(std::unique_ptr<Exchange> exchange,
                                                    uint32_t rank, uint32_t ranks, int32_t device,
                                                    const CommunicatorOptions& options);
  ~Communicator();

  uint32_t rank() const { return rank_; }
  uint32_t size() const { return size_; }
  int32_t device() const { return device_; }
  const std::string& name() const { return name_; }
  size_t piece() const { return piece_; }
  uint64_t exec_timeout_ns() const { return exec_timeout_ns_; }  // UINT64_MAX: never
  Link& link(uint32_t peer) const { return *links_[peer]; }

  Turn& collectives() { return collectives_; }
  Turn& sends(uint32_t peer) { return sends_[peer]; }
  Turn& receives(uint32_t peer) { return receives_[peer]; }

  // Ok, or the first failure. One load when ok.
  Status failure() const;
  // Ends the communicator; peers on this machine get the reason.
  void fail(const Status& why);
  // Around each step of an operation. Steps of an operation that started before a resume() are
  // refused, and resume() waits for running steps.
  uint64_t epoch() const { return epoch_.load(std::memory_order_acquire); }
  Status enter_step(uint64_t epoch);
  void leave_step() { steps_.fetch_sub(1, std::memory_order_release); }
  // Resets the communicator after a failure: all ranks call it, and wait for each other. Data in
  // flight is lost.
  Status resume(const Deadline& deadline);

  // A group of ranks of this one. All members call it with the same ranks and id.
  Result<std::shared_ptr<Communicator>> make_sub(std::span<const uint32_t> members, uint64_t id,
                                                 uint32_t sub_rank,
                                                 const CommunicatorOptions& options);

  // Messages between ranks outside of operations, in order for each key.
  using Bytes = std::vector<std::byte>;
  Status send_message(uint32_t peer, uint64_t key, std::span<const std::byte> bytes,
                      const Deadline& deadline);
  Result<Bytes> receive_message(uint32_t peer, uint64_t key, const Deadline& deadline);

  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

 private:
  Communicator(uint32_t rank, uint32_t size, int32_t device);
  void take_messages(uint32_t peer);
  Status lost_peer(uint32_t peer);

  const uint32_t rank_, size_;
  const int32_t device_;
  std::string name_;
  size_t piece_ = 0;
  uint64_t exec_timeout_ns_ = UINT64_MAX;
  std::unique_ptr<Exchange> exchange_;  // until it is connected
  RankRecord record_;
  std::shared_ptr<Segment> segment_;
  std::vector<std::unique_ptr<Link>> links_;
  Turn collectives_;
  std::vector<Turn> sends_, receives_;

  std::atomic<bool> failed_{false};
  mutable std::mutex failure_mutex_;
  Status failure_;
  std::atomic<uint64_t> epoch_{0};  // number of resumes
  std::atomic<int> steps_{0};       // running

  std::mutex messages_mutex_;
  std::map<std::pair<uint32_t, uint64_t>, std::vector<Bytes>> messages_;
};

}  // namespace anynpu::collective

namespace anynpu {
ANYNPU_HANDLE_TYPE(collective::Communicator, communicator);
}
