// SPDX-License-Identifier: Apache-2.0
// Bounded queues of buffers, identified by small ids. Threads wait, stream tasks park: a task takes
// one buffer from each of several queues at once, or puts one into each at once, so that a set is
// never split. One lock guards all queues, because sets span several of them and only pointers are
// moved under it. Thread-safe.
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "device/task.h"

namespace anynpu::device {

// Bytes that pass through queues, with the buffers chained to them. Has one owner at a time: the
// program, a queue or a task.
struct QueueBuffer {
  static constexpr size_t kUserBytes = 96;

  // Aligned to 64 bytes, not cleared. `bytes` may be 0.
  static Result<std::shared_ptr<QueueBuffer>> create(size_t bytes);

  std::shared_ptr<std::byte> data;  // may be shared with other buffers
  size_t capacity = 0;
  size_t length = 0;  // bytes in use
  std::array<std::byte, kUserBytes> user{};
  std::vector<std::shared_ptr<QueueBuffer>> chain;  // without this one; not nested

  // Another buffer over the same bytes, with its chain.
  std::shared_ptr<QueueBuffer> reference() const;
};
using QueueBuffers = std::vector<std::shared_ptr<QueueBuffer>>;

struct QueueOptions {
  std::string name;
  uint32_t depth = 2;
};

// Forwards the buffers of one queue to another. Broken: one of the two was destroyed.
struct QueueLink {
  uint32_t from = 0;
  uint32_t to = 0;
  bool broken = false;
};

class BufferQueues {
 public:
  class Ends;  // queues in the order of a model's inputs or outputs; below

  static BufferQueues& instance();

  Result<uint32_t> create(const QueueOptions& options);
  // Waiting threads get not_found. Fails with bad_call_order while Ends hold the queue.
  Status destroy(uint32_t id);
  // Destroys all queues, even those that Ends hold.
  void clear();

  // Both fail with not_found, with timeout, or with cancelled after Ctrl-C.
  Status push(uint32_t id, const std::shared_ptr<QueueBuffer>& buffer, const Deadline& deadline);
  // With a byte limit, a larger buffer or a chain stays in the queue: invalid_argument.
  static constexpr size_t kAnything = SIZE_MAX;
  Result<std::shared_ptr<QueueBuffer>> pop(uint32_t id, const Deadline& deadline,
                                           size_t most_bytes = kAnything);

  // The number of buffers in the queue.
  Result<size_t> length(uint32_t id);

  // Buffers of `from` are forwarded to all queues that it is linked to, as references to the same
  // bytes, when all of them have room. Linking twice counts once. Fails with not_found, and with
  // invalid_argument if the links would form a cycle.
  Status link(uint32_t from, uint32_t to);
  // not_found when the two are not linked.
  Status unlink(uint32_t from, uint32_t to);
  std::vector<QueueLink> links();

  // not_found for an id that no queue has, invalid_argument for a repeated one.
  Result<Ends> hold(std::span<const uint32_t> ids);

  // For a running task: fills `buffers` from `queues`, or moves them into `queues`, when all are
  // ready; parks the task until then. Both must live until the task is done, or until withdraw()
  // was called after its stream was aborted.
  Outcome take(TaskRun& run, const Ends& queues, QueueBuffers& buffers);
  Outcome put(TaskRun& run, const Ends& queues, QueueBuffers& buffers);
  void withdraw(const Ends& queues);

 private:
  struct Queue {
    uint32_t id = 0;
    QueueOptions options;
    std::deque<std::shared_ptr<QueueBuffer>> buffers;
    int held = 0;  // by Ends
    bool destroyed = false;
    std::condition_variable changed;

    bool full() const { return buffers.size() >= options.depth; }
  };
  enum class Way { take, put };
  struct Waiter {
    Way way;
    const Ends* queues;
    QueueBuffers* buffers;
    Completion completion;
  };
  using Released = std::vector<Completion>;

  Result<std::shared_ptr<Queue>> find(uint32_t id);
  Status wait(std::unique_lock<std::mutex>& lock, Queue& queue, Way way, const Deadline& deadline);
  static bool exchange(Way way, const Ends& queues, QueueBuffers& buffers);
  Outcome exchange_or_park(TaskRun& run, Way way, const Ends& queues, QueueBuffers& buffers);
  Released settle();
  bool forward();
  bool reaches(uint32_t from, uint32_t to) const;
  static void finish(Released released);

  std::mutex mutex_;
  std::map<uint32_t, std::shared_ptr<Queue>> queues_;
  struct Link {
    std::shared_ptr<Queue> from;
    std::shared_ptr<Queue> to;
  };
  std::vector<Link> links_;
  std::list<Waiter> waiters_;  // longest waiting first
  uint32_t next_id_ = 1;
};

// Holds its queues, so that they cannot be destroyed.
class BufferQueues::Ends {
 public:
  Ends() = default;
  Ends(Ends&&) noexcept = default;
  Ends& operator=(Ends&& other) noexcept {
    queues_.swap(other.queues_);
    return *this;
  }
  ~Ends();
  size_t size() const { return queues_.size(); }

 private:
  friend class BufferQueues;
  std::vector<std::shared_ptr<Queue>> queues_;
};

}  // namespace anynpu::device
