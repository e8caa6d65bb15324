// SPDX-License-Identifier: Apache-2.0
// Programs of steps: every kernel against the reference in double, for every step, shape of inputs
// and layout; and what the attributes must not be.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "ops/blocked_layout.h"
#include "ops/elements/program.h"
#include "ops/registry.h"

namespace anynpu::ops {
namespace {

using Floats = std::vector<float>;

class FusedElementwiseTest : public testing::Test {
 protected:
  FusedElementwiseTest() {
    node.op = "FusedElementwise";
    node.domain = "anynpu";
    node.opset = 1;
    node.name = "test";
    node.outputs = {100};
  }

  void input(Shape shape, float low = -4, float high = 4) {
    std::uniform_real_distribution<float> draw(low, high);
    Floats values(static_cast<size_t>(element_count(shape)));
    for (float& value : values) value = draw(random_);
    node.inputs.push_back(static_cast<int>(data.size()));
    operands.push_back(Operand::of(DType::f32, std::move(shape)));
    data.push_back(std::move(values));
  }

  Floats run(const KernelDef& def, const OpContext& context) {
    auto kernel = def.create(context);
    auto plan = (*kernel)->plan(context);
    EXPECT_TRUE(plan.ok()) << plan.status().to_string();
    Floats out(static_cast<size_t>(element_count(context.outputs[0].shape)), NAN);
    std::vector<const std::byte*> in;
    for (const Floats& values : data)
      in.push_back(reinterpret_cast<const std::byte*>(values.data()));
    std::byte* const to[] = {reinterpret_cast<std::byte*>(out.data())};
    EXPECT_TRUE((*plan)->run({in, to}).ok());
    return out;
  }

  // All kernels give what the reference gives.
  void expect_alike(const std::string& what) {
    const auto context = infer(node, operands);
    ASSERT_TRUE(context.ok()) << what << ": " << context.status().to_string();
    const auto kernels = Registry::instance().kernels("FusedElementwise", "anynpu");
    const Floats wanted = run(*kernels.back(), *context);
    for (const KernelDef* def : kernels) {
      if (def->can_run && !def->can_run(*context).ok()) continue;
      const Floats made = run(*def, *context);
      for (size_t i = 0; i < made.size(); ++i) {
        if (std::isnan(wanted[i]) && std::isnan(made[i])) continue;
        if (wanted[i] == made[i]) continue;
        ASSERT_NEAR(made[i], wanted[i], 2e-6f + 3e-6f * std::fabs(wanted[i]))
            << what << ", " << def->name << ", element " << i;
      }
    }
  }

  void program(std::vector<std::string> steps, std::vector<int64_t> operand_list,
               Floats numbers = {}) {
    node.attrs["steps"] = std::move(steps);
    node.attrs["operands"] = std::move(operand_list);
    node.attrs["numbers"] = std::move(numbers);
  }

