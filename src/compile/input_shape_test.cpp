// SPDX-License-Identifier: Apache-2.0
#include "compile/input_shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace anynpu::compile {
namespace {

std::string message(const std::string& text) { return parse_input_shapes(text).status().message(); }

TEST(InputShape, TheDocumentedGrammarIsRead) {
  auto shapes = parse_input_shapes("a:1,3,224,224;scope/b:0:2;c:;d:-1,1~10");
  ASSERT_TRUE(shapes.ok()) << shapes.status().to_string();
  ASSERT_EQ(shapes->size(), 4u);
  EXPECT_EQ((*shapes)[0].extents[3], (Extent{224, 224}));
  EXPECT_EQ((*shapes)[1].name, "scope/b:0");
  EXPECT_TRUE((*shapes)[2].extents.empty());
  EXPECT_EQ((*shapes)[3].extents[0], (Extent{0, -1}));
  EXPECT_EQ((*shapes)[3].extents[1], (Extent{1, 10}));
  EXPECT_TRUE(parse_input_shapes("")->empty());
  EXPECT_EQ(parse_input_shapes("a:1,2;")->size(), 1u);
}

TEST(InputShape, MistakesAreNamed) {
  EXPECT_NE(message("a:1,x").find("'x'"), std::string::npos);
  EXPECT_NE(message("1,3,224").find("has no name"), std::string::npos);
  EXPECT_NE(message("a:1,").find("comma"), std::string::npos);
  EXPECT_NE(message("a:1;a:2").find("twice"), std::string::npos);
  EXPECT_NE(message("a:-2").find("'-2'"), std::string::npos);
  EXPECT_NE(message("a:10~1").find("10~1"), std::string::npos);
  EXPECT_NE(message("a:99999999999999999999").find("9999"), std::string::npos);
}

}  // namespace
}  // namespace anynpu::compile
