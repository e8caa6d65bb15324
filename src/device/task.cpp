// SPDX-License-Identifier: Apache-2.0
#include "device/task.h"

#include <unistd.h>

#include <array>

#include "device/stream.h"

namespace anynpu::device {

const char* name_of(Engine engine) {
  static constexpr std::array kNames = {"control", "compute", "h2d",  "d2h",  "d2d",
                                        "vpc",     "jpeg",    "vdec", "venc", "npc"};
  return kNames[static_cast<size_t>(engine)];
}

Completion& Completion::operator=(Completion&& other) noexcept {
  std::swap(stream_, other.stream_);
  std::swap(sequence_, other.sequence_);
  return *this;
}

Completion::~Completion() {
  if (stream_) {
    finish(fail(Code::task_failed, "a task of stream {} was dropped before it finished",
                stream_->id()));
  }
}

void Completion::finish(Status status) {
  if (auto stream = std::move(stream_)) stream->finish_pending(sequence_, std::move(status));
}

bool Completion::wanted() const { return stream_ && stream_->awaits(sequence_); }

uint32_t current_thread_number() {
  thread_local const auto number = static_cast<uint32_t>(gettid());
  return number;
}

Completion TaskRun::defer() { return Completion(stream_.shared_from_this(), sequence_); }

TaskQueue::~TaskQueue() {
  while (!empty()) {
    front().clear();
    pop();
  }
  delete spare_;
  delete head_;
}

TaskSlot* TaskQueue::back() {
  if (!tail_ || tail_->used == kBlockSlots) {
    Block* block = std::exchange(spare_, nullptr);
    if (!block) block = new (std::nothrow) Block;
    if (!block) return nullptr;
    (tail_ ? tail_->next : head_) = block;
    tail_ = block;
  }
  return &tail_->slots[tail_->used];
}

TaskSlot* TaskQueue::next() {
  if (started_ == size_) return nullptr;
  if (started_ == 0) return &front();
  if (next_slot_ == kBlockSlots) {
    next_block_ = next_block_->next;
    next_slot_ = 0;
  }
  return &next_block_->slots[next_slot_];
}

void TaskQueue::start_next() {
  if (started_ == 0) {
    next_block_ = head_;
    next_slot_ = head_->first;
  } else if (next_slot_ == kBlockSlots) {
    next_block_ = next_block_->next;
    next_slot_ = 0;
  }
  ++next_slot_;
  ++started_;
}

void TaskQueue::pop() {
  --size_;
  if (started_ > 0) --started_;
  if (++head_->first < kBlockSlots) {
    if (size_ == 0) head_->first = head_->used = 0;
    return;
  }
  Block* block = head_;
  if (block->next) {
    head_ = block->next;
    block->next = nullptr;
    block->first = block->used = 0;
    if (spare_) {
      delete block;
    } else {
      spare_ = block;
    }
  } else {
    block->first = block->used = 0;
  }
}

}  // namespace anynpu::device
