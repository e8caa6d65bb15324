// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "import/mindspore/model_for_test.h"
#include "import/mindspore/rules.h"

namespace anynpu::mindspore {
namespace {

using testing::HasSubstr;

TEST(RulesMoveTest, paddings_begin_with_the_last_axis) {
  MindirText net({2, 3});
  net.node("ConstantPadND", {"net:x", net.constant("pad", list_value({1, 2}))});
  EXPECT_EQ(import_net(net).shape, (Shape{2, 6}));
  MindirText bad({2});
  bad.node("ConstantPadND", {"net:x", bad.constant("pad", list_value({1, 2, 3, 4}))});
  EXPECT_THAT(failure_of(bad.text()), HasSubstr("padding has 4 numbers for 1 axes"));
}

TEST(RulesMoveTest, tiles_may_add_axes) {
  MindirText net({2, 3});
  net.node("Tile", {"net:x", net.constant("multiples", list_value({4, 1, 2}))});
  EXPECT_EQ(import_net(net).shape, (Shape{4, 2, 6}));
}

TEST(RulesMoveTest, parts_by_size_and_by_number) {
  MindirText net({7, 2});
  const auto parts =
      net.node("SplitTensor", {"net:x", net.constant("size", whole_value(3))}, {}, {1, 1, 1});
  net.node("TupleGetItem", {parts, net.constant("two", whole_value(2))});
  EXPECT_EQ(import_net(net).shape, (Shape{1, 2}));
}

TEST(RulesMoveTest, slices_along_one_axis) {
  MindirText net({4, 6});
  net.node("SliceExt",
           {"net:x", net.constant("dim", whole_value(1)), net.constant("start", whole_value(1)),
            net.constant("end", whole_value(6)), net.constant("step", whole_value(2))});
  EXPECT_EQ(import_net(net).shape, (Shape{4, 3}));
  MindirText one({4, 6});
  one.node("SelectExtView",
           {"net:x", one.constant("dim", whole_value(0)), one.constant("index", whole_value(2))});
  EXPECT_EQ(import_net(one).shape, (Shape{6}));
}

}  // namespace
}  // namespace anynpu::mindspore
