// SPDX-License-Identifier: Apache-2.0
// Links between queues of buffers.
#include <algorithm>

#include "device/buffer_queue.h"

namespace anynpu::device {

Result<size_t> BufferQueues::length(uint32_t id) {
  const std::lock_guard lock(mutex_);
  ANYNPU_ASSIGN(const auto queue, find(id));
  return queue->buffers.size();
}

bool BufferQueues::reaches(uint32_t from, uint32_t to) const {
  if (from == to) return true;
  return std::any_of(links_.begin(), links_.end(), [&](const Link& link) {
    return link.from->id == from && reaches(link.to->id, to);
  });
}

Status BufferQueues::link(uint32_t from, uint32_t to) {
  std::unique_lock lock(mutex_);
  ANYNPU_ASSIGN(auto first, find(from));
  ANYNPU_ASSIGN(auto second, find(to));
  const bool known = std::any_of(links_.begin(), links_.end(), [&](const Link& link) {
    return link.from == first && link.to == second;
  });
  if (known) return {};
  if (reaches(to, from)) {
    return fail(Code::invalid_argument,
                "what queue {} passes on to queue {} would come back to it; bind queues without a "
                "circle",
                from, to);
  }
  links_.push_back({std::move(first), std::move(second)});
  Released released = settle();
  lock.unlock();
  finish(std::move(released));
  return {};
}

Status BufferQueues::unlink(uint32_t from, uint32_t to) {
  const std::lock_guard lock(mutex_);
  const size_t ended = std::erase_if(
      links_, [&](const Link& link) { return link.from->id == from && link.to->id == to; });
  if (ended > 0) return {};
  return fail(Code::not_found, "queue {} is not bound to queue {}; bind them first", from, to);
}

std::vector<QueueLink> BufferQueues::links() {
  std::vector<QueueLink> all;
  const std::lock_guard lock(mutex_);
  for (const Link& link : links_) {
    all.push_back({link.from->id, link.to->id, link.from->destroyed || link.to->destroyed});
  }
  return all;
}

// Passes one buffer on from each queue that can; true when one could. The lock is held.
bool BufferQueues::forward() {
  bool moved = false;
  for (const Link& first : links_) {
    Queue& source = *first.from;
    if (source.destroyed || source.buffers.empty()) continue;
    std::vector<Queue*> targets;
    for (const Link& link : links_) {
      if (link.from == first.from && !link.to->destroyed) targets.push_back(link.to.get());
    }
    const bool room =
        std::none_of(targets.begin(), targets.end(), [](Queue* q) { return q->full(); });
    if (targets.empty() || !room) continue;
    const std::shared_ptr<QueueBuffer> buffer = std::move(source.buffers.front());
    source.buffers.pop_front();
    source.changed.notify_all();
    for (Queue* target : targets) {
      target->buffers.push_back(target == targets[0] ? buffer : buffer->reference());
      target->changed.notify_all();
    }
    moved = true;
  }
  return moved;
}

}  // namespace anynpu::device
