// SPDX-License-Identifier: Apache-2.0
#include "device/notify.h"

#include <algorithm>
#include <atomic>

#include "base/thread_pool.h"
#include "device/stream.h"

namespace anynpu::device {

namespace {

constinit TaskKind kRecordNotify{"record_notify", Engine::control};
constinit TaskKind kWaitNotify{"wait_notify", Engine::control};

std::atomic<uint32_t> next_notify_id{0};

}  // namespace

Notify::Notify(uint32_t flags)
    : flags_(flags), id_(next_notify_id.fetch_add(1, std::memory_order_relaxed)) {}

Status Notify::record(Stream& stream) {
  return stream.submit(kRecordNotify, [self = shared_from_this()] {
    self->set();
    return Status();
  });
}

void Notify::set() {
  Completion next;
  {
    std::lock_guard lock(mutex_);
    if (waiters_.empty()) {
      flag_ = true;
      return;
    }
    next = std::move(waiters_.front().completion);
    waiters_.pop_front();
  }
  next.finish({});
}

Status Notify::wait_and_reset(Stream& stream, uint32_t timeout_ms) {
  return stream.submit(kWaitNotify, [self = shared_from_this(), timeout_ms](TaskRun& run) {
    std::unique_lock lock(self->mutex_);
    if (std::exchange(self->flag_, false)) return run.done({});
    const uint64_t ticket = self->next_ticket_++;
    self->waiters_.push_back({ticket, run.defer()});
    if (timeout_ms) {
      ThreadPool::instance().submit_after(uint64_t{timeout_ms} * 1'000'000,
                                          [self, ticket, timeout_ms] { self->give_up(ticket, timeout_ms); });
    }
    return Outcome::pending;
  });
}

void Notify::give_up(uint64_t ticket, uint32_t timeout_ms) {
  Completion late;
  {
    std::lock_guard lock(mutex_);
    auto waiter = std::find_if(waiters_.begin(), waiters_.end(),
                               [&](const Waiter& w) { return w.ticket == ticket; });
    if (waiter == waiters_.end()) return;
    late = std::move(waiter->completion);
    waiters_.erase(waiter);
  }
  late.finish(fail(Code::timeout, "notify {} was not recorded within {} ms", id_, timeout_ms));
}

void Notify::reset() {
  std::lock_guard lock(mutex_);
  flag_ = false;
}

}  // namespace anynpu::device
