// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/graph_for_test.h"

namespace anynpu::tensorflow {
namespace {

TEST(TfQuantize, RoundsToTheStepsOfARange) {
  EXPECT_EQ(
      one_node("FakeQuantWithMinMaxArgs", {3}, {float_of("min", -1), float_of("max", 1)}).ops(),
      "Min Max Sub Div Add Floor Mul Add");
}

TEST(TfQuantize, ARangeThatIsComputedIsRefused) {
  const std::string said = one_node("FakeQuantWithMinMaxVars", {3}, {}, {"x", "x"}).shape();
  EXPECT_NE(said.find("computed while the model runs"), std::string::npos) << said;
}

}  // namespace
}  // namespace anynpu::tensorflow
