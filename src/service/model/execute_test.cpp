// SPDX-License-Identifier: Apache-2.0
#include "service/model/execute.h"

#include <gtest/gtest.h>

#include "service/model/model_for_test.h"
#include "service/model/model_table.h"

namespace anynpu::service {
namespace {

using Floats = std::array<float, 4>;

class ExecuteTest : public ServiceTest {
 protected:
  void SetUp() override {
    ServiceTest::SetUp();
    id_ = load_for_test(compile_relu());
  }
  ExecuteCall call() const { return {id_, in_, out_}; }

  Floats x_{-1, 2, -3, 4}, y_{};
  OneBuffer in_{&x_, sizeof x_}, out_{&y_, sizeof y_};
  uint32_t id_ = 0;
};

TEST_F(ExecuteTest, RunsInTheCallingThread) {
  const Status status = execute(call());
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(y_, (Floats{0, 2, 0, 4}));
}

TEST_F(ExecuteTest, RunsOnTheDefaultStreamAndWaits) {
  const HandleForTest<ExecuteConfig> config(std::make_shared<ExecuteConfig>());
  config->stream_timeout_ms = 10000;
  const Status status = execute_and_wait(call(), 0, config);
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(y_, (Floats{0, 2, 0, 4}));
}

TEST_F(ExecuteTest, AModelIsFoundBeforeItsDatasets) {
  EXPECT_EQ(execute({id_ + 1, 0, 0}).code(), Code::model_not_found);
  EXPECT_EQ(execute({id_, 0, out_}).code(), Code::invalid_handle);
  EXPECT_EQ(execute({id_, in_, in_ + 1}).code(), Code::invalid_handle);
}

TEST_F(ExecuteTest, BuffersThatDoNotFitAreNamed) {
  OneBuffer small(&x_, 8);
  EXPECT_EQ(execute({id_, small, out_}).code(), Code::shape_mismatch);
  EXPECT_EQ(execute({id_, in_, small}).code(), Code::output_mismatch);
  const HandleForTest<Dataset> empty(std::make_shared<Dataset>());
  EXPECT_EQ(execute({id_, empty, out_}).code(), Code::shape_mismatch);
}

TEST_F(ExecuteTest, WorkMemoryNeedsAnAddress) {
  const HandleForTest<ExecuteConfig> config(std::make_shared<ExecuteConfig>());
  config->work_size = 64;
  EXPECT_EQ(execute_async(call(), 0, config).code(), Code::invalid_argument);
}

TEST_F(ExecuteTest, AnUnloadedModelIsNotFound) {
  ASSERT_TRUE(ModelTable::instance().remove(id_).ok());
  EXPECT_EQ(execute(call()).code(), Code::model_not_found);
  EXPECT_EQ(ModelTable::instance().remove(id_).code(), Code::model_not_found);
}

TEST_F(ExecuteTest, FinalisingUnloadsEverything) {
  run_finalizers();
  EXPECT_EQ(execute(call()).code(), Code::model_not_found);
}

}  // namespace
}  // namespace anynpu::service
