// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/window.h"

#include "import/tensorflow/graph_for_test.h"

namespace anynpu::tensorflow {
namespace {

TEST(TfWindowAttrs, ExplicitPaddingsFollowTheOrderOfTheChannels) {
  const auto pool = [](const std::string& format, const std::vector<int64_t>& pads) {
    return one_node("MaxPool", {1, 4, 4, 4},
                    {text_of("padding", "EXPLICIT"), ints_of("explicit_paddings", pads),
                     ints_of("strides", {1, 1, 1, 1}), ints_of("ksize", {1, 1, 1, 1}),
                     text_of("data_format", format)})
        .shape();
  };
  EXPECT_EQ(pool("NHWC", {0, 0, 0, 0, 0, 0, 0, 0}), "1x4x4x4");
  const std::string said = pool("NHWC", {0, 0});
  EXPECT_NE(said.find("expected 8"), std::string::npos) << said;
}

}  // namespace
}  // namespace anynpu::tensorflow
