// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/graph_for_test.h"
#include "compile/passes.h"

namespace anynpu::compile {
namespace {

using graph::ValueId;
using testing::ElementsAre;

using FuseGeluTest = PassTest;

TEST_F(FuseGeluTest, GeluInEitherFormAndOrderBecomesOneNode) {
  for (int form = 0; form < 4; ++form) {
    g = {};
    const ValueId x = g.input("x", {2, 5});
    ValueId inner;
    if (form < 2) {
      const ValueId arg =
          form == 0 ? node("Div", {x, scalar(1.41421356f)}) : node("Mul", {scalar(0.70710678f), x});
      inner = node("Erf", {arg});
    } else {
      const ValueId cube =
          form == 2 ? node("Pow", {x, scalar(3)}) : node("Mul", {node("Mul", {x, x}), x});
      const ValueId sum = node("Add", {x, node("Mul", {cube, scalar(0.044715f)})});
      inner = node("Tanh", {node("Mul", {sum, scalar(0.79788456f)})});
    }
    const ValueId one = node("Add", {inner, scalar(1)});
    const ValueId y = form % 2 ? node("Mul", {node("Mul", {x, scalar(0.5f)}), one})
                               : node("Mul", {node("Mul", {x, one}), scalar(0.5f)});
    EXPECT_THAT(after(fuse_gelu, y), ElementsAre("Gelu")) << form;
  }
}

// As TensorFlow writes it.
TEST_F(FuseGeluTest, GeluByFactorsInTheTanhBecomesOneNode) {
  const ValueId x = g.input("x", {2, 5});
  const ValueId square = node("Mul", {node("Mul", {scalar(0.044715f), x}), x});
  const ValueId inner = node("Add", {scalar(1), square});
  const ValueId argument = node("Mul", {node("Mul", {x, scalar(0.7978845608f)}), inner});
  const ValueId sum = node("Add", {node("Tanh", {argument}), scalar(1)});
  EXPECT_THAT(after(fuse_gelu, node("Mul", {node("Mul", {scalar(0.5f), x}), sum})),
              ElementsAre("Gelu"));
}

TEST_F(FuseGeluTest, GeluByErfcBecomesOneNode) {
  for (bool minus : {false, true}) {
    g = {};
    const ValueId x = g.input("x", {2, 5});
    const ValueId arg = minus ? node("Mul", {node("Neg", {x}), scalar(0.70710678f)})
                              : node("Mul", {x, scalar(-0.70710678f)});
    const ValueId erfc = node("Erfc", {arg});
    last().domain = "anynpu";
    EXPECT_THAT(after(fuse_gelu, node("Mul", {node("Mul", {scalar(0.5f), x}), erfc})),
                ElementsAre("Gelu"));
  }
}

TEST_F(FuseGeluTest, AProductThatIsAlmostGeluStays) {
  const ValueId x = g.input("x", {2, 5});
  const ValueId erf = node("Erf", {node("Div", {x, scalar(1.5f)})});
  const ValueId y = node("Mul", {node("Mul", {x, node("Add", {erf, scalar(1)})}), scalar(0.5f)});
  EXPECT_EQ(after(fuse_gelu, y).size(), 5u);
}

}  // namespace
}  // namespace anynpu::compile
