// SPDX-License-Identifier: Apache-2.0
#include "compile/graph_edit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/graph_for_test.h"

namespace anynpu::compile {
namespace {

using graph::ValueId;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(GraphEdit, ElementsOfAConstantComeBackInItsTypeAlone) {
  graph::Graph graph;
  const ValueId id = add_constant(graph, "c", {2}, std::vector<int64_t>{7, -1});
  EXPECT_THAT(constant_elements<int64_t>(graph, id), ElementsAre(7, -1));
  EXPECT_THAT(constant_elements<float>(graph, id), IsEmpty());
  EXPECT_THAT(constant_elements<float>(graph, graph::kNoValue), IsEmpty());
}

TEST(GraphEdit, AValueThatIsNoConstantHasNoElements) {
  GraphForTest g;
  EXPECT_THAT(constant_elements<float>(g.graph, g.input("x", {2})), IsEmpty());
}

TEST(GraphEdit, NewConstantsGetNamesOfTheirOwn) {
  graph::Graph graph;
  const ValueId first = add_constant(graph, "c", {}, std::vector<float>{1});
  const ValueId second = add_constant(graph, "c", {}, std::vector<float>{2});
  EXPECT_EQ(graph.values[static_cast<size_t>(first)].name, "c");
  EXPECT_NE(graph.values[static_cast<size_t>(second)].name, "c");
  NewNames names(graph);
  const std::string third = names.take("c");
  EXPECT_EQ(graph.find_value(third), graph::kNoValue);
  EXPECT_NE(names.take("c"), third);
}

}  // namespace
}  // namespace anynpu::compile
