// SPDX-License-Identifier: Apache-2.0
#include "service/model/failed_ops.h"

#include <gtest/gtest.h>

#include "service/model/model_for_test.h"

namespace anynpu::service {
namespace {

device::TaskFailure failure_of(uint32_t task, const Status& status) {
  return {3, 5, task, 7, "model execution", status};
}

TEST(FailedOps, AnOperatorIsFoundByTheIdsOfItsTask) {
  FailedOps& ops = FailedOps::instance();
  const Status status = fail(Code::task_failed, "no");
  ops.note(OpInfo{"Conv", {TensorDesc()}, {}});
  ops.file(failure_of(11, status));
  EXPECT_EQ(ops.find(3, 5, 11)->name, "Conv");
  EXPECT_EQ(ops.find(3, 5, 12).status().code(), Code::invalid_argument);
  ops.file(failure_of(12, status));  // nothing was noted since
  EXPECT_FALSE(ops.find(3, 5, 12).ok());
}

TEST(FailedOps, TheLast64AreKept) {
  FailedOps& ops = FailedOps::instance();
  const Status status = fail(Code::task_failed, "no");
  for (uint32_t task = 100; task < 165; ++task) {
    ops.note(OpInfo{"Add", {}, {}});
    ops.file(failure_of(task, status));
  }
  EXPECT_FALSE(ops.find(3, 5, 100).ok());
  EXPECT_TRUE(ops.find(3, 5, 101).ok());
}

TEST(FailedOps, TensorsComeAsOneHandleASide) {
  FailedOps& ops = FailedOps::instance();
  const Status status = fail(Code::task_failed, "no");
  ops.note(OpInfo{"MatMul", {TensorDesc(), TensorDesc()}, {TensorDesc()}});
  ops.file(failure_of(200, status));
  EXPECT_EQ(describe_failed_op(3, 5, 200, 6).status().code(), Code::invalid_argument);
  const auto op = describe_failed_op(3, 5, 200, 7);
  ASSERT_TRUE(op.ok()) << op.status().to_string();
  EXPECT_EQ(op->input_count, 2u);
  EXPECT_EQ(resolve<TensorDesc>(op->inputs).value()->list.size(), 2u);
  HandleTable::instance().remove<TensorDesc>(op->inputs);
  HandleTable::instance().remove<TensorDesc>(op->outputs);
}

TEST(FailedOps, OperatorsOfAModelHaveTheirTensors) {
  const std::vector<OpInfo> ops = describe_ops(compile_relu({2, 3}));
  ASSERT_EQ(ops.size(), 1u);
  EXPECT_EQ(ops[0].name, "Relu");
  ASSERT_EQ(ops[0].inputs.size(), 1u);
  EXPECT_EQ(ops[0].inputs[0].shape, (Shape{2, 3}));
  EXPECT_EQ(ops[0].input_at, (std::vector<size_t>{0}));
}

}  // namespace
}  // namespace anynpu::service
