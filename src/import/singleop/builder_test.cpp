// SPDX-License-Identifier: Apache-2.0
#include "import/singleop/builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/singleop/op_for_test.h"

namespace anynpu::singleop {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(SingleOpBuilder, NamesNobodyKnowsAndMissingOutputsAreRefused) {
  EXPECT_THAT(OpForTest("Reluu").in({2}).out().message(), HasSubstr("'Reluu'"));
  EXPECT_THAT(OpForTest("Relu").in({2}).message(), HasSubstr("no output is described"));
}

TEST(SingleOpBuilder, AnInputThatNobodyReadsIsRefused) {
  EXPECT_FALSE(OpForTest("Square").in({2}).in({2}).out().message().empty());
}

TEST(SingleOpBuilder, ConstantInputsAreNoInputsOfTheGraph) {
  const auto graph = build_graph(OpForTest("Reshape").in({2, 6}).known({12}).out().op);
  ASSERT_TRUE(graph.ok()) << graph.status().to_string();
  EXPECT_EQ(graph->inputs.size(), 1u);
}

TEST(SingleOpBuilder, ShapesThatDoNotFitAreNamed) {
  EXPECT_THAT(OpForTest("Add").in({2, 3}).in({4}).out().message(),
              HasSubstr("shapes 2x3 and 4 cannot be broadcast"));
}

}  // namespace
}  // namespace anynpu::singleop
