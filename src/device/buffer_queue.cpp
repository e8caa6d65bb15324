// SPDX-License-Identifier: Apache-2.0
#include "device/buffer_queue.h"

#include <algorithm>
#include <cstdlib>

#include "base/align.h"
#include "base/interrupt.h"

namespace anynpu::device {

namespace {

constexpr size_t kAlignment = 64;

Status no_such_queue(uint32_t id) {
  return fail(Code::not_found,
              "the queue id is {}, which no queue has; pass one that acltdtCreateQueue gave and "
              "that was not destroyed",
              id);
}

Status check_fits(uint32_t id, const QueueBuffer& buffer, size_t most_bytes) {
  if (!buffer.chain.empty()) {
    return fail(Code::invalid_argument,
                "the first of queue {} is a chain of {} buffers, which is not copied; take it out "
                "with acltdtDequeue",
                id, buffer.chain.size() + 1);
  }
  if (buffer.length <= most_bytes) return {};
  return fail(Code::invalid_argument,
              "the first of queue {} has {} bytes, the memory for it {}; pass as much, it is still "
              "in the queue",
              id, buffer.length, most_bytes);
}

}  // namespace

Result<std::shared_ptr<QueueBuffer>> QueueBuffer::create(size_t bytes) {
  auto buffer = std::make_shared<QueueBuffer>();
  buffer->capacity = buffer->length = bytes;
  if (bytes == 0) return buffer;
  void* memory =
      bytes > SIZE_MAX / 4 ? nullptr : std::aligned_alloc(kAlignment, round_up(bytes, kAlignment));
  if (!memory) {
    return fail(Code::out_of_memory, "the host has no {} bytes for a buffer of a queue", bytes);
  }
  buffer->data = {static_cast<std::byte*>(memory), std::free};
  return buffer;
}

std::shared_ptr<QueueBuffer> QueueBuffer::reference() const {
  auto copy = std::make_shared<QueueBuffer>(*this);
  for (auto& next : copy->chain) next = std::make_shared<QueueBuffer>(*next);
  return copy;
}

BufferQueues& BufferQueues::instance() {
  static auto* queues = new BufferQueues;  // never destroyed: streams may end late
  return *queues;
}

Result<uint32_t> BufferQueues::create(const QueueOptions& options) {
  auto queue = std::make_shared<Queue>();
  queue->options = options;
  const std::lock_guard lock(mutex_);
  if (next_id_ == 0) return fail(Code::limit_exceeded, "2^32 queues were made, no id is left");
  queue->id = next_id_++;
  queues_[queue->id] = queue;
  return queue->id;
}

Result<std::shared_ptr<BufferQueues::Queue>> BufferQueues::find(uint32_t id) {
  const auto found = queues_.find(id);
  if (found == queues_.end()) return no_such_queue(id);
  return found->second;
}

Status BufferQueues::destroy(uint32_t id) {
  std::shared_ptr<Queue> queue;  // its buffers are freed without the lock
  const std::lock_guard lock(mutex_);
  ANYNPU_ASSIGN(queue, find(id));
  if (queue->held > 0) {
    return fail(Code::bad_call_order,
                "queue {} is used by {} ends of loaded models; unload them with aclmdlUnload first",
                id, queue->held);
  }
  queues_.erase(id);
  queue->destroyed = true;
  queue->changed.notify_all();
  return {};
}

void BufferQueues::clear() {
  std::map<uint32_t, std::shared_ptr<Queue>> ended;
  const std::lock_guard lock(mutex_);
  ended.swap(queues_);
  links_.clear();
  for (const auto& [id, queue] : ended) {
    queue->destroyed = true;
    queue->changed.notify_all();
  }
}

// Waits until the queue has a buffer (take) or room (put).
Status BufferQueues::wait(std::unique_lock<std::mutex>& lock, Queue& queue, Way way,
                          const Deadline& deadline) {
  while (true) {
    if (queue.destroyed) return no_such_queue(queue.id);
    if (way == Way::take ? !queue.buffers.empty() : !queue.full()) return {};
    if (deadline.passed()) {
      return fail(Code::timeout, "queue {} stayed {} ({} of {} buffers) for the time given",
                  queue.id, way == Way::take ? "empty" : "full", queue.buffers.size(),
                  queue.options.depth);
    }
    if (wait_turn(queue.changed, lock, deadline) == WaitEnd::interrupted) {
      return fail(Code::cancelled, "the wait for queue {} was interrupted", queue.id);
    }
  }
}

Status BufferQueues::push(uint32_t id, const std::shared_ptr<QueueBuffer>& buffer,
                          const Deadline& deadline) {
  std::unique_lock lock(mutex_);
  ANYNPU_ASSIGN(const auto queue, find(id));
  ANYNPU_TRY(wait(lock, *queue, Way::put, deadline));
  queue->buffers.push_back(buffer);
  queue->changed.notify_all();
  Released released = settle();
  lock.unlock();
  finish(std::move(released));
  return {};
}

Result<std::shared_ptr<QueueBuffer>> BufferQueues::pop(uint32_t id, const Deadline& deadline,
                                                       size_t most_bytes) {
  std::unique_lock lock(mutex_);
  ANYNPU_ASSIGN(const auto queue, find(id));
  ANYNPU_TRY(wait(lock, *queue, Way::take, deadline));
  if (most_bytes != kAnything) ANYNPU_TRY(check_fits(id, *queue->buffers.front(), most_bytes));
  std::shared_ptr<QueueBuffer> buffer = std::move(queue->buffers.front());
  queue->buffers.pop_front();
  queue->changed.notify_all();
  Released released = settle();
  lock.unlock();
  finish(std::move(released));
  return buffer;
}

Result<BufferQueues::Ends> BufferQueues::hold(std::span<const uint32_t> ids) {
  Ends ends;
  const std::lock_guard lock(mutex_);
  for (auto id = ids.begin(); id != ids.end(); ++id) {
    ANYNPU_TRY(find(*id).status());
    if (std::find(ids.begin(), id, *id) != id) {
      return fail(Code::invalid_argument, "queue {} stands there twice; pass a queue for each",
                  *id);
    }
  }
  for (const uint32_t id : ids) {
    ends.queues_.push_back(queues_[id]);
    ++ends.queues_.back()->held;
  }
  return ends;
}

BufferQueues::Ends::~Ends() {
  if (queues_.empty()) return;
  const std::lock_guard lock(instance().mutex_);
  for (const auto& queue : queues_) --queue->held;
}

// All or nothing. The lock is held.
bool BufferQueues::exchange(Way way, const Ends& queues, QueueBuffers& buffers) {
  for (const auto& queue : queues.queues_) {
    if (way == Way::take ? queue->buffers.empty() : queue->full()) return false;
  }
  for (size_t i = 0; i < queues.size(); ++i) {
    Queue& queue = *queues.queues_[i];
    if (way == Way::take) {
      buffers.push_back(std::move(queue.buffers.front()));
      queue.buffers.pop_front();
    } else {
      queue.buffers.push_back(std::move(buffers[i]));
    }
    queue.changed.notify_all();
  }
  if (way == Way::put) buffers.clear();
  return true;
}

// Serves every waiter that can be served now; what one takes or puts may be what another waits for.
// Waiters whose stream was aborted are dropped, their buffers untouched.
BufferQueues::Released BufferQueues::settle() {
  Released released;
  for (bool again = true; again;) {
    again = forward();
    for (auto waiter = waiters_.begin(); waiter != waiters_.end();) {
      const bool wanted = waiter->completion.wanted();
      if (wanted && !exchange(waiter->way, *waiter->queues, *waiter->buffers)) {
        ++waiter;
        continue;
      }
      again |= wanted;
      released.push_back(std::move(waiter->completion));
      waiter = waiters_.erase(waiter);
    }
  }
  return released;
}

void BufferQueues::finish(Released released) {
  for (Completion& completion : released) completion.finish({});
}

Outcome BufferQueues::exchange_or_park(TaskRun& run, Way way, const Ends& queues,
                                       QueueBuffers& buffers) {
  Released released;
  {
    const std::lock_guard lock(mutex_);
    if (!exchange(way, queues, buffers)) {
      waiters_.push_back({way, &queues, &buffers, run.defer()});
      return Outcome::pending;
    }
    released = settle();
  }
  finish(std::move(released));
  return run.done({});
}

Outcome BufferQueues::take(TaskRun& run, const Ends& queues, QueueBuffers& buffers) {
  return exchange_or_park(run, Way::take, queues, buffers);
}

Outcome BufferQueues::put(TaskRun& run, const Ends& queues, QueueBuffers& buffers) {
  return exchange_or_park(run, Way::put, queues, buffers);
}

void BufferQueues::withdraw(const Ends& queues) {
  Released released;  // ended without the lock
  const std::lock_guard lock(mutex_);
  for (auto waiter = waiters_.begin(); waiter != waiters_.end();) {
    if (waiter->queues != &queues) {
      ++waiter;
      continue;
    }
    released.push_back(std::move(waiter->completion));
    waiter = waiters_.erase(waiter);
  }
}

}  // namespace anynpu::device
