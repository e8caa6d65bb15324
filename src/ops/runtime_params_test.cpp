// SPDX-License-Identifier: Apache-2.0
#include "ops/runtime_params.h"

#include "ops/test_node.h"

namespace anynpu::ops {
namespace {

// ReduceSum of 2x3 whose axes are a value of the run; the model states the shape of the output.
struct LateSum {
  explicit LateSum(Shape stated) {
    node.shape({2, 3}).shape({1}, DType::i64);
    auto inferred = node.infer();
    EXPECT_TRUE(inferred.ok());
    OpContext context = *inferred;
    EXPECT_FALSE(context.outputs[0].has_shape);
    context.outputs[0] = Operand::of(DType::f32, std::move(stated));
    auto kernel = Registry::instance().kernels("ReduceSum").back()->create(context);
    EXPECT_TRUE(kernel.ok());
    auto made = (*kernel)->plan(context);
    EXPECT_TRUE(made.ok());
    plan = std::move(*made);
  }
  Status run(int64_t axis, std::vector<float>& y) {
    const float x[6] = {1, 2, 3, 4, 5, 6};
    const std::byte* const in[2] = {reinterpret_cast<const std::byte*>(x),
                                    reinterpret_cast<const std::byte*>(&axis)};
    std::byte* const out[1] = {reinterpret_cast<std::byte*>(y.data())};
    return plan->run({in, out});
  }
  TestNode node{"ReduceSum", 13};
  std::unique_ptr<KernelPlan> plan;
};

TEST(Late, ReadsParametersInTheRun) {
  LateSum sum({2, 1});
  std::vector<float> y(2);
  ASSERT_TRUE(sum.run(1, y).ok());
  EXPECT_EQ(y, (std::vector<float>{6, 15}));
  ASSERT_TRUE(sum.run(-1, y).ok());
}

TEST(Late, ValuesThatGiveAnotherShapeFailTheRun) {
  LateSum sum({2, 1});
  std::vector<float> y(2);
  const Status status = sum.run(0, y);
  EXPECT_EQ(status.code(), Code::shape_mismatch);
  EXPECT_NE(status.to_string().find("1x3, the model states 2x1"), std::string::npos)
      << status.to_string();
  EXPECT_FALSE(sum.run(7, y).ok());
}

}  // namespace
}  // namespace anynpu::ops
