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
    const RawArgument raw[] = {{ArgumentKind::tensor, self},
                               {ArgumentKind::tensor, other},
                               {ArgumentKind::scalar, alpha_},
                               {ArgumentKind::tensor, out}};
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

TEST_F(NnExecutors, TheWorkspaceIsKnownBeforeThereIsMemory) {
  const int64_t two = 2;
  const auto later = [&] {
    return *create_nn_tensor({&two, 1, 0, nullptr, 0, 2, &two, 1, nullptr});
  };
  const auto asked = prepare(later(), later(), later());
  ASSERT_TRUE(asked.ok()) << asked.status().to_string();
  EXPECT_EQ(execute_nn(add(), {}, asked->executor, 0).code(), Code::invalid_address);
  std::vector<float> a{1, 2}, b{10, 20}, c{0, 0};
  const auto prepared = prepare(tensor(a), tensor(b), tensor(c));
  EXPECT_EQ(prepared->work_bytes, asked->work_bytes) << "tensors without memory share none";
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

// aclnnIncreFlashAttention over one head of size 1: scores of 0, so that all keys weigh the same.
TEST_F(NnExecutors, LengthsComeWithEveryCallOfOnePlan) {
  static const char* const names[] = {"query",       "key",
                                      "value",       "pseShift",
                                      "attenMask",   "actualSeqLengths",
                                      "numHeads",    "scaleValue",
                                      "inputLayout", "numKeyValueHeads",
                                      "attentionOut"};
  static const NnOperator op{{"aclnnIncreFlashAttention", names, "iiiiiiiiiio"},
                             aclnn::find_row("aclnnIncreFlashAttention")};
  std::vector<float> q{0}, k{1, 1, 1}, v{1, 2, 6}, y{0};
  const auto tensor4 = [](std::vector<float>& data) {
    const int64_t dims[] = {1, 1, static_cast<int64_t>(data.size()), 1};
    return *create_nn_tensor({dims, 4, 0, nullptr, 0, 2, dims, 4, data.data()});
  };
  const auto list = [](Handle item) {
    const void* items[] = {reinterpret_cast<const void*>(item)};
    return *create_nn_tensors(items, 1);
  };
  const auto prepared = [&](int64_t length) {
    const RawArgument raw[] = {{ArgumentKind::tensor, tensor4(q)},
                               {ArgumentKind::tensors, list(tensor4(k))},
                               {ArgumentKind::tensors, list(tensor4(v))},
                               {ArgumentKind::tensor, 0},
                               {ArgumentKind::tensor, 0},
                               {ArgumentKind::ints, *create_nn_ints(&length, 1)},
                               RawArgument(int64_t{1}),
                               RawArgument(1.0),
                               RawArgument("BNSD"),
                               RawArgument(int64_t{1}),
                               {ArgumentKind::tensor, tensor4(y)}};
    return prepare_nn(op, raw);
  };
  const auto run = [&](Handle executor, uint64_t bytes) {
    std::vector<std::byte> work(bytes + 64);
    void* at = work.data();
    size_t room = work.size();
    std::align(64, bytes, at, room);
    EXPECT_TRUE(execute_nn(op, {at, room}, executor, 0).ok());
    EXPECT_TRUE(wait().ok());
    return y[0];
  };
  const auto first = prepared(3);
  ASSERT_TRUE(first.ok()) << first.status().to_string();
  EXPECT_EQ(run(first->executor, first->work_bytes), 3);
  const size_t plans = NnPlanCache::instance().size();
  const auto second = prepared(2);
  ASSERT_TRUE(second.ok());
  ASSERT_TRUE(make_repeatable(second->executor).ok());
  EXPECT_EQ(run(second->executor, second->work_bytes), 1.5f);
  EXPECT_EQ(run(second->executor, second->work_bytes), 1.5f);
  EXPECT_EQ(NnPlanCache::instance().size(), plans);
  const auto outside = prepared(4);
  ASSERT_FALSE(outside.ok());
  EXPECT_NE(outside.status().to_string().find("actualSeqLengths[0] is 4; expected 0 to 3"),
            std::string::npos);
  EXPECT_TRUE(destroy_executor(second->executor).ok());
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
