// SPDX-License-Identifier: Apache-2.0
#include "device/counting_notify.h"

#include <algorithm>
#include <atomic>

#include "base/thread_pool.h"
#include "device/stream.h"

namespace anynpu::device {

namespace {

constinit TaskKind kRecordCount{"record_counting_notify", Engine::control};
constinit TaskKind kWaitCount{"wait_counting_notify", Engine::control};
constinit TaskKind kResetCount{"reset_counting_notify", Engine::control};

std::atomic<uint32_t> next_counting_id{0};

}  // namespace

CountingNotify::CountingNotify() : id_(next_counting_id.fetch_add(1, std::memory_order_relaxed)) {}

void CountingNotify::change(Change change, uint32_t value) {
  std::vector<Completion> ready;
  {
    std::lock_guard lock(mutex_);
    count_ = change == Change::set      ? value
             : change == Change::add    ? count_ + value
             : change == Change::bit_or ? count_ | value
                                        : count_ & value;
    std::erase_if(waiters_, [&](Waiter& waiter) {
      if (!waiter.completion.wanted()) return true;
      if (!passes(waiter.wait)) return false;
      ready.push_back(std::move(waiter.completion));
      return true;
    });
  }
  for (Completion& each : ready) each.finish({});
}

bool CountingNotify::passes(const Wait& wait) {
  bool holds = false;
  switch (wait.until) {
    case Until::less:
      holds = count_ < wait.value;
      break;
    case Until::equal:
      holds = count_ == wait.value;
      break;
    case Until::greater:
      holds = count_ > wait.value;
      break;
    case Until::at_least:
      holds = count_ >= wait.value;
      break;
    case Until::has_bits:
      holds = (count_ & wait.value) == wait.value;
      break;
  }
  if (holds && wait.clears) count_ = 0;
  return holds;
}

void CountingNotify::give_up(uint64_t ticket) {
  Completion late;
  Wait wait;
  {
    std::lock_guard lock(mutex_);
    const auto waiter = std::find_if(waiters_.begin(), waiters_.end(),
                                     [&](const Waiter& w) { return w.ticket == ticket; });
    if (waiter == waiters_.end()) return;
    wait = waiter->wait;
    late = std::move(waiter->completion);
    waiters_.erase(waiter);
  }
  late.finish(fail(Code::timeout,
                   "counting notify {} did not come to what was waited for (mode {}, value {}) "
                   "within {} s",
                   id_, static_cast<uint32_t>(wait.until), wait.value, wait.timeout_s));
}

Status CountingNotify::record(Stream& stream, Change change, uint32_t value) {
  return stream.submit(kRecordCount, [self = shared_from_this(), change, value] {
    self->change(change, value);
    return Status();
  });
}

Status CountingNotify::wait(Stream& stream, const Wait& wait) {
  return stream.submit(kWaitCount, [self = shared_from_this(), wait](TaskRun& run) {
    std::lock_guard lock(self->mutex_);
    if (self->passes(wait)) return run.done({});
    const uint64_t ticket = self->next_ticket_++;
    self->waiters_.push_back({ticket, wait, run.defer()});
    if (wait.timeout_s) {
      ThreadPool::instance().submit_after(uint64_t{wait.timeout_s} * 1'000'000'000,
                                          [self, ticket] { self->give_up(ticket); });
    }
    return Outcome::pending;
  });
}

Status CountingNotify::reset(Stream& stream) {
  return stream.submit(kResetCount, [self = shared_from_this()] {
    self->change(Change::set, 0);
    return Status();
  });
}

}  // namespace anynpu::device
