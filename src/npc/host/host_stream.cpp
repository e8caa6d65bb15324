// SPDX-License-Identifier: Apache-2.0
#include "npc/host/host_stream.h"

#include <algorithm>

namespace anynpu::npc {

Result<std::shared_ptr<HostStream>> HostStream::create(ClusterHost& host) {
  ANYNPU_TRY(host.device().take_stream_place());
  std::shared_ptr<HostStream> stream(new HostStream(false));
  stream->last_ = host.create_lane();
  return stream;
}

HostStream::~HostStream() {
  if (!unified_) last_->host().device().give_stream_place();
}

std::shared_ptr<HostStream> HostStream::create_unified() {
  return std::shared_ptr<HostStream>(new HostStream(true));
}

Result<std::shared_ptr<Lane>> HostStream::next_lane(ClusterHost& host) {
  if (!unified_) {
    if (&last_->host() == &host) return last_;
    return fail(Code::wrong_context,
                "the stream belongs to cluster {}, the request is for cluster {}; create a stream "
                "there, or a unified one",
                last_->host().cluster().id(), host.cluster().id());
  }
  std::lock_guard lock(mutex_);
  auto& lane = lanes_[host.cluster().id()];
  if (!lane) lane = host.create_lane();
  if (last_ && last_ != lane && !last_->stream().idle()) {
    auto before = std::make_shared<device::Event>(std::weak_ptr<device::Context>(), 0);
    ANYNPU_TRY(before->record(last_->stream()));
    ANYNPU_TRY(before->wait_in(lane->stream()));
  }
  last_ = lane;
  return lane;
}

std::vector<std::shared_ptr<Lane>> HostStream::lanes() {
  std::vector<std::shared_ptr<Lane>> used;
  if (!unified_) return {last_};
  std::lock_guard lock(mutex_);
  for (const auto& lane : lanes_) {
    if (lane) used.push_back(lane);
  }
  return used;
}

Status HostStream::synchronize(const Deadline& deadline) {
  if (!unified_) return last_->synchronize(deadline);
  Status first;
  for (const auto& lane : lanes()) {
    Status status = lane->synchronize(deadline);
    if (status.code() == Code::cancelled) return status;
    if (first.ok()) first = std::move(status);
  }
  return first;
}

void HostStream::clean() {
  for (const auto& lane : lanes()) lane->clean();
}

Status HostEvent::record(const std::vector<std::shared_ptr<Lane>>& lanes) {
  std::vector<std::shared_ptr<device::Event>> marks;
  for (const auto& lane : lanes) {
    marks.push_back(std::make_shared<device::Event>(std::weak_ptr<device::Context>(), 0));
    ANYNPU_TRY(marks.back()->record(lane->stream()));
  }
  std::lock_guard lock(mutex_);
  marks_.swap(marks);
  return {};
}

Result<std::vector<std::shared_ptr<device::Event>>> HostEvent::marks() {
  std::lock_guard lock(mutex_);
  if (!marks_.empty()) return marks_;
  return fail(Code::event_not_recorded,
              "the event was never recorded, so waiting for it could not end; record it first");
}

Status HostEvent::wait_in(Lane& lane) {
  ANYNPU_ASSIGN(const auto marks, this->marks());
  for (const auto& mark : marks) ANYNPU_TRY(mark->wait_in(lane.stream()));
  return {};
}

Status HostEvent::synchronize(const Deadline& deadline) {
  ANYNPU_ASSIGN(const auto marks, this->marks());
  for (const auto& mark : marks) ANYNPU_TRY(mark->synchronize(deadline));
  return {};
}

Result<uint64_t> HostEvent::timestamp_ns() {
  ANYNPU_ASSIGN(const auto marks, this->marks());
  uint64_t last = 0;
  for (const auto& mark : marks) {
    ANYNPU_ASSIGN(const uint64_t stamp, mark->timestamp_ns());
    last = std::max(last, stamp);
  }
  return last;
}

}  // namespace anynpu::npc
