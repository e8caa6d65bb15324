// SPDX-License-Identifier: Apache-2.0
#include "device/notify.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>

#include "base/fork_guard.h"
#include "base/thread_pool.h"
#include "device/stream.h"

namespace anynpu::device {

namespace {

constinit TaskKind kRecordNotify{"record_notify", Engine::control};
constinit TaskKind kWaitNotify{"wait_notify", Engine::control};

constexpr std::string_view kNotifyKey = "anynpu-notify";
constexpr uint64_t kFirstLookNs = 20'000;
constexpr uint64_t kSlowestLookNs = 2'000'000;

std::atomic<uint32_t> next_notify_id{0};

}  // namespace

// Lies in memory that several processes map.
struct Notify::SharedFlag {
  std::atomic<uint32_t> set;
};

Notify::Notify(uint32_t flags)
    : flags_(flags), id_(next_notify_id.fetch_add(1, std::memory_order_relaxed)) {}

Notify::~Notify() {
  if (shared_) munmap(shared_, SharedFile::kPageBytes);
}

Status Notify::record(Stream& stream) {
  return stream.submit(kRecordNotify, [self = shared_from_this()] {
    self->set();
    return Status();
  });
}

bool Notify::take_flag() {
  return shared_ ? shared_->set.exchange(0, std::memory_order_acq_rel) != 0
                 : std::exchange(flag_, false);
}

std::vector<Completion> Notify::release_waiters() {
  std::vector<Completion> released;
  std::erase_if(waiters_, [](const Waiter& waiter) { return !waiter.completion.wanted(); });
  while (!waiters_.empty() && take_flag()) {
    released.push_back(std::move(waiters_.front().completion));
    waiters_.pop_front();
  }
  return released;
}

void Notify::set() {
  std::vector<Completion> released;
  {
    std::lock_guard lock(mutex_);
    if (shared_) {
      shared_->set.store(1, std::memory_order_release);
    } else {
      flag_ = true;
    }
    released = release_waiters();
  }
  for (Completion& next : released) next.finish({});
}

// Another process may set the flag without a word, so a timer looks while anyone waits.
void Notify::look_again(uint64_t delay_ns) {
  looking_ = true;
  ThreadPool::instance().submit_after(delay_ns, [self = shared_from_this(), delay_ns] {
    std::vector<Completion> released;
    {
      std::lock_guard lock(self->mutex_);
      released = self->release_waiters();
      self->looking_ = false;
      if (!self->waiters_.empty()) self->look_again(std::min(2 * delay_ns, kSlowestLookNs));
    }
    for (Completion& next : released) next.finish({});
  });
}

Status Notify::wait_and_reset(Stream& stream, uint32_t timeout_ms) {
  return stream.submit(kWaitNotify, [self = shared_from_this(), timeout_ms](TaskRun& run) {
    std::unique_lock lock(self->mutex_);
    if (self->take_flag()) return run.done({});
    const uint64_t ticket = self->next_ticket_++;
    self->waiters_.push_back({ticket, run.defer()});
    if (self->shared_ && !self->looking_) self->look_again(kFirstLookNs);
    if (timeout_ms) {
      ThreadPool::instance().submit_after(
          uint64_t{timeout_ms} * 1'000'000,
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
  (void)take_flag();
}

Status Notify::attach(std::shared_ptr<SharedFile> file) {
  ANYNPU_ASSIGN(void* page, file->map(nullptr, SharedFile::kPageBytes, 0));
  shared_ = static_cast<SharedFlag*>(page);
  file_ = std::move(file);
  return {};
}

Result<std::string> Notify::export_key(SharedFile::Admit admit) {
  std::lock_guard lock(mutex_);
  if (imported_) {
    return fail(Code::invalid_argument, "notify {} was imported; export it where it was created",
                id_);
  }
  if (!file_) {
    ANYNPU_ASSIGN(auto file, SharedFile::create(sizeof(SharedFlag), 0));
    ANYNPU_TRY(attach(std::move(file)));
    if (std::exchange(flag_, false)) shared_->set.store(1, std::memory_order_release);
    file_->share(admit);
    if (!waiters_.empty()) look_again(kFirstLookNs);
  }
  if (admit == SharedFile::Admit::anyone) file_->let_anyone_in();
  return to_key(kNotifyKey, file_->ticket());
}

Status Notify::let_in(std::span<const int32_t> pids) {
  std::lock_guard lock(mutex_);
  if (file_ && !imported_) return file_->let_in(pids);
  return fail(Code::bad_call_order,
              "notify {} has no key of this process; call notify_get_export_key before "
              "notify_set_import_pid",
              id_);
}

Result<std::shared_ptr<Notify>> Notify::import(std::string_view key, uint32_t flags) {
  ANYNPU_ASSIGN(const ShareTicket ticket, from_key(kNotifyKey, key));
  mark_runtime_used();
  ANYNPU_ASSIGN(auto file, SharedFile::open(ticket));
  auto notify = std::make_shared<Notify>(flags);
  ANYNPU_TRY(notify->attach(std::move(file)));
  notify->imported_ = true;
  return notify;
}

}  // namespace anynpu::device
