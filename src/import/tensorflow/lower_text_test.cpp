// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/graph_for_test.h"

namespace anynpu::tensorflow {
namespace {

TEST(TfText, NumbersBecomeStringsAndNumbersAgain) {
  TestGraph graph;
  graph.floats("x", {2}, {1.5f, 2}).node("text", "AsString", {"x"}, {flag_of("shortest", true)});
  graph.node("low", "StringLower", {"text"}).node("up", "StringUpper", {"low"});
  graph.node("y", "StringToNumber", {"up"}, {type_of("out_type", 3)});
  EXPECT_EQ(graph.shape(), "2");
  EXPECT_EQ(graph.ops(), "FormatNumbers ChangeCase ChangeCase ParseNumbers");
}

TEST(TfText, AnotherEncodingIsRefused) {
  TestGraph graph;
  graph.floats("x", {2}).node("text", "AsString", {"x"});
  graph.node("y", "StringLower", {"text"}, {text_of("encoding", "latin-1")});
  EXPECT_NE(graph.ops().find("'encoding' is 'latin-1'"), std::string::npos) << graph.ops();
}

}  // namespace
}  // namespace anynpu::tensorflow
