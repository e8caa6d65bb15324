// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/graph_for_test.h"
#include "compile/passes.h"

namespace anynpu::compile {
namespace {

using graph::ValueId;
using testing::ElementsAre;

class FoldAffineTest : public PassTest {
 protected:
  ValueId batch_norm(ValueId x, int64_t channels) {
    return node("BatchNormalization",
                {x, g.weight("scale", {channels}, 0.5f, 1), g.weight("bias", {channels}),
                 g.weight("mean", {channels}), g.weight("variance", {channels}, 0.5f, 2)});
  }
};

TEST_F(FoldAffineTest, BatchNormalizationBehindAMatMul) {
  const ValueId x = g.input("x", {6, 8});
  EXPECT_THAT(after(fold_affine, batch_norm(node("MatMul", {x, g.weight("w", {8, 5})}), 5)),
              ElementsAre("FusedMatMul"));
}

// As transformers with convolutions write it: tokens are joined for the normalisation.
TEST_F(FoldAffineTest, BatchNormalizationBehindAReshapedMatMul) {
  const ValueId x = g.input("x", {2, 6, 8});
  const ValueId rows = reshape(node("MatMul", {x, g.weight("w", {8, 5})}), {12, 5});
  EXPECT_THAT(after(fold_affine, reshape(batch_norm(rows, 5), {2, 6, 5})),
              ElementsAre("FusedMatMul", "Reshape", "Reshape"));
}

TEST_F(FoldAffineTest, ScaleAndShiftBehindABias) {
  const ValueId x = g.input("x", {2, 6, 8});
  ValueId y = node("Add", {g.weight("b", {5}), node("MatMul", {x, g.weight("w", {8, 5})})});
  y = node("Sub", {node("Mul", {y, g.weight("scale", {5})}), g.weight("shift", {1, 1, 5})});
  EXPECT_THAT(after(fold_affine, y), ElementsAre("FusedMatMul"));
}

TEST_F(FoldAffineTest, BehindGemm) {
  for (int64_t transposed : {0, 1}) {
    g = {};
    const ValueId x = g.input("x", {6, 8});
    const ValueId w = transposed ? g.weight("w", {5, 8}) : g.weight("w", {8, 5});
    const ValueId y = node("Gemm", {x, w, g.weight("b", {5})});
    last().attrs["transB"] = transposed;
    EXPECT_THAT(after(fold_affine, batch_norm(y, 5)), ElementsAre("Gemm"));
  }
}

TEST_F(FoldAffineTest, BehindConvTranspose) {
  for (int64_t group : {1, 2}) {
    g = {};
    const ValueId x = g.input("x", {2, 4, 5, 5});
    const ValueId y = node("ConvTranspose", {x, g.weight("w", {4, 3, 2, 2})});
    last().attrs["group"] = group;
    last().attrs["strides"] = std::vector<int64_t>{2, 2};
    EXPECT_THAT(after(fold_affine, batch_norm(y, 3 * group)), ElementsAre("ConvTranspose"));
  }
}

// A bias alone is left to the passes that look for it.
TEST_F(FoldAffineTest, ABiasStays) {
  const ValueId x = g.input("x", {2, 6, 8});
  const ValueId y = node("Add", {node("MatMul", {x, g.weight("w", {8, 5})}), g.weight("b", {5})});
  EXPECT_THAT(after(fold_affine, y), ElementsAre("MatMul", "Add"));
}

// With three axes, channels of a BatchNormalization are the middle one.
TEST_F(FoldAffineTest, AnotherAxisStays) {
  const ValueId x = g.input("x", {2, 5, 8});
  EXPECT_THAT(after(fold_affine, batch_norm(node("MatMul", {x, g.weight("w", {8, 5})}), 5)),
              ElementsAre("MatMul", "BatchNormalization"));
}

TEST_F(FoldAffineTest, InputsThatAreLeftOutAreNoWeights) {
  const ValueId x = g.input("x", {1, 2, 4, 4});
  const ValueId scales = add_constant(g.graph, "scales", {4}, std::vector<float>{1, 1, 2, 2});
  EXPECT_THAT(after(fold_affine, node("Resize", {x, graph::kNoValue, scales})),
              ElementsAre("Resize"));
}

TEST_F(FoldAffineTest, AProductThatIsReadTwiceStays) {
  const ValueId x = g.input("x", {6, 8}), y = node("MatMul", {x, g.weight("w", {8, 5})});
  EXPECT_THAT(after(fold_affine, node("Add", {batch_norm(y, 5), y})),
              ElementsAre("MatMul", "BatchNormalization", "Add"));
}

}  // namespace
}  // namespace anynpu::compile
