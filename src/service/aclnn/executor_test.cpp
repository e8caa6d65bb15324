// SPDX-License-Identifier: Apache-2.0
#include "service/aclnn/executor.h"

#include <gtest/gtest.h>

#include <functional>

#include "service/model/model_for_test.h"

namespace anynpu::service {
namespace {

using aclnn::ArgumentKind;

const char* const kAddParameters[] = {"self", "other", "alpha", "out"};
const NnOperator& add() {
  static const NnOperator op{{"aclnnAdd", kAddParameters, "iiio"}, aclnn::find_row("aclnnAdd")};
  return op;
}

Handle tensor(std::vector<float>& data) {
  const auto count = static_cast<int64_t>(data.size());
  return *create_nn_tensor({&count, 1, 0, nullptr, 0, 2, &count, 1, data.data()});
}

class NnExecutors : public ServiceTest {
 protected:
  void SetUp() override {
    ServiceTest::SetUp();
    const float alpha = 1;
    alpha_ = *create_nn_scalar(&alpha, 0);
  }
  Result<Prepared> prepare(Handle self, Handle other, Handle out) {
    const RawArgument raw[] = {{ArgumentKind::tensor, self}, {ArgumentKind::tensor, other},
                               {ArgumentKind::scalar, alpha_}, {ArgumentKind::tensor, out}};
    return prepare_nn(add(), raw);
  }
  static Status wait() { return (*device::Runtime::instance().stream(0))->synchronize(); }

  Handle alpha_ = 0;
};

TEST_F(NnExecutors, RunsOnceAndIsGone) {
  std::vector<float> a{1, 2}, b{10, 20}, c{0, 0};
  const auto prepared = prepare(tensor(a), tensor(b), tensor(c));
  ASSERT_TRUE(prepared.ok()) << prepared.status().to_string();
  EXPECT_EQ(prepared->work_bytes, 0u);
  ASSERT_TRUE(execute_nn(add(), {}, prepared->executor, 0).ok());
  ASSERT_TRUE(wait().ok());
  EXPECT_EQ(c, (std::vector<float>{11, 22}));
  EXPECT_EQ(execute_nn(add(), {}, prepared->executor, 0).code(), Code::invalid_handle);
}

TEST_F(NnExecutors, ARepeatableOneTakesNewAddresses) {
  std::vector<float> a{1, 2}, b{10, 20}, c{0, 0}, d{0, 0};
  const auto prepared = prepare(tensor(a), tensor(b), tensor(c));
  ASSERT_TRUE(prepared.ok());
  const Handle executor = prepared->executor;
  EXPECT_EQ(set_tensor_address(executor, NnSide::outputs, 0, d.data()).code(),
            Code::bad_call_order);
  ASSERT_TRUE(make_repeatable(executor).ok());
  ASSERT_TRUE(execute_nn(add(), {}, executor, 0).ok());
  ASSERT_TRUE(set_tensor_address(executor, NnSide::outputs, 0, d.data()).ok());
  ASSERT_TRUE(set_tensor_address(executor, NnSide::inputs, 1, a.data()).ok());
  ASSERT_TRUE(execute_nn(add(), {}, executor, 0).ok());
  ASSERT_TRUE(wait().ok());
  EXPECT_EQ(c, (std::vector<float>{11, 22}));
  EXPECT_EQ(d, (std::vector<float>{2, 4}));
  EXPECT_EQ(set_tensor_address(executor, NnSide::outputs, 1, d.data()).code(),
            Code::invalid_argument);
  EXPECT_TRUE(destroy_executor(executor).ok());
}

TEST_F(NnExecutors, CallsOfOneFormShareAPlan) {
  std::vector<float> a(33, 1), b(33, 2), c(33);
  const size_t before = NnPlanCache::instance().size();
  for (int i = 0; i < 3; ++i) {
    const auto prepared = prepare(tensor(a), tensor(b), tensor(c));
    ASSERT_TRUE(prepared.ok());
    ASSERT_TRUE(destroy_executor(prepared->executor).ok());
  }
  EXPECT_EQ(NnPlanCache::instance().size(), before + 1);
}

TEST_F(NnExecutors, AnOutputMayBeAnInput) {
  std::vector<float> a{1, 2, 3, 4, 5, 6, 7, 8};
  const int64_t four = 4, eight = 8;
  // a[1..5) = a[1..5) + a[0..4): read before it is written, whatever the order.
  const Handle low = *create_nn_tensor({&four, 1, 0, nullptr, 0, 2, &eight, 1, a.data()});
  const Handle high = *create_nn_tensor({&four, 1, 0, nullptr, 1, 2, &eight, 1, a.data()});
  const auto prepared = prepare(high, low, high);
  ASSERT_TRUE(prepared.ok()) << prepared.status().to_string();
  std::vector<std::byte> work(prepared->work_bytes + 64);
  void* at = work.data();
  size_t room = work.size();
  std::align(64, prepared->work_bytes, at, room);
  ASSERT_TRUE(execute_nn(add(), {at, room}, prepared->executor, 0).ok());
  ASSERT_TRUE(wait().ok());
  EXPECT_EQ(a, (std::vector<float>{1, 3, 5, 7, 9, 6, 7, 8}));
}

}  // namespace
}  // namespace anynpu::service