  graph::Node node;
  std::vector<Operand> operands;
  std::vector<Floats> data;
  std::mt19937 random_{5};
};

TEST_F(FusedElementwiseTest, EveryStepOfOneOperand) {
  input({7, 77});
  data[0][0] = 0, data[0][1] = INFINITY, data[0][2] = -INFINITY, data[0][3] = NAN;
  data[0][4] = 1e-40f, data[0][5] = 88, data[0][6] = -88, data[0][7] = 30;
  for (size_t i = 0; i < kStepOps; ++i) {
    const auto op = static_cast<StepOp>(i);
    if (!is_unary(op) || op == StepOp::sin || op == StepOp::cos) continue;
    program({std::string(name_of(op))}, {0, 0});
    expect_alike(std::string(name_of(op)));
  }
}

TEST_F(FusedElementwiseTest, EveryStepOfTwoOperandsWithNumbersOnEitherSide) {
  input({7, 77});
  input({7, 77}, 0.5f, 2);
  for (size_t i = 0; i < kStepOps; ++i) {
    const auto op = static_cast<StepOp>(i);
    if (is_unary(op)) continue;
    const std::string name(name_of(op));
    for (const auto& [a, b] : {std::pair{0, 1}, std::pair{0, -1}, std::pair{-1, 1}}) {
      program({"Add", name}, {0, 1, a, b}, {0.75f});  // both inputs are read
      expect_alike(name);
    }
  }
}

TEST_F(FusedElementwiseTest, LogarithmsAreCloseToTheSmallestAndNearOne) {
  input({1, 4096}, 0, 1);
  for (size_t i = 0; i < data[0].size(); ++i)
    data[0][i] = i % 2 ? std::exp(data[0][i] * 170 - 86) : 1 + (data[0][i] - 0.5f) * 1e-3f;
  program({"Log"}, {0, 0});
  const auto context = infer(node, operands);
  const auto kernels = Registry::instance().kernels("FusedElementwise", "anynpu");
  const Floats made = run(*kernels.front(), *context);
  for (size_t i = 0; i < made.size(); ++i) {
    const double wanted = std::log(static_cast<double>(data[0][i]));
    EXPECT_NEAR(made[i], wanted, 3e-7 * std::fabs(wanted)) << data[0][i];
  }
}

TEST_F(FusedElementwiseTest, InputsAreBroadcast) {
  for (const Shape& other : {Shape{1}, Shape{1500}, Shape{3, 1}, Shape{5, 1, 1}, Shape{5, 1, 1500},
                             Shape{1, 3, 1500}, Shape{5, 3, 1500}, Shape{5, 3, 1}}) {
    operands.clear(), data.clear(), node.inputs.clear();
    input({5, 3, 1500});
    input(other, 0.5f, 2);
    input({5, 3, 1500});
    program({"Mul", "Sigmoid", "Add", "Tanh", "Mul"}, {0, 1, 3, 3, 4, 2, 5, 5, 6, 3});
    expect_alike(to_string(other));
  }
}

TEST_F(FusedElementwiseTest, BlockedTensorsStayBlocked) {
  input({2, 32, 3, 5});
  input({1, 32, 1, 1});
  input({2, 32, 1, 1});
  operands[0].layout = Layout::blocked16;
  program({"Mul", "Add", "Swish"}, {0, 1, 3, 2, 4, 4});
  const auto context = infer(node, operands);
  ASSERT_TRUE(context.ok());
  const auto kernels = Registry::instance().kernels("FusedElementwise", "anynpu");
  auto kernel = kernels.front()->create(*context);
  auto plan = (*kernel)->plan(*context);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ((*plan)->output_layouts[0], Layout::blocked16);
  // In blocks, by reorders of our own.
  const auto blocked = [&](const Floats& values, const Shape& shape, Layout from, Layout to) {
    const auto reorder = plan_reorder(DType::f32, shape, from, to);
    Floats made(static_cast<size_t>(stored_elements(shape, to)));
    const std::byte* const in[] = {reinterpret_cast<const std::byte*>(values.data())};
    std::byte* const out[] = {reinterpret_cast<std::byte*>(made.data())};
    EXPECT_TRUE(reorder->run({in, out}).ok());
    return made;
  };
  std::vector<Floats> given;
  std::vector<const std::byte*> in;
  for (size_t i = 0; i < data.size(); ++i) {
    EXPECT_EQ((*plan)->input_layouts[i], Layout::blocked16);
    given.push_back(blocked(data[i], operands[i].shape, Layout::plain, Layout::blocked16));
  }
  for (const Floats& values : given)
    in.push_back(reinterpret_cast<const std::byte*>(values.data()));
  Floats made(static_cast<size_t>(stored_elements(operands[0].shape, Layout::blocked16)));
  std::byte* const out[] = {reinterpret_cast<std::byte*>(made.data())};
  ASSERT_TRUE((*plan)->run({in, out}).ok());
  operands[0].layout = Layout::plain;
  const Floats wanted = run(*kernels.back(), *infer(node, operands));
  const Floats plain = blocked(made, operands[0].shape, Layout::blocked16, Layout::plain);
  for (size_t i = 0; i < wanted.size(); ++i) ASSERT_NEAR(plain[i], wanted[i], 1e-5f) << i;
}

TEST_F(FusedElementwiseTest, WrongProgramsAreRefused) {
  input({4});
  const auto message = [&] { return infer(node, operands).status().to_string(); };
  program({"Neg"}, {0});
  EXPECT_NE(message().find("1 steps with 1 operands"), std::string::npos) << message();
  program({"Negate"}, {0, 0});
  EXPECT_NE(message().find("no step 'Negate'"), std::string::npos) << message();
  program({"Add"}, {0, 1});  // its own result
  EXPECT_NE(message().find("reads operand 1, expected 0 to 0"), std::string::npos) << message();
  program({"Add"}, {0, -2}, {1});
  EXPECT_NE(message().find("reads operand -2"), std::string::npos) << message();
  program({}, {});
  EXPECT_FALSE(infer(node, operands).ok());
}

TEST(Program, RegistersAreUsedAgain) {
  Program program;
  program.inputs = 1;
  for (int64_t k = 0; k < 20; ++k) program.steps.push_back({StepOp::neg, k, k});
  EXPECT_EQ(program.registers(), 1u);
  program.steps.push_back({StepOp::add, 1, 20});  // the first result is kept to the end
  EXPECT_EQ(program.registers(), 2u);
}

}  // namespace
}  // namespace anynpu::ops
