// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/attr_value.h"

#include "import/tensorflow/graph_for_test.h"

namespace anynpu::tensorflow {
namespace {

class TfAttr : public ::testing::Test {
 protected:
  NodeDef node(const std::vector<TestAttr>& attrs) {
    TestGraph made;
    made.node("n", "Op", {}, attrs);
    bytes_ = made.bytes();
    return read_graph_def(std::as_bytes(std::span(bytes_))).value().nodes[0];
  }
  std::string bytes_;  // attributes are views into it
};

TEST_F(TfAttr, HasTheValueOfTheFileOrTheDefault) {
  const NodeDef n = node({int_of("i", -4), text_of("s", "SAME"), flag_of("b", true),
                          ints_of("l", {1, 2}), shape_of("shape", {-1, 3})});
  EXPECT_EQ(int_attr(n, "i", 0).value(), -4);
  EXPECT_EQ(int_attr(n, "none", 7).value(), 7);
  EXPECT_EQ(text_attr(n, "s", "").value(), "SAME");
  EXPECT_TRUE(bool_attr(n, "b", false).value());
  EXPECT_EQ(ints_attr(n, "l").value(), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(*shape_attr(n, "shape").value(), (Shape{-1, 3}));
  EXPECT_FALSE(shape_attr(node({unknown_shape_of("shape")}), "shape").value().has_value());
}

TEST_F(TfAttr, TextsAreReadInOrder) {
  EXPECT_EQ(texts_attr(node({texts_of("t", {"ROW_SPLITS", ""})}), "t").value(),
            (std::vector<std::string>{"ROW_SPLITS", ""}));
}

TEST_F(TfAttr, OfAnotherKindIsRefusedWithItsName) {
  const NodeDef n = node({text_of("i", "x")});
  const std::string said = int_attr(n, "i", 0).status().to_string();
  EXPECT_NE(said.find("'i' of node 'n'"), std::string::npos) << said;
}

TEST_F(TfAttr, ExtentsBelowMinusOneAreRefused) {
  EXPECT_FALSE(shape_attr(node({shape_of("shape", {-2})}), "shape").ok());
}

}  // namespace
}  // namespace anynpu::tensorflow
