// SPDX-License-Identifier: Apache-2.0
// PlanRunner::launch: the steps of a plan for a device in a queue.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "device/remote_device_for_test.h"
#include "exec/queue_for_test.h"
#include "exec/runner.h"
#include "ops/enqueued_plan.h"
#include "ops/plain_kernel.h"

namespace anynpu::exec {
namespace {

using testing::ElementsAre;

// Writes down what it is asked for.
class DiaryQueue final : public IdleQueue {
 public:
  Status drain() override {
    diary.push_back("drain");
    return {};
  }
  std::shared_ptr<void> record(const std::vector<Part>& parts) override {
    if (!can_record) return nullptr;
    diary.push_back("record");
    for (const Part& part : parts) EXPECT_TRUE(part.work().ok());
    for (const Part& part : parts) after.push_back(part.after);
    return std::make_shared<int>(1);
  }
  Status replay(const std::shared_ptr<void>&) override {
    diary.push_back("replay");
    return {};
  }

  bool can_record = false;
  std::vector<std::string> diary;
  std::vector<std::vector<uint32_t>> after;
};

class DiaryPlan final : public ops::EnqueuedPlan {
 public:
  explicit DiaryPlan(std::string name, Status outcome) : name_(name), outcome_(outcome) {}
  Status enqueue(const ops::RunArgs&, device::Queue& queue) const override {
    static_cast<DiaryQueue&>(queue).diary.push_back(name_);
    return outcome_;
  }

 private:
  std::string name_;
  Status outcome_;
};

class LaunchTest : public testing::Test {
 protected:
  void SetUp() override {
    plan_.on_device = true;
    plan_.work_bytes = plan_.host_work_bytes = 256;
  }
  void step(const std::string& name, Slot from, Slot to, Status outcome = {}) {
    add(name, from, to, std::make_unique<DiaryPlan>(name, std::move(outcome)), false);
  }
  void host_step(const std::string& name, Slot from, Slot to) {
    auto work = ops::make_plan([this, name](const ops::RunArgs& args) {
      queue_.diary.push_back(name);
      *ops::output_of<float>(args, 0) = *ops::input_of<float>(args, 0) + 1;
    });
    add(name, from, to, std::move(work), true);
  }
  void add(const std::string& name, Slot from, Slot to, std::unique_ptr<ops::KernelPlan> work,
           bool fallback) {
    PlanStep step;
    step.name = step.op = name;
    step.work = std::move(work);
    step.fallback = fallback;
    step.inputs = {from};
    step.outputs = {to};
    step.in = step.out = {{DType::f32, {1}}};
    names_.push_back({trace::intern(name), trace::intern("")});
    plan_.steps.push_back(std::move(step));
  }
  PlanRunner runner() {
    return PlanRunner(plan_, names_, Memory::allocate_on(device_, 256).value(),
                      Memory::allocate(256).value());
  }
  std::vector<std::string> taken() { return std::exchange(queue_.diary, {}); }

  static Slot in() { return {OperandMemory::input, 0}; }
  static Slot out() { return {OperandMemory::output, 0}; }
  static Slot arena(size_t offset) { return {OperandMemory::arena, offset}; }

  device::RemoteDevice device_{0};
  DiaryQueue queue_;
  Plan plan_;
  std::vector<TracedStep> names_;
  float x_ = 4, y_ = 0;
  void *inputs_[1] = {&x_}, *outputs_[1] = {&y_};
};

TEST_F(LaunchTest, StepsAreEnqueuedInOrderWithoutWaiting) {
  step("a", in(), arena(0));
  step("b", arena(0), out());
  EXPECT_TRUE(plan_.only_enqueues());
  PlanRunner runner = this->runner();
  ASSERT_TRUE(runner.launch(inputs_, outputs_, nullptr, queue_).ok());
  EXPECT_THAT(taken(), ElementsAre("a", "b"));
}

TEST_F(LaunchTest, AStepOnTheHostWaitsForTheQueueAndSeesTheBytes) {
  step("a", in(), arena(0));
  host_step("host", in(), out());
  EXPECT_FALSE(plan_.only_enqueues());
  PlanRunner runner = this->runner();
  ASSERT_TRUE(runner.launch(inputs_, outputs_, nullptr, queue_).ok());
  EXPECT_THAT(taken(), ElementsAre("a", "drain", "host"));
  EXPECT_EQ(y_, 5);
}

TEST_F(LaunchTest, ARunWithTheSameBuffersIsRecordedAndThenReplayed) {
  step("a", in(), arena(0));
  step("b", in(), arena(64));
  step("c", arena(64), out());
  queue_.can_record = true;
  PlanRunner runner = this->runner();
  ASSERT_TRUE(runner.launch(inputs_, outputs_, nullptr, queue_).ok());
  EXPECT_THAT(taken(), ElementsAre("a", "b", "c"));
  ASSERT_TRUE(runner.launch(inputs_, outputs_, nullptr, queue_).ok());
  EXPECT_THAT(taken(), ElementsAre("record", "a", "b", "c", "replay"));
  EXPECT_THAT(queue_.after, ElementsAre(ElementsAre(), ElementsAre(), ElementsAre(1)));
  ASSERT_TRUE(runner.launch(inputs_, outputs_, nullptr, queue_).ok());
  EXPECT_THAT(taken(), ElementsAre("replay"));

  float other = 0;
  outputs_[0] = &other;
  ASSERT_TRUE(runner.launch(inputs_, outputs_, nullptr, queue_).ok());
  EXPECT_THAT(taken(), ElementsAre("a", "b", "c")) << "other buffers";
}

TEST_F(LaunchTest, TimesAreThoseOfEachStepAlone) {
  step("a", in(), arena(0));
  step("b", arena(0), out());
  PlanRunner runner = this->runner();
  uint64_t ns[] = {~uint64_t{0}, ~uint64_t{0}};
  ASSERT_TRUE(runner.launch(inputs_, outputs_, ns, queue_).ok());
  EXPECT_THAT(taken(), ElementsAre("a", "drain", "b", "drain"));
  for (uint64_t each : ns) EXPECT_LT(each, uint64_t{60} * 1'000'000'000);
}

TEST_F(LaunchTest, AFailureEndsTheRunAndNamesTheStep) {
  step("a", in(), arena(0), fail(Code::task_failed, "no"));
  step("b", arena(0), out());
  PlanRunner runner = this->runner();
  forget_failed_step();
  EXPECT_EQ(runner.launch(inputs_, outputs_, nullptr, queue_).code(), Code::task_failed);
  EXPECT_THAT(taken(), ElementsAre("a"));
  EXPECT_EQ(failed_step(), "a");
  forget_failed_step();
  set_failed_addresses({});
}

TEST_F(LaunchTest, AnObserverMeansThatTheHostTakesPart) {
  step("a", in(), out());
  plan_.observed = true;
  EXPECT_FALSE(plan_.only_enqueues());
  plan_.observed = false;
  plan_.on_device = false;
  EXPECT_FALSE(plan_.only_enqueues());
}

}  // namespace
}  // namespace anynpu::exec
