// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/aipp_config.h"
#include "compile/compile.h"
#include "compile/graph_for_test.h"

namespace anynpu::compile {
namespace {

using graph::ValueId;
using testing::ElementsAre;
using testing::HasSubstr;

class InsertAippTest : public testing::Test {
 protected:
  explicit InsertAippTest() {
    g.graph.outputs = {g.node("Relu", {g.input("x", {1, 3, 4, 8})}, "y")};
  }
  Options options(const std::string& text) {
    Options options;
    options.aipp = parse_aipp(text).value();
    return options;
  }
  GraphForTest g;
};

constexpr const char* kRgb =
    "aipp_op { aipp_mode: static input_format: RGB888_U8 src_image_size_w: 8 src_image_size_h: 4 }";

TEST_F(InsertAippTest, APictureInBytesIsFedInsteadOfTheTensor) {
  const auto settings = fit_aipp(options(kRgb), g.graph, true);
  ASSERT_TRUE(settings.ok()) << settings.status().to_string();
  ASSERT_TRUE(infer_and_fold(g.graph).ok());
  const Status status = insert_aipp(*settings, g.graph);
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_THAT(GraphForTest::ops(g.graph), ElementsAre("Aipp", "Relu"));
  EXPECT_EQ(g.graph.values[static_cast<size_t>(g.graph.inputs[0])].dtype, DType::u8);
}

TEST_F(InsertAippTest, WithoutSettingsTheGraphStays) {
  ASSERT_TRUE(insert_aipp({}, g.graph).ok());
  EXPECT_THAT(GraphForTest::ops(g.graph), ElementsAre("Relu"));
}

TEST_F(InsertAippTest, AnInputThatIsNotThereOrNoPictureIsRefused) {
  EXPECT_FALSE(fit_aipp(options("aipp_op { aipp_mode: static input_format: RGB888_U8 "
                                "related_input_rank: 3 }"),
                        g.graph, true)
                   .ok());
  g.graph.values[static_cast<size_t>(g.graph.inputs[0])].shape = {2, 3};
  EXPECT_THAT(fit_aipp(options(kRgb), g.graph, true).status().message(), HasSubstr("'x'"));
}

}  // namespace
}  // namespace anynpu::compile
