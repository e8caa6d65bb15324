// SPDX-License-Identifier: Apache-2.0
#include "service/media/picture_channel.h"

#include "base/interrupt.h"
#include "device/report.h"

namespace anynpu::media {

PictureChannel::Use::~Use() {
  if (!channel_) return;
  const std::lock_guard lock(channel_->mutex_);
  if (--channel_->uses_ == 0) channel_->idle_.notify_all();
}

Status PictureChannel::open() {
  const std::lock_guard lock(mutex_);
  if (open_)
    return fail(Code::already_exists, "the channel exists already; destroy it before the next one");
  open_ = true;
  return {};
}

Result<PictureChannel::Use> PictureChannel::use() {
  const std::lock_guard lock(mutex_);
  if (!open_)
    return fail(Code::bad_call_order,
                "the channel is not there; create it with the create_channel function first");
  ++uses_;
  return Use(shared_from_this());
}

Status PictureChannel::close() {
  std::unique_lock lock(mutex_);
  if (!open_)
    return fail(Code::bad_call_order, "the channel is not there: never created, or destroyed");
  if (uses_ > 0 && device::ReportQueues::in_callback())
    return fail(Code::bad_call_order,
                "work of the channel is not done ({} calls), and a callback cannot wait for it; "
                "destroy the channel in another thread or after the callback",
                uses_);
  open_ = false;
  while (uses_ > 0) {
    if (wait_turn(idle_, lock, Deadline::never()) == WaitEnd::interrupted)
      return fail(Code::cancelled, "the wait for the work of the channel was interrupted");
  }
  return {};
}

bool PictureChannel::is_open() const {
  const std::lock_guard lock(mutex_);
  return open_;
}

}  // namespace anynpu::media
