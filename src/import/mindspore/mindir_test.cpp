// SPDX-License-Identifier: Apache-2.0
#include "import/mindspore/mindir.h"

#include "import/mindspore/model_for_test.h"

namespace anynpu::mindspore {
namespace {

TEST(MindirTest, nodes_parameters_and_primitives_are_read) {
  MindirText net({2, 3});
  const auto w = net.parameter("net:w", {3}, {1, 2, 3});
  net.node("Add", {"net:x", w}, {list_value({4, 5}, "pads")});
  const std::string text = net.text();
  const auto model = read_mindir(std::as_bytes(std::span(text)));
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  EXPECT_EQ(model->producer, "MindSpore");
  EXPECT_EQ(model->graph.inputs[0].tensors[0].shape, (Shape{2, 3}));
  EXPECT_EQ(model->graph.parameters[0].data.size(), 12u);
  EXPECT_EQ(model->graph.nodes[0].inputs[1], "net:w");
  const Primitive& primitive = model->primitives.at("Add1");
  EXPECT_EQ(primitive.op_type, "Add");
  EXPECT_EQ(primitive.attributes[0].values[1].integer, 5);
}

TEST(MindirTest, every_cut_fails_or_reads_less) {
  MindirText net({2});
  net.node("ReLU", {"net:x"});
  const std::string text = net.text();
  for (size_t size = 0; size < text.size(); ++size)
    (void)read_mindir(std::as_bytes(std::span(text)).first(size)).ok();
  EXPECT_EQ(read_mindir({}).status().code(), Code::parse_error);
}

}  // namespace
}  // namespace anynpu::mindspore
