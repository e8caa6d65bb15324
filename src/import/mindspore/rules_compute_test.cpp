// SPDX-License-Identifier: Apache-2.0
#include "import/mindspore/model_for_test.h"
#include "import/mindspore/rules.h"

namespace anynpu::mindspore {
namespace {

TEST(RulesComputeTest, reductions_with_and_without_axes) {
  MindirText some({2, 3, 4});
  some.node("ReduceMean", {"net:x", some.constant("axes", list_value({1, 2})),
                           some.constant("keep", whole_value(0, kFlag))});
  EXPECT_EQ(import_net(some).shape, (Shape{2}));
  MindirText all({2, 3});
  all.node("SumExt", {"net:x", all.constant("none", whole_value(0, 25)),
                      all.constant("keep", whole_value(0, kFlag))});
  EXPECT_EQ(import_net(all).shape, Shape{});
}

TEST(RulesComputeTest, a_scaled_sum_multiplies_only_when_it_must) {
  MindirText net({2});
  net.node("SubExt", {"net:x", "net:x", net.constant("alpha", real_value(0.5f))});
  EXPECT_EQ(import_net(net).ops, (std::vector<std::string>{"Mul", "Sub"}));
  MindirText plain({2});
  plain.node("AddExt", {"net:x", "net:x", plain.constant("alpha", whole_value(1))});
  EXPECT_EQ(import_net(plain).ops, (std::vector<std::string>{"Add"}));
}

TEST(RulesComputeTest, a_clamp_may_have_one_end) {
  MindirText net({2});
  net.node("ClampScalar", {"net:x", net.constant("low", real_value(0))});
  EXPECT_EQ(import_net(net).ops, (std::vector<std::string>{"Max"}));
}

TEST(RulesComputeTest, sorting_takes_all_elements_of_an_axis) {
  MindirText net({2, 5});
  const auto sorted = net.node("Sort", {"net:x"}, {}, {1, 6});
  net.node("TupleGetItem", {sorted, net.constant("one", whole_value(1))}, {}, {6});
  const Imported made = import_net(net);
  EXPECT_EQ(made.shape, (Shape{2, 5}));
  EXPECT_EQ(made.dtype, DType::i32);
}

}  // namespace
}  // namespace anynpu::mindspore
