// SPDX-License-Identifier: Apache-2.0
#include "service/model/binding.h"

#include <gtest/gtest.h>

#include "service/model/model_for_test.h"

namespace anynpu::service {
namespace {

using Floats = std::array<float, 4>;

class BindingTest : public ServiceTest {
 protected:
  void SetUp() override {
    ServiceTest::SetUp();
    device_ = (*device::Runtime::instance().current())->device();
    id_ = load_for_test(compile_relu());
  }
  Code code_of(const ExecuteCall& call) { return binding_.bind(call, *device_).code(); }

  Floats x_{-1, 2, -3, 4}, y_{};
  OneBuffer in_{&x_, sizeof x_}, out_{&y_, sizeof y_};
  std::shared_ptr<device::Device> device_;
  uint32_t id_ = 0;
  Binding binding_;
};

TEST_F(BindingTest, IsUsedAgainAndAgain) {
  for (int i = 0; i < 3; ++i) {
    y_ = {};
    const Status status = binding_.bind({id_, in_, out_}, *device_);
    ASSERT_TRUE(status.ok()) << status.to_string();
    EXPECT_FALSE(binding_.has_loops());
    ASSERT_TRUE(binding_.run().ok());
    EXPECT_EQ(y_, (Floats{0, 2, 0, 4}));
    binding_.clear();
  }
}

TEST_F(BindingTest, DatasetsAreCheckedAgainstTheModel) {
  OneBuffer small(&x_, sizeof x_ - 1);
  const HandleForTest<Dataset> empty(std::make_shared<Dataset>());
  EXPECT_EQ(code_of({id_ + 1, in_, out_}), Code::model_not_found);
  EXPECT_EQ(code_of({id_, small, out_}), Code::shape_mismatch);
  EXPECT_EQ(code_of({id_, in_, small}), Code::output_mismatch);
  EXPECT_EQ(code_of({id_, empty, out_}), Code::shape_mismatch);
  EXPECT_EQ(code_of({id_, in_, empty}), Code::output_mismatch);
  OneBuffer nowhere(nullptr, sizeof x_);
  EXPECT_NE(code_of({id_, nowhere, out_}), Code::ok);
  EXPECT_EQ(code_of({id_, in_, out_}), Code::ok) << "nothing of the failures is left";
}

TEST_F(BindingTest, AModelRunsOnTheDeviceThatItWasLoadedOn) {
  auto& runtime = device::Runtime::instance();
  ASSERT_TRUE(runtime.device(1).ok()) << "tests need two devices";
  EXPECT_EQ(binding_.bind({id_, in_, out_}, **runtime.device(1)).code(), Code::wrong_context);
}

TEST_F(BindingTest, ABoundRunOutlivesTheIdOfItsModel) {
  ASSERT_TRUE(binding_.bind({id_, in_, out_}, *device_).ok());
  ASSERT_TRUE(ModelTable::instance().remove(id_).ok());
  ASSERT_TRUE(binding_.run().ok());
  EXPECT_EQ(y_, (Floats{0, 2, 0, 4}));
}

TEST_F(BindingTest, MemoryInUseIsKeptUntilTheBindingLetsGo) {
  auto* memory = static_cast<float*>(device::allocate_device(*device_, sizeof y_, {}).value());
  OneBuffer out(memory, sizeof y_);
  ASSERT_TRUE(binding_.bind({id_, in_, out}, *device_).ok());
  const size_t used = device_->memory_used();
  ASSERT_TRUE(device::free_device(memory).ok());
  EXPECT_TRUE(binding_.run().ok()) << "the bytes are still there";
  binding_.clear();
  EXPECT_LT(device_->memory_used(), used);
}

TEST_F(BindingTest, WorkMemoryHasToBeLargeEnough) {
  ASSERT_TRUE(binding_.bind({id_, in_, out_}, *device_).ok());
  EXPECT_TRUE(binding_.bind_work({}).ok()) << "none is given";
  const size_t work = ModelTable::instance().find(id_).value()->shaped->sizes().work_bytes;
  if (work > 0) {
    alignas(64) std::byte little[1];
    EXPECT_FALSE(binding_.bind_work({little, work - 1}).ok());
  }
  alignas(64) static std::byte enough[4096];
  ASSERT_LE(work, sizeof enough);
  EXPECT_TRUE(binding_.bind_work({enough, sizeof enough}).ok());
  ASSERT_TRUE(binding_.run().ok());
  EXPECT_EQ(y_, (Floats{0, 2, 0, 4}));
}

}  // namespace
}  // namespace anynpu::service
