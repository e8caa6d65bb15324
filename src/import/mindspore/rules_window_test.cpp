// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "import/mindspore/model_for_test.h"
#include "import/mindspore/rules.h"

namespace anynpu::mindspore {
namespace {

using testing::HasSubstr;

WireWriter named_text(const std::string& name, const std::string& value) {
  WireWriter out;
  out.text(1, name);
  out.text(5, value);
  out.integer(16, kText);
  return out;
}

TEST(RulesWindowTest, convolutions_pad_as_their_mode_says) {
  for (const auto& [mode, extent] : {std::pair("same", 4), {"valid", 3}, {"pad", 5}}) {
    MindirText net({1, 2, 8, 8});
    net.node("Conv2D", {"net:x", net.parameter("net:w", {3, 2, 3, 3}, std::vector<float>(54))},
             {named_text("pad_mode", mode), list_value({2, 2, 2, 2}, "pad"),
              list_value({1, 1, 2, 2}, "stride")});
    EXPECT_EQ(import_net(net).shape, (Shape{1, 3, extent, extent})) << mode;
  }
}

TEST(RulesWindowTest, pooling_reads_attributes_and_arguments) {
  MindirText attributes({1, 2, 8, 8});
  attributes.node("MaxPool", {"net:x"},
                  {list_value({1, 1, 2, 2}, "kernel_size"), list_value({1, 1, 2, 2}, "strides"),
                   named_text("pad_mode", "VALID"), named_text("format", "NCHW")});
  EXPECT_EQ(import_net(attributes).shape, (Shape{1, 2, 4, 4}));
  MindirText arguments({1, 2, 8, 8});
  arguments.node("AvgPool", {"net:x", arguments.constant("k", list_value({2, 2})),
                             arguments.constant("s", list_value({2, 2})),
                             arguments.constant("mode", whole_value(2)),
                             arguments.constant("format", whole_value(0))});
  EXPECT_EQ(import_net(arguments).shape, (Shape{1, 2, 4, 4}));
}

TEST(RulesWindowTest, adaptive_pooling_takes_any_size) {
  MindirText net({1, 2, 7, 5});
  net.node("AdaptiveAvgPool2D", {"net:x"}, {list_value({3, 2}, "output_size")});
  EXPECT_EQ(import_net(net).shape, (Shape{1, 2, 3, 2}));
}

TEST(RulesWindowTest, a_model_for_training_is_refused_with_what_to_do) {
  MindirText net({1, 2, 4, 4});
  const auto w = net.parameter("net:w", {2}, {1, 1});
  net.node("BatchNorm", {"net:x", w, w, w, w, net.constant("training", whole_value(1, kFlag))});
  EXPECT_THAT(failure_of(net.text()), HasSubstr("set_train(False)"));
}

}  // namespace
}  // namespace anynpu::mindspore
