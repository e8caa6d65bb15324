// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/graph_for_test.h"
#include "compile/passes.h"

namespace anynpu::compile {
namespace {

using graph::ValueId;
using testing::ElementsAre;

class FuseSoftmaxTest : public PassTest {
 protected:
  ValueId over(const std::string& op, ValueId x, int64_t axis) {
    const ValueId y = node(op, {x});
    last().opset = 11;
    last().attrs["axes"] = std::vector<int64_t>{axis};
    return y;
  }
  ValueId exponentials(ValueId x, int64_t axis) {
    return node("Exp", {node("Sub", {x, over("ReduceMax", x, axis)})});
  }
};

TEST_F(FuseSoftmaxTest, AQuotientOfExponentialsBecomesSoftmax) {
  const ValueId x = g.input("x", {2, 3, 5}), e = exponentials(x, -1);
  EXPECT_THAT(after(fuse_softmax, node("Div", {e, over("ReduceSum", e, -1)})),
              ElementsAre("Softmax"));
}

TEST_F(FuseSoftmaxTest, SoDoesAProductWithTheInverse) {
  const ValueId x = g.input("x", {2, 3, 5}), e = exponentials(x, 2);
  const ValueId inverse = node("Reciprocal", {over("ReduceSum", e, 2)});
  EXPECT_THAT(after(fuse_softmax, node("Mul", {inverse, e})), ElementsAre("Softmax"));
}

TEST_F(FuseSoftmaxTest, AnotherAxisStays) {
  const ValueId x = g.input("x", {2, 3, 5}), e = exponentials(x, 1);
  EXPECT_THAT(after(fuse_softmax, node("Div", {e, over("ReduceSum", e, 1)})), testing::SizeIs(5));
}

TEST_F(FuseSoftmaxTest, TheSumOfOtherExponentialsStays) {
  const ValueId x = g.input("x", {2, 3, 5}), z = g.input("z", {2, 3, 5});
  const ValueId e = exponentials(x, -1), other = exponentials(z, -1);
  EXPECT_THAT(after(fuse_softmax, node("Div", {e, over("ReduceSum", other, -1)})),
              testing::SizeIs(8));
}

}  // namespace
}  // namespace anynpu::compile
