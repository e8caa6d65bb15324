// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/builder.h"

#include "import/tensorflow/graph_for_test.h"

namespace anynpu::tensorflow {
namespace {

TEST(TfBuilder, NodesAreNamedAfterTheModel) {
  const auto graph = one_node("Rsqrt", {2}).import();
  ASSERT_TRUE(graph.ok()) << graph.status().to_string();
  EXPECT_EQ(graph->nodes[0].name, "y/Sqrt");
  EXPECT_EQ(graph->nodes[1].name, "y");
  EXPECT_EQ(graph->values[static_cast<size_t>(graph->outputs[0])].source, "y:0");
}

TEST(TfBuilder, FailuresNameTheNode) {
  const std::string said = one_node("MatMul", {2, 3}, {}, {"x"}).shape();
  EXPECT_NE(said.find("in node 'y' (MatMul)"), std::string::npos) << said;
}

}  // namespace
}  // namespace anynpu::tensorflow
