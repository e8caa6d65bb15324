// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "import/onnx/model_for_test.h"

namespace anynpu::onnx {
namespace {

WireWriter four_bits(const std::string& name, int64_t count, const std::string& bytes) {
  WireWriter tensor;
  tensor.integer(1, count);
  tensor.integer(2, 21);
  tensor.text(8, name);
  tensor.text(9, bytes);
  return tensor;
}

// x + what `op` makes of three codes 0, 15 and 8.
WireWriter graph_reading_fours(const std::string& op, std::vector<std::string> inputs,
                               const std::string& output = "w") {
  WireWriter graph;
  graph.message(1, node(op, "reader", std::move(inputs), {"w"}));
  graph.message(1, node("Add", "sum", {"x", "w"}, {"y"}));
  graph.message(5, four_bits("codes", 3, "\xf0\x08"));
  graph.message(5, four_bits("zero", 1, std::string(1, '\x05')));
  graph.message(5, raw_tensor("scale", {0.5f}));
  graph.message(11, value_info("x", {"3"}));
  graph.message(12, value_info(output == "w" ? "y" : output, {"3"}));
  return graph;
}

std::vector<int> input_bytes_of(const Model& model, size_t input) {
  const graph::Node& reader = model.graph.nodes[0];
  const graph::Value& value = model.graph.values[static_cast<size_t>(reader.inputs[input])];
  EXPECT_EQ(value.dtype, DType::i4);
  std::vector<int> bytes;
  for (const std::byte byte : value.constant->bytes) bytes.push_back(static_cast<int>(byte));
  return bytes;
}

TEST(OnnxUnsignedFours, WeightsAndZeroPointsAreBothEightLower) {
  const auto model =
      import(model_of(graph_reading_fours("DequantizeLinear", {"codes", "scale", "zero"})));
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  EXPECT_EQ(input_bytes_of(*model, 0), (std::vector<int>{0x78, 0x00}));  // -8 and 7, 0
  EXPECT_EQ(input_bytes_of(*model, 2), std::vector<int>{0x0d});          // -3
}

TEST(OnnxUnsignedFours, AMissingZeroPointIsMinusEight) {
  const auto model = import(model_of(graph_reading_fours("DequantizeLinear", {"codes", "scale"})));
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  EXPECT_EQ(input_bytes_of(*model, 2), std::vector<int>{0x88});
}

TEST(OnnxUnsignedFours, OtherReadersAreRefusedByName) {
  for (const auto& inputs : {std::vector<std::string>{"codes"}, {"scale", "scale", "zero"}}) {
    const bool quantize = inputs.size() == 3;
    const Status status =
        import(model_of(graph_reading_fours(quantize ? "QuantizeLinear" : "Identity", inputs)))
            .status();
    EXPECT_EQ(status.code(), Code::unsupported_dtype);
    for (const char* part : {"UINT4", "'reader'", "INT4"})
      EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
  }
  const Status output =
      import(model_of(graph_reading_fours("DequantizeLinear", {"codes", "scale"}, "codes")))
          .status();
  EXPECT_NE(output.message().find("an output of the graph"), std::string::npos) << output.message();
}

}  // namespace
}  // namespace anynpu::onnx
