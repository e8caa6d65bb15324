// SPDX-License-Identifier: Apache-2.0
// Plan::fill_weights and Plan::forget_graph.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "device/host_view.h"
#include "device/remote_device_for_test.h"
#include "exec/plan.h"
#include "graph/tensor_value.h"

namespace anynpu::exec {
namespace {

using testing::HasSubstr;

// Packs its bytes as 1, 2, 3, ...; fails where the first is to be `refused`.
class CountingKernel final : public ops::Kernel {
 public:
  explicit CountingKernel(size_t bytes, bool refuses = false) : bytes_(bytes), refuses_(refuses) {}
  size_t packed_bytes() const override { return bytes_; }
  bool packs_input(size_t input) const override { return input == 1; }
  Status pack(const ops::OpContext&, std::span<std::byte> packed) override {
    if (refuses_) return fail(Code::corrupt_model, "these weights are damaged");
    for (size_t i = 0; i < packed.size(); ++i) packed[i] = static_cast<std::byte>(i + 1);
    return {};
  }
  Result<std::unique_ptr<ops::KernelPlan>> plan(const ops::OpContext&) const override {
    return fail(Code::internal, "not planned here");
  }

 private:
  size_t bytes_;
  bool refuses_;
};

class PlanWeightsTest : public testing::Test {
 protected:
  void SetUp() override {
    node_.op = "Conv";
    node_.name = "conv1";
    auto chunk = std::make_shared<WeightChunk>();
    chunk->bytes = 256;
    chunk->memory = Memory::allocate(256).value();
    std::memset(chunk->memory.data(), 0xee, 256);
    plan_.chunks = {chunk};
  }
  void add_kernel(std::unique_ptr<ops::Kernel> kernel, Slot where, size_t elements = 4) {
    ops::OpContext context;
    context.node = &node_;
    context.inputs = {ops::Operand::of(DType::f32, {1}), ops::Operand::of(DType::f32, {1})};
    context.inputs[1].is_constant = true;
    context.inputs[1].constant = std::as_bytes(std::span(weights_).first(elements));
    plan_.kernels.push_back({std::move(kernel), std::move(context), where});
  }
  std::vector<int> stored(size_t from, size_t count) {
    std::vector<std::byte> bytes(count);
    EXPECT_TRUE(
        device::copy_bytes(bytes.data(), plan_.chunks[0]->memory.data() + from, count).ok());
    std::vector<int> numbers;
    for (std::byte byte : bytes) numbers.push_back(static_cast<int>(byte));
    return numbers;
  }

  graph::Node node_;
  std::vector<float> weights_ = {1, 2, 3, 4};
  Plan plan_;
};

TEST_F(PlanWeightsTest, KernelsPackAndConstantsAreCopiedToTheirPlaces) {
  add_kernel(std::make_unique<CountingKernel>(3), {OperandMemory::weights, 64, 0});
  const std::vector<std::byte> raw = {std::byte{7}, std::byte{8}};
  plan_.constants.push_back({raw, {OperandMemory::weights, 128, 0}});
  ASSERT_TRUE(plan_.fill_weights().ok());
  EXPECT_EQ(stored(64, 4), (std::vector<int>{1, 2, 3, 0xee}));
  EXPECT_EQ(stored(128, 3), (std::vector<int>{7, 8, 0xee}));
}

TEST_F(PlanWeightsTest, WhatAnotherPlanFillsIsNotTouched) {
  add_kernel(std::make_unique<CountingKernel>(3), Slot{});
  ASSERT_TRUE(plan_.fill_weights().ok());
  EXPECT_EQ(stored(0, 2), (std::vector<int>{0xee, 0xee}));
}

TEST_F(PlanWeightsTest, WeightsWithoutElementsAreNotPacked) {
  add_kernel(std::make_unique<CountingKernel>(3, true), {OperandMemory::weights, 0, 0}, 0);
  EXPECT_TRUE(plan_.fill_weights().ok());
}

TEST_F(PlanWeightsTest, AFailureNamesTheNode) {
  add_kernel(std::make_unique<CountingKernel>(3, true), {OperandMemory::weights, 0, 0});
  const Status status = plan_.fill_weights();
  EXPECT_EQ(status.code(), Code::corrupt_model);
  EXPECT_THAT(status.to_string(), HasSubstr("conv1"));
}

TEST_F(PlanWeightsTest, WhatADeviceReadsIsPackedOnTheHostAndCopied) {
  device::RemoteDevice device(0);  // writing to its addresses from here would crash
  plan_.chunks[0]->memory = Memory::allocate_on(device, 256).value();
  plan_.chunks[0]->side = WeightSide::device;
  add_kernel(std::make_unique<CountingKernel>(2), {OperandMemory::weights, 64, 0});
  ASSERT_TRUE(plan_.fill_weights().ok());
  EXPECT_EQ(stored(64, 2), (std::vector<int>{1, 2}));
  plan_.chunks.clear();
}

TEST_F(PlanWeightsTest, PlansInsideAreFilledAndReleasedToo) {
  struct Inner final : InnerPlans {
    int filled = 0, released = 0;
    Status fill_weights() override {
      ++filled;
      return {};
    }
    void forget_graph() override { ++released; }
    void observe_by(const std::shared_ptr<StepObserver>&) override {}
  } inner;
  add_kernel(std::make_unique<CountingKernel>(1), {OperandMemory::weights, 0, 0});
  plan_.inner = {&inner};
  plan_.own_graph = std::make_shared<graph::Graph>();
  ASSERT_TRUE(plan_.fill_weights().ok());
  plan_.forget_graph();
  EXPECT_EQ(inner.filled, 1);
  EXPECT_EQ(inner.released, 1);
  EXPECT_EQ(plan_.own_graph, nullptr);
  EXPECT_EQ(plan_.kernels[0].context.node, nullptr);
  EXPECT_NE(plan_.kernels[0].kernel, nullptr) << "plans may refer to it";
}

}  // namespace
}  // namespace anynpu::exec
