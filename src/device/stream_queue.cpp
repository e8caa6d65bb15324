// SPDX-License-Identifier: Apache-2.0
// Tasks that a stream has submitted to the back end's queue and that are not finished.
#include <algorithm>

#include "base/clock.h"
#include "device/queue.h"
#include "device/stream.h"

namespace anynpu::device {

namespace {

// How many at a time, and after how many the queue is asked for its progress.
constexpr size_t kMostStarted = 256;
constexpr size_t kMarkerStep = 64;

}  // namespace

// The front tasks are in the back end's queue: whether the next one can be given to it as well.
bool Stream::may_start_next() {
  const TaskSlot* const next = queue_.next();
  return next && next->kind().enqueues && queue_.started() < kMostStarted && unqueued_ == 0 &&
         !dropped(completed() + queue_.started() + 1) && !gate_of(*next);
}

// Nothing more can be started now. The queue tells when it is through with what it has, if anybody
// needs to know. False: the stream is parked.
bool Stream::park_for_queue(std::unique_lock<std::mutex>& lock) {
  const uint64_t through = completed() + queue_.started();
  const bool needed = waiters_ > 0 || queue_.size() > queue_.started() || unqueued_ != 0 ||
                      through - std::max(marker_, completed()) >= kMarkerStep;
  if (needed && marker_ < through) {
    marker_ = through;
    lock.unlock();
    device_queue_->when_idle([self = shared_from_this(), through](Status status) {
      self->queue_reached(through, std::move(status));
    });
    lock.lock();
    if (reached_ > completed()) return true;
  }
  parked_for_queue_ = true;
  state_ = State::parked;
  return false;
}

// For a thread that wants to know, while the stream is parked for its queue: looks until the queue
// is idle or the time has come. True when it was idle.
bool Stream::look_at_queue(std::unique_lock<std::mutex>& lock, uint64_t until_ns) {
  parked_for_queue_ = false;
  state_ = State::running;
  const uint64_t through = completed() + queue_.started();
  lock.unlock();
  bool idle = device_queue_->idle();
  while (!idle && now_ns() < until_ns) idle = device_queue_->idle();
  lock.lock();
  if (idle) reached_ = std::max(reached_, through);
  finish_reached(lock);
  if (queue_.empty()) {
    state_ = State::idle;
  } else if (queue_.started() > 0 && !may_start_next()) {
    if (park_for_queue(lock)) make_ready(lock);
  } else {
    make_ready(lock);
  }
  return idle;
}

void Stream::queue_reached(uint64_t sequence, Status status) {
  std::unique_lock lock(mutex_);
  reached_ = std::max(reached_, sequence);
  if (queue_failure_.ok()) queue_failure_ = std::move(status);
  if (!parked_for_queue_) return;  // who runs the stream sees it
  parked_for_queue_ = false;
  finish_reached(lock);
  if (queue_.empty()) {
    state_ = State::idle;
  } else {
    make_ready(lock);
  }
}

void Stream::finish_reached(std::unique_lock<std::mutex>& lock) {
  while (queue_.started() > 0 && completed() < reached_) {
    Status status = std::exchange(queue_failure_, {});
    if (!status.ok() && queue_.started() > 1) {
      status = status.with_note(
          format("or one of the {} tasks behind it that were in the device's queue as well",
                 queue_.started() - 1));
    }
    if (completed() + 1 == unqueued_) {
      unqueued_ = 0;
      if (status.ok()) status = std::exchange(unqueued_why_, {});
    }
    finish_front(lock, std::move(status));
  }
}

}  // namespace anynpu::device
