// SPDX-License-Identifier: Apache-2.0
// print() of graph.h.
#include <gtest/gtest.h>

#include "graph/graph_for_test.h"

namespace anynpu::graph {
namespace {

TEST(Print, OneLinePerNodeWithShapesAndTypes) {
  Graph graph = chain();
  ASSERT_TRUE(graph.verify().ok());
  graph.nodes[0].attrs["pads"] = std::vector<int64_t>{1, 1};
  graph.nodes[1].inputs.push_back(kNoValue);
  graph.values[0].format = Format::nchw;
  EXPECT_EQ(print(graph),
            "graph chain\n"
            "  input  %x: float32[1x4] NCHW\n"
            "  %y: float32[1x4] = Relu \"first\" (%x) {pads=[1, 1]}\n"
            "  %z: float32[1x4] = Relu \"second\" (%y, -)\n"
            "  output %z: float32[1x4]\n");
}

TEST(Print, SubgraphsAreIndentedUnderTheirNode) {
  const std::string text = print(conditional());
  EXPECT_NE(text.find("    graph then\n      input  %x: float32[1x4]\n"), std::string::npos)
      << text;
}

TEST(Print, AttributesOfEveryKind) {
  Graph graph = chain();
  ASSERT_TRUE(graph.verify().ok());
  graph.nodes[1].attrs = {{"a", int64_t{2}},
                          {"b", 0.5f},
                          {"c", std::string("text")},
                          {"d", std::vector<std::string>{"x", "y"}},
                          {"e", std::vector<int64_t>(20, 7)},
                          {"f", TensorAttr{DType::i8, {2, 3}, nullptr}}};
  const std::string text = print(graph);
  for (const char* part :
       {"a=2, b=0.5, c=\"text\"", "d=[\"x\", \"y\"]", "7, ... 20 in all]", "f=int8[2x3]"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST(Print, ConstantsSequencesAndUnknownShapes) {
  Graph graph = chain();
  graph.values[0].has_shape = false;
  graph.values[1].constant = constant_of(std::vector<float>(4, 1));
  graph.values[2].kind = ValueKind::sequence;
  const std::string text = print(graph);
  EXPECT_NE(text.find("input  %x: float32[*]"), std::string::npos) << text;
  EXPECT_NE(text.find("const  %y: float32[1x4]"), std::string::npos) << text;
  EXPECT_NE(text.find("output %z: sequence(float32)"), std::string::npos) << text;
}

}  // namespace
}  // namespace anynpu::graph
