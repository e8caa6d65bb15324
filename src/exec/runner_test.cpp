// SPDX-License-Identifier: Apache-2.0
#include "exec/runner.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "ops/plain_kernel.h"

namespace anynpu::exec {
namespace {

// A plan of steps from one float to another.
class RunnerTest : public testing::Test {
 protected:
  using Function = std::function<float(float)>;

  void step(const std::string& name, Slot from, Slot to, Function function) {
    PlanStep step;
    step.name = step.op = name;
    step.work = ops::make_plan([function](const ops::RunArgs& args) {
      *ops::output_of<float>(args, 0) = function(*ops::input_of<float>(args, 0));
    });
    step.inputs = {from};
    step.outputs = {to};
    add(std::move(step));
  }
  void add(PlanStep step) {
    names_.push_back({trace::intern(step.name), trace::intern("")});
    plan_.steps.push_back(std::move(step));
  }
  PlanRunner runner() {
    plan_.work_bytes = 256;
    return PlanRunner(plan_, names_, Memory::allocate(256).value());
  }
  static Slot in(size_t index = 0) { return {OperandMemory::input, index}; }
  static Slot out(size_t index = 0) { return {OperandMemory::output, index}; }
  static Slot arena(size_t offset) { return {OperandMemory::arena, offset}; }

  Plan plan_;
  std::vector<TracedStep> names_;
};

TEST_F(RunnerTest, StepsRunInOrderOnTheBuffersOfTheRun) {
  step("double", in(), arena(0), [](float x) { return 2 * x; });
  step("add one", arena(0), out(), [](float x) { return x + 1; });
  step("again", out(), out(1), [](float x) { return 10 * x; });  // reads what was written
  PlanRunner runner = this->runner();
  for (float x : {3.0f, 4.0f}) {
    float y = 0, z = 0;
    void *inputs[] = {&x}, *outputs[] = {&y, &z};
    ASSERT_TRUE(runner.run(inputs, outputs, nullptr).ok());
    EXPECT_EQ(y, 2 * x + 1);
    EXPECT_EQ(z, 10 * y);
  }
}

TEST_F(RunnerTest, EachStepIsTimedWhenAsked) {
  step("a", in(), arena(0), [](float x) { return x; });
  step("b", arena(0), out(), [](float x) { return x; });
  PlanRunner runner = this->runner();
  float x = 1, y = 0;
  void *inputs[] = {&x}, *outputs[] = {&y};
  uint64_t ns[] = {~uint64_t{0}, ~uint64_t{0}};
  ASSERT_TRUE(runner.run(inputs, outputs, ns).ok());
  for (uint64_t each : ns) EXPECT_LT(each, uint64_t{60} * 1'000'000'000);
  EXPECT_EQ(y, 1);
}

TEST_F(RunnerTest, TheStepThatFailedIsKnownWithItsAddresses) {
  step("fine", in(), arena(64), [](float x) { return x; });
  PlanStep bad;
  bad.name = bad.op = "bad one";
  bad.work = ops::make_checked_plan(
      [](const ops::RunArgs&) { return fail(Code::task_failed, "it does not work"); });
  bad.inputs = {arena(64)};
  bad.outputs = {out()};
  add(std::move(bad));
  step("never", in(), out(), [](float) { return 5.0f; });
  PlanRunner runner = this->runner();
  float x = 1, y = 0;
  void *inputs[] = {&x}, *outputs[] = {&y};
  for (const bool timed : {false, true}) {
    uint64_t ns[3];
    forget_failed_step();
    EXPECT_EQ(failed_step(), "");
    EXPECT_EQ(runner.run(inputs, outputs, timed ? ns : nullptr).code(), Code::task_failed);
    EXPECT_EQ(failed_step(), "bad one");
    EXPECT_EQ(failed_addresses().outputs, (std::vector<const void*>{&y}));
    EXPECT_EQ(failed_addresses().inputs.size(), 1u);
    EXPECT_EQ(y, 0);
  }
  forget_failed_step();
  set_failed_addresses({});
}

TEST_F(RunnerTest, AnArenaOfTheCallerTakesThePlaceOfItsOwn) {
  step("a", in(), arena(64), [](float x) { return x + 1; });
  plan_.steps[0].work->workspace_bytes = 4;
  plan_.steps[0].workspace = arena(128);
  step("b", arena(64), out(), [](float x) { return x + 1; });
  plan_.work_bytes = 256;
  PlanRunner runner(plan_, names_, Memory{});
  alignas(64) std::byte one[256] = {}, two[256] = {};
  for (std::byte* memory : {one, two}) {
    runner.use_arena(memory);
    float x = 1, y = 0;
    void *inputs[] = {&x}, *outputs[] = {&y};
    ASSERT_TRUE(runner.run(inputs, outputs, nullptr).ok());
    EXPECT_EQ(y, 3);
    EXPECT_EQ(*reinterpret_cast<float*>(memory + 64), 2);
  }
}

}  // namespace
}  // namespace anynpu::exec
