// SPDX-License-Identifier: Apache-2.0
#include "exec/plan_storage.h"

#include <gtest/gtest.h>

#include "ops/plain_kernel.h"

namespace anynpu::exec {
namespace {

class PlanStorageTest : public testing::Test {
 protected:
  // A step from one buffer to another, with a workspace and per-thread scratch.
  void step(PlanStorage& storage, int from, int to, size_t workspace = 0, size_t scratch = 0,
            bool fallback = false) {
    PlanStep step;
    step.work = ops::make_plan([](const ops::RunArgs&) {});
    step.work->workspace_bytes = workspace;
    if (scratch > 0) step.work->add_thread_scratch(2, scratch);
    step.fallback = fallback;
    storage.add_step(*step.work, fallback, {{from}, {to}});
    plan_.steps.push_back(std::move(step));
  }
  static int tensor(PlanStorage& storage, size_t bytes) {
    return storage.add({OperandMemory::arena, 0, bytes, storage.next_step(), storage.next_step()});
  }
  static int caller(PlanStorage& storage, OperandMemory memory) {
    return storage.add({memory, 0, 64});
  }

  Plan plan_;
};

TEST_F(PlanStorageTest, ABufferLivesUntilItsLastReaderAndIsUsedAgainAfterwards) {
  PlanStorage storage(false);
  int last = caller(storage, OperandMemory::input);
  for (int i = 0; i < 4; ++i) {
    const int next = tensor(storage, 256);
    step(storage, last, next);
    last = next;
  }
  storage.place(plan_);
  EXPECT_EQ(plan_.work_bytes, 512u);
  EXPECT_EQ(plan_.steps[0].inputs[0].memory, OperandMemory::input);
  EXPECT_EQ(plan_.steps[0].outputs[0].offset, plan_.steps[2].outputs[0].offset);
  EXPECT_NE(plan_.steps[0].outputs[0].offset, plan_.steps[1].outputs[0].offset);
  EXPECT_EQ(plan_.arena_uses.size(), 4u);
  EXPECT_EQ(plan_.arena_uses[0].last_step, 1u);
}

TEST_F(PlanStorageTest, WorkspacesHaveTheirPlaceAndThreadScratchIsTheSameForAllSteps) {
  PlanStorage storage(false);
  const int in = caller(storage, OperandMemory::input),
            out = caller(storage, OperandMemory::output);
  step(storage, in, out, 128, 64);
  step(storage, in, out, 0, 192);
  step(storage, in, out);
  storage.place(plan_);
  EXPECT_EQ(plan_.thread_scratch_stride, 192u);
  EXPECT_EQ(plan_.work_bytes, 128u + 2 * 192u);
  EXPECT_EQ(plan_.steps[0].thread_scratch.offset, plan_.steps[1].thread_scratch.offset);
  EXPECT_EQ(plan_.steps[0].workspace.memory, OperandMemory::arena);
  EXPECT_EQ(plan_.steps[1].workspace.memory, OperandMemory::none);
  EXPECT_EQ(plan_.steps[2].thread_scratch.memory, OperandMemory::none);
}

TEST_F(PlanStorageTest, AnInputIsOverwrittenOnlyByItsLastAndOnlyReader) {
  PlanStorage storage(false);
  const int free = tensor(storage, 64), read_later = tensor(storage, 64);
  const int weights = storage.add({OperandMemory::weights, 0, 64});
  storage[free].last_node = 3;
  storage[read_later].last_node = 4;
  EXPECT_TRUE(storage.may_overwrite(3, {{free}, {}}, 0, 64));
  EXPECT_FALSE(storage.may_overwrite(3, {{free}, {}}, 0, 128)) << "the output is larger";
  EXPECT_FALSE(storage.may_overwrite(3, {{free, free}, {}}, 0, 64)) << "read through both inputs";
  EXPECT_FALSE(storage.may_overwrite(3, {{read_later}, {}}, 0, 64));
  EXPECT_FALSE(storage.may_overwrite(3, {{weights}, {}}, 0, 64));
}

TEST_F(PlanStorageTest, OnADeviceWhatOnlyFallbackStepsTouchIsOnTheHost) {
  PlanStorage storage(true);
  const int in = caller(storage, OperandMemory::input);
  const int shared = tensor(storage, 64);
  step(storage, in, shared);  // of the device
  const int on_host = tensor(storage, 64);
  step(storage, shared, on_host, 32, 0, true);
  const int out = caller(storage, OperandMemory::output);
  step(storage, on_host, out, 0, 64, true);
  storage.place(plan_);
  EXPECT_EQ(plan_.steps[0].outputs[0].memory, OperandMemory::arena);
  EXPECT_EQ(plan_.steps[1].outputs[0].memory, OperandMemory::host_arena);
  EXPECT_EQ(plan_.steps[1].workspace.memory, OperandMemory::host_arena);
  EXPECT_EQ(plan_.steps[2].thread_scratch.memory, OperandMemory::host_arena);
  EXPECT_EQ(plan_.work_bytes, 512u);
  EXPECT_GE(plan_.host_work_bytes, 64u + 32 + 2 * 64);
}

TEST_F(PlanStorageTest, OnADeviceMemoryIsReusedSomeStepsLater) {
  PlanStorage storage(true);
  int last = caller(storage, OperandMemory::input);
  for (int i = 0; i < 8; ++i) {
    const int next = tensor(storage, 64);
    step(storage, last, next);
    last = next;
  }
  storage.place(plan_);
  EXPECT_NE(plan_.steps[0].outputs[0].offset, plan_.steps[2].outputs[0].offset);
  EXPECT_LT(plan_.work_bytes, 8 * 512u) << "but it is reused";
}

}  // namespace
}  // namespace anynpu::exec
