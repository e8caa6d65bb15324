// SPDX-License-Identifier: Apache-2.0
#include "exec/observe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "device/remote_device_for_test.h"
#include "exec/queue_for_test.h"
#include "ops/enqueued_plan.h"
#include "ops/plain_kernel.h"

namespace anynpu::exec {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Writes down its calls, with the first element of the first tensor.
class DiaryObserver final : public StepObserver {
 public:
  explicit DiaryObserver(std::string only = "", Status refusal = {})
      : only_(std::move(only)), refusal_(std::move(refusal)) {}

  void set_model_id(uint32_t id) override { diary.push_back("model " + std::to_string(id)); }
  void begin() override { diary.push_back("begin"); }
  bool wants(const std::string& op, const std::string&) const override {
    return only_.empty() || op == only_;
  }
  Status before(const StepView& step) override {
    diary.push_back("before " + step.name + " " + first_of(step.inputs));
    return refusal_;
  }
  Status after(const StepView& step) override {
    diary.push_back("after " + step.name + " " + first_of(step.outputs));
    return {};
  }
  void failed(const StepView& step, const Status& status) override {
    diary.push_back("failed " + step.name + ": " + std::string(status.message()));
  }

  std::vector<std::string> diary;

 private:
  static std::string first_of(std::span<const StepTensor> tensors) {
    float value = 0;
    std::memcpy(&value, tensors[0].data, sizeof value);
    return std::to_string(static_cast<int>(value));
  }
  std::string only_;
  Status refusal_;
};

PlanStep step_for(const std::string& op, const std::string& name,
                  std::unique_ptr<ops::KernelPlan> work) {
  PlanStep step;
  step.op = op;
  step.name = name;
  step.in = step.out = {{DType::f32, {1}}};
  step.work = std::move(work);
  return step;
}

std::unique_ptr<ops::KernelPlan> doubling() {
  return ops::make_plan([](const ops::RunArgs& args) {
    *ops::output_of<float>(args, 0) = 2 * *ops::input_of<float>(args, 0);
  });
}

Status run_step(const PlanStep& step, const float& x, float& y) {
  const auto* const from = reinterpret_cast<const std::byte*>(&x);
  auto* const to = reinterpret_cast<std::byte*>(&y);
  return step.work->run({{&from, 1}, {&to, 1}});
}

TEST(Observe, AStepIsSeenBeforeAndAfterWithItsData) {
  Plan plan;
  plan.steps.push_back(step_for("Mul", "m", doubling()));
  const auto observer = std::make_shared<DiaryObserver>();
  observe(plan, observer);
  EXPECT_TRUE(plan.observed);
  float x = 4, y = 0;
  ASSERT_TRUE(run_step(plan.steps[0], x, y).ok());
  EXPECT_EQ(y, 8);
  EXPECT_THAT(observer->diary, ElementsAre("before m 4", "after m 8"));
}

TEST(Observe, OnlyOperatorsThatAreWantedAndNoStepsOfOurOwn) {
  Plan plan;
  plan.steps.push_back(step_for("Mul", "m", doubling()));
  plan.steps.push_back(step_for("Relu", "r", doubling()));
  plan.steps.push_back(step_for("", "reorder", doubling()));
  const auto observer = std::make_shared<DiaryObserver>("Relu");
  observe(plan, observer);
  float x = 1, y = 0;
  for (const PlanStep& step : plan.steps) ASSERT_TRUE(run_step(step, x, y).ok());
  EXPECT_THAT(observer->diary, ElementsAre("before r 1", "after r 2"));

  Plan own;
  own.steps.push_back(step_for("", "reorder", doubling()));
  const auto all = std::make_shared<DiaryObserver>();
  observe(own, all);
  ASSERT_TRUE(run_step(own.steps[0], x, y).ok());
  EXPECT_THAT(all->diary, IsEmpty());
}

TEST(Observe, AStepThatAnObserverRefusesDoesNotRun) {
  Plan plan;
  plan.steps.push_back(step_for("Mul", "m", doubling()));
  const auto observer = std::make_shared<DiaryObserver>("", fail(Code::task_failed, "injected"));
  observe(plan, observer);
  float x = 4, y = 0;
  EXPECT_EQ(run_step(plan.steps[0], x, y).code(), Code::task_failed);
  EXPECT_EQ(y, 0);
  EXPECT_THAT(observer->diary, ElementsAre("before m 4", "failed m: injected"));
}

TEST(Observe, AStepThatFailsIsReportedAsFailed) {
  Plan plan;
  plan.steps.push_back(step_for("Mul", "m", ops::make_checked_plan([](const ops::RunArgs&) {
                                  return fail(Code::internal, "broken");
                                })));
  const auto observer = std::make_shared<DiaryObserver>();
  observe(plan, observer);
  float x = 4, y = 0;
  EXPECT_EQ(run_step(plan.steps[0], x, y).code(), Code::internal);
  EXPECT_THAT(observer->diary, ElementsAre("before m 4", "failed m: broken"));
}

// Doubles a float in the memory of a device.
class DoubleOnDevice final : public ops::EnqueuedPlan {
 public:
  Status enqueue(const ops::RunArgs& args, device::Queue&) const override {
    float value = 0;
    ANYNPU_TRY(device::copy_bytes(&value, args.inputs[0], sizeof value));
    value *= 2;
    return device::copy_bytes(args.outputs[0], &value, sizeof value);
  }
};
TEST(Observe, OnADeviceTheObserverSeesCopiesOnTheHost) {
  device::RemoteDevice device(0);
  const Memory memory = Memory::allocate_on(device, 64).value();
  const float x = 5;
  ASSERT_TRUE(device::copy_bytes(memory.data(), &x, sizeof x).ok());
  Plan plan;
  plan.on_device = true;
  plan.steps.push_back(step_for("Mul", "m", std::make_unique<DoubleOnDevice>()));
  const auto observer = std::make_shared<DiaryObserver>();
  observe(plan, observer);
  const std::byte* const from = memory.data();
  std::byte* const to = memory.data() + 32;
  IdleQueue queue;
  const auto& work = static_cast<const ops::EnqueuedPlan&>(*plan.steps[0].work);
  ASSERT_TRUE(work.enqueue({{&from, 1}, {&to, 1}}, queue).ok());
  EXPECT_THAT(observer->diary, ElementsAre("before m 5", "after m 10"));
  EXPECT_EQ(queue.drains, 2);
}

TEST(Observe, SeveralObserversEachSeeWhatTheyWant) {
  EXPECT_EQ(join_observers({nullptr, nullptr}), nullptr);
  const auto one = std::make_shared<DiaryObserver>("Mul"), two = std::make_shared<DiaryObserver>();
  EXPECT_EQ(join_observers({nullptr, one}), one);
  const auto both = join_observers({one, nullptr, two});
  both->set_model_id(7);
  both->begin();
  EXPECT_TRUE(both->wants("Relu", "r"));
  Plan plan;
  plan.steps.push_back(step_for("Relu", "r", doubling()));
  observe(plan, both);
  float x = 1, y = 0;
  ASSERT_TRUE(run_step(plan.steps[0], x, y).ok());
  EXPECT_THAT(one->diary, ElementsAre("model 7", "begin"));
  EXPECT_THAT(two->diary, ElementsAre("model 7", "begin", "before r 1", "after r 2"));
}

TEST(Observe, ANestedModelDoesNotBeginARunOfItsOwn) {
  EXPECT_EQ(inside_a_run(nullptr), nullptr);
  const auto observer = std::make_shared<DiaryObserver>("Mul");
  const auto inner = inside_a_run(observer);
  EXPECT_EQ(inside_a_run(inner), inner);
  inner->set_model_id(3);
  inner->begin();
  EXPECT_THAT(observer->diary, IsEmpty());
  EXPECT_TRUE(inner->wants("Mul", "m"));
  EXPECT_FALSE(inner->wants("Relu", "r"));
}

}  // namespace
}  // namespace anynpu::exec
