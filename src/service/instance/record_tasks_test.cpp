// SPDX-License-Identifier: Apache-2.0
#include "service/instance/record_tasks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "device/cpu/cpu_memory.h"
#include "device/queue.h"
#include "service/instance/instance.h"

namespace anynpu::service {
namespace {

using device::Engine;
using device::Queue;
using device::TaskKind;

constinit TaskKind kQueued = TaskKind::queued("letter", Engine::d2d);
constinit TaskKind kOnHost{"on the host", Engine::control};

// Runs the parts one after the other, and keeps what they wait for.
class RecordingQueue final : public Queue {
 public:
  Status copy(const device::CopyRows&) override { return {}; }
  Status fill(void*, int, size_t) override { return {}; }
  bool idle() const override { return true; }
  void when_idle(std::function<void(Status)> done) override { done({}); }
  std::shared_ptr<void> record(const std::vector<Part>& parts) override {
    for (const Part& part : parts) {
      after.push_back(part.after);
      if (!part.work().ok()) return nullptr;
    }
    return std::make_shared<int>(0);
  }
  std::vector<std::vector<uint32_t>> after;
};

class RecordingDevice final : public device::Device {
 public:
  RecordingDevice() : Device(0, 0) {}
  const device::Capabilities& capabilities() const override {
    static constexpr device::Capabilities kRecords{.backend = "records", .finishes_calls = false};
    return kRecords;
  }
  std::string description() const override { return "records"; }
  Result<std::shared_ptr<device::DeviceMemory>> memory() override {
    ANYNPU_ASSIGN(auto memory, device::CpuMemory::reserve(4096));
    return std::shared_ptr<device::DeviceMemory>(memory);
  }
  size_t memory_total() const override { return 4096; }
  size_t memory_used() const override { return 0; }
  std::shared_ptr<Queue> create_queue(uint32_t) override { return queue; }

  const std::shared_ptr<RecordingQueue> queue = std::make_shared<RecordingQueue>();
};

class RecordTasks : public testing::Test {
 protected:
  void SetUp() override {
    context_ = *device::Context::create(device_, device::Context::Origin::explicitly);
    instance_ = *Instance::create(Instance::Origin::captured, context_);
  }
  void TearDown() override { instance_->release(); }

  uint32_t add_lane() {
    return instance_->add_lane(
        std::make_shared<device::Stream>(device_, context_, device::StreamOptions{}));
  }
  void add_work(uint32_t lane, char letter, TaskKind& kind = kQueued) {
    RecordedTask& task = instance_->add_task(lane, TaskRole::work);
    task.kind = &kind;
    auto work = std::make_unique<device::KeptTask>();
    work->emplace(kind, [this, letter] {
      text_ += letter;
      return Status();
    });
    task.set_work(std::move(work));
  }
  void add_control(uint32_t lane, TaskRole role, uint32_t join) {
    instance_->add_task(lane, role).join = join;
  }
  std::shared_ptr<void> recorded() {
    instance_->make_programs();
    return record_tasks(*instance_);
  }

  const std::shared_ptr<RecordingDevice> device_ = std::make_shared<RecordingDevice>();
  std::shared_ptr<device::Context> context_;
  std::shared_ptr<Instance> instance_;
  std::string text_;
};

TEST_F(RecordTasks, TasksOfALaneFollowEachOther) {
  const uint32_t lane = add_lane();
  for (const char letter : {'a', 'b', 'c'}) add_work(lane, letter);
  ASSERT_TRUE(recorded());
  EXPECT_EQ(text_, "abc");
  EXPECT_EQ(device_->queue->after, (std::vector<std::vector<uint32_t>>{{}, {0}, {1}}));
}

TEST_F(RecordTasks, LanesWaitForTheirJoinsAndAreElseIndependent) {
  const uint32_t main = add_lane(), side = add_lane();
  const uint32_t fork = instance_->add_join(), join = instance_->add_join();
  add_control(side, TaskRole::wait, fork);  // listed first, recorded after what it waits for
  add_work(side, 's');
  add_control(side, TaskRole::record, join);
  add_work(main, 'a');
  add_control(main, TaskRole::record, fork);
  add_work(main, 'b');
  add_control(main, TaskRole::wait, join);
  add_work(main, 'c');
  ASSERT_TRUE(recorded());
  EXPECT_EQ(text_, "absc");
  auto after = device_->queue->after;
  for (auto& parts : after) std::sort(parts.begin(), parts.end());
  EXPECT_EQ(after, (std::vector<std::vector<uint32_t>>{{}, {0}, {0}, {1, 2}}));
}

TEST_F(RecordTasks, WhatNeedsTheHostIsNotRecorded) {
  const uint32_t lane = add_lane();
  add_work(lane, 'a');
  add_work(lane, 'h', kOnHost);
  EXPECT_FALSE(recorded());
  EXPECT_EQ(text_, "");
}

TEST_F(RecordTasks, AJoinThatNoLaneReachesIsNotRecorded) {
  const uint32_t lane = add_lane();
  add_control(lane, TaskRole::wait, instance_->add_join());
  add_work(lane, 'a');
  EXPECT_FALSE(recorded());
}

TEST_F(RecordTasks, AnEmptyInstanceHasNoRecording) {
  add_lane();
  EXPECT_FALSE(recorded());
}

}  // namespace
}  // namespace anynpu::service
