// SPDX-License-Identifier: Apache-2.0
#include "service/op/host_values.h"

#include <gtest/gtest.h>

#include <array>

#include "service/op/op_for_test.h"

namespace anynpu::service {
namespace {

using HostValuesTest = ServiceTest;

TensorDesc numbers(Placement placement, int64_t count) {
  TensorDesc desc;
  desc.dtype = DType::i64;
  desc.format = Format::nd;
  desc.shape = {count};
  desc.placement = placement;
  return desc;
}

TEST_F(HostValuesTest, SmallInputsOnTheHostBecomeConstants) {
  std::array<int64_t, 2> axes{0, 1}, others{2, 3};
  OpForTest call("ReduceSum");
  call.in(numbers(Placement::host, 2), &axes, sizeof axes);
  call.in(numbers(Placement::device, 2), &others, sizeof others);
  auto op = read_op(call.arguments());
  ASSERT_TRUE(op.ok()) << op.status().to_string();
  const Status status = take_host_values(call.buffers(), *op);
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_TRUE(op->inputs[0].is_constant);
  EXPECT_EQ(op->inputs[0].constant.size(), sizeof axes);
  EXPECT_FALSE(op->inputs[1].is_constant);
}

TEST_F(HostValuesTest, DataOnTheHostStaysAnInput) {
  std::vector<int64_t> data(4096);
  OpForTest call("Neg");
  call.in(numbers(Placement::host, 4096), data.data(), data.size() * sizeof(int64_t));
  auto op = read_op(call.arguments());
  ASSERT_TRUE(take_host_values(call.buffers(), *op).ok());
  EXPECT_FALSE(op->inputs[0].is_constant);
}

TEST_F(HostValuesTest, AnAddressThatIsNotMappedIsRefused) {
  OpForTest call("Neg");
  call.in(numbers(Placement::host, 2), reinterpret_cast<void*>(0x10), 16);
  auto op = read_op(call.arguments());
  const Status status = take_host_values(call.buffers(), *op);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.to_string().find("input 0 of Neg"), std::string::npos) << status.to_string();
}

}  // namespace
}  // namespace anynpu::service
