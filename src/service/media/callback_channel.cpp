// SPDX-License-Identifier: Apache-2.0
#include "service/media/callback_channel.h"

#include <pthread.h>

#include "device/report.h"
#include "device/runtime.h"

namespace anynpu::media {
namespace {

// How long to wait for a callback thread that does nothing.
constexpr int kPatienceSeconds = 10;

}  // namespace

Result<std::shared_ptr<CallbackChannel>> CallbackChannel::open(uint64_t thread) {
  auto channel = std::make_shared<CallbackChannel>();
  auto& runtime = device::Runtime::instance();
  ANYNPU_ASSIGN(auto context, runtime.current());
  ANYNPU_ASSIGN(channel->handle_, context->create_stream({}));
  ANYNPU_ASSIGN(channel->stream_, runtime.stream(channel->handle_));
  channel->thread_ = thread;
  const Status status = device::ReportQueues::instance().subscribe(thread, channel->stream_);
  if (!status.ok()) {
    (void)runtime.destroy_stream(channel->handle_, device::Stream::Close::force);  // new: it goes
    return status;
  }
  return channel;
}

Status CallbackChannel::submit(device::TaskKind& kind, uint64_t bytes, std::function<void()> work) {
  if (closed_) return fail(Code::bad_call_order, "the channel is destroyed");
  ANYNPU_TRY(stream_->submit({kind, bytes}, [work = std::move(work)]() -> Status {
    work();
    return {};
  }));
  return device::ReportQueues::instance().launch(
      [self = shared_from_this()] { self->run_callbacks(); }, device::ReportQueues::Block::yes,
      *stream_);
}

void CallbackChannel::call(std::function<void()> callback) {
  const std::lock_guard lock(mutex_);
  ready_.push_back(std::move(callback));
}

void CallbackChannel::run_callbacks() {
  for (;;) {
    std::function<void()> next;
    {
      const std::lock_guard lock(mutex_);
      if (ready_.empty()) break;
      next = std::move(ready_.front());
      ready_.pop_front();
    }
    next();
  }
}

bool CallbackChannel::is_own_thread() const {
  return thread_ == static_cast<uint64_t>(pthread_self());
}

Status CallbackChannel::may_close() const {
  if (!device::ReportQueues::in_callback() || !is_own_thread()) return {};
  return fail(Code::bad_call_order,
              "the channel cannot be destroyed inside a callback of its own thread, since it waits "
              "for callbacks there; destroy it in another thread or after the callback");
}

Status CallbackChannel::wait_for_callbacks() {
  Status result;
  uint64_t done = stream_->completed();
  for (int idle = 0; idle < kPatienceSeconds;) {
    result = stream_->synchronize(Deadline::after_ms(1000));
    if (result.code() != Code::timeout) break;
    idle = stream_->completed() == done ? idle + 1 : 0;
    done = stream_->completed();
  }
  if (result.code() != Code::timeout) return result;
  return fail(Code::timeout,
              "callbacks of the channel did not run for {} s; keep its thread in process_report "
              "until the channel is destroyed",
              kPatienceSeconds);
}

Status CallbackChannel::wait() { return is_own_thread() ? Status() : wait_for_callbacks(); }

Status CallbackChannel::close() {
  ANYNPU_TRY(may_close());
  if (closed_.exchange(true)) return fail(Code::bad_call_order, "the channel is destroyed already");
  const Status result = wait_for_callbacks();
  const bool stuck = result.code() == Code::timeout;
  const Status unsubscribed = device::ReportQueues::instance().unsubscribe(thread_, *stream_);
  const Status destroyed = device::Runtime::instance().destroy_stream(
      handle_, stuck ? device::Stream::Close::force : device::Stream::Close::drain);
  ANYNPU_TRY(result);
  // A context that ended took the stream with it.
  (void)unsubscribed;
  (void)destroyed;
  return {};
}

}  // namespace anynpu::media
